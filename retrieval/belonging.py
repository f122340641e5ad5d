"""Which passages belong to which stretches of a text, and what that makes of their scores.

Knows: ranges of characters. Does not know: what the ranges hold or what scores them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ranges = Sequence[tuple[int, int]]


def belonging(passages: NDArray[np.int64], ranges: Ranges) -> list[NDArray[np.int64]]:
    """For each range, the numbers of the passages (n × 2, in text order) that belong to it.

    A passage belongs to each range that holds half of it, or of which it holds half, where the range is shorter.
    """
    members = []
    for start, end in ranges:
        first = int(np.searchsorted(passages[:, 1], start, side="right"))
        near = passages[first : int(np.searchsorted(passages[:, 0], end, side="left"))]
        shared = np.minimum(near[:, 1], end) - np.maximum(near[:, 0], start)
        half = np.minimum(near[:, 1] - near[:, 0], end - start) / 2
        members.append(first + np.flatnonzero((shared > 0) & (shared >= half)))
    return members


def best_of_each(scores: NDArray[Any], members: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    """The best of each range's scores, m × ranges, from scores of passages, m × n; 0 where none belongs to it."""
    best = np.zeros((len(scores), len(members)))
    filled = [column for column, numbers in enumerate(members) if len(numbers)]
    if filled:
        starts = np.cumsum([0, *(len(members[column]) for column in filled[:-1])])
        best[:, filled] = np.maximum.reduceat(scores[:, np.concatenate(members)], starts, axis=1)
    return best


def ranked(scores: NDArray[Any], k: int, passages: NDArray[np.int64], within: Ranges | None) -> list[int]:
    """The k best of the passages that belong to `within` (None: of all); of equal ones the earlier comes first."""
    order = np.argsort(-scores, kind="stable")
    if within is not None:
        allowed = np.zeros(len(scores), dtype=bool)
        for numbers in belonging(passages, within):
            allowed[numbers] = True
        order = order[allowed[order]]
    return [int(number) for number in order[: max(k, 0)]]
