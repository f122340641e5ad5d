"""PROBE's scores of each step (seed 000, section 4): decomposition, evidence, evaluation, localisation.

The paper matches claims semantically with a model and names no rule. Ours, deterministic: two claims
match when their origins overlap by at least half (common over either), else when the F1 of their
words (Han characters one by one, case folded) is at least one half. Matching is many to many, since
two annotators cut at different grain. Does not know: judges, or how evidence is sought.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from longproof.evaluation.metrics.spans import Offsets, shared_part
from longproof.evaluation.metrics.statistics import Rate, decided_share, share

OVERLAP = 0.5
WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]|[^\W_\u3400-\u4dbf\u4e00-\u9fff]+")


class ClaimAt(NamedTuple):
    """A claim's text and its origin in the response, None where its annotator gave none."""

    text: str
    origin: Offsets | None


def claims_match(first: ClaimAt, second: ClaimAt) -> bool:
    """Overlap of origins of at least one half, else a word F1 of at least one half.

    Step 1 (decomposition) is `matches` by this rule; step 4 (localisation) the same over hallucinated claims alone.
    """
    if first.origin and second.origin and shared_part(first.origin, second.origin) >= OVERLAP:
        return True
    return word_f1(first.text, second.text) >= OVERLAP


def word_f1(first: str, second: str) -> float:
    """F1 of two bags of words, case folded; 0 where neither holds a word."""
    words, others = Counter(WORD.findall(first.casefold())), Counter(WORD.findall(second.casefold()))
    return 2 * (words & others).total() / max(1, words.total() + others.total())


def evidence_scores(
    gold: Sequence[Sequence[Offsets]], found: Sequence[Sequence[Offsets] | None]
) -> tuple[Rate, Rate]:
    """Step 2: the claims of which at least one annotated piece of the source was found, and those with all of them.

    A piece counts as found when at least half of its own characters lie in what was found. Claims
    without gold evidence (hallucinated ones) are left out. None: the search failed; not found.
    """
    n = n_decided = n_partial = n_complete = 0
    for pieces, places in zip(gold, found, strict=True):
        if pieces:
            hits = [_share_found(piece, places or ()) >= OVERLAP for piece in pieces]
            n, n_decided = n + 1, n_decided + (places is not None)
            n_partial, n_complete = n_partial + any(hits), n_complete + all(hits)
    decided = share(n_decided, n)
    return Rate(share(n_partial, n), n, decided), Rate(share(n_complete, n), n, decided)


def vote_accuracy(supports: Sequence[bool], votes: Sequence[bool | None]) -> Rate:
    """Step 3: accuracy over (claim, piece) pairs. `supports`: the claim is true, so its piece supports it.

    A vote of None (a failure) is wrong, and counted.
    """
    right = sum(vote is not None and vote == truth for truth, vote in zip(supports, votes, strict=True))
    return Rate(share(right, len(votes)), len(votes), decided_share(votes))


def _share_found(piece: Offsets, found: Sequence[Offsets]) -> float:
    """The share of the piece's characters that lie in any of the places found."""
    held = {at for start, end in found for at in range(max(start, piece[0]), min(end, piece[1]))}
    return len(held) / max(1, piece[1] - piece[0])
