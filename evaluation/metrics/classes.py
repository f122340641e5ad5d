"""The two classes of a label or an outcome: hallucinated or faithful; or neither, where nothing was decided.

The one place where names become classes. The rule for labels is that of the report: only `contradicting` and
`fabricated` are hallucinated. Does not know: VeriGray's stricter threshold (verigray.py), or any data set.
"""

from collections.abc import Sequence
from typing import get_args

from longproof.agent.types import LABELS, Failure
from longproof.retrieval.types import BadInput

HALLUCINATED_LABELS = frozenset({"contradicting", "fabricated"})
UNDECIDED = frozenset({None, "undecided", *get_args(Failure)})


def is_hallucinated(name: str | None) -> bool | None:
    """True, False, or None where nothing was decided (None, `undecided`, or the name of a failure).

    Takes an outcome (`faithful`, `hallucinated`, `undecided`) or one of the seven labels.
    Raises BadInput for any other name.
    """
    if name in UNDECIDED:
        return None
    if name == "hallucinated" or name in HALLUCINATED_LABELS:
        return True
    if name == "faithful" or name in LABELS:
        return False
    raise BadInput(f"{name!r} is neither an outcome, a label nor a failure; use one of {', '.join(LABELS)}")


def count_undecided_as_wrong(gold: Sequence[bool], predicted: Sequence[bool | None]) -> list[bool]:
    """The predictions with every None replaced by the opposite of its gold class: wrong, and counted."""
    return [not right if said is None else said for right, said in zip(gold, predicted, strict=True)]
