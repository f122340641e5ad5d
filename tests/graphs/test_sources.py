"""Several documents as one row of blocks: the places of windows, with their margins."""

from longproof.graphs.evidence.sources import MARGIN, Sources
from longproof.retrieval.types import Document, Window

TEXTS = ["A sentence of the first. " * 100, "Another of the second. " * 200]


def window(first: int, last: int) -> Window:
    return Window(first=first, last=last, centre=first, confidence=1.0)


def test_a_window_is_its_blocks_and_a_margin_inside_their_documents() -> None:
    sources, margin = Sources([Document.of(text) for text in TEXTS], 1000), MARGIN
    first, second = map(len, TEXTS)
    assert [number for number, _, _ in sources.blocks] == [0] * 3 + [1] * 5
    assert sources.places(window(1, 1)) == [(0, 1000 - margin, min(2000 + margin, first))]
    assert sources.places(window(4, 5)) == [(1, 1000 - margin, 3000 + margin)]
    assert sources.places(window(2, 3)) == [(0, 2000 - margin, first), (1, 0, 1000 + margin)]
    assert sources.places(window(0, 7)) == [(0, 0, first), (1, 0, second)]
