"""Numbers in running text, Chinese and English, and when two of them may mean the same amount.

Knows: digits with separators and multipliers, numerals (read by cn2an), number words (by text2num), percent, and
words that make a number approximate. Does not know: what is counted.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from cn2an import cn2an
from text_to_num import text2num


class Number(NamedTuple):
    """A number at `[start, end)` of a text. `percent`: it is a percentage; `exact`: nothing says "about"."""

    start: int
    end: int
    value: float
    text: str
    percent: bool = False
    exact: bool = True
    ordinal: bool = False


_SCALES = {
    "k": "thousand",
    **dict.fromkeys(("m", "mn", "mln"), "million"),
    **dict.fromkeys(("bn", "b"), "billion"),
}
_TIMES = "hundred|thousand|million|billion|trillion"
_ONES = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
)
_NUMBER = re.compile(
    r"(?P<digits>\d{1,3}(?:,\d{3}){1,9}(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?)"
    rf"(?:(?P<ordinal>st|nd|rd|th)\b|[ -]?(?P<scale>{_TIMES}|{'|'.join(_SCALES)})\b|(?P<han_scale>[十百千万亿]+))?"
    r"|(?P<han>[〇零一二三四五六七八九十百千万亿两廿卅]{1,16})"
    rf"|\b(?P<words>(?:{_ONES})(?:[ -]+(?:and )?(?:{_ONES}|{_TIMES})){{0,12}})\b"
)
_SPOKEN = re.compile("[一二三四五六七八九两]{2}")  # `三五个` is three to five; nobody writes 35 so
_PERCENT = re.compile(r"\s?(?:%|percent\b|per cent\b|个百分点)")
_ABOUT = re.compile(
    r"(?:约|大概|近|差不多|不到|超过?|逾|至少|不下|将|上|数|几|\b(?:about|around|approximately|nearly|almost|roughly|some"
    r"|over|under|than|least|most|up to|close to|estimated|circa)|[~<>≈])\s?(?:(?:us|hk)?[$£€¥]\s?)?\Z"
)
_MORE = re.compile(
    r"\s?(?:[多余几来许]|\+|左右|上下|以上|以下|分之|or (?:so|more|less)\b|-?odd\b|-?plus\b|-?ish\b)"
)


def folded_numbers(text: str) -> Iterator[Number]:
    """The numbers of a folded text, in order."""
    for match in _NUMBER.finditer(text):
        value = _value(match)
        if value is None:
            continue
        start, end = match.span()
        before = text[max(0, start - 24) : start]
        percent = _PERCENT.match(text, end)
        share = before.endswith("百分之")
        exact = not (
            _SPOKEN.fullmatch(match[0])
            or _ABOUT.search(before)
            or _MORE.match(text, percent.end() if percent else end)
        )
        start, end = start - 3 * share, percent.end() if percent else end
        ordinal = bool(match["ordinal"]) or before.endswith("第")
        yield Number(start, end, value, text[start:end], bool(percent) or share, exact or ordinal, ordinal)


def differ(one: Number, other: Number) -> bool:
    """True if two numbers can't mean the same amount: not by rounding, not as a share beside its percentage."""
    if not (one.exact and other.exact) or one.ordinal != other.ordinal:
        return False
    if one.percent != other.percent or one.text.endswith(other.text) or other.text.endswith(one.text):
        return False  # '11 may be 2011
    return one.value != other.value and not (_rounds(one, other) or _rounds(other, one))


def _rounds(one: Number, other: Number) -> bool:
    """True if the first is the second told with fewer digits: a part of one, or a large number."""
    digits = _digits(one)
    fine = max(one.value, other.value) >= 1000 or not (one.value + other.value).is_integer()
    return fine and 0 < digits < _digits(other) and float(f"{other.value:.{digits}g}") == one.value


def _digits(number: Number) -> int:
    """The digits that a number is told with; zeros at the end of a whole number only tell how large it is."""
    told = re.search(r"[1-9][\d,]*(?:\.\d+)?", number.text)
    plain = told[0].replace(",", "") if told else f"{number.value:.0f}"
    return len(plain.replace(".", "")) if "." in plain else len(plain.rstrip("0"))


def _value(match: re.Match[str]) -> float | None:
    """The value; None for what is no number: `一一`, `万一`, `seven eight`."""
    digits = (match["digits"] or "").replace(",", "")
    scale = match["scale"] or "one"
    try:
        if match["han"] or match["han_scale"]:
            return float(cn2an(digits + (match["han"] or match["han_scale"]), "smart"))
        times = text2num(_SCALES.get(scale, scale), "en")
        return float(digits) * times if digits else float(text2num(match["words"].replace("-", " "), "en"))
    except (ValueError, KeyError):  # cn2an looks numerals up that it has no sign for
        return float(digits) if digits else None
