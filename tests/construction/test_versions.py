"""What code checks before a version is believed: each way to be rejected, and none for what is right."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import Place
from longproof.construction.versions import (
    Rejected,
    TextWithError,
    check_error,
    likeness,
    locate_quote,
    new_places,
    sentence_difference,
)

BASE = "王冕七岁丧父。母亲送他去放牛。他攒钱买书。后来他学会画荷花。"


NINE = BASE.replace("七岁", "九岁")
SWAPPED = "王冕七岁丧父。他攒钱买书。母亲送他去放牛。后来他学会画荷花。"
LATE = "母亲送他去放牛。后来，王冕七岁丧父。他攒钱买书。后来他学会画荷花。"
TWO = BASE.replace("他攒钱买书。后来他学会", "因为他攒钱买书，母亲走了。所以他学会")


def test_a_change_is_one_sentence_or_for_order_and_cause_two_and_an_added_one_is_a_fabrication():
    wrong = Place(start=0, end=7, text="王冕九岁丧父。")
    said = ("numerical", wrong, "王冕七岁丧父。", "written", "七岁")
    assert check_error(BASE, NINE, "numerical", wrong.text, "七岁") == (NINE, *said)
    assert isinstance(check_error(BASE, SWAPPED, "temporal", "他攒钱买书。"), TextWithError)
    assert isinstance(check_error(BASE, TWO, "causal", "所以他学会画荷花。"), TextWithError)
    change = check_error(BASE, LATE, "temporal", "母亲送他去放牛。")
    assert isinstance(change, TextWithError)
    assert change.wrong.text == "母亲送他去放牛。后来，王冕七岁丧父。"
    change = check_error(BASE, BASE.replace("买书。", "买书。他卖掉了牛。"), "fabrication", "他卖掉了牛。")
    assert isinstance(change, TextWithError)
    assert (change.wrong.text, change.right) == ("他卖掉了牛。", "")


@pytest.mark.parametrize(
    ("made", "kind", "part", "why"),
    [
        (BASE, "event", "王冕七岁丧父。", "not_changed"),
        (BASE.replace("。", "。 "), "event", "王冕七岁丧父。", "not_changed"),
        (BASE.replace("七岁", "九岁").replace("买书", "买酒"), "event", "王冕九岁丧父。", "too_many_changed"),
        (BASE.replace("他攒钱买书。", ""), "event", "王冕七岁丧父。", "too_many_changed"),
        (NINE, "numerical", "王冕十岁丧父。", "span_not_found"),
        (NINE, "numerical", "", "span_not_found"),
        (NINE, "numerical", "他攒钱买书。", "span_elsewhere"),
        (NINE, "fabrication", "王冕九岁丧父。", "too_many_changed"),
        (LATE, "temporal", "他攒钱买书。", "span_elsewhere"),
        (TWO, "event", "所以他学会画荷花。", "too_many_changed"),
        (BASE.replace("书。", "书。他卖了牛。他病了。"), "fabrication", "他卖了牛。", "too_many_changed"),
    ],
)
def test_what_is_wrong_with_a_version_has_a_name(made, kind, part, why):
    assert check_error(BASE, made, kind, part) == Rejected(why)


def test_a_likeness_is_no_place():
    assert locate_quote("he took the red boat home again", "He took the blue boat home again.") is None
    assert locate_quote("  ", "He took it.") is None


@given(st.text(alphabet="ab。!？ \n王", max_size=60), st.text(alphabet="ab。!？ \n王", max_size=60))
def test_the_place_of_a_difference_is_exact(base, text):
    found = sentence_difference(base, text)
    if found is not None:
        assert text[found.place.start : found.place.end] == found.place.text
        assert all(sentence in text for sentence in found.new)
    assert sentence_difference(text, text) is None


WORDS = st.permutations(["the", "barn", "was", "old", "and", "red", "by", "now"])
"""Each word once: among repeated ones the place of an insertion has no single answer."""


@given(WORDS, st.integers(0, 12), st.sampled_from(["zebra quartz", "zebra", "zebra quartz lemon"]))
def test_what_was_inserted_is_found_to_the_character(words, at, new):
    base = " ".join(words)
    text = " ".join([*words[:at], new, *words[at:]])
    places, kept = new_places(base, text)
    assert [p.text for p in places] == [new]
    assert all(text[p.start : p.end] == p.text for p in places)
    assert kept == 1


@given(st.text(alphabet="ab c。王，", max_size=30), st.text(alphabet="ab c。王，", max_size=30))
def test_new_places_are_exact_in_any_text(base, text):
    places, kept = new_places(base, text)
    assert 0 <= kept <= 1
    assert all(text[p.start : p.end] == p.text for p in places)
    assert all(a.end <= b.start for a, b in pairwise(places))
    assert new_places(text, text)[0] == []


@given(st.text(), st.text())
def test_likeness_is_symmetric_and_bounded(one, other):
    assert likeness(one, other) == likeness(other, one)
    assert 0 <= likeness(one, other) <= 1
    assert likeness(one, one) == 1
