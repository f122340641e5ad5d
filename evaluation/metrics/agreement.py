"""How far runs, judges and the arbiter agree with themselves and each other, and how sure a score is.

Fleiss 1971, with as many voices an item as there are (a failure is no voice, and is counted).
Intervals: Efron's percentile bootstrap over whole groups, seeded. Does not know: what is right.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from random import Random
from typing import NamedTuple, TypedDict, TypeVar

from longproof.evaluation.metrics.counts import share
from longproof.evaluation.metrics.sides import UNDECIDED, refuse_unknown, same_length
from longproof.retrieval.types import BadInput

T = TypeVar("T")
DRAWS = 1000
LEAST_DEFINED = 0.95


class FlipRate(TypedDict):
    """`flip_rate` is examples whose answers differ between any two runs, over all examples."""

    flip_rate: float | None
    n: int
    n_flipped: int
    n_runs: int


class Kappa(TypedDict):
    """`kappa` in [-1, 1]; None where all voices are one label. `coverage` is items with two voices over all."""

    kappa: float | None
    n: int
    n_rated: int
    n_failures: int
    coverage: float | None


class Overrides(TypedDict):
    """`override_rate` is arbitrated items decided against the panel's plurality, over those with both."""

    override_rate: float | None
    n: int
    n_overridden: int
    n_without_plurality: int
    n_undecided: int
    coverage: float | None


class PairAccuracy(TypedDict):
    """`pair_accuracy` is pairs with both claims judged right, over all pairs (NoCha)."""

    pair_accuracy: float | None
    n_pairs: int
    n_undecided: int
    coverage: float | None


class Interval(NamedTuple):
    """A two-sided interval; `draws` is how many resamples had a defined statistic."""

    low: float
    high: float
    draws: int


def flip_rate(runs: Sequence[Sequence[str | None]]) -> FlipRate:
    """Run-to-run flip rate: `runs[r][i]` is the answer of run r on example i; None is an answer of its own.

    The rate is None with fewer than two runs.
    """
    same_length(*runs)
    answers = list(zip(*runs, strict=True))
    flipped = sum(len(set(row)) > 1 for row in answers)
    return FlipRate(
        flip_rate=share(flipped, len(answers)) if len(runs) > 1 else None,
        n=len(answers),
        n_flipped=flipped,
        n_runs=len(runs),
    )


def fleiss_kappa(voices: Sequence[Sequence[str | None]]) -> Kappa:
    """Agreement between judges: `voices[i]` are the labels given to item i, None or a failure is no voice.

    Items with fewer than two voices cannot agree; they stay in `n` and lower the coverage. With equal
    numbers of voices this is Fleiss' kappa; else observed agreement is the mean over items, and chance
    comes from all voices on items rated. Raises BadInput for what is no label, `not_found` or outcome.
    """
    refuse_unknown(chain.from_iterable(voices))
    rated = [heard for row in voices if len(heard := _heard(row)) > 1]
    totals = Counter(label for row in rated for label in row)
    n_voices = totals.total()
    kappa = None
    if len(totals) > 1:
        observed = sum(map(_agreement, rated)) / len(rated)
        chance = sum((n / n_voices) ** 2 for n in totals.values())
        kappa = (observed - chance) / (1 - chance)
    return Kappa(
        kappa=kappa,
        n=len(voices),
        n_rated=len(rated),
        n_failures=sum(len(row) - len(_heard(row)) for row in voices),
        coverage=share(len(rated), len(voices)),
    )


def override_rate(panels: Sequence[Sequence[str | None]], arbiter: Sequence[str | None]) -> Overrides:
    """How often the arbiter decided against the panel's plurality, over items that came to the arbiter.

    Items without a single most frequent label, or on which the arbiter failed, are counted apart. Raises
    BadInput for what is no label, `not_found` or outcome.
    """
    same_length(panels, arbiter)
    refuse_unknown(chain(arbiter, *panels))
    rows = [(_plurality(panel), said) for panel, said in zip(panels, arbiter, strict=True)]
    decided = [(most, said) for most, said in rows if said is not None and said not in UNDECIDED]
    comparable = [(most, said) for most, said in decided if most is not None]
    overridden = sum(most != said for most, said in comparable)
    return Overrides(
        override_rate=share(overridden, len(comparable)),
        n=len(rows),
        n_overridden=overridden,
        n_without_plurality=sum(most is None for most, _ in rows),
        n_undecided=len(rows) - len(decided),
        coverage=share(len(comparable), len(rows)),
    )


def pair_accuracy(pairs: Sequence[str], right: Sequence[bool | None]) -> PairAccuracy:
    """NoCha: `pairs[i]` names the pair of claim i; `right[i]` whether it was judged right, None undecided.

    Raises BadInput where a pair does not have exactly two claims.
    """
    same_length(pairs, right)
    claims: dict[str, list[bool | None]] = {}
    for pair, verdict in zip(pairs, right, strict=True):
        claims.setdefault(pair, []).append(verdict)
    odd = [pair for pair, verdicts in claims.items() if len(verdicts) != 2]
    if odd:
        raise BadInput(f"pair {odd[0]!r} has {len(claims[odd[0]])} claims; a pair has a true and a false one")
    n_undecided = sum(None in verdicts for verdicts in claims.values())
    return PairAccuracy(
        pair_accuracy=share(sum(all(verdicts) for verdicts in claims.values()), len(claims)),
        n_pairs=len(claims),
        n_undecided=n_undecided,
        coverage=share(len(claims) - n_undecided, len(claims)),
    )


def bootstrap_interval(
    statistic: Callable[[Sequence[T]], float | None],
    items: Sequence[T],
    groups: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
) -> Interval | None:
    """Percentile interval of a statistic, resampling whole groups (items of one source belong together).

    None where there are no items, or where the statistic is undefined in more than one resample of
    twenty: an interval over the rest would be of something else. For a paired difference let each item
    hold both sides.
    """
    bags = _bags(items, groups)
    random = Random(seed)
    values = [
        statistic([item for bag in random.choices(bags, k=len(bags)) for item in bag])
        for _ in range(draws if bags else 0)
    ]
    known = sorted(value for value in values if value is not None)
    if not known or len(known) < LEAST_DEFINED * draws:
        return None
    tail = (1 - level) / 2
    return Interval(_quantile(known, tail), _quantile(known, 1 - tail), len(known))


def _bags(items: Sequence[T], groups: Sequence[Hashable] | None) -> list[list[T]]:
    same_length(items, groups if groups is not None else items)
    bags: dict[Hashable, list[T]] = {}
    for place, item in enumerate(items):
        bags.setdefault(groups[place] if groups is not None else place, []).append(item)
    return list(bags.values())


def _quantile(ordered: Sequence[float], at: float) -> float:
    """Linear interpolation between the two nearest order statistics."""
    place = at * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _heard(row: Sequence[str | None]) -> list[str]:
    return [label for label in row if label is not None and label not in UNDECIDED]


def _agreement(row: Sequence[str]) -> float:
    """The share of ordered pairs of voices on one item that agree."""
    return sum(n * (n - 1) for n in Counter(row).values()) / (len(row) * (len(row) - 1))


def _plurality(row: Sequence[str | None]) -> str | None:
    most = Counter(_heard(row)).most_common(2)
    if not most or (len(most) == 2 and most[0][1] == most[1][1]):
        return None
    return most[0][0]
