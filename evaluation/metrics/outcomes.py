"""Scores of responses judged as wholes: the two classes, recall by slice, pairs, and how steady the answers are.

After LongNovel (seed 004, section 4.3: accuracy of each class, their mean, MCC; undecided, malformed and failed
predictions count as the opposite class, as in the paper's tables), HaluEval (seed 003, tables 6 and 7: accuracy over
all samples, missed ones by pattern) and NoCha (pairs). The rates of the counts are in statistics.py: `recall` is the
accuracy of hallucinated, `specificity` that of faithful. Does not know: how a prediction came about.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain

from longproof.agent.types import Kind
from longproof.evaluation.metrics.classes import (
    UNDECIDED,
    gold_classes,
    is_hallucinated,
    refuse_unknown,
    same_length,
)
from longproof.evaluation.metrics.statistics import Counts, Rate, count, decided_votes, mcc, share
from longproof.retrieval.types import BadInput

POSITION_KINDS: frozenset[Kind] = frozenset({"numerical", "inversion", "event", "entity"})
"""The four kinds over which the paper draws recall by position: those of median difficulty (section 5.2)."""


def outcome_counts(gold: Sequence[str], predicted: Sequence[str | None]) -> Counts:
    """The counts of one prediction a response.

    gold: `hallucinated` or `faithful`, or a label (contradicting and fabricated are hallucinated).
    predicted: the same names, or None, `undecided` or a failure's name: the wrong class, never dropped.
    """
    same_length(gold, predicted)
    return count(gold_classes(gold), [is_hallucinated(name) for name in predicted])


def mcc_from_accuracies(
    accuracy_of_hallucinated: float, accuracy_of_faithful: float, n_hallucinated: float, n_faithful: float
) -> float | None:
    """MCC from the accuracies of the two classes (in [0, 1]) and their sizes; None where a class is empty."""
    found, kept = accuracy_of_hallucinated * n_hallucinated, accuracy_of_faithful * n_faithful
    return mcc(Counts(found, n_faithful - kept, n_hallucinated - found, kept))


def hallucinated_by(
    slices: Sequence[str | None], gold: Sequence[str], predicted: Sequence[str | None]
) -> dict[str, Counts]:
    """The counts of hallucinated responses in each slice (kind, position, scale, pattern); slice None is left out.

    Their `recall` is LongNovel's, their false negatives are the failures of HaluEval's table 7. Faithful responses
    have no recall, so a slice without a hallucinated response does not appear.
    """
    same_length(slices, gold, predicted)
    said: dict[str, list[str | None]] = {}
    for name, wrong, one in zip(slices, gold_classes(gold), predicted, strict=True):
        if name is not None and wrong:
            said.setdefault(name, []).append(one)
    return {name: outcome_counts(["hallucinated"] * len(said[name]), said[name]) for name in sorted(said)}


def hallucinated_by_position(
    positions: Sequence[str | None],
    kinds: Sequence[str | None],
    gold: Sequence[str],
    predicted: Sequence[str | None],
    over: Collection[str] = POSITION_KINDS,
) -> dict[str, Counts]:
    """The same by position (begin, middle, end) over the four kinds of figure 5, or over those given."""
    same_length(positions, kinds)
    kept = [place if kind in over else None for place, kind in zip(positions, kinds, strict=True)]
    return hallucinated_by(kept, gold, predicted)


def pair_accuracy(pairs: Sequence[str], right: Sequence[bool | None]) -> Rate:
    """NoCha: pairs with both claims judged right, over all pairs.

    `pairs[i]` names the pair of claim i; `right[i]` says whether that was judged right, None where undecided.

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
    both_right = sum(all(verdicts) for verdicts in claims.values())
    return Rate(share(both_right, len(claims)), len(claims), share(len(claims) - n_undecided, len(claims)))


def flip_rate(runs: Sequence[Sequence[str | None]]) -> Rate:
    """Examples whose answers differ between any two runs, over all. `runs[r][i]` is the answer of run r on
    example i; None is an answer of its own.

    The rate is None with fewer than two runs.
    """
    same_length(*runs)
    answers = list(zip(*runs, strict=True))
    flipped = sum(len(set(example)) > 1 for example in answers)
    return Rate(share(flipped, len(answers)) if len(runs) > 1 else None, len(answers))


def override_rate(panels: Sequence[Sequence[str | None]], arbiter: Sequence[str | None]) -> Rate:
    """How often the arbiter decided against the panel's plurality, over items that came to the arbiter.

    Items without a single most frequent label, or on which the arbiter failed, only lower the coverage. Raises
    BadInput for what is no label, `not_found` or outcome.
    """
    same_length(panels, arbiter)
    refuse_unknown(chain(arbiter, *panels))
    items = [(_plurality(panel), said) for panel, said in zip(panels, arbiter, strict=True)]
    decided = [(most, said) for most, said in items if said is not None and said not in UNDECIDED]
    comparable = [(most, said) for most, said in decided if most is not None]
    overridden = sum(most != said for most, said in comparable)
    return Rate(share(overridden, len(comparable)), len(items), share(len(comparable), len(items)))


def _plurality(votes: Sequence[str | None]) -> str | None:
    most = Counter(decided_votes(votes)).most_common(2)
    if not most or (len(most) == 2 and most[0][1] == most[1][1]):
        return None
    return most[0][0]
