"""Words with a twin that says the same, and words that lean on the sentence before; Chinese and English.

Written by hand for `making`, for prose of the last six hundred years. Each twin may stand for its word wherever the
pattern matches, so a reworded sentence is as true as it was. Does not know: which words are put in.
"""

import re
from typing import Literal

_ZH = """
(?:却说|且说|话说|原来|当下)，?=; 军士=士兵; 商议=商量; 尽皆=全都; (?<![一尽])皆(?!因)=都; 次日=第二天
是日=这一天; 是夜=这天夜里; 即日=当天; 何故=为什么; 大惊(?!失)=十分吃惊; 大喜(?!过)=十分高兴
大怒=十分恼怒; 慌忙=急忙; 连忙=赶忙; 不题=不提; 引军=带兵; 引兵=领兵; 遂=于是; 寻思=心想; 吃酒=喝酒
回家去=回到家里去; 家去=回家去; 大哭=痛哭; 作别=告别; 辞别=告别; 歇息=休息; 须臾=不久; 霎时=片刻间
俱(?!全)=都; 亦(?!复)=也; 于路=在路上; 日夜=昼夜; 百姓=民众; 众将=各位将领; 左右(?=人)=身边的
"""
_BACK_ZH = """
都=皆; 于是=遂; 急忙=慌忙; 看见=瞧见; 知道=晓得; 一同=一起; 一齐=一同; 立刻=马上; 十分=非常; 许多=好些
如此=这样; 众人=大家; 自己=自家; 与(?=众)=同; 令(?=人)=叫; 皆=都; 使(?=人)=叫; 未(?=[到见知])=没有; 往=到
"""
_BACK_EN = r"""
\bon\b(?= the| a| his| her)=upon; \bsoon\b=before long; \balmost\b=nearly; \bhardly\b=scarcely
\btoward\b=towards; \banswered\b=replied; \bwhile\b=whilst; \bbeneath\b=below; \bwhole\b=entire
\bbig\b=large; \blarge\b=big; \bgreat\b=large; \bsaw\b=beheld; \bhouse\b=dwelling; \bbegan\b=started
\bthough\b=although; \boften\b=frequently; \bperhaps\b=maybe; \bmany\b=numerous
\bwithout a word\b=silently; \bin order to\b=to; \bas if\b=as though; \bas though\b=as if; \bvery\b=quite
\bevery\b=each; \bjourney\b=trip
"""
_EN = r"""
\bupon\b=on; \btowards\b=toward; \bcommenced\b=began; \bbeheld\b=saw; \bperceived\b=noticed
\bendeavoured\b=tried; \bpurchased\b=bought; \breplied\b=answered; \bpresently\b=soon; \bwhilst\b=while
\bamongst\b=among; \bamid\b=in the midst of; \bscarcely\b=hardly; \bimmediately\b=at once
\bthereupon\b=then; \bhastened\b=hurried; \bassisted\b=helped; \bupwards\b=upward
\bafterwards\b=afterward; \bdesired\b=wished; \bbegan to\b=started to; \bcould not\b=was unable to
\bfor a moment\b=for an instant; \binstantly\b=at once; \bquitted\b=left; \bsufficient\b=enough
\bresided\b=lived; \bchamber\b=room; \bapartment\b=room; \bmerely\b=only; \bnearly\b=almost
\brapidly\b=quickly; \bslowly\b=at a slow pace; \bbefore long\b=soon; \bat length\b=at last
\bapproached\b=came near; \bdid not\b=didn't; \bhad not\b=hadn't; \bwas not\b=wasn't
\bupon which\b=on which; \ba number of\b=several; \bdespite\b=in spite of; \bentire\b=whole
\bhowever\b=though; \bsilently\b=without a sound; \bsuddenly\b=all of a sudden; \bprior to\b=before
\bwarriors\b=fighters
"""


def _pairs(listed: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = [pair.strip().rpartition("=") for line in listed.strip().splitlines() for pair in line.split("; ")]
    return tuple((re.compile(word), twin) for word, _, twin in rows)


Language = Literal["zh", "en"]
REWORDINGS: dict[Language, tuple[tuple[re.Pattern[str], str], ...]] = {
    "zh": _pairs(_ZH) + _pairs(_BACK_ZH),
    "en": _pairs(_EN) + _pairs(_BACK_EN),
}
"""Patterns and what may stand in their place; some pairs stand both ways round, so apply one at a time."""
LATER: dict[Language, tuple[str, ...]] = {
    "zh": ("后来，", "此后，", "随后，"),
    "en": ("Later, ", "Afterwards, ", "After that, "),
}
OPENS_BACK: dict[Language, re.Pattern[str]] = {
    "zh": re.compile("[他她它其此这那但却又也亦乃即便遂忽故因于]|后来|正是|不觉|不想|不料|方才|只见|第"),
    "en": re.compile(
        r"(?:He|She|It|They|This|That|These|Those|Here|There|Then|But|And|So|Thus|Such|Yet|Nor|Or|For|What|How|Why|Who|"
        r"Which|However|Still|Therefore|Again|Both|Now|Not|No|His|Her|Their|Its|If|Even|Once|Another|Neither|Each)\b"
    ),
}
