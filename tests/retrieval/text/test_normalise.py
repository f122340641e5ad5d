"""Folding gives one form to all spellings, every place leads back; tokens; lone surrogates go."""

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from longproof.retrieval.text.normalise import fold, is_chinese, tokens, way_back, without_surrogates

TEXT = st.text(
    st.sampled_from("後后說说Ａa ßﬁ℃é\u0301\u200b½「」…“") | st.characters(exclude_categories=["Cs"])
)


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("後來，寶玉説：「走罷！」", '后来,宝玉说:"走罢!"'),
        ("ＡＢＣ　１２３", "abc 123"),
        ("Straße ﬁne", "strasse fine"),
        ("Café CAFE\u0301", "cafe cafe"),
        ("‘it’s’ – “so”—『是』", '\'it\'s\' - "so"-"是"'),
        ("等等…⋯", "等等……"),
        ("看著裏裡乾", "看着里里干"),
        ("3½ cups", "3½ cups"),
        ("co\u00adop\ufeff", "coop"),
    ],
)
def test_spellings_of_the_same_words_fold_to_one_form(written, folded):
    assert fold(written) == folded


@given(TEXT, st.data())
def test_every_range_leads_to_a_range_that_folds_to_it(text, data):
    folded, back = fold(text), way_back(text)
    assert folded == "".join(fold(character) for character in text)
    assume(folded)
    start = data.draw(st.integers(0, len(folded) - 1))
    end = data.draw(st.integers(start + 1, len(folded)))
    first, last = back(start, end)
    assert 0 <= first < last <= len(text)
    assert folded[start:end] in fold(text[first:last])
    assert (first, last) == (back(start, start + 1)[0], back(end - 1, end)[1])


def test_dropped_marks_go_with_the_character_before_and_a_ligature_is_never_cut() -> None:
    back = way_back("e\u0301ﬁx")
    assert [back(n, n + 1) for n in range(4)] == [(0, 2), (2, 3), (2, 3), (3, 4)]


@given(TEXT)
def test_neighbouring_ranges_come_in_order_and_lose_only_what_folds_to_nothing(text):
    back = way_back(text)
    places = [back(index, index + 1) for index in range(len(fold(text)))]
    for (_, end), (start, _) in pairwise(places):
        assert end <= start or (end - start == 1 and fold(text[start:end]))
    covered = {index for start, end in places for index in range(start, end)}
    assert all(fold(text[index]) == "" for index in set(range(len(text))) - covered)


@given(st.text(st.characters() | st.characters(categories=["Cs"])))
def test_what_is_left_can_be_written_and_keeps_its_offsets(text: str) -> None:
    clean = without_surrogates(text)
    clean.encode("utf-8")
    assert clean == "".join(
        "\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text
    )


def test_texts_inside_json_values_are_cleaned_keys_too() -> None:
    row = {"a\ud800": ["b\udc00", 1, None, {"c": "😀"}]}
    assert without_surrogates(row) == {"a\ufffd": ["b\ufffd", 1, None, {"c": "😀"}]}
    assert without_surrogates("sky \ud800", "?") == "sky ?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop", ["don't", "stop"]),
        ("他来了。好", ["他", "来", "了", "他来", "来了", "好"]),
        ("林黛玉's U.S. e-mail", ["林", "黛", "玉", "林黛", "黛玉", "s", "u", "s", "e", "mail"]),
        ("paid 3,500.5 in 1990s", ["paid", "3500.5", "in", "1990s"]),
        ("  …！ ", []),
        ("_emphasis_", ["emphasis"]),
        ("", []),
    ],
)
def test_tokens(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize("text", ["你好", "你好ab", "你好12"])
def test_a_text_is_chinese_by_its_letters(text):
    others = ("", "123 …", f"{text}four words of English")
    assert [one for one in (text, *others) if is_chinese(one)] == [text]
