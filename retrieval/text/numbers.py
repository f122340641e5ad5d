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


_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_ARABIC = re.compile(rf"\d[\d,]*(?:\.\d+)*|[{_VULGAR}]")
_WHOLE = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_PIECE = re.compile(r"\d+(?:\.\d+)?")
_PREFIX = re.compile(
    r"(?P<sign>(?<![^\s(])-)?(?:(?:(?<![a-z])(?:us|hk|nz|au|ca|a|c|s))?(?P<money>\$|£|€|¥|(?<![a-z])(?:usd|rmb))\s?)?\Z"
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
_ENDING = re.compile(r"(?P<ordinal>(?:st|nd|rd|th)\b)|'?s\b")
_ABOUT = re.compile(
    r"(?:约|大概|将近|近|差不多|不到|超过|逾|至少|不下|\b(?:about|around|approximately|nearly|almost|roughly|some|over|under"
    r"|than|least|most|up to)\s)\s?\Z"
)
_MORE = re.compile(r"[多余](?=[\u4e00-\u9fff])|\+")
_AROUND = re.compile(r"[多余](?![少下])|\s(?:or so|or more)\b|上下|左右|以上|以下")
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
        before = text[max(0, match.start() - 1) : match.start()]
        if before.isascii() and (before.isalpha() or before == "_"):
            continue
        for start, end in _pieces(text, match):
            known = sum(map(str.isdigit, text[start:end])) <= LONGEST
            if known and (found := _with_tail(text, start, end)):
                yield found


def _pieces(text: str, match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The numbers in a run of digits, commas and dots: one, or those between commas; none in `1.2.3`."""
    run = match[0].rstrip(",")
    if _WHOLE.fullmatch(run) or run in _VULGAR:
        yield match.start(), match.start() + len(run)
    elif run.count(".") < 2:
        yield from (piece.span() for piece in _PIECE.finditer(text, *match.span()))


def _with_tail(text: str, start: int, end: int) -> Found | None:
    """The number with its sign, money, multiplier, ordinal ending and unit; None where it is part of a name."""
    value, end = _value(text, start, end)
    if text[start - 1 : start] == "第":
        unit, stop = unit_after(text, end)
        return Found(start - 1, stop, value, unit, ordinal=True)
    prefix = _PREFIX.search(text, max(0, start - 8), start)
    money = MONEY.get(prefix["money"] or "", "") if prefix else ""
    if prefix and prefix["sign"]:
        value = -value
    start = prefix.start() if prefix else start
    ending = _ENDING.match(text, end)
    if ending:
        unit, stop = unit_after(text, ending.end()) if ending["ordinal"] else ("decade", ending.end())
        return Found(start, stop, value, unit, ordinal=ending["ordinal"] is not None)
    return _counted(text, start, *_times(text, end, value, money), money)


def _value(text: str, start: int, end: int) -> tuple[float, int]:
    """The value of the digits, with the fraction behind them (`3½`), and where that ends."""
    if text[start] in _VULGAR:
        return unicodedata.numeric(text[start]), end
    value = float(text[start:end].replace(",", ""))
    if text[end : end + 1] and text[end] in _VULGAR:
        return value + unicodedata.numeric(text[end]), end + 1
    return value, end


def _counted(text: str, start: int, value: float, end: int, money: str) -> Found | None:
    more = _MORE.match(text, end) or _AROUND.match(text, end)
    unit, stop = unit_after(text, more.end() if more else end)
    after = _AROUND.match(text, stop)
    stop = after.end() if after else stop
    if not unit and not money and text[end : end + 1].isascii() and text[end : end + 1].isalpha():
        return None
    about = _ABOUT.search(text, max(0, start - 16), start)
    return Found(start, stop, value, money or unit, bool(more or after or about))


def _times(text: str, end: int, value: float, money: str) -> tuple[float, int]:
    """The value times the multiplier behind it, if there is one, and where that ends."""
    chinese = _TIMES_ZH.match(text, end)
    if chinese:
        for character in chinese[1]:
            value *= _TIMES[character]
        return value, chinese.end()
    english = _TIMES_EN.match(text, end)
    if english and (english[1] or money or english[2] == "k"):
        return value * _TIMES[english[1] or english[2]], english.end()
    return value, end
