"""Text cut for reading: at its marks, in its middle, at its sentences."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from longproof.report.pieces import around, join_ranges, line, marked_pieces, short, whole_sentences
from longproof.retrieval.types import Document

PLACES = st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=5)


@given(st.text(max_size=60), PLACES, st.integers(0, 9))
def test_pieces_are_the_text(text: str, places: list[tuple[int, int]], offset: int) -> None:
    pieces = marked_pieces(text, places, offset)
    marked = {at - offset for start, end in places for at in range(start, end)} & set(range(len(text)))
    flags = [piece.marked for piece in pieces for _ in piece.text]
    assert "".join(piece.text for piece in pieces) == text
    assert {at for at, flag in enumerate(flags) if flag} == marked
    assert all(one.marked != other.marked for one, other in pairwise(pieces))


@given(PLACES)
def test_ranges_that_are_joined_lie_apart_and_in_order(places: list[tuple[int, int]]) -> None:
    joined = join_ranges(places)
    assert all(one[1] < other[0] for one, other in pairwise(joined))
    assert {at for a, b in joined for at in range(a, b)} == {at for a, b in places for at in range(a, b)}


def test_surroundings_stay_on_the_line_and_say_that_they_are_cut() -> None:
    document = Document.of("first\nsecond line with a quote in it and more\nthird")
    start = document.text.index("quote")
    pieces = around(document.span(start, start + 5), document.text, 7)
    assert [piece.text for piece in pieces] == ["…with a ", "quote", " in it …"]
    assert [piece.text for piece in around(document.span(0, 5), document.text, 9)] == ["first"]


def test_a_quote_that_is_not_in_the_text_stands_alone() -> None:
    span = Document.of("abc").span(0, 3)
    assert [piece.text for piece in around(span, "xbc", 9)] == ["abc"]


@given(st.text(max_size=200), st.integers(2, 80))
def test_short_is_short(text: str, characters: int) -> None:
    assert len(short(text, characters)) <= max(characters + 3, 3)
    assert not set(line(text)) & set("\n\r\t\x1b\u2028\u202e")


def test_short_cuts_between_words() -> None:
    sentence = "On the second of March the frost came back to the river."
    assert short(sentence, 30) == "On the second … to the river."
    assert short("a" * 40, 10) == "aaaaa … aaaaa"


@given(st.text("aB.。 \n!”", max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_whole_sentences_hold_the_place(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    first, last = whole_sentences(text, start, end)
    assert 0 <= first <= start <= end <= last <= len(text)


def test_a_quote_is_widened_to_its_sentences_and_no_further() -> None:
    text = "He went. Ada lit the old\nlamp at nine. Tom slept.\n\nThe end"
    start = text.index("old")
    first, last = whole_sentences(text, start, start + 8)
    assert text[first:last] == "Ada lit the old\nlamp at nine."
    far = "x " * 3000
    assert whole_sentences(far, 2500, 2600) == (2500, 2600)
    assert whole_sentences("雨停了。他说：“走吧。”", 5, 6) == (4, 12)
