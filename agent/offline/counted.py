"""Numbers of a claim that the evidence gives otherwise to the same thing, wherever it is told.

Knows: what a number counts: the noun behind it in English, the words beside it in Chinese. A number that stands by
any of these words in the evidence is believed, so that only another one for the same thing speaks against a claim.
One is no rival: it is often an article. Does not know: the claim's place; `figures` looks there.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from longproof.agent.offline.figures import alike, as_digits, finding, near_place, same, stated
from longproof.agent.offline.lines import is_han
from longproof.agent.offline.reading import Evidence, is_content
from longproof.agent.offline.view import Finding, View
from longproof.agent.offline.words import STOP_ZH
from longproof.retrieval.text.numbers import Number

BESIDE = 6
"""English words to either side of a number of the claim that are its company."""
BY = 15
"""A number of the evidence with one of them within so many words is the claim's own."""
BACK = 30
"""`forty-five of them`: the noun stands at most so many words before."""
BESIDE_ZH, BY_ZH, RIVAL_ZH = 8, 60, 10
"""Chinese characters: to the claim's company, to where it makes a number the claim's own, or another one a rival."""
RARE_ZH = 8
"""A pair of characters that stands in more places of the evidence doesn't tell what is counted."""
REACH = 100
_OF = re.compile(r"\s*(?:of (?:them|these|those)|in all|altogether)\b", re.IGNORECASE)
_BREAK = re.compile("[，。；：、？！「」“”,.;:?!]")
_NUMERALS = frozenset("零〇一二两三四五六七八九十百千万亿几多数")


def counted(view: View) -> Iterator[Finding]:
    """Numbers for which the evidence has another one beside the same words, and never this one."""
    for number in stated(view):
        rival = _rival_zh(view, number) if view.chinese else _rival_en(view, number)
        if rival:
            yield finding(view, number, [rival])


def _rival_en(view: View, number: Number) -> Number | None:
    """Another number of the same noun, where this one stands in the evidence, but by none of the words beside it.

    One that stands nowhere is left to `figures`; a record has one word for a whole column of numbers, see `rows`.
    """
    evidence, noun = view.evidence, _noun(view, number)
    if not noun or _year(number) or view.case.task == "article":
        return None
    placed = [(_token(evidence, owner, n.start), owner, n) for owner, n in evidence.numbers]
    own = [at for at, _, n in placed if same(number, n)]
    company = _company(view, number)
    if not own and not as_digits(view, number):
        return None
    if any(not company.isdisjoint(evidence.keys[max(0, at - BY) : at + BY + 1]) for at in own):
        return None
    others = (
        (at, owner, n)
        for at, owner, n in placed
        if _kind(n) == _kind(number) and n.value > 1 and not same(number, n) and not _year(n)
    )
    return next((n for at, owner, n in others if _counts(evidence, at, owner, n, noun)), None)


def _counts(evidence: Evidence, at: int, owner: int, number: Number, noun: str) -> bool:
    """Whether a number of the evidence counts the noun: behind it, or before `forty-five of them`."""
    if noun in evidence.keys[at : at + 5]:
        return True
    behind = _OF.match(evidence.shown[owner].text, number.end)
    return behind is not None and noun in evidence.keys[max(0, at - BACK) : at]


def _noun(view: View, number: Number) -> str:
    """The last content word of the three behind a number that the evidence has, or nothing."""
    behind = [token for token in view.tokens if token.start >= number.end][:3]
    held = [t.key for t in behind if is_content(t) and not t.key[0].isdigit() and view.evidence.holds(t.key)]
    return held[-1] if held else ""


def _company(view: View, number: Number) -> set[str]:
    at = next(i for i, token in enumerate(view.tokens) if token.start >= number.start)
    around = view.tokens[max(0, at - BESIDE) : at + BESIDE + 1]
    return {
        t.key
        for t in around
        if is_content(t) and not t.key[0].isdigit() and not number.start <= t.start < number.end
    }


def _token(evidence: Evidence, owner: int, start: int) -> int:
    """The token of a span's text that begins at `start` or after."""
    first, last = bisect_left(evidence.owner, owner), bisect_left(evidence.owner, owner + 1)
    return bisect_left(evidence.starts, start, first, last)


def _year(number: Number) -> bool:
    return not number.unit and 1000 <= number.value <= 2100 and number.value == int(number.value)


def _kind(number: Number) -> tuple[str, bool]:
    return number.unit, number.ordinal


def _rival_zh(view: View, number: Number) -> Number | None:
    """Another number of the same unit right beside words that stand beside the claim's, and nowhere by its own."""
    company = _pairs(view, number) if number.unit else []
    rivals: list[tuple[int, Number]] = []
    for owner, n in view.evidence.numbers if company else ():
        if same(number, n) and alike(number.unit, n.unit) and number.ordinal == n.ordinal:
            if _beside(view, owner, n, company, BY_ZH):
                return None
        elif _kind(n) == _kind(number) and n.value > 1:
            rivals.append((_beside(view, owner, n, company, RIVAL_ZH), n))
    most, rival = max(rivals, key=lambda pair: pair[0], default=(0, number))
    there = any(same(number, n) and alike(number.unit, n.unit) for n in near_place(view, REACH))
    return rival if most and not there else None


def _beside(view: View, owner: int, number: Number, company: list[str], reach: int) -> int:
    """How many of the pairs stand within `reach` characters of a number of the evidence."""
    text = view.evidence.texts[owner]
    around = text[max(0, number.start - reach) : number.start] + "，" + text[number.end : number.end + reach]
    return sum(pair in around for pair in company)


def _pairs(view: View, number: Number) -> list[str]:
    """The rare pairs of neighbouring characters beside a number of the claim, within its clause."""
    before = _BREAK.split(view.text[max(0, number.start - BESIDE_ZH) : number.start])[-1]
    after = _BREAK.split(view.text[number.end : number.end + BESIDE_ZH])[0]
    pairs = (part[i : i + 2] for part in (before, after) for i in range(len(part) - 1))
    kept = dict.fromkeys(p for p in pairs if all(map(is_han, p)) and STOP_ZH.isdisjoint(p))
    return [p for p in kept if _NUMERALS.isdisjoint(p) and len(view.evidence.where(p)) <= RARE_ZH]
