"""Rates of two-by-two counts, with and without intervals: what each example counts, and the groups to resample.

Knows: two-by-two counts of responses, parts and characters. Does not know: which scores a set is given, or how
they are shown.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from longproof.agent.types import KINDS
from longproof.evaluation.metrics.classes import is_hallucinated
from longproof.evaluation.metrics.outcomes import outcome_counts
from longproof.evaluation.metrics.spans import Offsets, character_counts
from longproof.evaluation.metrics.statistics import (
    Counts,
    accuracy,
    bootstrap_interval,
    count,
    coverage,
    f1,
    mcc,
    mean_accuracy,
    precision,
    recall,
    specificity,
    sum_counts,
)
from longproof.evaluation.results import Result, flagged_places, gold_at, outcome_at
from longproof.evaluation.tables import Score

NOTHING = Counts(0, 0, 0, 0)
ORDER = ("S", "M", "L", "XL", "XXL", "begin", "middle", "end", *KINDS)
"""Values of slices that have an order of their own."""


class CountedRate(NamedTuple):
    """A rate of counts, its denominator in words, and how large that is."""

    rate: Callable[[Counts], float | None]
    over: str
    n: Callable[[Counts], int]


CLASS_RATES = {
    "mean accuracy": CountedRate(mean_accuracy, "two classes", lambda counts: counts.all),
    "recall": CountedRate(recall, "hallucinated", lambda counts: counts.hallucinated),
    "accuracy of faithful": CountedRate(specificity, "faithful", lambda counts: counts.faithful),
    "precision": CountedRate(precision, "called hallucinated", lambda counts: counts.called),
    "F1": CountedRate(f1, "hallucinated", lambda counts: counts.hallucinated),
    "accuracy": CountedRate(accuracy, "responses", lambda counts: counts.all),
    "MCC": CountedRate(mcc, "responses", lambda counts: counts.all),
}


def class_scores(counts: Counts, names: Iterable[str], before: str = "", after: str = "") -> Iterator[Score]:
    """Some of CLASS_RATES; `before` and `after` are put around their names."""
    for name in names:
        one = CLASS_RATES[name]
        yield Score(
            name=f"{before}{name}{after}",
            value=one.rate(counts),
            over=one.over,
            n=one.n(counts),
            coverage=coverage(counts),
        )


def headline(results: Sequence[Result], name: str, decided: float | None = None) -> Score:
    """One of HEADLINES with its 95 % interval over whole groups.

    `decided` is its coverage where that is not the counts' own.
    """
    counted, (rate, over, n) = HEADLINES[name]
    groups: dict[str, list[Counts]] = {}
    for result in results:
        groups.setdefault(result.group, []).append(counted(result))
    bags = [bag for bag in map(sum_counts, groups.values()) if any(bag)]
    found = bootstrap_interval(lambda drawn: rate(sum_counts(drawn)), bags)
    low, high = found or (None, None)
    counts = sum_counts(bags)
    return Score(
        name=name,
        value=rate(counts),
        over=over,
        n=n(counts),
        coverage=coverage(counts) if decided is None else decided,
        low=low,
        high=high,
    )


def with_gold_outcome(results: Iterable[Result]) -> list[Result]:
    """The results whose gold is faithful or hallucinated, not gray."""
    return [result for result in results if result.gold.outcome is not None]


def in_order(values: Iterable[str]) -> list[str]:
    """Values of a slice without repeats: scales, positions and kinds in their own order, others by name."""
    return sorted(
        set(values), key=lambda value: (ORDER.index(value) if value in ORDER else len(ORDER), value)
    )


def response_counts(result: Result) -> Counts:
    """The two-by-two counts of one response; nothing where its gold is gray."""
    if result.gold.outcome is None:
        return NOTHING
    return outcome_counts([result.gold.outcome], [result.prediction.outcome])


def part_counts(result: Result) -> Counts:
    """The same over the response's gold parts that are not gray."""
    parts = [part for part in result.gold.parts or () if part.outcome is not None]
    said = [is_hallucinated(outcome_at(result.prediction, part.place)) for part in parts]
    return count([part.outcome == "hallucinated" for part in parts], said)


def flagged_counts(result: Result) -> Counts:
    """Common, wrongly flagged and missed characters of one response; nothing where none are annotated."""
    if result.gold.errors is None:
        return NOTHING
    return character_counts(gold_places(result), flagged_places(result.prediction))


def conflict_counts(result: Result) -> Counts:
    """Of the claims that the offline check calls contradicting: how many gold calls wrong there, and how many right.

    A claim is where its flagged words are, all of it where none are flagged. Gray gold counts nothing.
    """
    if not result.prediction.triage:
        return NOTHING
    found = [claim for claim in result.prediction.claims if claim.label == "contradicting"]
    sides = [{gold_at(result.gold, place) for place in claim.flagged or (claim.origin,)} for claim in found]
    right = sum("hallucinated" in side for side in sides)
    return Counts(right, sum(side == {"faithful"} for side in sides), 0, 0)


def stands_there_counts(result: Result) -> Counts:
    """Of the claims that the offline check calls explicitly_supported: how many gold calls right, and how many wrong.

    Only gold that says which part of a wrong response is wrong tells that.
    """
    gold = result.gold
    if not result.prediction.triage or (
        gold.outcome == "hallucinated" and not gold.errors and gold.parts is None
    ):
        return NOTHING
    found = [claim for claim in result.prediction.claims if claim.label == "explicitly_supported"]
    sides = [gold_at(gold, claim.origin) for claim in found]
    return Counts(sides.count("faithful"), sides.count("hallucinated"), 0, 0)


def gold_places(result: Result, name: str | None = None) -> list[Offsets]:
    """The gold errors' places, all or those of one name."""
    errors = result.gold.errors or ()
    return [(e.place.start, e.place.end) for e in errors if name is None or e.name == name]


CALLED = CountedRate(precision, "conflicting claims", lambda counts: counts.called)
HEADLINES: dict[str, tuple[Callable[[Result], Counts], CountedRate]] = {
    "precision of conflicts": (conflict_counts, CALLED),
    "precision of what stands there": (
        stands_there_counts,
        CALLED._replace(over="claims that stand there"),
    ),
    "mean accuracy": (response_counts, CLASS_RATES["mean accuracy"]),
    "accuracy of hallucinated": (response_counts, CLASS_RATES["recall"]),
    "accuracy of faithful": (response_counts, CLASS_RATES["accuracy of faithful"]),
    "MCC": (response_counts, CLASS_RATES["MCC"]),
    "parts: mean accuracy": (part_counts, CLASS_RATES["mean accuracy"]),
    "characters: F1": (flagged_counts, CLASS_RATES["F1"]._replace(over="gold characters")),
}
"""Scores with an interval: what an example counts, and the rate of the counts' sum."""
