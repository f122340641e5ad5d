import pytest

from longproof.agent.offline import facts
from longproof.agent.offline.counted import counted

CROSSES = (
    "Adam kept the gauge of the river for thirty-one years and never missed a morning. Then came the autumn rains. "
    "The mill closed in October and nobody worked. There was a cross on the second and the third, forty-five of them."
)


def test_a_noun_counted_otherwise_elsewhere_contradicts(see):
    found = list(counted(see(CROSSES, "The volume holds thirty-one pencilled crosses.")))
    assert [(f.kind, f.correction) for f in found] == [("numerical", "forty-five")]


@pytest.mark.parametrize(
    "claim", ["The volume holds forty-five pencilled crosses.", "He kept the gauge for thirty-one years."]
)
def test_a_number_beside_its_own_words_stands(see, claim: str):
    assert list(counted(see(CROSSES, claim))) == []


def test_years_count_nothing(see):
    source = "In 1998 he sold 300 boats. The 2001 race was won by another crew, who came late."
    assert list(counted(see(source, "The yard had 2001 boats."))) == []


PAID = "爷爷把两间屋卖了二百三十块，一家一家上门，赔给茶农二百二十五块。后来又借了三百二十五块修船。"


def test_a_chinese_number_beside_the_same_words_contradicts(see):
    found = list(counted(see(PAID, "他拿出三百二十六块补偿茶农。")))
    assert [f.correction for f in found] == ["二百二十五块"]
    assert list(counted(see(PAID, "他拿出二百二十五块补偿茶农。"))) == []


def test_a_number_is_reported_once(see):
    opinion = facts.look(see(PAID, "赔给茶农三百二十六块。"))
    assert len(opinion.findings) == 1
    assert opinion.findings[0].correction


def test_a_chinese_number_that_stands_nowhere_is_fabricated_unless_small(see):
    source = "镇上的人都来看热闹，围着戏台站了半天，谁也不肯先走。"
    assert facts.look(see(source, "镇上有五十人来看热闹。")).label == "fabricated"
    assert facts.look(see(source, "镇上有三个人来看热闹。")).label == "implicitly_supported"


def test_one_is_no_rival(see):
    assert list(counted(see("盐店里有一位公子走了出来。", "盐店来了两位公子。"))) == []


def test_an_article_is_left_to_its_record(see):
    assert list(counted(see(CROSSES, "The volume holds thirty-one pencilled crosses.", task="article"))) == []
