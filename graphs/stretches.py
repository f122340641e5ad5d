"""Which claims are checked together.

Knows: segments of the response, their windows, and the claims in them. Pure.
Does not know: how windows are found, or what is done with a stretch.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from longproof.agent.types import Claim
from longproof.retrieval.types import Window

CLAIMS, BLOCKS = 8, 5
"""How many claims share a stretch at most, and how many blocks their windows hold together: one question's worth."""


class Cut(NamedTuple):
    """A stretch before it gets its places: its claims, each with the window of its segment."""

    claims: list[Claim]
    windows: list[Window | None]


def segment_of(claim: Claim, starts: Sequence[int]) -> int:
    """The number of the segment in which the claim's origin starts, by where the segments start."""
    return max(bisect_right(starts, claim.origin.start) - 1, 0)


def stretches(
    claims: Sequence[Claim], segments: Sequence[tuple[int, int]], windows: Sequence[Window], *, together: bool
) -> list[Cut]:
    """Claims in text order; neighbouring segments whose windows overlap are one stretch if `together`.

    `windows` is one a segment, or empty where there is nothing to align with. Without `together` a stretch is
    one segment, however many claims it has.
    """
    cuts: list[Cut] = []
    last = -1
    starts = [start for start, _ in segments]
    for claim in claims:
        segment = segment_of(claim, starts)
        window = windows[segment] if windows else None
        joins = _fits(cuts[-1], window) if together and cuts else segment == last
        if not joins:
            cuts.append(Cut([], []))
        cuts[-1].claims.append(claim)
        cuts[-1].windows.append(window)
        last = segment
    return cuts


def _fits(cut: Cut, window: Window | None) -> bool:
    """Whether a claim with this window may join: it shares blocks with the last one, and all fit one question."""
    before = cut.windows[-1]
    if len(cut.claims) >= CLAIMS or (before is None) != (window is None):
        return False
    if before is None or window is None:
        return True
    held = [other for other in cut.windows if other is not None]
    first = min(window.first, *(other.first for other in held))
    last = max(window.last, *(other.last for other in held))
    return window.first <= before.last and before.first <= window.last and last - first < BLOCKS
