"""Text cut for reading: at its marks, in its middle, at its sentences. Nothing that acts gets through, nor markup."""

import re
import unicodedata
from html import unescape
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from longproof.report.markdown import escape_markup
from longproof.report.words import around, flat, line, marked_pieces, short, visible, whole_sentences
from longproof.retrieval.types import Document

TURNING = "LRO RLO LRE RLE PDF LRI RLI FSI PDI"
PLACES = st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=5)


@given(st.text(max_size=60), PLACES, st.integers(0, 9))
def test_pieces_are_the_text(text, places, offset):
    pieces = marked_pieces(text, places, offset)
    marked = {at - offset for start, end in places for at in range(start, end)} & set(range(len(text)))
    flags = [piece.marked for piece in pieces for _ in piece.text]
    assert "".join(piece.text for piece in pieces) == text
    assert {at for at, flag in enumerate(flags) if flag} == marked
    assert all(one.marked != other.marked for one, other in pairwise(pieces))


def test_surroundings_stay_on_the_line_and_say_that_they_are_cut():
    document = Document.of("first\nsecond line with a quote in it and more\nthird")
    for start, text, pieces in (
        (25, document.text, ["…with a ", "quote", " in it …"]),
        (0, document.text, ["first"]),
        (0, "another text", ["first"]),
    ):
        assert [piece.text for piece in around(document.span(start, start + 5), text, 7)] == pieces


@given(st.text(max_size=200), st.integers(2, 80))
def test_short_is_short(text, characters):
    assert len(short(text, characters)) <= max(characters + 3, 3)
    assert not set(line(text)) & set("\n\r\t\x1b\u2028\u202e")
    assert short("On the second of March the frost came back.", 24) == "On the … came back."


@given(st.text("aB.。 \n!”", max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_whole_sentences_hold_the_place(text, one, other):
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    first, last = whole_sentences(text, start, end)
    assert 0 <= first <= start <= end <= last <= len(text)


def test_a_quote_is_widened_to_its_sentences_and_no_further():
    text = "He went. Ada lit the old\nlamp at nine. Tom slept.\n\nThe end"
    start = text.index("old")
    first, last = whole_sentences(text, start, start + 8)
    assert text[first:last] == "Ada lit the old\nlamp at nine."
    far = "x " * 3000
    assert whole_sentences(far, 2500, 2600) == (2500, 2600)
    assert whole_sentences("雨停了。他说：“走吧。”", 5, 6) == (4, 12)


@given(st.text(st.characters(exclude_categories=[])))
def test_nothing_that_acts_is_left_and_plain_text_is_untouched(text):
    shown = visible(text)
    assert not {unicodedata.category(c) for c in shown if c not in "\n\t"} & {"Cc", "Cs", "Zl", "Zp"}
    assert not {unicodedata.bidirectional(c) for c in shown} & {*TURNING.split()}
    assert visible("a\x1b[31m\u202eb\x85") == "a␛[31m⟦RLO⟧b⟦U+0085⟧"
    assert visible("天地玄黄, hello\n\t👩‍👩‍👧 é") == "天地玄黄, hello\n\t👩‍👩‍👧 é"


def plain(text: str) -> str:
    return escape_markup(flat(text))


LIVE = re.compile(r"[<>`*_\[\]!@#|~\\$]|https?:/|www\.\w|^(?:[-+]|\d{1,9}[.)])(?:\s|$)|&(?!#\d+;)|:\w+:")


@given(st.text(max_size=80))
def test_no_markup_is_left_alive(text):
    shown = plain(text)
    assert not LIVE.search(re.sub(r"&#\d+;", "·", shown))
    assert "\n" not in shown


def test_numbers_stand_as_they_are_and_addresses_stay_dead():
    for text in ("0.9 s", "Ada's lamp (the old one), half-lit: at 12:30.", "built in 1820."):
        assert plain(text) == text
    assert unescape(plain("a  [x](y)\n王冕 #1 @all <b>")) == "a [x](y) 王冕 #1 @all <b>"
    assert plain("1) a 1. www.a.b :100: :tada:") == "1&#41; a 1. www&#46;a&#46;b &#58;100: &#58;tada:"
    assert plain("1984. http://a") == "1984&#46; http&#58;//a"
