"""What code checks before a version is believed: each way to be rejected, and none for what is right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.construction.versions import Change, checked, difference, located

BASE = "王冕七岁丧父。母亲送他去放牛。他攒钱买书。后来他学会画荷花。"


def test_one_changed_sentence_is_a_change():
    made = BASE.replace("七岁", "九岁")
    change = checked(BASE, made, "numerical", "王冕九岁丧父。", "七岁")
    assert isinstance(change, Change)
    assert change.sentences.text == "王冕九岁丧父。"
    assert change.original == change.right == "王冕七岁丧父。"
    assert made[change.wrong.start : change.wrong.end] == change.wrong.text


@pytest.mark.parametrize(
    ("made", "kind", "part", "why"),
    [
        (BASE, "event", "王冕七岁丧父。", "not_changed"),
        (BASE.replace("。", "。 "), "event", "王冕七岁丧父。", "not_changed"),
        (BASE.replace("七岁", "九岁").replace("买书", "买酒"), "event", "王冕九岁丧父。", "too_many_changed"),
        (BASE.replace("他攒钱买书。", ""), "event", "王冕七岁丧父。", "too_many_changed"),
        (BASE.replace("七岁", "九岁"), "numerical", "王冕十岁丧父。", "span_not_found"),
        (BASE.replace("七岁", "九岁"), "numerical", "", "span_not_found"),
        (BASE.replace("七岁", "九岁"), "numerical", "他攒钱买书。", "span_elsewhere"),
        (BASE.replace("七岁", "九岁"), "fabrication", "王冕九岁丧父。", "too_many_changed"),
        (
            BASE.replace("买书。", "买书。他卖了牛。他病倒了。"),
            "fabrication",
            "他卖了牛。",
            "too_many_changed",
        ),
    ],
)
def test_what_is_wrong_with_a_version_has_a_name(made, kind, part, why):
    assert checked(BASE, made, kind, part) == why


def test_order_and_cause_may_change_two_sentences():
    swapped = "王冕七岁丧父。他攒钱买书。母亲送他去放牛。后来他学会画荷花。"
    assert isinstance(checked(BASE, swapped, "temporal", "他攒钱买书。"), Change)
    late = "母亲送他去放牛。后来，王冕七岁丧父。他攒钱买书。后来他学会画荷花。"
    change = checked(BASE, late, "temporal", "母亲送他去放牛。")
    assert isinstance(change, Change)
    assert change.sentences.text == "母亲送他去放牛。后来，王冕七岁丧父。"
    assert checked(BASE, late, "temporal", "他攒钱买书。") == "span_elsewhere"
    two = BASE.replace("他攒钱买书。后来他学会", "因为他攒钱买书，母亲走了。所以他学会")
    assert isinstance(checked(BASE, two, "causal", "所以他学会画荷花。"), Change)
    assert checked(BASE, two, "event", "所以他学会画荷花。") == "too_many_changed"


def test_an_added_sentence_is_a_fabrication():
    made = BASE.replace("买书。", "买书。他卖掉了牛。")
    change = checked(BASE, made, "fabrication", "他卖掉了牛。")
    assert isinstance(change, Change)
    assert (change.wrong.text, change.original) == ("他卖掉了牛。", "")


def test_a_part_in_other_script_or_width_is_found():
    made = BASE.replace("放牛", "種田")
    assert isinstance(checked(BASE, made, "event", "母亲送他去种田。"), Change)


def test_a_likeness_is_no_place():
    assert located("he took the red boat over the river", "He took the blue boat over the river.") is None


@given(st.text(alphabet="ab。!？ \n王", max_size=60), st.text(alphabet="ab。!？ \n王", max_size=60))
def test_the_place_of_a_difference_is_exact(base, text):
    found = difference(base, text)
    if found is not None:
        assert text[found.place.start : found.place.end] == found.place.text
        assert all(sentence in text for sentence in found.come)
    assert difference(text, text) is None
