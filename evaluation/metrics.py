"""The papers' scores, and the rates, intervals and agreements that all scores are made of.

Knows: pure functions of gold and predicted columns of one length. In `predicted` None, `undecided` or a failure's
name may stand, too: it is the wrong class, counted, never dropped. Positive means hallucinated. A rate whose
denominator is empty is None, never 0 and never NaN. A place is a half-open `(start, end)` in code points.
Does not know: data sets, judges, or how scores are shown.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from random import Random
from typing import NamedTuple, TypeVar, get_args

import numpy as np

from longproof.agent.report import WRONG
from longproof.agent.types import LABELS, Failure, Kind
from longproof.evaluation.results import PredictedClaim
from longproof.evaluation.types import GoldClaim
from longproof.retrieval.types import BadInput

T = TypeVar("T")
U = TypeVar("U")
UNDECIDED = frozenset({None, "undecided", *get_args(Failure)})
DRAWS = 1000
LEAST_DEFINED = 0.95
Offsets = tuple[int, int]
Marked = Sequence[Sequence[Offsets]]
POSITION_KINDS: frozenset[Kind] = frozenset({"numerical", "inversion", "event", "entity"})
"""The four kinds over which LongNovel draws recall by position: those of median difficulty (section 5.2)."""
FAITHFUL_LABELS = frozenset({"implicitly_supported", "explicitly_supported"})
DROPPED_GOLD = frozenset({"ambiguous", "out_dependent", "no_fact"})
"""Gray labels, and the one that states nothing."""
THRESHOLDS = ("out_dependent", "implicitly_supported", "explicitly_supported")
DEGREE: dict[str, int] = {label: degree for degree, label in enumerate(LABELS)}
OVERLAP = 0.5
"""PROBE: origins, words and pieces match from this share on."""
WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]|[^\W_\u3400-\u4dbf\u4e00-\u9fff]+")


def is_hallucinated(name: str | None) -> bool | None:
    """True, False, or None where nothing was decided, of an outcome or one of the seven labels.

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

    Floats, since published accuracies are averages over runs. By gold `positives` are hallucinated, `negatives`
    faithful.
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
    """Matthews correlation (1975) in [-1, 1]; None where a gold class is empty.

    0 where all predictions are one class: the limit (Chicco and Jurman 2020), and what LongNovel prints.
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
        items = given or ()
        n_gold, n_predicted = n_gold + len(wanted), n_predicted + len(items)
        found += sum(any(match(item, other) for other in items) for item in wanted)
        right += sum(any(match(other, item) for other in wanted) for item in items)
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
    """Agreement between judges (Fleiss 1971): `panels[i]` are the labels given to item i; a failure is no vote.

    Items with fewer than two votes lower the coverage. None where all votes are one label. Where numbers of votes
    differ, observed agreement is the mean over items, and chance comes from all votes on items rated.
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

    Two Nones where there are no items, or where the statistic is undefined in more than one resample of twenty.
    """
    random, known = Random(0), list[float]()
    for _ in range(DRAWS if items else 0):
        value = statistic(random.choices(items, k=len(items)))
        known += [] if value is None else [value]
    if len(known) < LEAST_DEFINED * DRAWS:
        return None, None
    low, high = np.quantile(known, (0.025, 0.975))
    return float(low), float(high)


def outcome_counts(gold: Sequence[str], predicted: Sequence[str | None]) -> Counts:
    """LongNovel (section 4.3): the counts of one prediction a response, of outcomes or labels.

    `recall` of the counts is the accuracy of hallucinated, `specificity` that of faithful.
    """
    names = zip(gold, predicted, strict=True)
    return count((bool(is_hallucinated(right)), is_hallucinated(said)) for right, said in names)


def pair_accuracy(pairs: Sequence[str], right: Sequence[bool | None]) -> Rate:
    """NoCha: pairs with both (all) claims judged right, over all pairs.

    `pairs[i]` names the pair of claim i; `right[i]` says whether that was judged right, None where undecided.
    """
    verdicts: dict[str, list[bool | None]] = {}
    for pair, verdict in zip(pairs, right, strict=True):
        verdicts.setdefault(pair, []).append(verdict)
    n, n_decided = len(verdicts), sum(None not in both for both in verdicts.values())
    return Rate(share(sum(map(all, verdicts.values())), n), n, share(n_decided, n))


def flip_rate(runs: Sequence[Sequence[str | None]]) -> Rate:
    """Examples whose answers differ between any two runs, over all.

    `runs[r][i]` is the answer of run r on example i; None is an answer of its own.
    """
    answers = list(zip(*runs, strict=True))
    return Rate(share(sum(len(set(example)) > 1 for example in answers), len(answers)), len(answers))


def character_counts(gold: Sequence[Offsets], predicted: Sequence[Offsets] | None) -> Counts:
    """RAGTruth: common, wrongly flagged and missed characters of one example, overlaps counted once."""
    wanted, marked = _characters(gold), _characters(predicted or ())
    common = len(wanted & marked)
    return Counts(common, len(marked) - common, len(wanted) - common, 0)


def mistake_scores(gold: Marked, predicted: Sequence[Sequence[Offsets] | None]) -> Matches:
    """Thomson and Reiter: precision, recall and F1 over places; one common character is enough, as there."""
    return matches(gold, predicted, lambda one, other: max(one[0], other[0]) < min(one[1], other[1]))


def unfaithful_counts(gold: Sequence[str], predicted: Sequence[str | None]) -> Counts:
    """VeriGray (section 5.2): two merged classes, one label a sentence; mean_accuracy is its balanced
    one.

    Sentences are dropped by gold alone. predicted: labels, or `not_found` (unfaithful).
    """
    sure = list[tuple[bool, bool | None]]()
    for name, label in zip(gold, predicted, strict=True):
        if name not in DROPPED_GOLD:
            sure.append((name not in FAITHFUL_LABELS, _is_unfaithful(label)))
    return count(sure)


def ranking_loss(gold: Sequence[str], predicted: Sequence[str | None], keep_no_fact: bool = False) -> Rate:
    """VeriGray, equation 1: over all pairs with different gold degrees, the share that is ranked the wrong way.

    A pair of equal predictions counts half. Gold no_fact is left out as the paper's text says, kept in its place as
    its code does with `keep_no_fact`. Predictions have two ranks, so pairs are counted by degree and rank.
    """
    seen, n_decided = Counter[tuple[int, bool]](), 0
    for name, label in zip(gold, predicted, strict=True):
        if keep_no_fact or name != "no_fact":
            unfaithful = _is_unfaithful(label)
            rank = name not in FAITHFUL_LABELS if unfaithful is None else not unfaithful
            seen[DEGREE[name], rank] += 1
            n_decided += unfaithful is not None
    lost, pairs = 0.0, 0
    for (higher, first), n in seen.items():
        for (lower, second), m in seen.items():
            if higher > lower:
                pairs += n * m
                lost += n * m * (1 if second > first else 0.5 if second == first else 0)
    return Rate(share(lost, pairs), seen.total(), share(n_decided, seen.total()))


def risk_coverage(gold: Sequence[str], predicted: Sequence[str | None]) -> dict[str, Rate]:
    """VeriGray's selective prediction (figure 3): accept what is predicted at or above each threshold.

    The rate is the risk: hallucinated over accepted; its coverage is accepted over all. Over gold that is surely
    faithful or surely unfaithful. An undecided prediction is never accepted.
    """
    risks = dict[str, Rate]()
    for threshold in THRESHOLDS:
        n = n_accepted = n_wrong = 0
        for name, label in zip(gold, predicted, strict=True):
            if name not in DROPPED_GOLD:
                accepted = DEGREE.get(str(label), -1) >= DEGREE[threshold]
                n, n_accepted = n + 1, n_accepted + accepted
                n_wrong += accepted and name not in FAITHFUL_LABELS
        risks[threshold] = Rate(share(n_wrong, n_accepted), n_accepted, share(n_accepted, n))
    return risks


def claims_match(first: GoldClaim | PredictedClaim, second: GoldClaim | PredictedClaim) -> bool:
    """PROBE (section 4): overlap of origins of at least one half, else a word F1 of at least one half.

    The paper matches claims with a model and names no rule; ours is deterministic. Overlap is common characters
    over those of either; words are compared case folded, Han characters one by one. Many to many, since annotators
    cut at different grain.
    """
    one, other = first.origin, second.origin
    if one and other:
        common = max(0, min(one.end, other.end) - max(one.start, other.start))
        either = one.end - one.start + other.end - other.start - common
        if common >= OVERLAP * max(1, either):
            return True
    words, others = (Counter(WORD.findall(claim.text.casefold())) for claim in (first, second))
    return 2 * (words & others).total() >= OVERLAP * max(1, words.total() + others.total())


def evidence_scores(gold: Marked, found: Marked) -> tuple[Rate, Rate]:
    """PROBE, step 2: the claims of which at least one annotated piece of the source was found, and those with all.

    A piece counts as found when at least half of its own characters lie in what was found.
    """
    n, n_partial, n_complete = len(gold), 0, 0
    for pieces, places in zip(gold, found, strict=True):
        held, n_hits = _characters(places), 0
        for piece in pieces:
            own = _characters([piece])
            n_hits += len(held & own) >= OVERLAP * max(1, len(own))
        n_partial, n_complete = n_partial + (n_hits > 0), n_complete + (n_hits == len(pieces))
    return Rate(share(n_partial, n), n), Rate(share(n_complete, n), n)


def vote_accuracy(supports: Sequence[bool], votes: Sequence[bool | None]) -> Rate:
    """PROBE, step 3: accuracy over (claim, piece) pairs. `supports`: the claim is true, so its piece supports it.

    A vote of None (a failure) is wrong, and counted.
    """
    right = sum(vote is not None and vote == truth for truth, vote in zip(supports, votes, strict=True))
    return Rate(share(right, len(votes)), len(votes), decided_share(votes))


def _characters(places: Sequence[Offsets]) -> set[int]:
    return {at for start, end in places for at in range(start, end)}


def _is_unfaithful(label: str | None) -> bool | None:
    """True below implicitly_supported; None where nothing was decided."""
    if label in UNDECIDED:
        return None
    return DEGREE.get(str(label), -1) < DEGREE["implicitly_supported"]
