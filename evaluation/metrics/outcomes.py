"""Scores of responses judged as wholes: the two classes, recall by slice, pairs, and how steady the answers are.

After LongNovel (seed 004, section 4.3: accuracy of each class, their mean, MCC; undecided, malformed and failed
predictions count as the opposite class, as in the paper's tables), HaluEval (seed 003, tables 6 and 7: accuracy over
all samples, missed ones by pattern) and NoCha (pairs). The rates of the counts are in statistics.py: `recall` is the
accuracy of hallucinated, `specificity` that of faithful. Does not know: how a prediction came about.
"""

from collections.abc import Sequence

from longproof.agent.types import Kind
from longproof.evaluation.metrics.statistics import (
    Counts,
    Rate,
    count,
    is_hallucinated,
    share,
)

POSITION_KINDS: frozenset[Kind] = frozenset({"numerical", "inversion", "event", "entity"})
"""The four kinds over which LongNovel draws recall by position: those of median difficulty (section 5.2)."""


def outcome_counts(gold: Sequence[str], predicted: Sequence[str | None]) -> Counts:
    """The counts of one prediction a response.

    gold: `hallucinated` or `faithful`, or a label (contradicting and fabricated are hallucinated).
    predicted: the same names, or None, `undecided` or a failure's name: the wrong class, never dropped.
    """
    names = zip(gold, predicted, strict=True)
    return count((bool(is_hallucinated(right)), is_hallucinated(said)) for right, said in names)


def hallucinated_by(
    slices: Sequence[str | None], gold: Sequence[str], predicted: Sequence[str | None]
) -> dict[str, Counts]:
    """The counts of hallucinated responses in each slice (kind, position, scale, pattern); slice None is left out.

    Their `recall` is LongNovel's, their false negatives are the failures of HaluEval's table 7. Faithful responses
    have no recall, so a slice without a hallucinated response does not appear.
    """
    by_slice: dict[str, list[tuple[bool, bool | None]]] = {}
    for name, right, said in zip(slices, gold, predicted, strict=True):
        if name is not None and is_hallucinated(right):
            by_slice.setdefault(name, []).append((True, is_hallucinated(said)))
    return {name: count(by_slice[name]) for name in sorted(by_slice)}


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
