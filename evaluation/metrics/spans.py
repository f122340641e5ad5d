"""Scores of marked places: characters, places touched, and whole responses (RAGTruth; Thomson and Reiter).

A place is a half-open `(start, end)` in code points of the response; an example has a list of them.
A prediction of None is undecided: nothing was marked, so its gold counts as missed, and it is counted.
Does not know: what a place means, or who marked it.
"""

from collections.abc import Sequence
from typing import TypedDict

from longproof.evaluation.metrics.counts import Counts, f1, precision, recall, share
from longproof.evaluation.metrics.longnovel import OutcomeScores, longnovel_scores
from longproof.evaluation.metrics.sides import same_length
from longproof.retrieval.types import BadInput

Place = tuple[int, int]
Marked = Sequence[Sequence[Place]]
MaybeMarked = Sequence[Sequence[Place] | None]


class CharacterScores(TypedDict):
    """Micro sums over all examples. precision is over flagged characters, recall over gold ones."""

    precision: float | None
    recall: float | None
    f1: float | None
    n_gold_characters: int
    n_flagged_characters: int
    n_common_characters: int
    n_undecided: int
    coverage: float | None


class MistakeScores(TypedDict):
    """precision is over flagged places that touch a gold one, recall over gold places that are touched."""

    precision: float | None
    recall: float | None
    f1: float | None
    n_gold: int
    n_flagged: int
    n_gold_touched: int
    n_flagged_right: int
    n_undecided: int
    coverage: float | None


def character_scores(gold: Marked, predicted: MaybeMarked) -> CharacterScores:
    """Precision, recall and F1 over characters, overlaps counted once within an example."""
    same_length(gold, predicted)
    rows = [(_characters(g), _characters(p or ())) for g, p in zip(gold, predicted, strict=True)]
    common = sum(len(g & p) for g, p in rows)
    n_gold, n_flagged = sum(len(g) for g, _ in rows), sum(len(p) for _, p in rows)
    counts = Counts(common, n_flagged - common, n_gold - common, 0)
    return CharacterScores(
        precision=precision(counts),
        recall=recall(counts),
        f1=f1(counts),
        n_gold_characters=n_gold,
        n_flagged_characters=n_flagged,
        n_common_characters=common,
        **_decided(predicted),
    )


def mistake_scores(gold: Marked, predicted: MaybeMarked) -> MistakeScores:
    """Places as wholes: one character in common is enough (the accuracy shared task's reading).

    F1 is the harmonic mean of the two rates, since their true positives are counted on two sides.
    """
    same_length(gold, predicted)
    rows = [(list(g), list(p or ())) for g, p in zip(gold, predicted, strict=True)]
    touched = sum(any(_touch(place, other) for other in p) for g, p in rows for place in g)
    right = sum(any(_touch(place, other) for other in g) for g, p in rows for place in p)
    n_gold, n_flagged = sum(len(g) for g, _ in rows), sum(len(p) for _, p in rows)
    rates = share(right, n_flagged), share(touched, n_gold)
    return MistakeScores(
        precision=rates[0],
        recall=rates[1],
        f1=harmonic(*rates),
        n_gold=n_gold,
        n_flagged=n_flagged,
        n_gold_touched=touched,
        n_flagged_right=right,
        **_decided(predicted),
    )


def example_scores(gold: Marked, predicted: MaybeMarked) -> OutcomeScores:
    """RAGTruth's response level: a response is hallucinated exactly when something in it is marked."""
    return longnovel_scores(
        ["hallucinated" if places else "faithful" for places in gold],
        [None if places is None else "hallucinated" if places else "faithful" for places in predicted],
    )


def overlap(first: Place, second: Place) -> float:
    """Characters in common over characters of either, in [0, 1]; 0 for empty places."""
    common = max(0, min(first[1], second[1]) - max(first[0], second[0]))
    either = (first[1] - first[0]) + (second[1] - second[0]) - common
    return common / either if either else 0.0


def harmonic(first: float | None, second: float | None) -> float | None:
    """The harmonic mean; None where a rate is None, 0 where both are 0."""
    if first is None or second is None:
        return None
    return 2 * first * second / (first + second) if first + second else 0.0


def _characters(places: Sequence[Place]) -> set[int]:
    if any(not 0 <= start <= end for start, end in places):
        raise BadInput(f"places {list(places)} hold one that does not start at or before its end")
    return {at for start, end in places for at in range(start, end)}


def _touch(first: Place, second: Place) -> bool:
    return max(first[0], second[0]) < min(first[1], second[1])


class _Decided(TypedDict):
    n_undecided: int
    coverage: float | None


def _decided(predicted: MaybeMarked) -> _Decided:
    n_undecided = sum(places is None for places in predicted)
    return _Decided(n_undecided=n_undecided, coverage=share(len(predicted) - n_undecided, len(predicted)))
