"""Scores with intervals: what each example counts, the rate of the counts' sum, and the groups to resample.

Knows: two-by-two counts of responses, parts and characters. Does not know: which scores a set is given, or how
they are shown.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce

from longproof.agent.types import KINDS
from longproof.evaluation.metrics import bootstrap_interval, character_scores, longnovel_scores
from longproof.evaluation.metrics.counts import Counts, count, f1, mcc, mean, precision, recall, specificity
from longproof.evaluation.metrics.longnovel import OutcomeScores
from longproof.evaluation.metrics.sides import against, is_hallucinated
from longproof.evaluation.metrics.spans import Place as At
from longproof.evaluation.results import Result, flagged, gold_at, outcome_at
from longproof.retrieval.types import Frozen

NOTHING = Counts(0, 0, 0, 0)
ORDER = ("S", "M", "L", "XL", "XXL", "begin", "middle", "end", *KINDS)
"""Values of slices that have an order of their own."""


class Score(Frozen):
    """One number: its denominator in words and in size, its coverage, and where it has one its interval."""

    name: str
    value: float | None
    over: str
    n: int
    coverage: float | None = None
    low: float | None = None
    high: float | None = None


def flat(coverage: float | None, *rows: tuple[str, float | None, str, int]) -> Iterator[Score]:
    """Scores without intervals, of one coverage: name, value, denominator in words, its size."""
    for name, value, over, n in rows:
        yield Score(name=name, value=value, over=over, n=n, coverage=coverage)


def headline(results: Sequence[Result], name: str, over: str, n: int, coverage: float | None) -> Score:
    """One of HEADLINES with its 95 % interval over whole groups."""
    counted, rate = HEADLINES[name]
    groups: dict[str, list[Counts]] = {}
    for result in results:
        groups.setdefault(result.group, []).append(counted(result))
    bags = [bag for bag in map(total, groups.values()) if any(bag)]
    found = bootstrap_interval(lambda drawn: rate(total(drawn)), bags)
    low, high = (found.low, found.high) if found else (None, None)
    return Score(name=name, value=rate(total(bags)), over=over, n=n, coverage=coverage, low=low, high=high)


def sided(results: Iterable[Result]) -> list[Result]:
    """The results whose gold takes a side."""
    return [result for result in results if result.gold.outcome is not None]


def ordered(values: Iterable[str]) -> list[str]:
    """Values of a slice without repeats: scales, positions and kinds in their own order, others by name."""
    return sorted(
        set(values), key=lambda value: (ORDER.index(value) if value in ORDER else len(ORDER), value)
    )


def outcome_scores(results: Sequence[Result]) -> OutcomeScores:
    """`longnovel_scores` of the responses; their gold takes a side."""
    return longnovel_scores([str(r.gold.outcome) for r in results], [r.prediction.outcome for r in results])


def outcome_counts(result: Result) -> Counts:
    """The two-by-two counts of one response; nothing where its gold is gray."""
    if result.gold.outcome is None:
        return NOTHING
    gold = [result.gold.outcome == "hallucinated"]
    return count(gold, against(gold, [is_hallucinated(result.prediction.outcome)]))


def part_counts(result: Result) -> Counts:
    """The same over the response's gold parts that take a side."""
    parts = [part for part in result.gold.parts or () if part.outcome is not None]
    gold = [part.outcome == "hallucinated" for part in parts]
    said = [is_hallucinated(outcome_at(result.prediction, part.place)) for part in parts]
    return count(gold, against(gold, said))


def character_counts(result: Result) -> Counts:
    """Common, wrongly flagged and missed characters of one response; nothing where none are annotated."""
    if result.gold.errors is None:
        return NOTHING
    scores = character_scores([gold_places(result)], [flagged(result.prediction)])
    common = scores["n_common_characters"]
    flags, gold = scores["n_flagged_characters"], scores["n_gold_characters"]
    return Counts(common, flags - common, gold - common, 0)


def conflict_counts(result: Result) -> Counts:
    """Of the claims that the offline check calls contradicting: how many gold calls wrong there, and how many right.

    A claim is where its flagged words are, all of it where none are flagged. Gray gold counts nothing.
    """
    if not result.prediction.triage:
        return NOTHING
    found = [claim for claim in result.prediction.claims if claim.label == "contradicting"]
    sides = [{gold_at(result.gold, place) for place in claim.flagged or (claim.origin,)} for claim in found]
    right = sum("hallucinated" in told for told in sides)
    return Counts(right, sum(told == {"faithful"} for told in sides), 0, 0)


def standing_counts(result: Result) -> Counts:
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


def gold_places(result: Result, name: str | None = None) -> list[At]:
    """The gold errors' places, all or those of one name."""
    errors = result.gold.errors or ()
    return [(e.place.start, e.place.end) for e in errors if name is None or e.name == name]


def mean_accuracy(counts: Counts) -> float | None:
    """The mean of the two class accuracies."""
    return mean([recall(counts), specificity(counts)])


def total(counts: Iterable[Counts]) -> Counts:
    """The sum of counts."""
    return reduce(lambda a, b: Counts(a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]), counts, NOTHING)


HEADLINES: dict[str, tuple[Callable[[Result], Counts], Callable[[Counts], float | None]]] = {
    "precision of conflicts": (conflict_counts, precision),
    "precision of what stands there": (standing_counts, precision),
    "mean accuracy": (outcome_counts, mean_accuracy),
    "accuracy of hallucinated": (outcome_counts, recall),
    "accuracy of faithful": (outcome_counts, specificity),
    "MCC": (outcome_counts, mcc),
    "parts: mean accuracy": (part_counts, mean_accuracy),
    "characters: F1": (character_counts, f1),
}
"""Scores with an interval: what an example counts, and the rate of the counts' sum."""
