"""What an evaluation would cost, before anybody is asked.

Knows: which examples would be drawn. Does not know: how long prompts are (`graphs/cost.py`), or what a run did cost.
"""

from collections.abc import Sequence

from longproof.agent.specs import Spec
from longproof.evaluation.datasets import examples
from longproof.evaluation.datasets.reading import Location
from longproof.evaluation.run import sampled
from longproof.graphs.cost import cost, paid_judges
from longproof.graphs.protocols import method


def estimate(
    dataset: str,
    *,
    judges: Sequence[str | Spec],
    path: Location | None,
    protocol: str,
    only: str | None = None,
    sample: int | None,
    seed: int,
    repeat: int,
) -> str:
    """What such a run would usually cost, each example by itself. Raises BadInput as `evaluate_dataset` does."""
    chosen, models = method(protocol).protocol, paid_judges(judges)
    if not models:
        return "nothing would be paid"
    drawn = sampled(examples(dataset, path), sample, seed, only)
    calls, characters = 0, 0.0
    for example in drawn:
        source = max(1, sum(len(source.text) for source in example.sources))
        one = cost(chosen, source, len(example.response), models)
        calls, characters = calls + one.calls, characters + one.passes * source
    often = f", {repeat} times" if repeat > 1 else ""
    return (
        f"{len(drawn)} examples{often}: usually about {repeat * calls:,} calls, whose prompts have "
        f"{round(repeat * characters):,} characters; fewer where responses to one long source are checked together"
    )
