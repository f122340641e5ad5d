"""Several documents as one row of blocks: the places of windows, with their margins."""

import pytest

from longproof.graphs.evidence.sources import MARGIN, Sources
from longproof.retrieval.types import Document, Window

TEXTS = ["A sentence of the first. " * 100, "Another of the second. " * 200]


def window(first: int, last: int) -> Window:
    return Window(segment=0, first=first, last=last, centre=first, similarity=1.0, confidence=1.0)


@pytest.mark.parametrize(("whole_blocks", "margin"), [(False, MARGIN), (True, 0)])
def test_a_window_is_its_blocks_and_a_margin_inside_their_documents(whole_blocks: bool, margin: int) -> None:
    sources = Sources([Document.of(text) for text in TEXTS], 1000, whole_blocks=whole_blocks)
    first, second = map(len, TEXTS)
    assert [number for number, _, _ in sources.blocks] == [0] * 3 + [1] * 5
    assert sources.places(window(1, 1)) == [(0, 1000 - margin, min(2000 + margin, first))]
    assert sources.places(window(4, 5)) == [(1, 1000 - margin, 3000 + margin)]
    assert sources.places(window(2, 3)) == [(0, 2000 - margin, first), (1, 0, 1000 + margin)]
    assert sources.places(window(0, 7)) == [(0, 0, first), (1, 0, second)]
    for place in sources.places(window(2, 4)):
        assert sources.span(place).text == TEXTS[place[0]][place[1] : place[2]]
