"""Rankings of the same passages by several indexes, fused to one.

Knows: reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), which looks at ranks alone, so that scores
of different kinds need no common scale.
Does not know: which indexes there are, or which of them is good. Fused with a weaker one, a good one gets worse.
"""

from collections.abc import Sequence

from longproof.retrieval.types import Hit, Span

K = 60
"""Their constant: how little the first ranks stand out. Rank r counts 1 / (K + r)."""


def fuse(rankings: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """The k spans that rank best over all rankings, each with the sum of what its ranks count.

    Of equal sums the one that an earlier ranking has, or has further up, comes first.
    """
    sums: dict[Span, float] = {}
    for ranking in rankings:
        for hit in ranking:
            sums[hit.span] = sums.get(hit.span, 0.0) + 1 / (K + hit.rank)
    best = sorted(sums.items(), key=lambda item: -item[1])[: max(k, 0)]
    return [
        Hit(span=span, score=score, rank=rank, via="fused")
        for rank, (span, score) in enumerate(best, start=1)
    ]
