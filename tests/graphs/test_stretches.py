"""Every claim lies in exactly one stretch, in order, with a window that holds those of its segments."""

from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import Claim
from longproof.graphs.stretches import segment_of, stretches
from longproof.retrieval.types import Document, Window

TEXT = "x" * 100
DOCUMENT = Document.of(TEXT)
SEGMENTS = [(i * 10, i * 10 + 9) for i in range(10)]


def claim(index: int, start: int) -> Claim:
    return Claim(id=f"c{index}", index=index, sentence=0, text="x", origin=DOCUMENT.span(start, start + 1))


def window(segment: int, centre: int) -> Window:
    first, last = max(centre - 1, 0), centre + 1
    return Window(segment=segment, first=first, last=last, centre=centre, similarity=1, step=0, confidence=1)


@given(
    starts=st.lists(st.integers(0, 98), max_size=20).map(sorted),
    centres=st.lists(st.integers(0, 8), min_size=10, max_size=10),
    together=st.booleans(),
)
def test_no_claim_is_lost_and_windows_hold_those_of_the_segments(starts, centres, together):
    claims = [claim(i, start) for i, start in enumerate(starts)]
    windows = [window(i, centre) for i, centre in enumerate(centres)]
    cuts = stretches(claims, SEGMENTS, windows, together=together)
    assert [c for cut in cuts for c in cut.claims] == claims
    for cut in cuts:
        for c in cut.claims:
            own = windows[segment_of(c, SEGMENTS)]
            assert cut.window.first <= own.first <= own.last <= cut.window.last
            assert cut.window.centre == own.centre


def test_neighbours_with_one_centre_are_checked_together_only_if_asked():
    claims = [claim(0, 0), claim(1, 10), claim(2, 20)]
    windows = [window(i, centre) for i, centre in enumerate([3, 3, 5, 0, 0, 0, 0, 0, 0, 0])]
    assert [len(cut.claims) for cut in stretches(claims, SEGMENTS, windows, together=True)] == [2, 1]
    assert [len(cut.claims) for cut in stretches(claims, SEGMENTS, windows, together=False)] == [1, 1, 1]


def test_without_a_source_there_is_one_stretch_without_a_window():
    (cut,) = stretches([claim(0, 0), claim(1, 50)], SEGMENTS, [], together=True)
    assert cut.window is None
