"""Numbers written in English words.

Knows: cardinals (`twenty-seven`, `two hundred and five`, `a dozen`), years (`nineteen forty-five`), ordinals, halves
and other fractions; which `one`, `first` and `second` are no numbers.
Does not know: digits, Chinese. Reads folded text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from longproof.retrieval.text.units import Found, unit_after

_UNDER_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_UNDER_TWENTY.split())}
_SMALL |= {word: 10 * value for value, word in enumerate(_TENS.split(), start=2)}
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = {
    "first": "one",
    "second": "two",
    "third": "three",
    "fifth": "five",
    "eighth": "eight",
    "ninth": "nine",
}
_ORDINALS |= {"twelfth": "twelve"}
_ORDINALS |= {word.removesuffix("y") + "ieth": word for word in _TENS.split()}
_ORDINALS |= {
    word + "th": word for word in [*_SMALL, *_SCALES] if word + "th" != "zeroth" and word[-1] not in "ey"
}
_ORDINALS = {
    word: base for word, base in _ORDINALS.items() if word not in ("oneth", "twoth", "threeth", "eightth")
}
_PARTS = {
    "half": 2,
    "halves": 2,
    "third": 3,
    "quarter": 4,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "eighth": 8,
    "tenth": 10,
}
_PARTS |= {word + "s": value for word, value in _PARTS.items() if word not in ("half", "halves")}
_COUNTED = "|".join([*_SMALL, *_ORDINALS])
_HEADS = frozenset([*_SMALL, *_ORDINALS, "a", "an", "half", "twice", "thrice"])
_AFTER_A = frozenset([*_SCALES, "dozen", "third", "quarter", "fifth", "tenth", "half"])
_WORD = re.compile(r"[a-z]+")
_GAP = re.compile(r"\s*-\s*|\s+")
_OWNER = re.compile(r"(?:\b(?:the|his|her|its|their|our|my|your|whose|every)|'s)\s\Z")
_NO_ONE_BEFORE = re.compile(r"\b(?:no|any|every|each|this|that|the|which|some|another|a|an|or|not)[\s-]\Z")
_JUST_ONE = re.compile(r"\b(?:(?<!the )only|just|number|chapter|page|part|exactly|least|than|and|for)\s\Z")
_ANOTHER = re.compile(r"\b(?:a|an|one)[\s-]\Z")
_ABOUT = re.compile(
    r"\b(?:about|around|approximately|nearly|almost|roughly|some|over|under|more than|less than|fewer than|at least"
    r"|at most|up to|as many as)\s(?:a\s)?\Z"
)
_MORE = re.compile(r"\s(?:or so|or more|odd)\b")
_AFTER_OR = re.compile(rf"\b(?:{_COUNTED})\s(?:or|to)\s\Z")
_OR = re.compile(rf"\s(?:or|to)\s(?:{_COUNTED})\b")
_OF = re.compile(r"\s(?:of|the|his|her|its|their|my|our|an?|that|this)\b")
_LONE_ONE = frozenset(("day", "night", "time"))


class _Phrase(NamedTuple):
    """A number read from words: its value, how many words it took, whether it is an ordinal."""

    value: float
    used: int
    ordinal: bool = False


def english_numbers(text: str) -> Iterator[Found]:
    """The numbers in English words of a folded text, in order, not overlapping."""
    done = 0
    for match in _WORD.finditer(text):
        if match[0] not in _HEADS or match.start() < done or text.startswith("'", match.end()):
            continue
        words = _following(text, match.start())
        if match[0] in ("a", "an") and (len(words) == 1 or words[1][0] not in _AFTER_A):
            continue
        phrase = _fraction(text, words) or _cardinal([word[0] for word in words])
        found = _found(text, words, phrase) if phrase else None
        if found:
            done = found.end
            yield found


def _following(text: str, start: int) -> list[re.Match[str]]:
    """The words from `start` on that only spaces or a hyphen divide, at most sixteen."""
    words: list[re.Match[str]] = []
    place = start
    while len(words) < 16 and (word := _WORD.match(text, place)):
        words.append(word)
        gap = _GAP.match(text, word.end())
        if not gap:
            break
        place = gap.end()
    return words


def _cardinal(words: list[str]) -> _Phrase | None:
    """The longest cardinal or ordinal at the head of the words."""
    if words[0] in ("twice", "thrice"):
        return _Phrase(2 if words[0] == "twice" else 3, 1)
    total, current, least, used, ordinal = 0.0, None, 10.0**15, 0, False
    for index, word in enumerate(words):
        base = _ORDINALS.get(word, word)
        if base == "and" and index and words[index - 1] in _SCALES:
            continue
        if base in ("a", "an") and not index:
            current = 1.0
            continue
        if base in _SMALL:
            joined = _joined(current, _SMALL[base])
            if joined is None:
                break
            current = joined
        elif base == "hundred" and current and current < 100:
            current *= 100
        elif base in _SCALES and current and _SCALES[base] < least and base != "hundred":
            total, current, least = total + current * _SCALES[base], None, _SCALES[base]
        elif base in ("dozen", "score") and current:
            current, used = current * (12 if base == "dozen" else 20), index + 1
            break
        else:
            break
        used, ordinal = index + 1, word in _ORDINALS
        if ordinal:
            break
    return _Phrase(total + (current or 0), used, ordinal) if used else None


def _joined(current: float | None, value: int) -> float | None:
    """`value` said after `current`: its last digits (`twenty` `two`), or those of a year (`nineteen` `forty`)."""
    if current is None:
        return value
    tens, hundreds = current % 100 >= 20 and current % 10 == 0, current >= 100 and current % 100 == 0
    if hundreds or (tens and 0 < value < 10):
        return current + value
    return current * 100 + value if 10 <= current <= 20 and value >= 10 else None


def _fraction(text: str, words: list[re.Match[str]]) -> _Phrase | None:
    """`half …`, `a third of`, `two thirds`, `three-quarters`."""
    first, *rest = [word[0] for word in words[:4]]
    if first == "half":
        return _half(text, words, rest)
    if not rest or rest[0] not in _PARTS:
        return None
    above, below, end = _SMALL.get(first, 1 if first in ("a", "an") else 0), _PARTS[rest[0]], words[1].end()
    several = rest[0].endswith("s") and above > 1
    if not above or not (several or above == 1) or first in _ORDINALS:
        return None
    plain = rest[0] in ("half", "halves") or (several and not rest[0].startswith("quarter"))
    hyphen = text[words[0].end()] == "-"
    return _Phrase(above / below, 2) if plain or hyphen or text.startswith(" of", end) else None


def _half(text: str, words: list[re.Match[str]], rest: list[str]) -> _Phrase | None:
    if rest[:2] in (["a", "dozen"], ["a", "million"], ["a", "billion"], ["a", "thousand"], ["a", "hundred"]):
        return _Phrase({"dozen": 12, **_SCALES}[rest[1]] / 2, 3)
    if rest[:1] in (["a"], ["an"]):
        return _Phrase(0.5, 2)
    counts = bool(_OF.match(text, words[0].end())) or bool(unit_after(text, words[0].end())[0])
    return _Phrase(0.5, 1) if counts else None


def _found(text: str, words: list[re.Match[str]], phrase: _Phrase) -> Found | None:
    start, end, value = words[0].start(), words[phrase.used - 1].end(), phrase.value
    extra = [word[0] for word in words[phrase.used : phrase.used + 3]]
    if extra in (["and", "a", "half"], ["and", "a", "quarter"]):
        end, value = words[phrase.used + 2].end(), value + (0.5 if extra[2] == "half" else 0.25)
    before = text[max(0, start - 16) : start]
    unit, stop = ("time", end) if words[0][0] in ("twice", "thrice") else unit_after(text, end)
    if not _counts(words[0][0], before, phrase, value, unit):
        return None
    more = _MORE.match(text, stop) or _OR.match(text, end)
    around = bool(more or _ABOUT.search(before) or _AFTER_OR.search(before))
    stop = more.end() if more and _MORE.match(text, stop) else stop
    return Found(start, stop, value, unit, around, phrase.ordinal)


def _counts(first: str, before: str, phrase: _Phrase, value: float, unit: str) -> bool:
    """Whether the words count something: not `one` as a pronoun, nor `first` or `second` outside a series."""
    if phrase.ordinal and phrase.used == 1:
        if first in ("first", "second"):
            return bool(_OWNER.search(before))
        return not _ANOTHER.search(before)
    if first == "one" and value == 1:
        if _NO_ONE_BEFORE.search(before):
            return False
        return bool(_JUST_ONE.search(before)) or bool(unit and unit not in _LONE_ONE)
    return True
