"""Words with a twin that says the same, and words that lean on the sentence before; Chinese and English.

Written by hand for `making`, for prose of the last six hundred years. Each twin may stand for its word wherever the
pattern matches outside a name or title, so a reworded sentence is as true as it was. Single characters that names are
made of (都, 遂, 往) have no twin at all. Does not know: which words are put in, or who the people of a book are.
"""

import re
from typing import Literal

_ZH = """
(?:却说|且说|话说|原来(?!的)|当下)，?=; (?<!将)军士=士兵; 商议=商量; 尽皆=全都; 次日=第二天
(?<![一尽悉])皆(?![因大可督尉护统司头城])=都; 俱(?![全督尉护统司头城])=都; 亦(?!复)=也; (?<![于如但只])是日=这一天
(?<![于如但只])是夜=这天夜里; 即日=当天; 何故=为什么; 大惊(?!失)=十分吃惊; 大喜(?!过)=十分高兴
大怒=十分恼怒; 慌忙=急忙; 连忙=赶忙; 不题=不提; 引军(?!师)=带兵; 引兵=领兵; 寻思=心想; 吃酒=喝酒
回家去=回到家里去; 大哭=痛哭; 作别=告别; 辞别=告别; 歇息=休息; 须臾=不久; (?<!一)霎时=片刻间
于路(?![旁边中口上])=在路上; (?<![是次当即今明昨本每数几一二三四五六七八九十])日夜=昼夜; (?<!老)百姓=民众
众将(?![士军官校帅])=各位将领; 左右(?=人)=身边的
"""
_BACK_ZH = """
急忙=慌忙; 看见=瞧见; 知道=晓得; 一同=一起; 一齐=一同; 立刻=马上
(?<![二三四五六七八九几])十分(?![之一二三四五六七八九])=非常; (?<![也或])许多=好些; 如此=这样; 众人=大家; 自己=自家
(?<![甲乙丙丁戊己庚辛壬癸])未(?=[到见](?!得))=没有
"""
_BACK_EN = r"""
\bon\b(?= the| a| his| her)=upon; \bsoon\b=before long; \balmost\b=nearly; \bhardly\b=scarcely
\btoward\b=towards; \banswered\b=replied; \bwhile\b=whilst; \bbeneath\b=below; (?<!on )the whole\b=the entire
\bbig\b=large; \blarge\b=big; \bsaw\b=beheld; \bhouse\b=dwelling; \bbegan\b=started
\bthough\b=although; \boften\b=frequently; \bperhaps\b=maybe; \bmany\b=numerous
\bwithout a word\b=silently; \bin order to\b=to; \bas if\b=as though; \bas though\b=as if
(?<!the )(?<!this )(?<!that )(?<!a )\bvery\b=quite
\bevery\b=each; \bjourney\b=trip
"""
_EN = r"""
\bupon\b=on; \btowards\b=toward; \bcommenced\b=began; \bbeheld\b=saw; \bperceived\b=noticed
\bendeavoured\b=tried; \bpurchased\b=bought; \breplied\b=answered; \bpresently\b=soon; \bwhilst\b=while
\bamongst\b=among; \bamid\b=in the midst of; \bscarcely\b=hardly; \bimmediately\b=at once
\bthereupon\b=then; \bhastened\b=hurried; \bassisted\b=helped; \bupwards\b=upward
\bafterwards\b=afterward; \bdesired to\b=wished to; \bbegan to\b=started to
\bfor a moment\b=for an instant; \binstantly\b=at once; \bquitted\b=left; (?<!\ba )sufficient\b=enough
\bresided\b=lived; \bchamber\b=room; (?<!\ban )apartment\b=room; \bmerely\b=only; \bnearly\b=almost
\brapidly\b=quickly; \bslowly\b=at a slow pace; \bbefore long\b=soon; \bat length\b=at last
\bapproached\b=came near; \bdid not\b=didn't; \bhad not\b=hadn't; \bwas not\b=wasn't
\bupon which\b=on which; \ba number of\b=several; \bdespite\b=in spite of; (?<!\ban )entire\b=whole
(?<=, )however(?=,)=though; \bsilently\b=without a sound; \bsuddenly\b=all of a sudden; \bprior to\b=before
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
NAMED: dict[Language, re.Pattern[str]] = {
    "zh": re.compile(
        "[许成武京帝邺洛东西南北上中国旧故新首陪]都(?![是有在不能要会来去把被])"
        "|[大水副]?都(?:督|尉|护|统|司|头|城|邑|察|指挥|亭侯|管|虞候|元帅|御史|堂)"
        "|(?:中书|尚书|县|太史|中|郎中)令|(?:刺|太|御|内|长)史|[太郡]守|太尉|校尉|中郎将|将军|丞相|司[徒空马隶]|侍[郎中]"
        "|(?:天|钦|节度|观察|团练|来|信)使"
        "|[一-鿿]{1,2}[州郡](?![一-鿿]?[治县])"
    ),
    "en": re.compile(
        r"[A-Z][a-z]+(?:[- ](?:upon|on|under|by|of|the|le|in|amid))+[- ][A-Z][a-z]+|\b[A-Z][a-z]+"
    ),
}
"""Titles and places that code can tell, and in English all that is capitalised: no twin stands inside one."""
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
