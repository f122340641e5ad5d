"""Numbers in running text, Chinese and English, with what they count.

Knows: Arabic digits with their signs, separators and multipliers; Chinese numerals (`numbers_zh`) and English number
words (`numbers_en`); units, money, percent.
Does not know: which numbers matter, or when two of them disagree. A parser of our own: general converters read
`一时` and `十分喜欢` as numbers.
"""

import re
import unicodedata
from collections.abc import Iterator
from heapq import merge
from typing import NamedTuple

from longproof.retrieval.text.fold import fold
from longproof.retrieval.text.numbers_en import english_numbers
from longproof.retrieval.text.numbers_zh import chinese_numbers
from longproof.retrieval.text.units import MONEY, Found, unit_after


class Number(NamedTuple):
    """A number at `[start, end)` of a text, with its unit and its sign of money.

    `value` is the number said: `30%` is 30 with the unit `%`, `twenty or so` is 20 and `approximate`, `三五个` is 4
    and `approximate`, `第三回` is 3, `ordinal`, with the unit `回`. `unit` is empty where none is named.
    """

    start: int
    end: int
    value: float
    unit: str
    text: str
    approximate: bool = False
    ordinal: bool = False


_ARABIC = re.compile(
    r"(?P<money>(?:(?:us|hk|nz|a|c|s)?\$|[£€¥]|\b(?:usd|rmb))\s?)?(?P<sign>(?<![^\s(])-)?"
    r"(?<![a-z0-9_])(?<!\d[.,])(?!\d+(?:\.\d+){2})(?P<number>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)(?P<vulgar>[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])?"
    r"|(?P<alone>[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])"
)
_TIMES_ZH = re.compile("[多余几]?([十百千万亿]{1,2})(?!分)")
_TIMES_EN = re.compile(r"[\s-]?(hundred|thousand|million|billion|trillion|bn|mn|mln|tn)\b|(k|m|b)\b")
_TIMES = {
    "十": 10,
    "百": 100,
    "千": 1000,
    "万": 10**4,
    "亿": 10**8,
    "hundred": 100,
    "thousand": 1000,
    "k": 1000,
}
_TIMES |= {"million": 10**6, "mn": 10**6, "mln": 10**6, "m": 10**6, "billion": 10**9, "bn": 10**9, "b": 10**9}
_TIMES |= {"trillion": 10**12, "tn": 10**12}
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_YEARS = re.compile(r"'?s\b")
_ABOUT = re.compile(
    r"(?:约|大概|将近|近|差不多|不到|超过|逾|至少|不下|\b(?:about|around|approximately|nearly|almost|roughly|some|over|under"
    r"|than|least|most|up to)\s)\s?$"
)
_MORE = re.compile(r"[多余来](?=[\u4e00-\u9fff])|\+|\s(?:or so|or more)\b|上下|左右|以上|以下")
LONGEST = 18
"""A longer run of digits is a name of something, not a count."""


def numbers(text: str) -> list[Number]:
    """The numbers of a text in order, not overlapping.

    Left out: numerals in fixed words (一时, 十分, 万一, 三国), `one` as a pronoun, digits inside names (`B12`, `3D`),
    words without a definite number (`几十`, `hundreds`).
    """
    folded = fold(text)
    found: list[Number] = []
    done = 0
    scanned = (_arabic(folded.text), chinese_numbers(folded.text), english_numbers(folded.text))
    for item in merge(*scanned, key=lambda item: (item.start, -item.end)):
        if item.start >= done:
            start, end = folded.original(item.start, item.end)
            found.append(
                Number(start, end, item.value, item.unit, text[start:end], item.approximate, item.ordinal)
            )
            done = item.end
    return found


def _arabic(text: str) -> Iterator[Found]:
    for match in _ARABIC.finditer(text):
        number = match["number"] or ""
        if len(number) > LONGEST:
            continue
        value = float(number.replace(",", "") or 0) * (-1 if match["sign"] else 1)
        vulgar = match["vulgar"] or match["alone"]
        if vulgar:
            value += unicodedata.numeric(vulgar)
        found = _with_tail(text, match, value)
        if found:
            yield found


def _with_tail(text: str, match: re.Match[str], value: float) -> Found | None:
    """The number with its multiplier, ordinal ending and unit; None where it is part of a name."""
    start, end = match.start(), match.end()
    money = MONEY.get((match["money"] or "").strip().lstrip("ushknzac") or (match["money"] or "").strip(), "")
    approximate = bool(_ABOUT.search(text[max(0, start - 16) : start]))
    if text[start - 1 : start] == "第":
        unit, stop = unit_after(text, end)
        return Found(start - 1, stop, value, unit, ordinal=True)
    for ending, unit in ((_ORDINAL, ""), (_YEARS, "decade")):
        tail = ending.match(text, end)
        if tail:
            counted, stop = unit_after(text, tail.end()) if not unit else (unit, tail.end())
            return Found(start, stop, value, counted, ordinal=not unit)
    value, end = _times(text, end, value, money)
    more = _MORE.match(text, end)
    unit, stop = unit_after(text, more.end() if more else end)
    after = _MORE.match(text, stop)
    stop = after.end() if after else stop
    if not unit and not money and text[end : end + 1].isascii() and text[end : end + 1].isalpha():
        return None
    return Found(start, stop, value, money or unit, approximate or bool(more or after))


def _times(text: str, end: int, value: float, money: str) -> tuple[float, int]:
    chinese = _TIMES_ZH.match(text, end)
    if chinese:
        for character in chinese[1]:
            value *= _TIMES[character]
        return value, chinese.end()
    english = _TIMES_EN.match(text, end)
    if english and (english[1] or money or english[2] == "k"):
        return value * _TIMES[english[1] or english[2]], english.end()
    return value, end
