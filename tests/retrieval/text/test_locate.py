"""A quote is found where it stands, whatever its script, width, case and punctuation; and nowhere else."""

import random
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from longproof.retrieval.text.locate import locate
from longproof.retrieval.text.normalise import CJK, tokens
from longproof.retrieval.text.sentences import sentences

CHINESE = "匡超人過了錢塘江，要搭溫州的船。看見一隻船正走著，他就問：「可帶人？」船家道。"
ENGLISH = (
    "The captain's cat, called “Whiskers”, slept. Then the cat walked\nalong the old harbour wall at 3.5 knots. "
    "Brontë’s e\u0301tude of the ﬁsh in the Straße."
)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("看見一隻船正走著", "看見一隻船正走著"),
        ("看见一只船正走着，他就问：“可带人？”", "看見一隻船正走著，他就問：「可帶人"),
        ("匡超人过了钱塘江,要搭温州的船", "匡超人過了錢塘江，要搭溫州的船"),
        ("匡超人过了钱塘江，要搭杭州的船。看见一只船", "匡超人過了錢塘江，要搭溫州的船。看見一隻船"),
        ("匡超人……看見一隻船正走著", "看見一隻船正走著"),
        ("cat", "cat"),
        ('CAT, CALLED "WHISKERS"', "cat, called “Whiskers"),
        ("the cat walked along the old harbor wall", "the cat walked\nalong the old harbour wall"),
        ("walked   along the old", "walked\nalong the old"),
        ("The captain's cat ... walked along the old harbour wall", "walked\nalong the old harbour wall"),
        ("3.5 knots.", "3.5 knots."),
        ('"slept."', "slept"),
        ("bronte's etude of the fish", "Brontë’s e\u0301tude of the ﬁsh"),
        ("STRASSE", "Straße"),
    ],
)
def test_a_quote_is_found_whatever_its_script_case_and_marks(quote, text):
    source = ENGLISH if quote.isascii() else CHINESE
    start, end = locate(quote, source) or (0, 0)
    assert source[start:end] == text


@pytest.mark.parametrize(
    "quote", ["", "  ", "。", "ca", "35 knots", "狗", "the dog walked into the sea", "cat ... dog"]
)
def test_what_is_not_there_is_not_found_and_short_quotes_never_by_likeness(quote):
    assert locate(quote, ENGLISH) is None
    assert locate("溫州船", CHINESE) is locate("cattle", ENGLISH) is None


PIECES = ["cat", "貓", "狗來", "ｆｕｌｌ", "ß", "é", "ﬁ", "😀", "3.5", "«", "”", "…", "說", "\u0301", "\r\n"]
WORDS = st.lists(st.sampled_from(PIECES), min_size=1).map(" ".join)


@given(WORDS, st.text(max_size=20), st.data())
def test_any_whole_words_of_a_text_are_found_and_what_is_found_is_the_slice_it_says(text, other, data):
    found = locate(other, text)
    assert found is None or 0 <= found[0] < found[1] <= len(text)
    words = text.split(" ")
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    quote = " ".join(words[first:last])
    assume(any(character.isalnum() for character in quote))
    assert locate(quote, text) is not None
    assert locate(quote.upper(), text) is not None


def test_sentences_of_a_traditional_novel_are_found_by_their_simplified_form(data):
    from opencc import OpenCC

    novel = next((data / "novels_zh").glob("rulin*"))
    text = novel.read_text(encoding="utf-8")
    simplify = OpenCC("t2s").convert
    for start, end in random.Random(7).sample(sentences(text), 150):
        first, last = locate(simplify(text[start:end]), text) or (0, 0)
        assert tokens(text[first:last]) == tokens(text[start:end])


@given(st.text("ab 王冕,._", max_size=25), st.text("ab 王,_", min_size=1, max_size=3))
def test_the_first_whole_place_is_that_of_a_regular_expression(text, quote):
    quote = quote.strip() or "a"
    letter = rf"[^\W_{CJK}]"
    before = rf"(?<!{letter})" if re.match(letter, quote) else ""
    after = rf"(?!{letter})" if re.match(letter, quote[-1]) else ""
    match = re.compile(before + re.escape(quote) + after).search(text)
    assert match is None or locate(quote, text) == match.span()
