"""Numbers of a claim that the evidence doesn't have.

Knows: when two numbers are the same (rounding, about, more than), and which number of the evidence counts the same.
Does not know: names, or whether the claim is said at all.
"""

import re
from collections.abc import Iterator

from longproof.agent.offline.view import Finding, View
from longproof.retrieval.text.numbers import Number, numbers

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_LIST_MARK = re.compile(r"\s*[.)、:]\s")
_NAMED = re.compile(r"(?:passages?|steps?|chapters?|figures?|tables?|sections?|no\.?|#)\s*$", re.IGNORECASE)
REACH = 100
"""Characters around the claim's place in which a Chinese number must be found."""
_ALIKE = (",个,位,名,人,口,家", "次,回,遍,趟,番", "天,日,夜", "年,岁,载")
ALIKE = tuple(frozenset(units.split(",")) for units in _ALIKE)
"""Chinese units that may stand for each other; the first group may stand for any."""
SMALL = 12
"""A spelled number up to this one may be counted by who retells."""
SURE_ZH = 0.35
"""The share of a claim that must be found in one place before a Chinese number there counts against it."""


def figures(view: View) -> Iterator[Finding]:
    """Findings on the claim's numbers, in order."""
    for number in stated(view):
        found = _chinese(view, number) or _nowhere(view, number) if view.chinese else _other(view, number)
        if found:
            yield found


def same(a: Number, b: Number) -> bool:
    """Whether two numbers may be the same: equal, rounded to what is said, or within `about` and `more than`."""
    low, high = sorted((a.value, b.value))
    if high == low or ((a.unit == "%") != (b.unit == "%") and abs(high - 100 * low) < 1e-6):
        return True
    if a.approximate or b.approximate:
        return high <= low + _step(a if a.approximate else b)
    return abs(a.value - b.value) <= 0.5 * _grain(a)


def _step(number: Number) -> float:
    """How far `more than` reaches: 三十余 to 39, 两千多 to 2,999."""
    value = abs(int(number.value))
    zeros = len(str(value)) - len(str(value).rstrip("0")) if value else 0
    return float(10**zeros - 1) if zeros else max(1.0, 0.1 * value)


def _grain(number: Number) -> float:
    """The smallest unit that a number is told in: 0.1 for 1.8, 1e8 for 1.8 billion; 0 for a plain whole number."""
    digits = _DIGITS.search(number.text.replace(",", ""))
    if not digits or "." not in digits[0]:
        return 0.0
    return (
        float(number.value / float(digits[0]) * 10 ** -len(digits[0].split(".")[1]))
        if float(digits[0])
        else 0.0
    )


def stated(view: View) -> Iterator[Number]:
    """Numbers that state something: no list marks, no `Passage 2`, no bare `one` or `two`."""
    text = view.claim.text
    for number in numbers(text):
        listed = number.start < 3 and _LIST_MARK.match(text, number.end)
        if not listed and not _NAMED.search(text[: number.start]) and not _idle(number):
            yield number


def _idle(number: Number) -> bool:
    spelled = not any(character.isdigit() for character in number.text)
    return number.value == 1 or (spelled and number.value <= SMALL and (not number.unit or number.ordinal))


def _other(view: View, number: Number) -> Finding | None:
    """A number that stands nowhere in what was shown; beside it, one in the claim's place that counts the same."""
    if any(same(number, n) for _, n in view.evidence.numbers) or as_digits(view, number):
        return None
    near = [n for n in near_place(view, 0) if n.unit == number.unit]
    return finding(view, number, near, missing=True)


def as_digits(view: View, number: Number) -> bool:
    """Whether its digits stand inside another word or number of the evidence (`B12`, `2020-03-05`)."""
    digits = _DIGITS.findall(number.text.replace(",", ""))
    return bool(digits) and all(any(d in token for token in view.digits) for d in digits)


def _chinese(view: View, number: Number) -> Finding | None:
    """A number that isn't near the claim's place, where another one counts the same."""
    if view.place is None or view.place.share < SURE_ZH or not view.settled(view.place):
        return None
    near = near_place(view, REACH)
    rivals = [n for n in near if n.unit == number.unit and n.ordinal == number.ordinal and number.unit]
    if not rivals or any(same(number, n) and alike(number.unit, n.unit) for n in near):
        return None
    return finding(view, number, rivals)


def _nowhere(view: View, number: Number) -> Finding | None:
    """A Chinese number that stands nowhere in what was shown; a small spelled one may be a count of the reader's."""
    spelled = not any(character.isdigit() for character in number.text)
    if (spelled and number.value <= SMALL) or as_digits(view, number):
        return None
    if any(same(number, n) for _, n in view.evidence.numbers):
        return None
    return finding(view, number, [], missing=True)


def near_place(view: View, reach: int) -> list[Number]:
    """The numbers of the evidence in the claim's place and within `reach` characters of it."""
    if view.place is None:
        return []
    owner = view.evidence.owner[view.place.first]
    shift = view.evidence.shown[owner].start
    first, last = view.place.span.start - shift - reach, view.place.span.end - shift + reach
    return [n for at, n in view.evidence.numbers if at == owner and first <= n.start and n.end <= last]


def alike(a: str, b: str) -> bool:
    """Whether two Chinese units may count the same."""
    return a == b or any({a, b} <= group for group in ALIKE) or bool({a, b} & ALIKE[0])


def finding(view: View, number: Number, rivals: list[Number], *, missing: bool = False) -> Finding:
    """The finding on a number, with the first rival as its correction."""
    instead = rivals[0].text if rivals else ""
    quote = view.place.span if view.place else None
    if view.chinese:
        reason = f"原文此处是“{instead}”，没有“{number.text}”" if instead else f"原文没有“{number.text}”"
    else:
        reason = (
            f'the source has "{instead}" here, not "{number.text}"'
            if instead
            else f'"{number.text}" is not in the source'
        )
    return Finding(number.start, number.end, "numerical", instead, reason, quote, missing)
