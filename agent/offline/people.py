"""Persons and names of a claim: unknown to the evidence, out of place in it, or with another word for kin.

Knows: that a sentence's persons are mentioned near where the sentence is told. Does not know: who does what.
"""

import re
from collections.abc import Iterator
from itertools import groupby

from longproof.agent.offline.lines import Token, is_han, read, stem
from longproof.agent.offline.names import mentioned, persons
from longproof.agent.offline.reading import WIDE, Place, plain, terms
from longproof.agent.offline.view import Finding, View
from longproof.agent.offline.words import MONTHS, STOP_EN, VENUES, WEEKDAYS
from longproof.agent.offline.words_zh import KIN

REACH = 800
"""A person mentioned nowhere within so many characters of the sentence's place is out of place."""
NEAR = 300
SURE = 0.30
"""The share of the sentence, its persons aside, that must be found in one place before one of them is out of it."""
SEEN = 800
"""Characters of evidence that must have been seen around the place."""
_BEGINNING = re.compile(r"(?:^|[.!?:;|\n])[\W\d_]*$|[\w(/-]$")
"""Before a word that its capital doesn't make a name: a start, a list mark, a letter, a bracket, an address."""
_KIN = {word: kind for kind, words in KIN.items() for word in words.split()}
_KIN_WORD = re.compile("|".join(sorted(_KIN, key=len, reverse=True)))


def unknown_names(view: View) -> Iterator[Finding]:
    """Capitalised names that what was shown doesn't have. Text without capitals, or all in them, has none.

    In an article only names of two words and more: it may add a country or a city, hardly a person.
    """
    marked = [(token, _named(view, token)) for token in view.tokens]
    if 2 * sum(named for _, named in marked) > len(marked):
        return
    for named, group in groupby(marked, key=lambda pair: pair[1]):
        run = [token for token, _ in group]
        new = [token for token in run if not view.evidence.has(token.key)]
        if named and new and (view.case.task != "article" or _whole(run, new)):
            words = view.claim.text[new[0].start : new[-1].end]
            quote = view.place.span if view.place else None
            reason = f'"{words}" is not in the source'
            yield Finding(new[0].start, new[-1].end, "entity", "", reason, quote, missing=True)


def _whole(run: list[Token], new: list[Token]) -> bool:
    return len(run) == len(new) > 1 and run[-1].word not in VENUES


def _named(view: View, token: Token) -> bool:
    """Whether a word is written as a name: with a capital that no beginning, title or short acronym explains."""
    written = view.claim.text[token.start : token.end]
    if not written[0].isupper() or is_han(token.key) or token.word in STOP_EN or len(written) < 2:
        return False
    if sum(map(str.isupper, written)) > 1 and len(written) <= 3:
        return False
    return not _BEGINNING.search(view.claim.text[: token.start]) and _dated(view, token.word)


def _dated(view: View, word: str) -> bool:
    """False for a month or weekday where the evidence writes its dates in figures."""
    kind = next((words for words in (MONTHS, WEEKDAYS) if word in words), None)
    return kind is None or any(view.evidence.has(stem(other)) for other in kind)


def strangers(view: View) -> Iterator[Finding]:
    """Persons of a Chinese claim who aren't mentioned where its sentence is told, though the others are."""
    if not view.chinese:
        return
    everyone = persons(plain(view.sentence), view.evidence)
    mine = [name for name in everyone if name in view.text]
    home = _home(view, everyone) if mine and len(everyone) > 1 else None
    if home is None:
        return
    around = {name: mentioned(name, view.evidence, home, NEAR) for name in everyone}
    for name in mine:
        others = [around[other] for other in everyone if other != name]
        if 3 * sum(others) >= 2 * len(others) and not mentioned(name, view.evidence, home, REACH):
            start = view.text.find(name)
            reason = f"原文这一段没有提到“{name}”"
            yield Finding(start, start + len(name), "entity", "", reason, home.span, missing=True)


def _home(view: View, everyone: list[str]) -> Place | None:
    """Where the sentence is told, by its words other than persons; None where that isn't sure."""
    words = plain(view.sentence)
    for name in everyone:
        words = words.replace(name, "，")
    wanted = terms(read(words))
    home = view.evidence.place(wanted, WIDE) if len(wanted) >= 8 else None
    if home is None or home.share < SURE or len(view.evidence.around(home, REACH)) < SEEN:
        return None
    return home


def kin(view: View) -> Iterator[Finding]:
    """A word for kin before a person whom the evidence only ever gives another one."""
    if not view.chinese:
        return
    text = view.text
    for name in persons(text, view.evidence):
        at = text.find(name)
        said = _kin_before(text, at)
        there = {
            k
            for passage in view.evidence.texts
            for m in re.finditer(re.escape(name), passage)
            if (k := _kin_before(passage, m.start()))
        }
        if said and there and _KIN[said] not in {_KIN[word] for word in there}:
            instead = sorted(there)[0]
            reason = f"原文称{name}为“{instead}”，不是“{said}”"
            yield Finding(
                at - len(said), at, "relation", instead, reason, view.place.span if view.place else None
            )


def _kin_before(text: str, at: int) -> str:
    """The word for kin that ends right before `at`, or nothing."""
    words = [m[0] for m in _KIN_WORD.finditer(text[max(0, at - 4) : at]) if m.end() == min(4, at)]
    return words[-1] if words else ""
