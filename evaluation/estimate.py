"""The cost of an evaluation before it is run: every example in a dry run, which asks nobody.

Knows: how the examples of a run become dry reports. Does not know: how an estimate is worked out, or worded.
"""

from collections.abc import Sequence
from typing import Any

from longproof.agent.specs import Spec
from longproof.agent.types import Report
from longproof.evaluation.datasets import examples
from longproof.evaluation.datasets.reading import Location
from longproof.evaluation.run import ExampleCases, draw_sample, planned_examples
from longproof.graphs.joined import joins
from longproof.graphs.reporting import estimate, estimate_lines
from longproof.graphs.runner import local_engine, plan_groups
from longproof.graphs.verifier import Verifier


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
    """The cost of such a run, in words: every example is checked in a dry run, which asks nobody.

    Raises BadInput for a set that can't be read, and for settings that can check nothing.
    """
    drawn = draw_sample(examples(dataset, path), sample, seed, only)
    verifier = Verifier(judges=list(judges), **{**settings, "max_calls": 0, "run_id": None})
    verifier.try_out()
    checked = list[Report | str]()
    groups = plan_groups(planned_examples(drawn, joined=joins(verifier.settings)))
    local_engine(verifier, ExampleCases(drawn))(groups, lambda _, report: checked.append(report))
    reports = [report for report in checked if isinstance(report, Report)]
    failed = [reason for reason in checked if isinstance(reason, str)]
    often = f", {repeat} times; of one time:" if repeat > 1 else ""
    lines = [f"{len(drawn)} examples{often}"]
    if failed:
        lines.append(f"{len(failed)} of them can't be checked and aren't counted; the first: {failed[0]}")
    return "\n".join([*lines, *estimate_lines(estimate(reports))])
