"""Texts made wrong by rule: one error, in its place, and nothing else touched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import KINDS
from longproof.construction.rule_errors import perturb
from longproof.construction.versions import TextWithError, sentence_difference
from longproof.retrieval.text import sentences

ZH = [
    "曹操引三十万大军渡过黄河。",
    "孔明答应与鲁肃同去见孙权。",
    "张飞在城下大败敌将。",
    "刘备把妻子和两个儿子送到新野。",
    "因粮草不足，周瑜连夜出城。",
    "赵云打开东门，放百姓进来。",
    "关羽不肯投降。",
    "鲁肃的哥哥收兵回营。",
]
EN = [
    "Tara of Helium opened the narrow gate before dawn.",
    "Gahan did not follow the three warriors into the pits.",
    "Turan told Ghek about the hidden stair.",
    "Her brother was waiting beside the river with seven men.",
    "Ghek stayed behind because the torches had gone out, and slept.",
    "The guards had closed the southern gate.",
    "Turan entered the tower and found twelve swords.",
    "Luud could hear the marching of the guard.",
]
CAST = {"zh": ["曹操", "孔明", "鲁肃", "孙权", "张飞"], "en": ["Tara", "Gahan", "Turan", "Ghek", "Luud"]}
TEXTS = {"zh": "".join(ZH), "en": " ".join(EN)}


def folded(text: str) -> list[str]:
    return [text[a:b] for a, b in sentences(text)]


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_rule_in_both_languages(kind, language):
    change = perturb(TEXTS[language], kind, 1, CAST[language])
    assert isinstance(change, TextWithError)
    assert change.kind == kind
    assert change.how
    assert change.reason


@given(
    st.sampled_from(["zh", "en"]),
    st.sampled_from(KINDS),
    st.integers(0, 10**6),
    st.lists(st.integers(0, 7), min_size=1, max_size=8, unique=True),
)
def test_a_change_stays_in_its_sentences(language, kind, seed, chosen):
    parts = [(ZH if language == "zh" else EN)[n] for n in chosen]
    text = ("" if language == "zh" else " ").join(parts)
    change = perturb(text, kind, seed, CAST[language])
    if not isinstance(change, TextWithError):
        assert change == "no_site"
        return
    made, wrong, stretch = change.text, change.wrong, change.sentences
    assert made[wrong.start : wrong.end] == wrong.text
    assert made[stretch.start : stretch.end] == stretch.text
    assert stretch.start <= wrong.start < wrong.end <= stretch.end
    assert sentence_difference(text, made) is not None
    before, after = folded(text), folded(made)
    lost = [s for s in before if s not in after]
    come = [s for s in after if s not in before]
    assert len(lost) <= 1
    assert len(come) <= 1
    assert len(after) - len(before) == (kind == "fabrication")
    assert made[: wrong.start] + change.right + made[wrong.end :] == text or kind == "fabrication"
    if kind == "fabrication":
        assert "".join((made[: wrong.start] + made[wrong.end :]).split()) == "".join(text.split())


@given(st.sampled_from(KINDS), st.integers(0, 50))
def test_the_same_seed_gives_the_same_change(kind, seed):
    assert perturb(TEXTS["zh"], kind, seed, CAST["zh"]) == perturb(TEXTS["zh"], kind, seed, CAST["zh"])


def test_seeds_differ():
    made = {str(perturb(TEXTS["en"], "entity", seed, CAST["en"])) for seed in range(20)}
    assert len(made) > 3


@given(st.text(max_size=200), st.sampled_from(KINDS))
def test_no_text_breaks_it(text, kind):
    change = perturb(text, kind, 0, ["Ann", "王冕"])
    assert change == "no_site" or isinstance(change, TextWithError)


def test_equals_are_not_swapped():
    change = perturb("鲁肃和孙权在江边饮酒。", "entity", 0, ["鲁肃", "孙权"])
    assert change == "no_site"


def test_a_denied_sentence_is_affirmed():
    change = perturb("关羽不肯投降。", "inversion", 3)
    assert isinstance(change, TextWithError)
    assert "不肯" not in change.text or "没有" in change.text


def test_kin_keeps_its_sex_in_english():
    for seed in range(10):
        change = perturb("Her brother came home.", "relation", seed)
        assert isinstance(change, TextWithError)
        assert change.wrong.text in {"father", "son", "husband", "uncle", "nephew", "grandfather", "cousin"}
        assert change.right == "brother"
