"""What an evaluation would cost, before anybody is asked.

Knows: which examples would be drawn, and that each is checked in a dry run. Does not know: how calls are counted
(`graphs/cost.py`), or what a run did cost.
"""

from collections.abc import Sequence
from typing import Any

from longproof.agent.specs import Spec
from longproof.agent.types import Report
from longproof.evaluation.datasets import examples
from longproof.evaluation.datasets.reading import Location
from longproof.evaluation.run import ExampleCases, draw_sample, planned_examples
from longproof.evaluation.types import Example
from longproof.graphs.cost import Estimate, estimate, estimate_lines
from longproof.graphs.joined import joins
from longproof.graphs.runner import GroupChecker, plan_groups
from longproof.graphs.verifier import Verifier, run


def estimate_dataset(
    dataset: str,
    *,
    judges: Sequence[str | Spec],
    path: Location | None,
    only: str | None = None,
    sample: int | None,
    seed: int,
    repeat: int,
    **settings: Any,
) -> str:
    """What such a run would cost, in words. Raises BadInput as `evaluate_dataset` does."""
    drawn = draw_sample(examples(dataset, path), sample, seed, only)
    verifier = Verifier(judges=list(judges), **{**settings, "max_calls": 0, "run_id": None})
    told = run(_dry_run(verifier, drawn))
    often = f", {repeat} times; of one time:" if repeat > 1 else ""
    return "\n".join([f"{len(drawn)} examples{often}", *estimate_lines(told)])


async def _dry_run(verifier: Verifier, drawn: Sequence[Example]) -> Estimate:
    """Check every example without paying; those that can't be checked cost nothing."""
    planned = planned_examples(drawn, joined=joins(verifier.settings))
    checker, reports = GroupChecker(verifier, ExampleCases(drawn)), list[Report]()
    try:
        for group in plan_groups(planned):
            checked = await checker.check(group)
            reports += [report for report in checked if isinstance(report, Report)]
    finally:
        await verifier.close()
    return estimate(reports)
