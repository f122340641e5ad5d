"""The papers' scores: pure functions of gold and predicted columns of one length.

Knows: `gold` is a list of names (the seven labels, or the outcomes `faithful` and `hallucinated`), in `predicted`
None, `undecided` or a failure's name may stand, too: it is the wrong class, counted, never dropped. A place is a
half-open `(start, end)` in code points. Does not know: data sets, judges, or how scores are shown.
"""

import re
from collections import Counter
from collections.abc import Sequence

from longproof.agent.types import LABELS, Kind
from longproof.evaluation.results import PredictedClaim
from longproof.evaluation.statistics import (
    UNDECIDED,
    Counts,
    Matches,
    Rate,
    count,
    decided_share,
    f1,
    is_hallucinated,
    matches,
    precision,
    recall,
    share,
    sum_counts,
)
from longproof.evaluation.types import GoldClaim

Offsets = tuple[int, int]
Marked = Sequence[Sequence[Offsets]]
MaybeMarked = Sequence[Sequence[Offsets] | None]
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


def outcome_counts(gold: Sequence[str], predicted: Sequence[str | None]) -> Counts:
    """LongNovel (seed 004, section 4.3): the counts of one prediction a response, of outcomes or labels.

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


def character_scores(gold: Marked, predicted: MaybeMarked) -> Matches:
    """RAGTruth: precision, recall and F1 over characters, micro sums over all examples; None marks nothing."""
    counts, decided = sum_counts(map(character_counts, gold, predicted)), decided_share(predicted)
    return Matches(
        Rate(precision(counts), counts.flags, decided),
        Rate(recall(counts), counts.positives, decided),
        Rate(f1(counts), counts.positives, decided),
    )


def mistake_scores(gold: Marked, predicted: MaybeMarked) -> Matches:
    """Thomson and Reiter: the same over places; one character in common is enough (their shared task's reading)."""
    return matches(gold, predicted, lambda one, other: max(one[0], other[0]) < min(one[1], other[1]))


def unfaithful_counts(gold: Sequence[str], predicted: Sequence[str | None]) -> Counts:
    """VeriGray (seed 002, section 5.2): two merged classes, one label a sentence; mean_accuracy is its balanced one.

    Sentences are dropped by gold alone. predicted: labels, or `not_found` (unfaithful).
    """
    sure = list[tuple[bool, bool | None]]()
    for name, label in zip(gold, predicted, strict=True):
        if name not in DROPPED_GOLD:
            sure.append((name not in FAITHFUL_LABELS, _is_unfaithful(label)))
    return count(sure)


def ranking_loss(gold: Sequence[str], predicted: Sequence[str | None], keep_no_fact: bool = False) -> Rate:
    """VeriGray, equation 1: over all pairs with different gold degrees, the share that is ranked the wrong way.

    A pair of equal predictions counts half. None where no two gold degrees differ. Gold no_fact is left out as the
    paper's text says, kept in its place as its code does with `keep_no_fact`. Predictions have two ranks, so pairs
    are counted by degree and rank instead of one by one.
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
    """PROBE (seed 000, section 4): overlap of origins of at least one half, else a word F1 of at least one half.

    The paper matches claims semantically with a model and names no rule; ours is deterministic. Overlap is common
    characters over those of either; words are compared case folded, Han characters one by one. Step 1 (decomposition)
    is `matches` by this rule, many to many, since two annotators cut at different grain; step 4 (localisation) the
    same over hallucinated claims alone.
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
