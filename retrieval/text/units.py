"""Units: what a number counts, read from the words behind it (or the sign before it), and a number as it is found.

Knows: measures, money, spans of time, Chinese classifiers and the English nouns that are counted most; one name
for all forms of an English unit (`feet`, `ft` → `foot`).
Does not know: numerals. All functions read folded text (`fold`).
"""

import re
from typing import NamedTuple


class Found(NamedTuple):
    """A number at `[start, end)` of folded text, its unit included. `value` is the number said."""

    start: int
    end: int
    value: float
    unit: str
    approximate: bool = False
    ordinal: bool = False


MONEY = {"$": "dollar", "£": "pound", "€": "euro", "¥": "元", "usd": "dollar", "rmb": "元"}

_CHINESE = (
    "个多?月|个多?小时|个多?钟头|个多?时辰|个多?星期|个多?世纪|个多?年头|周岁|世纪|年代|年级|星期|礼拜|小时|时辰|分钟|钟头|昼夜|"
    "年|月|天|日|号|夜|岁|周(?![围边遭])|更(?!加|为|多)|点钟|点|刻|分(?![别明成布])|秒|旬|载|季|"
    "人民币|美元|欧元|英镑|日元|港元|块钱|两银子|元|圆|块|角|毛|两|钱|文|贯|锭|吊|"
    "公里|千米|厘米|毫米|平方米|平方公里|米|英里|海里|里|丈|尺|寸|步|亩|公顷|顷|公斤|千克|毫克|克|斤|吨|石|斗|升|担|斛|度|"
    "倍|成|人次|人|个|位|名|员|口(?![子气])|头(?=[牛猪驴羊马骡狼象])|匹|只|条|尾|件|座|间|栋|幢|所|户|家|"
    "次|回(?![来去头到家])|遍|趟|场|阵|番|顿|声|杯|碗|瓶|盏|坛|壶|桌|席|张|把|枝|支|根|艘|辆|架|台|扇|封|道(?![德理路])|层|楼|"
    "级|代|世|辈|将|路(?=[军兵人])|部(?![分门落])|本|卷|册|篇|章|节|页|首|句|字|项|款|颗|粒|枚|滴|片|块|双|对|副|套|群|队|骑|乘|"
    "球|票|席位|城|郡|州(?!府)|县|省|国(?=之?[兵军人])|万人"
)
_UNIT_ZH = re.compile(f"(?:{_CHINESE})")
_ONE_NAME_ZH = {
    "年头": "年",
    "周岁": "岁",
    "号": "日",
    "两银子": "两",
    "块钱": "元",
    "圆": "元",
    "点钟": "点",
    "钟头": "小时",
}
_ONE_NAME_ZH |= {"礼拜": "星期", "周": "星期", "千米": "公里", "千克": "公斤"}

_FORMS = (
    "kilometer km kilometre; meter m metre; centimeter cm centimetre; millimeter mm; foot feet ft; inch"
    " inches; mile mi; kilogram kg; gram g; milligram mg; pound lb lbs; ounce oz; ton tonne; liter litre;"
    " milliliter ml; penny pence pennies; man men; woman women; child children; person people persons; century"
    " centuries; hour hr hrs; minute min mins; second sec secs; 元 yuan; match matches; loss losses; wife wives;"
    " life lives; point pts; city cities; pm; am; mph; hp; ghz; mhz; gb; mb; kb; tb; mah"
)
_ONE_NAME_EN = {form: forms.split()[0] for forms in _FORMS.split(";") for form in forms.split()}
_NOUNS = (
    "year month week day night hour minute second decade century mile kilometer meter centimeter millimeter"
    " foot inch yard acre hectare pound kilogram gram milligram ounce ton liter milliliter gallon dollar cent"
    " euro shilling penny guinea crown franc rupee yen degree time man woman child person boy girl soldier"
    " officer student member player team son daughter brother sister wife life death point rebound assist goal"
    " steal block turnover game match win loss page chapter volume book vote seat house room ship horse letter"
    " inning star story copy city country state ticket passenger patient case episode season award medal pixel"
    " megapixel"
)
_NOUNS_EN = frozenset(_NOUNS.split())
_PERCENT = re.compile(r"\s?(?:%|percent\b|per\s?cent\b|percentage points?\b|pct\b)")
_WORD = re.compile(r"[\s-]?([a-z]+)\b")


def unit_after(text: str, end: int) -> tuple[str, int]:
    """The unit that begins at `end` of folded text and where it stops; `("", end)` where there is none.

    Percent is `%`. Chinese units keep their character, English ones take the singular of one form.
    """
    percent = _PERCENT.match(text, end)
    if percent:
        return "%", percent.end()
    chinese = _UNIT_ZH.match(text, end)
    if chinese:
        return _chinese(chinese[0]), chinese.end()
    word = _WORD.match(text, end)
    name = english_unit(word[1]) if word else ""
    return (name, word.end()) if word and name else ("", end)


def english_unit(word: str) -> str:
    """The unit that a lower-case English word names, in the singular; empty where it names none."""
    for form in (word, _singular(word)):
        if form in _ONE_NAME_EN or form in _NOUNS_EN:
            return _ONE_NAME_EN.get(form, form)
    return ""


def _chinese(unit: str) -> str:
    bare = unit.removeprefix("个多").removeprefix("个") or unit
    return _ONE_NAME_ZH.get(bare, bare)


def _singular(word: str) -> str:
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
