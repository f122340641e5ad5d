"""The two classes of a label or an outcome: hallucinated or faithful; or neither, where nothing was decided.

The one place where names become classes, and where an undecided prediction becomes the wrong class. The rule for
labels is that of the report: only `contradicting` and `fabricated` are hallucinated. Does not know: VeriGray's
stricter threshold (verigray.py), or any data set.
"""

from collections.abc import Container, Iterable, Sequence
from typing import get_args

from longproof.agent.types import LABELS, Failure, JudgeLabel
from longproof.retrieval.types import BadInput

HALLUCINATED_LABELS = frozenset({"contradicting", "fabricated"})
UNDECIDED = frozenset({"undecided", *get_args(Failure)})
VOTE_NAMES = frozenset({"faithful", "hallucinated", *get_args(JudgeLabel)})
"""What a judge, an arbiter or a verdict can say: an outcome, a label or `not_found`."""


def is_hallucinated(name: str | None) -> bool | None:
    """True, False, or None where nothing was decided (None, `undecided`, or the name of a failure).

    Takes an outcome (`faithful`, `hallucinated`, `undecided`) or one of the seven labels.
    Raises BadInput for any other name.
    """
    if name is None or name in UNDECIDED:
        return None
    if name == "hallucinated" or name in HALLUCINATED_LABELS:
        return True
    if name == "faithful" or name in LABELS:
        return False
    raise BadInput(f"{name!r} is neither an outcome, a label nor a failure; use one of {', '.join(LABELS)}")


def gold_classes(gold: Sequence[str]) -> list[bool]:
    """Whether each gold name is hallucinated. Raises BadInput where a gold name decides nothing."""
    classes = [is_hallucinated(name) for name in gold]
    if None in classes:
        raise BadInput(f"gold {classes.index(None)} decides nothing; leave undecided gold out before scoring")
    return [bool(side) for side in classes]


def refuse_unknown(names: Iterable[str | None], allowed: Container[str] = VOTE_NAMES) -> None:
    """Raises BadInput for a name that is none of these; None, `undecided` and failures may always stand."""
    for name in names:
        if name is not None and name not in UNDECIDED and name not in allowed:
            raise BadInput(f"{name!r} is no name for what was said; use one of {', '.join(LABELS)}")


def count_undecided_as_wrong(gold: Sequence[bool], predicted: Sequence[bool | None]) -> list[bool]:
    """The predictions with every None replaced by the opposite of its gold class: wrong, and counted."""
    same_length(gold, predicted)
    return [not right if said is None else said for right, said in zip(gold, predicted, strict=True)]


def same_length(*columns: Sequence[object]) -> None:
    """Raises BadInput unless all columns have one length."""
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        raise BadInput(f"columns of lengths {lengths} cannot be scored together; give one entry an example")
