"""Scores of responses judged as wholes: the two classes, recall by slice, pairs, and how steady the answers are.

After LongNovel (seed 004, section 4.3: accuracy of each class, their mean, MCC; undecided, malformed and failed
predictions count as the opposite class, as in the paper's tables), HaluEval (seed 003, tables 6 and 7: accuracy over
all samples, missed ones by pattern) and NoCha (pairs). The rates of the counts are in statistics.py: `recall` is the
accuracy of hallucinated, `specificity` that of faithful. Does not know: how a prediction came about.
"""

from collections import Counter
from collections.abc import Sequence

from longproof.agent.types import Kind
from longproof.evaluation.metrics.classes import UNDECIDED, is_hallucinated
from longproof.evaluation.metrics.statistics import Counts, Rate, count, decided_votes, share

POSITION_KINDS: frozenset[Kind] = frozenset({"numerical", "inversion", "event", "entity"})
"""The four kinds over which the paper draws recall by position: those of median difficulty (section 5.2)."""


def outcome_counts(gold: Sequence[str], predicted: Sequence[str | None]) -> Counts:
    """The counts of one prediction a response.

    gold: `hallucinated` or `faithful`, or a label (contradicting and fabricated are hallucinated).
    predicted: the same names, or None, `undecided` or a failure's name: the wrong class, never dropped.
    """
    return count(
        [bool(is_hallucinated(name)) for name in gold], [is_hallucinated(name) for name in predicted]
    )


def hallucinated_by(
    slices: Sequence[str | None], gold: Sequence[str], predicted: Sequence[str | None]
) -> dict[str, Counts]:
    """The counts of hallucinated responses in each slice (kind, position, scale, pattern); slice None is left out.

    Their `recall` is LongNovel's, their false negatives are the failures of HaluEval's table 7. Faithful responses
    have no recall, so a slice without a hallucinated response does not appear.
    """
    said: dict[str, list[str | None]] = {}
    for name, right, one in zip(slices, gold, predicted, strict=True):
        if name is not None and is_hallucinated(right):
            said.setdefault(name, []).append(one)
    return {name: outcome_counts(["hallucinated"] * len(said[name]), said[name]) for name in sorted(said)}


def hallucinated_by_position(
    positions: Sequence[str | None],
    kinds: Sequence[str | None],
    gold: Sequence[str],
    predicted: Sequence[str | None],
) -> dict[str, Counts]:
    """The same by position (begin, middle, end) over the four kinds of figure 5."""
    kept = [at if kind in POSITION_KINDS else None for at, kind in zip(positions, kinds, strict=True)]
    return hallucinated_by(kept, gold, predicted)


def pair_accuracy(pairs: Sequence[str], right: Sequence[bool | None]) -> Rate:
    """NoCha: pairs with both (all) claims judged right, over all pairs.

    `pairs[i]` names the pair of claim i; `right[i]` says whether that was judged right, None where undecided.
    """
    claims: dict[str, list[bool | None]] = {}
    for pair, verdict in zip(pairs, right, strict=True):
        claims.setdefault(pair, []).append(verdict)
    decided = sum(None not in verdicts for verdicts in claims.values())
    all_right = sum(all(verdicts) for verdicts in claims.values())
    return Rate(share(all_right, len(claims)), len(claims), share(decided, len(claims)))


def flip_rate(runs: Sequence[Sequence[str | None]]) -> Rate:
    """Examples whose answers differ between any two runs, over all.

    `runs[r][i]` is the answer of run r on example i; None is an answer of its own.
    """
    answers = list(zip(*runs, strict=True))
    return Rate(share(sum(len(set(example)) > 1 for example in answers), len(answers)), len(answers))


def override_rate(panels: Sequence[Sequence[str | None]], arbiter: Sequence[str | None]) -> Rate:
    """How often the arbiter decided against the panel's plurality, over items that came to the arbiter.

    Items without a single most frequent label, or on which the arbiter failed, only lower the coverage.
    """
    items = [(_plurality(panel), said) for panel, said in zip(panels, arbiter, strict=True)]
    comparable = [(most, said) for most, said in items if most is not None and said not in UNDECIDED]
    overridden = sum(most != said for most, said in comparable)
    return Rate(share(overridden, len(comparable)), len(items), share(len(comparable), len(items)))


def _plurality(votes: Sequence[str | None]) -> str | None:
    most = Counter(decided_votes(votes)).most_common(2)
    if not most or (len(most) == 2 and most[0][1] == most[1][1]):
        return None
    return most[0][0]
