"""PROBE's scores of each step (seed 000, section 4): decomposition, evidence, evaluation, localisation.

The paper matches claims semantically with a model and names no rule. Ours, deterministic: two claims
match when their origins overlap by at least half (common over either), else when the F1 of their
words (Han characters one by one, case folded) is at least one half. Matching is many to many, since
two annotators cut at different grain. Does not know: judges, or how evidence is sought.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypedDict

from longproof.evaluation.metrics.counts import share
from longproof.evaluation.metrics.sides import same_length
from longproof.evaluation.metrics.spans import Place, harmonic, overlap

OVERLAP = 0.5
WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]|[^\W_\u3400-\u4dbf\u4e00-\u9fff]+")


class ClaimAt(NamedTuple):
    """A claim's text and its origin in the response, None where its annotator gave none."""

    text: str
    origin: Place | None


class MatchScores(TypedDict):
    """precision is over predicted claims that match a gold one, recall over gold claims matched."""

    precision: float | None
    recall: float | None
    f1: float | None
    n_gold: int
    n_predicted: int
    n_gold_matched: int
    n_predicted_matched: int
    n_undecided: int
    coverage: float | None


class EvidenceScores(TypedDict):
    """Over claims that have gold evidence: `partial` at least one piece found, `complete` all of them."""

    partial: float | None
    complete: float | None
    n_claims: int
    n_undecided: int
    coverage: float | None


class VoteAccuracy(TypedDict):
    """Votes on (claim, piece) pairs: support for true claims, no support for hallucinated ones."""

    accuracy: float | None
    n: int
    n_undecided: int
    coverage: float | None


def claims_match(first: ClaimAt, second: ClaimAt) -> bool:
    """Overlap of origins of at least one half, else a word F1 of at least one half."""
    if first.origin and second.origin and overlap(first.origin, second.origin) >= OVERLAP:
        return True
    return word_f1(first.text, second.text) >= OVERLAP


def word_f1(first: str, second: str) -> float:
    """F1 of two bags of words, case folded; 0 where neither holds a word."""
    words, others = Counter(WORD.findall(first.casefold())), Counter(WORD.findall(second.casefold()))
    return 2 * (words & others).total() / max(1, words.total() + others.total())


def decomposition_scores(
    gold: Sequence[Sequence[ClaimAt]], predicted: Sequence[Sequence[ClaimAt] | None]
) -> MatchScores:
    """Step 1: gold and predicted claims of each response, matched; None is a failed decomposition.

    For step 4 at claim level give the hallucinated claims alone: `localisation_scores`.
    """
    same_length(gold, predicted)
    rows = [(list(g), list(p or ())) for g, p in zip(gold, predicted, strict=True)]
    found = sum(any(claims_match(claim, other) for other in p) for g, p in rows for claim in g)
    right = sum(any(claims_match(claim, other) for other in g) for g, p in rows for claim in p)
    n_gold, n_predicted = sum(len(g) for g, _ in rows), sum(len(p) for _, p in rows)
    rates = share(right, n_predicted), share(found, n_gold)
    n_undecided = sum(claims is None for claims in predicted)
    return MatchScores(
        precision=rates[0],
        recall=rates[1],
        f1=harmonic(*rates),
        n_gold=n_gold,
        n_predicted=n_predicted,
        n_gold_matched=found,
        n_predicted_matched=right,
        n_undecided=n_undecided,
        coverage=share(len(rows) - n_undecided, len(rows)),
    )


def localisation_scores(
    gold: Sequence[Sequence[ClaimAt]], predicted: Sequence[Sequence[ClaimAt] | None]
) -> MatchScores:
    """Step 4 at claim level: the claims annotated as hallucinated against those called so.

    At character level use `character_scores` on the claims' origins.
    """
    return decomposition_scores(gold, predicted)


def evidence_scores(
    gold: Sequence[Sequence[Place]], found: Sequence[Sequence[Place] | None]
) -> EvidenceScores:
    """Step 2: for each claim, the annotated pieces of the source against those found.

    A piece counts as found when at least half of its own characters lie in what was found. Claims
    without gold evidence (hallucinated ones) are not asked about. None: the search failed; not found.
    """
    same_length(gold, found)
    asked = [(g, f) for g, f in zip(gold, found, strict=True) if g]
    hits = [[_covered(piece, f or ()) >= OVERLAP for piece in g] for g, f in asked]
    n_undecided = sum(f is None for _, f in asked)
    return EvidenceScores(
        partial=share(sum(map(any, hits)), len(asked)),
        complete=share(sum(map(all, hits)), len(asked)),
        n_claims=len(asked),
        n_undecided=n_undecided,
        coverage=share(len(asked) - n_undecided, len(asked)),
    )


def evaluation_scores(supports: Sequence[bool], votes: Sequence[bool | None]) -> VoteAccuracy:
    """Step 3: accuracy over (claim, piece) pairs. `supports`: the claim is true, so its piece supports it.

    A vote of None (a failure) is wrong, and counted.
    """
    same_length(supports, votes)
    right = sum(vote is not None and vote == truth for truth, vote in zip(supports, votes, strict=True))
    n_undecided = sum(vote is None for vote in votes)
    return VoteAccuracy(
        accuracy=share(right, len(votes)),
        n=len(votes),
        n_undecided=n_undecided,
        coverage=share(len(votes) - n_undecided, len(votes)),
    )


def _covered(piece: Place, found: Sequence[Place]) -> float:
    """The share of the piece's characters that lie in any of the places found."""
    held = {at for start, end in found for at in range(max(start, piece[0]), min(end, piece[1]))}
    return len(held) / max(1, piece[1] - piece[0])
