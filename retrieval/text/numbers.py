"""Numbers in running text, Chinese and English, with their values.

Knows: digits with separators and multipliers, numerals (read by cn2an), number words (by text2num), percent.
Does not know: what is counted, or whether "about" stands before it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from cn2an import cn2an
from text_to_num import text2num


class Number(NamedTuple):
    """A number at `[start, end)` of a text. `percent`: it is a percentage; `ordinal`: it says which one."""

    start: int
    end: int
    value: float
    percent: bool = False
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
_PERCENT = re.compile(r"\s?(?:%|percent\b|per cent\b|个百分点)")


def folded_numbers(text: str) -> Iterator[Number]:
    """The numbers of a folded text, in order."""
    for match in _NUMBER.finditer(text):
        value = _value(match)
        if value is None:
            continue
        start, end = match.span()
        before = text[max(0, start - 3) : start]
        percent = _PERCENT.match(text, end)
        share = before.endswith("百分之")
        start, end = start - 3 * share, percent.end() if percent else end
        ordinal = bool(match["ordinal"]) or before.endswith("第")
        yield Number(start, end, value, bool(percent) or share, ordinal)


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
