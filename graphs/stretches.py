"""Which claims are checked together.

Knows: segments of the response, their windows, and the claims in them. Pure.
Does not know: how windows are found, or what is done with a stretch.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from longproof.agent.types import Claim
from longproof.retrieval.types import Window


class Cut(NamedTuple):
    """A stretch before it gets its places: its claims, and the window that holds those of its segments."""

    claims: list[Claim]
    window: Window | None


def segment_of(claim: Claim, segments: Sequence[tuple[int, int]]) -> int:
    """The number of the segment in which the claim's origin starts."""
    return max(bisect_right([start for start, _ in segments], claim.origin.start) - 1, 0)


def stretches(
    claims: Sequence[Claim], segments: Sequence[tuple[int, int]], windows: Sequence[Window], *, together: bool
) -> list[Cut]:
    """Claims by segment; neighbouring segments with the same centre are one stretch if `together`.

    `windows` is one a segment, or empty where there is nothing to align with.
    """
    cuts: list[Cut] = []
    last = -1
    for claim in claims:
        segment = segment_of(claim, segments)
        window = windows[segment] if windows else None
        if cuts and (segment == last or (together and _shared(cuts[-1].window, window))):
            cuts[-1].claims.append(claim)
            cuts[-1] = Cut(cuts[-1].claims, _union(cuts[-1].window, window))
        else:
            cuts.append(Cut([claim], window))
        last = segment
    return cuts


def _shared(a: Window | None, b: Window | None) -> bool:
    return a is b or (a is not None and b is not None and a.centre == b.centre)


def _union(a: Window | None, b: Window | None) -> Window | None:
    if a is None or b is None:
        return a or b
    return a.model_copy(update={"first": min(a.first, b.first), "last": max(a.last, b.last)})
