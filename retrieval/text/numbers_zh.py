"""Numbers written with Chinese numerals.

Knows: positional digits (二〇二六), numerals with places (一百二十, 两千三, 廿三), fractions and percent by 分之,
ordinals (第三, 初五, 星期二), halves, and the numerals that only look like numbers (一时, 十分, 万一).
Does not know: Arabic digits, English. Reads folded text.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from longproof.retrieval.text.units import Found, unit_after

LONGEST = 24
"""A longer run of numerals is no number that anyone means."""

_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2, "单": 0}
_PLACES = {"十": 10, "百": 100, "千": 1000}
_GROUPS = {"万": 10**4, "亿": 10**8}
_TENS = {"廿": 20, "卅": 30}
_FORMAL = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟", "一二三四五六七八九十百千")
_FORMAL_RUN = re.compile("[壹贰叁肆伍陆柒捌玖拾佰仟零万亿]{2,}")
_D = "零〇○一二三四五六七八九十百千万亿廿卅"
_RUN = re.compile(
    f"[{_D}两半](?:(?:(?<![两半])|(?<=两)(?=[百千万亿三]))"
    f"(?:[{_D}]|(?<=[万亿零])两(?=[百千])|(?<=百)单(?=[一二三四五六七八九])"
    "|(?<=一)两(?=[个件天日年次人位句月条只样回声]))*)?"
)
_PLACED = re.compile("[二三四五六七八九][十百千万]")
_DECIMAL = re.compile(f"点([零〇一二三四五六七八九]+)(?![{_D}分刻])")
_PART = re.compile(f"分之([{_D}]+(?:点[零〇一二三四五六七八九]+)?)")
_BEFORE = re.compile(
    r"(?P<ordinal>第|(?<![当起最])初|(?<![\d一二三四五六七八九十两几每个])(?:星期|礼拜))\Z"
    r"|(?P<about>约|大概|将近|近|差不多|不到|超过|逾|至少|不下|足有)\Z|(?P<vague>[几数好上成])\Z"
)
_MORE = re.compile("有?余|多(?!少)|来(?=[个人天年岁里斤两块只条次名位])|几(?!乎|时)")
_AROUND = re.compile("多(?!少)|有?余(?!下)|上下|左右|以上|以下")
_HALF = re.compile("半(?![天夜路晌日信身点分数壁])")
_LONE_HALF = re.compile(
    "(?<![大多小对夜深前后上下东西南北])半(?=个|年|月|斤|两|里|小时|世纪|价|亩|碗|杯|升|斗|尺|寸|辈|数)"
)
_NO_ONE_BEFORE = frozenset("统唯万同单专逐之其有这那每某惟")
_NO_ONE = re.compile(
    "一(?:时|下|点(?!钟|半|[零一二三四五])|面|边|路|道|口|手|头|把|番|阵|身|世|生|度|代|带|会|声|句|片|副|种|周|条心|字|些|层|家"
    "|[天日夜](?=[晚早夜里])|刻(?!钟)|双|对|套|块儿?|场|空|气|群|旬|丈|步)"
)
_NEVER = re.compile(
    "十分(?!钟|之)|[万千百]分(?!之)|三分(?=天|似|像)|第[二三次][天日]|万[岁年里]|千[里岁]|四世同|两两"
)
_COUNTED_BARE = frozenset(
    ("人", "名", "两", "元", "斤", "年", "公里", "人次", "米", "克", "吨", "美元", "户", "家")
)


class _Value(NamedTuple):
    """What a run of numerals says; `digits` and `places` count its characters of either kind."""

    value: float
    approximate: bool
    digits: int
    places: int


def chinese_numbers(text: str) -> Iterator[Found]:
    """The numbers in Chinese numerals of a folded text, in order, not overlapping.

    Where a run is no numeral, its end may be one, if it has places and a unit: `老四六十块` is 60.
    """
    text = _FORMAL_RUN.sub(lambda run: run[0].translate(_FORMAL), text)
    place, broken = 0, False
    while match := _RUN.search(text, place):
        start, end = match.span()
        found = _half(text, start, end) if "半" in text[start : end + 1] else None
        found = found or (_read(text, start, end) if match[0] != "半" else None)
        if found and not (broken and not (found.unit and _PLACED.match(text, start))):
            yield found
        broken = not found and 1 < end - start <= LONGEST
        place = found.end if found else start + 1 if broken else end


def _half(text: str, start: int, end: int) -> Found | None:
    """`一半`, or a half of a unit such as `半个月`."""
    if text.startswith("一半", start) and end == start + 1:
        return Found(start, start + 2, 0.5, "")
    if not _LONE_HALF.match(text, start):
        return None
    unit, stop = unit_after(text, end)
    return Found(start, stop, 0.5, unit)


def _read(text: str, start: int, end: int) -> Found | None:
    run, before = text[start:end], _BEFORE.search(text[max(0, start - 3) : start])
    said = _value(run)
    if said is None or _NEVER.match(text, start) or (before and before["vague"] and not said.digits):
        return None
    part = _PART.match(text, end)
    if part:
        return _share(start, part, said.value)
    if before and before["ordinal"]:
        return _ordinal(text, start, end, before["ordinal"], said)
    return _cardinal(text, start, end, said, approximate=said.approximate or bool(before and before["about"]))


def _share(start: int, part: re.Match[str], whole: float) -> Found | None:
    """`三分之二`: the second run over the first; hundredths are given as percent."""
    above, _, decimals = part[1].partition("点")
    upper = _value(above)
    if upper is None or not whole:
        return None
    value = upper.value + _fraction(decimals)
    if whole in (100, 1000, 10000):
        return Found(start, part.end(), value * 100 / whole, "%", upper.approximate)
    return Found(start, part.end(), value / whole, "", upper.approximate)


def _ordinal(text: str, start: int, end: int, mark: str, said: _Value) -> Found | None:
    first = start - len(mark)
    if said.approximate or _NEVER.match(text, first):
        return None
    unit, stop = unit_after(text, end)
    if mark == "第":
        return Found(first, stop, said.value, unit, ordinal=True)
    if mark == "初":
        return (
            Found(first, end, said.value, "日", ordinal=True) if said.value <= 10 and unit != "次" else None
        )
    return Found(first, end, said.value, "星期", ordinal=True) if said.value <= 6 else None


def _cardinal(text: str, start: int, end: int, said: _Value, *, approximate: bool) -> Found | None:
    value, more, decimal = said.value, _MORE.match(text, end), _DECIMAL.match(text, end)
    if decimal and unit_after(text, decimal.end())[0]:
        value, end = value + _fraction(decimal[1]), decimal.end()
    elif more and said.places:
        approximate, end = True, more.end()
        group = _GROUPS.get(text[end : end + 1], 1)
        value, end = value * group, end + (group > 1)
    unit, stop = unit_after(text, end)
    if not _counts(text, start, said, unit, approximate):
        return None
    if unit and _HALF.match(text, stop):
        value, (inner, behind) = value + 0.5, unit_after(text, stop + 1)
        unit, stop = (inner, behind) if unit == "个" and inner else (unit, stop + 1)
    around = _AROUND.match(text, stop)
    if around:
        approximate, stop = True, around.end()
    return Found(start, stop, value, unit, approximate)


def _counts(text: str, start: int, said: _Value, unit: str, approximate: bool) -> bool:
    """Whether numerals count something here, or are part of a fixed word or a name."""
    if not said.digits and "十" not in text[start : start + said.places]:
        return approximate or unit in _COUNTED_BARE
    if said.digits == 1 and not said.places:
        return bool(unit) and not (text[start] == "一" and _is_fixed_one(text, start))
    if not said.places and said.digits == 2:
        return bool(unit) if said.approximate else unit == "年"
    return bool(unit) or said.digits + said.places > 1


def _is_fixed_one(text: str, start: int) -> bool:
    return text[max(0, start - 1) : start] in _NO_ONE_BEFORE or _NO_ONE.match(text, start) is not None


def _fraction(decimals: str) -> float:
    return sum(_DIGITS[c] * 10.0**-place for place, c in enumerate(decimals, start=1))


def _value(run: str) -> _Value | None:
    """The value of a run of numerals; None where it is no numeral in use (`三三`, `万一`, `千百`)."""
    if len(run) > LONGEST:
        return None
    if all(c in _DIGITS for c in run):
        return _positional(run)
    reading = _Reading()
    for character in run:
        if not reading.take(character):
            return None
    return reading.finish()


def _positional(run: str) -> _Value | None:
    digits = [_DIGITS[c] for c in run]
    if len(run) == 2 and 0 not in digits:
        return (
            _Value(sum(digits) / 2, True, 2, 0)
            if _neighbours(*digits)
            else _Value(int("".join(map(str, digits))), False, 2, 0)
        )
    if len(run) == 3 and 0 not in digits:
        return None
    if len(run) > 3 and all(b - a == 1 for a, b in pairwise(digits)):
        return None
    return _Value(int("".join(map(str, digits))), False, len(run), 0)


def _neighbours(first: float, second: float) -> bool:
    return second - first == 1 or (first, second) == (3, 5)


class _Reading:
    """A numeral read from left to right: groups (万, 亿) of sections of places (千, 百, 十) of digits."""

    def __init__(self) -> None:
        self.total = self.section = 0.0
        self.digit: float | None = None
        self.last, self.after_zero, self.approximate = 0, False, False
        self.digits = self.places = 0

    def take(self, character: str) -> bool:
        if character in _DIGITS:
            return self._digit(_DIGITS[character])
        self.places += 1
        if character in _TENS:
            self.section, self.last = self.section + _TENS[character], 10
            return self.digit is None
        if character in _PLACES:
            return self._place(_PLACES[character])
        return self._group(_GROUPS[character])

    def _digit(self, value: int) -> bool:
        self.digits += 1
        if value == 0:
            self.after_zero = True
            return self.digit is None
        if self.digit is not None:
            self.approximate = _neighbours(self.digit, value)
            self.digit = (self.digit + value) / 2
            return self.approximate
        self.digit = value
        return True

    def _place(self, place: int) -> bool:
        if self.section and self.last <= place:
            return False
        if self.digit is None and place > 10 and self.places > 1:
            return False
        self.section += (1 if self.digit is None else self.digit) * place
        self.digit, self.last, self.after_zero = None, place, False
        return True

    def _group(self, group: int) -> bool:
        part = self.section + (self.digit or 0)
        if not part and self.places > 1 and not self.total:
            return False
        if self.total and group > self.last_group():
            self.total = (self.total + part) * group
        else:
            self.total += (part or 1) * group
        self.section, self.digit, self.last, self.after_zero = 0, None, group, False
        return True

    def last_group(self) -> float:
        return 10**8 if self.total >= 10**8 else 10**4

    def finish(self) -> _Value | None:
        """The value; a digit left over after 百, 千, 万 counts the place below (`两千三` is 2,300)."""
        if self.digit is not None and self.last >= 100 and not self.after_zero:
            if self.digits == 1:
                return None
            self.digit *= self.last / 10
        value = self.total + self.section + (self.digit or 0)
        return _Value(value, self.approximate, self.digits, self.places)
