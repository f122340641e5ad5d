"""The pure parts of the constructions: places of inventions, likeness of answers, what can't be used."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import Place
from longproof.construction.halueval import Item, alike, unfit
from longproof.construction.probe import Poisoned, invented, new_places, overlap, poisoned

WORDS = st.permutations(["the", "barn", "was", "old", "and", "red", "by", "now"])
"""Each word once: among repeated ones the place of an insertion has no single answer."""
BASE = "The mill ground flour for six villages. A flood destroyed the bridge in 1903."


def place(text: str, part: str) -> Place:
    start = text.index(part)
    return Place(start=start, end=start + len(part), text=part)


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


def test_chinese_is_compared_by_characters():
    places, _ = new_places("王冕会画荷花。", "王冕会画荷花和梅花。")
    assert "".join(p.text for p in places) in ("和梅花", "荷花和梅", "花和梅")


def test_inventions_are_placed_or_named():
    text = BASE.replace(" A flood", " It burned twice. A flood")
    found = poisoned(BASE, text, ["It burned twice."], 1)
    assert isinstance(found, Poisoned)
    assert [p.text for p in found.places] == ["It burned twice."]
    assert poisoned(BASE, BASE, ["x"], 1) == "not_changed"
    assert poisoned(BASE, "All is new here and long enough to be so.", ["All is new"], 1) == "base_rewritten"
    assert poisoned(BASE, text, ["It burned twice."], 2) == "wrong_count"
    assert poisoned(BASE, text, ["It sank."], 1) == "span_not_found"
    assert poisoned(BASE, text, ["A flood destroyed"], 1) == "span_elsewhere"


def test_a_claim_is_new_old_or_mixed():
    text = BASE.replace(" A flood", " It burned twice. A flood")
    new = [place(text, "It burned twice.")]
    assert invented(place(text, "It burned twice."), new) is True
    assert invented(place(text, "The mill"), new) is False
    assert invented(place(text, "villages. It burned twice. A flood destroyed the bridge"), new) is None
    assert overlap(place(text, "The mill"), new[0]) == 0


@given(st.text(), st.text())
def test_likeness_is_symmetric_and_bounded(one, other):
    assert alike(one, other) == alike(other, one)
    assert 0 <= alike(one, other) <= 1
    assert alike(one, one) == 1


def test_likeness_counts_shared_words():
    assert alike("the cat sat", "the cat sat down") > alike("the cat sat", "a dog ran off") == 0
    assert alike("王冕画荷花", "王冕画梅花") > alike("王冕画荷花", "天下大乱")


def test_made_up_texts_that_cannot_be_used_have_a_name():
    item = Item("1", "qa", "The ferry left at nine.", "When?", "At nine.", "en")
    assert unfit(item, "At ten.") is None
    assert unfit(item, "at nine") == "not_changed"
    assert unfit(item, "") == "no_success"
    assert unfit(item, "word " * 30) == "too_long"
    assert unfit(item._replace(task="dialogue"), "word " * 30) is None
