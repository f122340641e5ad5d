"""Sentences as a reader would cut them, and nothing but whitespace lost between them."""

import pytest
from counted import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.text.sentences import HELD, sentences

PIECES = [
    *"我他说。！？…，“”「」（）《》\"'‘’.,!? \n\r\t一1a:：;-*_#😀\u0301ש\u200b\u3000",
    "Mr. ", "e.g. ", "3.5", "U.S. ", "He said ", "Then ", "……", "...", "[1]", "\r\n", "\n\n", "1. ", "第一回",
]  # fmt: skip
TEXT = st.lists(st.one_of(st.sampled_from(PIECES), st.characters(exclude_categories=["Cs"]))).map("".join)


def cut(text):
    return [text[start:end] for start, end in sentences(text)]


CUT = [
    ["他来了。", "她走了！", "真的？！", "是。"],
    ["他说：“你来了？我等你很久了。”", "然后走了。"],
    ["“你来了？”他问。", "“是的！”她答道，“我来了。”"],
    ["“走罢。”", "宝玉道：“好。”", "黛玉道：“不好！”"],
    ["匡超人道：「娘！我回來了！」", "放下行李。", "叫一聲「爹！兒子回來了！」上前磕了頭。"],
    ["他喊了一声“救命！”就跑了。"],
    ["获曰：“吾往。”遂将兵屯于河岸。"],
    ["他担下了罪名。", "得知此事，她哭了！", "就这样，他走了。", "地上很湿。"],
    ["我……我不知道。", "他看着远方的山……", "第二天她来了。"],
    ["这本书《你好！世界》很好（真的！）。", "他喜欢。"],
    ["GDP增长了3.5%。", "iPhone 15.2很贵。"],
    ['他说"走吧。"', "她没动。"],
    ["他说。", '"走吧。"', "她没动。"],
    ["（完）"],
    ["（他来过。）", "没人知道。"],
    ["第一行没有句号\n", "第二行也没有"],
    ["他走了.", "她来了."],
    ["……他走了。"],
    ["Mr. Smith met Dr. J. K. Rowling in Washington D.C. on Jan. 5.", " They paid $3.5 million."],
    ['"Where are you?" he asked.', ' "Here!" John said.', " Nobody moved."],
    ["“I know,” she said.", " “Do you?”", " “Yes.”"],
    ["The U.S. Senate met at 5 p.m.", " Then it ended...", " He left."],
    ["He lived in the U.S.", " He liked it."],
    ["See Fig. 3 (p. 12), e.g. the first.", " No. 5 is alive.", " Is it?", " No.", " It is dead."],
    ["It was good (really!), they said.", " It ended.[1]", " Next one [2]."],
    ["Visit example.com/a?b=c or v1.2.3 now!", " Yes."],
    ["Wait ... what?", " Well... maybe not."],
    ["1. Preheat the oven.", " It is hot.\n", "2. Bake e.g. bread."],
    ["jack hit an ace .", " the bear was happy ."],
    ["all in lower case.", " no capitals here."],
    ["It **works.**", " Next."],
    ["He left.\n", "* * *\n", "She came. !"],
    ["A Heading Without Punctuation\n\n", "The text goes on and\nwraps over.", " Next."],
]


@pytest.mark.parametrize("parts", CUT)
def test_a_text_is_cut_as_a_reader_would(parts):
    assert cut("".join(parts)) == [part.strip() for part in parts]


@given(TEXT)
def test_sentences_come_in_order_and_lose_nothing_but_whitespace(text):
    end = 0
    for start, stop in sentences(text):
        assert end <= start < stop
        assert text[end:start].strip() == ""
        assert text[start:stop] == text[start:stop].strip()
        end = stop
    assert text[end:].strip() == ""


@given(st.text(st.sampled_from("说話後來。！？“”「」，：\n"), max_size=60))
def test_both_scripts_are_cut_alike(text):
    simplified = text.translate(str.maketrans("話後來", "话后来"))
    assert sentences(text) == sentences(simplified)


@pytest.mark.parametrize("unit", ["字", "word ", "“", "“”", '"', "! ", "a. ", "\n", "[1]", "（", "…我"])
def test_time_grows_with_the_length_and_no_faster(unit):
    assert_linear(lambda size: sentences(unit * (size // len(unit))), 2000)


def test_only_short_quotations_are_held_together():
    assert len(cut("他说“" + "好。" * (HELD // 2 - 1) + "”然后走了。")) == 2
    assert len(cut("他说“" + "好。" * (HELD // 2) + "”然后走了。")) > 2
