"""Every claim lies in exactly one stretch, in order, with its segment's window; a stretch fits one question."""

from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import Claim
from longproof.graphs.stretches import BLOCKS, CLAIMS, segment_of, stretches
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
def test_no_claim_is_lost_and_each_keeps_its_segments_window(starts, centres, together):
    claims = [claim(i, start) for i, start in enumerate(starts)]
    windows = [window(i, centre) for i, centre in enumerate(centres)]
    cuts = stretches(claims, SEGMENTS, windows, together=together)
    assert [c for cut in cuts for c in cut.claims] == claims
    starts = [start for start, _ in SEGMENTS]
    for cut in cuts:
        assert cut.windows == [windows[segment_of(c, starts)] for c in cut.claims]


@given(
    starts=st.lists(st.integers(0, 98), min_size=1, max_size=40).map(sorted),
    centres=st.lists(st.integers(0, 30), min_size=10, max_size=10),
)
def test_a_stretch_fits_one_question(starts, centres):
    claims = [claim(i, start) for i, start in enumerate(starts)]
    windows = [window(i, centre) for i, centre in enumerate(centres)]
    for cut in stretches(claims, SEGMENTS, windows, together=True):
        assert len(cut.claims) <= CLAIMS
        assert max(w.last for w in cut.windows) - min(w.first for w in cut.windows) < BLOCKS


def test_neighbours_whose_windows_overlap_are_checked_together_only_if_asked():
    claims = [claim(0, 0), claim(1, 10), claim(2, 20)]
    windows = [window(i, centre) for i, centre in enumerate([3, 4, 9, 0, 0, 0, 0, 0, 0, 0])]
    assert [len(cut.claims) for cut in stretches(claims, SEGMENTS, windows, together=True)] == [2, 1]
    assert [len(cut.claims) for cut in stretches(claims, SEGMENTS, windows, together=False)] == [1, 1, 1]


def test_without_a_source_there_are_no_windows():
    (cut,) = stretches([claim(0, 0), claim(1, 50)], SEGMENTS, [], together=True)
    assert cut.windows == [None, None]


def test_the_time_grows_with_the_claims_not_with_their_square():
    document = Document.of("x" * 300_000)
    spans = [document.span(start, start + 9) for start in range(0, 300_000, 10)]
    claims = [Claim(id=f"c{n}", index=n, sentence=n, text="x", origin=span) for n, span in enumerate(spans)]
    windows = [window(n, n // 10) for n in range(len(spans))]
    started = process_time()
    stretches(claims, [(span.start, span.end) for span in spans], windows, together=True)
    assert process_time() - started < 5
