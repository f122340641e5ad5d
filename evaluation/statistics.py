"""Rates of a two-by-two table, matched items, bootstrap intervals, agreement of judges: all scores are made of these.

Knows: the two classes of a label or an outcome; positive means hallucinated. A rate whose denominator is empty is
None, never 0 and never NaN. Matthews correlation: Matthews 1975; Chicco and Jurman 2020 for the constant predictor.
Kappa: Fleiss 1971. Intervals: Efron's percentile bootstrap. Does not know: which paper asks.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from random import Random
from typing import NamedTuple, TypeVar, get_args

import numpy as np

from longproof.agent.report import WRONG
from longproof.agent.types import LABELS, Failure
from longproof.retrieval.types import BadInput

T = TypeVar("T")
U = TypeVar("U")
UNDECIDED = frozenset({None, "undecided", *get_args(Failure)})
DRAWS = 1000
LEAST_DEFINED = 0.95


def is_hallucinated(name: str | None) -> bool | None:
    """True, False, or None where nothing was decided (None, `undecided`, or the name of a failure).

    Takes an outcome (`faithful`, `hallucinated`, `undecided`) or one of the seven labels.
    Raises BadInput for any other name.
    """
    if name in UNDECIDED:
        return None
    if name == "hallucinated" or name in WRONG:
        return True
    if name == "faithful" or name in LABELS:
        return False
    raise BadInput(f"{name!r} is neither an outcome, a label nor a failure; use one of {', '.join(LABELS)}")


class Counts(NamedTuple):
    """The cells of a table of gold and predicted classes; `undecided` ones are among the wrong ones.

    Floats, since published accuracies are averages over runs. By gold `positives` are hallucinated and `negatives`
    faithful; `flags` are those that the prediction calls hallucinated.
    """

    true_positive: float
    false_positive: float
    false_negative: float
    true_negative: float
    undecided: float = 0

    @property
    def positives(self) -> int:
        return int(self.true_positive + self.false_negative)

    @property
    def negatives(self) -> int:
        return int(self.false_positive + self.true_negative)

    @property
    def all(self) -> int:
        return self.positives + self.negatives

    @property
    def flags(self) -> int:
        return int(self.true_positive + self.false_positive)


class Rate(NamedTuple):
    """A rate, the number of things that it is of, and its coverage: how many were decided, over all."""

    value: float | None
    n: int
    coverage: float | None = None


class Matches(NamedTuple):
    """`precision` is over predicted items that match a gold one, `recall` and `f1` over gold items."""

    precision: Rate
    recall: Rate
    f1: Rate


NOTHING = Counts(0, 0, 0, 0)


def count(pairs: Iterable[tuple[bool, bool | None]]) -> Counts:
    """The table of gold and prediction, True for hallucinated. None is undecided: the wrong class, and counted."""
    cells, undecided = Counter[tuple[bool, bool]](), 0
    for gold, predicted in pairs:
        undecided += predicted is None
        cells[gold, not gold if predicted is None else predicted] += 1
    return Counts(cells[True, True], cells[False, True], cells[True, False], cells[False, False], undecided)


def sum_counts(tables: Iterable[Counts]) -> Counts:
    """The sum of tables, field by field."""
    return Counts(*map(sum, zip(NOTHING, *tables, strict=True)))


def share(part: float, whole: float) -> float | None:
    """`part / whole`, or None where the whole is empty."""
    return part / whole if whole else None


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


def mean_accuracy(counts: Counts) -> float | None:
    """The mean of the two class accuracies: balanced accuracy."""
    found, kept = recall(counts), specificity(counts)
    return None if found is None or kept is None else (found + kept) / 2


def accuracy(counts: Counts) -> float | None:
    """Right predictions over all."""
    return share(counts.true_positive + counts.true_negative, counts.all)


def coverage(counts: Counts) -> float | None:
    """Decided predictions over all."""
    return share(counts.all - counts.undecided, counts.all)


def mcc(counts: Counts) -> float | None:
    """Matthews correlation in [-1, 1]; None where a gold class is empty.

    0 where all predictions are one class: the limit of the formula, and what seed 004 prints.
    """
    tp, fp, fn, tn, _ = counts
    if not tp + fn or not tn + fp:
        return None
    if not tp + fp or not tn + fn:
        return 0.0
    return (tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


def matches(
    gold: Sequence[Sequence[T]], predicted: Sequence[Sequence[U] | None], match: Callable[[T, U], bool]
) -> Matches:
    """Gold and predicted items of each response, matched many to many; None is undecided: nothing was predicted.

    F1 is the harmonic mean of the two rates, since their true positives are counted on two sides.
    """
    n_gold = n_predicted = found = right = 0
    for wanted, given in zip(gold, predicted, strict=True):
        items, matched_items = given or (), set[int]()
        for item in wanted:
            matching = [n for n, other in enumerate(items) if match(item, other)]
            matched_items.update(matching)
            found += bool(matching)
        n_gold, n_predicted, right = (
            n_gold + len(wanted),
            n_predicted + len(items),
            right + len(matched_items),
        )
    exact, complete, decided = share(right, n_predicted), share(found, n_gold), decided_share(predicted)
    mean = None
    if exact is not None and complete is not None:
        mean = 2 * exact * complete / (exact + complete) if exact + complete else 0.0
    return Matches(
        Rate(exact, n_predicted, decided), Rate(complete, n_gold, decided), Rate(mean, n_gold, decided)
    )


def decided_share(predicted: Sequence[object]) -> float | None:
    """The coverage of a column: entries that are not None, over all."""
    return share(sum(one is not None for one in predicted), len(predicted))


def fleiss_kappa(panels: Sequence[Sequence[str | None]]) -> Rate:
    """Agreement between judges: `panels[i]` are the labels given to item i, None or a failure is no vote.

    Items with fewer than two votes cannot agree; they stay in `n` and lower the coverage. The kappa is None where all
    votes are one label. With equal numbers of votes this is Fleiss' kappa; else observed agreement is the mean over
    items, and chance comes from all votes on items rated.
    """
    totals, agreements, kappa = Counter[str | None](), list[float](), None
    for item in panels:
        votes = Counter(label for label in item if label not in UNDECIDED)
        if (n_votes := votes.total()) > 1:
            totals += votes
            agreements.append(sum(n * (n - 1) for n in votes.values()) / (n_votes * (n_votes - 1)))
    if len(totals) > 1:
        chance = sum((n / totals.total()) ** 2 for n in totals.values())
        kappa = (sum(agreements) / len(agreements) - chance) / (1 - chance)
    return Rate(kappa, len(panels), share(len(agreements), len(panels)))


def bootstrap_interval(
    statistic: Callable[[Sequence[T]], float | None], items: Sequence[T]
) -> tuple[float | None, float | None]:
    """The 95 % percentile interval of a statistic, resampling the items: whole groups, where things belong together.

    Two Nones where there are no items, or where the statistic is undefined in more than one resample of twenty: an
    interval over the rest would be of something else. For a paired difference let each item hold both sides.
    """
    random, known = Random(0), list[float]()
    for _ in range(DRAWS if items else 0):
        value = statistic(random.choices(items, k=len(items)))
        known += [] if value is None else [value]
    if len(known) < LEAST_DEFINED * DRAWS:
        return None, None
    low, high = np.quantile(known, (0.025, 0.975))
    return float(low), float(high)
