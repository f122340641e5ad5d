"""Scores of marked places: characters, and places touched (RAGTruth; Thomson and Reiter).

A place is a half-open `(start, end)` in code points of the response; an example has a list of them.
A prediction of None is undecided: nothing was marked, so its gold counts as missed, and it is counted.
Does not know: what a place means, or who marked it.
"""

from collections.abc import Sequence

from longproof.evaluation.metrics.statistics import (
    Counts,
    Matches,
    decided_share,
    f1,
    matches,
    precision,
    recall,
    sum_counts,
)

Offsets = tuple[int, int]
Marked = Sequence[Sequence[Offsets]]
MaybeMarked = Sequence[Sequence[Offsets] | None]


def character_counts(gold: Sequence[Offsets], predicted: Sequence[Offsets] | None) -> Counts:
    """Common, wrongly flagged and missed characters of one example, overlaps counted once."""
    wanted, marked = _characters(gold), _characters(predicted or ())
    common = len(wanted & marked)
    return Counts(common, len(marked) - common, len(wanted) - common, 0)


def character_scores(gold: Marked, predicted: MaybeMarked) -> Matches:
    """Precision, recall and F1 over characters: micro sums over all examples."""
    counts = sum_counts(map(character_counts, gold, predicted))
    rates = precision(counts), recall(counts), f1(counts)
    return Matches(*rates, counts.hallucinated, counts.called, decided_share(predicted))


def mistake_scores(gold: Marked, predicted: MaybeMarked) -> Matches:
    """Places as wholes: one character in common is enough (the accuracy shared task's reading)."""
    return matches(zip(gold, predicted, strict=True), _touch)


def shared_part(first: Offsets, second: Offsets) -> float:
    """Characters in common over characters of either, in [0, 1]; 0 for empty places."""
    common = max(0, min(first[1], second[1]) - max(first[0], second[0]))
    either = (first[1] - first[0]) + (second[1] - second[0]) - common
    return common / either if either else 0.0


def _characters(places: Sequence[Offsets]) -> set[int]:
    return {at for start, end in places for at in range(start, end)}


def _touch(first: Offsets, second: Offsets) -> bool:
    return max(first[0], second[0]) < min(first[1], second[1])
