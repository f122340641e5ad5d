"""From scores of passages to scores of ranges, to the k best passages, and to one ranking by words and by meaning.

Knows: ranges of characters and which passages lie in which (a range is as good as its best passage); reciprocal rank
fusion (Cormack, Clarke and Büttcher, SIGIR 2009), which looks at ranks alone, so that scores of different kinds need
no common scale.
Does not know: what the ranges hold, what scores them, or which indexes there are.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.types import Hit, Span

Ranges = Sequence[tuple[int, int]]
FUSION_K = 60
"""The constant of reciprocal rank fusion: how little the first ranks stand out. Rank r counts 1 / (K + r)."""
AMONG = 120
"""So many hits are ranked by words and by meaning before the best by both are taken."""


def passages_in(passages: NDArray[np.int64], ranges: Ranges) -> list[NDArray[np.int64]]:
    """For each range, the numbers of the passages (n × 2, in text order) that belong to it.

    A passage belongs to each range that holds half of it, or of which it holds half, where the range is shorter.
    """
    if not len(ranges):
        return []
    begins, ends = np.ascontiguousarray(passages.T)
    start, end = np.array(ranges, dtype=np.int64).T
    first = np.searchsorted(ends, start, side="right")
    near = np.maximum(np.searchsorted(begins, end, side="left") - first, 0)
    of = np.repeat(np.arange(len(near)), near)
    numbers = np.arange(len(of)) + np.repeat(first - np.cumsum(near) + near, near)
    shared = np.minimum(ends[numbers], end[of]) - np.maximum(begins[numbers], start[of])
    half = np.minimum(ends[numbers] - begins[numbers], end[of] - start[of]) / 2
    held = (shared > 0) & (shared >= half)
    counts = np.bincount(of[held], minlength=len(near))
    return np.split(numbers[held], np.cumsum(counts)[:-1])


def best_per_range(scores: NDArray[Any], members: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    """The best of each range's scores, m × ranges, from scores of passages, m × n; 0 where none belongs to it."""
    best = np.zeros((len(scores), len(members)))
    filled = [column for column, numbers in enumerate(members) if len(numbers)]
    if filled:
        starts = np.cumsum([0, *(len(members[column]) for column in filled[:-1])])
        best[:, filled] = np.maximum.reduceat(scores[:, np.concatenate(members)], starts, axis=1)
    return best


def top_k(scores: NDArray[Any], k: int) -> list[int]:
    """The numbers of the k best scores, best first; of equal ones the earlier comes first."""
    order: list[int] = np.argsort(-scores, kind="stable")[:k].tolist()
    return order


def fuse(words: Sequence[Hit], meaning: Sequence[Hit], k: int) -> list[Hit]:
    """The k hits that rank best by words and by meaning together, each with the sum of what its ranks count.

    Passages that are compared by meaning are wider: the best hit of words whose middle one of them holds counts its
    rank, too, and one that holds no hit of words stands for itself. The best hit of words stays first: where a
    sentence is close to its source, meaning must not displace it (docs/retrieval.md). Of equal sums the one that
    words rank further up comes first.
    """
    counted: list[tuple[Span, float]] = []
    alone = list(meaning)
    for hit in words:
        score = _count(hit) + (1.0 if hit.rank == 1 else 0.0)
        around = next((wide for wide in alone if _holds_middle(wide.span, hit.span)), None)
        if around:
            alone.remove(around)
            score += _count(around)
        counted.append((hit.span, score))
    counted.extend((hit.span, _count(hit)) for hit in alone)
    counted.sort(key=lambda item: -item[1])
    return [Hit(span=span, score=score, rank=rank) for rank, (span, score) in enumerate(counted[:k], start=1)]


def _count(hit: Hit) -> float:
    return 1 / (FUSION_K + hit.rank)


def _holds_middle(wide: Span, span: Span) -> bool:
    return wide.source_id == span.source_id and 2 * wide.start <= span.start + span.end < 2 * wide.end
