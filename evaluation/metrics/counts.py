"""Rates of a two-by-two table, with their degenerate cases said out loud.

A rate whose denominator is empty is None, never 0 and never NaN. Positive means hallucinated.
Matthews correlation: Matthews 1975; Chicco and Jurman 2020 for the constant predictor.
Does not know: what was predicted, or which paper asks.
"""

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import NamedTuple


class Counts(NamedTuple):
    """How often each thing happened. Floats, since published accuracies are averages over runs."""

    true_positive: float
    false_positive: float
    false_negative: float
    true_negative: float


def count(gold: Sequence[bool], predicted: Sequence[bool]) -> Counts:
    """The table of two equally long columns; True is hallucinated."""
    pairs = list(zip(gold, predicted, strict=True))
    return Counts(
        true_positive=pairs.count((True, True)),
        false_positive=pairs.count((False, True)),
        false_negative=pairs.count((True, False)),
        true_negative=pairs.count((False, False)),
    )


def share(part: float, whole: float) -> float | None:
    """`part / whole`, or None where the whole is empty."""
    return part / whole if whole else None


def mean(values: Iterable[float | None]) -> float | None:
    """The plain mean, or None where there is no value or one of them is None."""
    known = list(values)
    present = [value for value in known if value is not None]
    return sum(present) / len(present) if present and len(present) == len(known) else None


def recall(counts: Counts) -> float | None:
    """Found positives over gold positives."""
    return share(counts.true_positive, counts.true_positive + counts.false_negative)


def specificity(counts: Counts) -> float | None:
    """Kept negatives over gold negatives."""
    return share(counts.true_negative, counts.true_negative + counts.false_positive)


def precision(counts: Counts) -> float | None:
    """Found positives over predicted positives."""
    return share(counts.true_positive, counts.true_positive + counts.false_positive)


def f1(counts: Counts) -> float | None:
    """2TP / (2TP + FP + FN); None where nothing was positive on either side."""
    found = 2 * counts.true_positive
    return share(found, found + counts.false_positive + counts.false_negative)


def mcc(counts: Counts) -> float | None:
    """Matthews correlation in [-1, 1].

    None where a gold class is empty: there is nothing to correlate with. 0 where all predictions
    are one class: the limit of the formula, and what seed 004 prints (a constant tells nothing).
    """
    tp, fp, fn, tn = counts
    if not tp + fn or not tn + fp:
        return None
    if not tp + fp or not tn + fn:
        return 0.0
    return (tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
