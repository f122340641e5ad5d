"""LongNovel's scores (seed 004, section 4.3): accuracy of each class, their mean, MCC, recall by slice.

Undecided, malformed and failed predictions count as the opposite class, as in the paper's tables.
Does not know: how a prediction came about.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypedDict

from longproof.agent.types import Kind
from longproof.evaluation.metrics.counts import (
    Counts,
    count,
    f1,
    mcc,
    mean,
    precision,
    recall,
    share,
    specificity,
)
from longproof.evaluation.metrics.sides import against, gold_sides, is_hallucinated, same_length

POSITION_KINDS: frozenset[Kind] = frozenset({"numerical", "inversion", "event", "entity"})
"""The four kinds over which the paper draws recall by position: those of median difficulty (section 5.2)."""


class OutcomeScores(TypedDict):
    """Scores of responses judged as wholes. Rates in [0, 1] or None; `coverage` is decided over all."""

    accuracy_of_hallucinated: float | None
    accuracy_of_faithful: float | None
    mean_accuracy: float | None
    mcc: float | None
    hallucination_precision: float | None
    hallucination_f1: float | None
    n_hallucinated: int
    n_faithful: int
    n_called_hallucinated: int
    n_undecided: int
    coverage: float | None


class Recall(TypedDict):
    """Recall of one slice over its hallucinated examples, undecided ones counted as missed."""

    recall: float | None
    n_hallucinated: int
    n_undecided: int
    coverage: float | None


def longnovel_scores(gold: Sequence[str], predicted: Sequence[str | None]) -> OutcomeScores:
    """Scores of one prediction a response.

    gold: `hallucinated` or `faithful`, or a label (contradicting and fabricated are hallucinated).
    predicted: the same names, or None, `undecided` or a failure's name: the wrong class, never dropped.
    `mean_accuracy` is the paper's Acc., the mean of the two class accuracies (balanced accuracy).
    """
    same_length(gold, predicted)
    sides, said = gold_sides(gold), [is_hallucinated(name) for name in predicted]
    filled = against(sides, said)
    counts = count(sides, filled)
    return OutcomeScores(
        accuracy_of_hallucinated=recall(counts),
        accuracy_of_faithful=specificity(counts),
        mean_accuracy=mean([recall(counts), specificity(counts)]),
        mcc=mcc(counts),
        hallucination_precision=precision(counts),
        hallucination_f1=f1(counts),
        n_hallucinated=sum(sides),
        n_faithful=len(sides) - sum(sides),
        n_called_hallucinated=sum(filled),
        n_undecided=said.count(None),
        coverage=share(len(said) - said.count(None), len(said)),
    )


def mcc_from_accuracies(
    accuracy_of_hallucinated: float, accuracy_of_faithful: float, n_hallucinated: float, n_faithful: float
) -> float | None:
    """MCC from the accuracies of the two classes (in [0, 1]) and their sizes; None where a class is empty."""
    found, kept = accuracy_of_hallucinated * n_hallucinated, accuracy_of_faithful * n_faithful
    return mcc(Counts(found, n_faithful - kept, n_hallucinated - found, kept))


def recall_by(
    slices: Sequence[str | None], gold: Sequence[str], predicted: Sequence[str | None]
) -> dict[str, Recall]:
    """Recall of hallucinated responses in each slice (kind, position, scale); slice None is left out.

    Faithful responses have no recall, so a slice without a hallucinated response does not appear.
    """
    same_length(slices, gold, predicted)
    rows = zip(slices, gold_sides(gold), map(is_hallucinated, predicted), strict=True)
    seen = [(name, said) for name, hallucinated, said in rows if name is not None and hallucinated]
    found, undecided = Counter(n for n, s in seen if s), Counter(n for n, s in seen if s is None)
    return {
        name: Recall(
            recall=share(found[name], n),
            n_hallucinated=n,
            n_undecided=undecided[name],
            coverage=share(n - undecided[name], n),
        )
        for name, n in sorted(Counter(name for name, _ in seen).items())
    }


def recall_by_position(
    positions: Sequence[str | None],
    kinds: Sequence[str | None],
    gold: Sequence[str],
    predicted: Sequence[str | None],
    over: Collection[str] = POSITION_KINDS,
) -> dict[str, Recall]:
    """Recall by position (begin, middle, end) over the four kinds of figure 5, or over those given."""
    same_length(positions, kinds)
    kept = [place if kind in over else None for place, kind in zip(positions, kinds, strict=True)]
    return recall_by(kept, gold, predicted)
