"""Denial and opposites: a claim that says no where the evidence says yes, or the opposite word in the same company.

Knows: negations, opposites, the two sides of common stances. Does not know: numbers, names, order.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from longproof.agent.offline.lines import Token, read, stem
from longproof.agent.offline.reading import WIDE, is_content, terms
from longproof.agent.offline.view import Finding, Opinion, View, weighed
from longproof.agent.offline.words import EXTREMES_EN, META_EN, NEGATIONS_EN, STOP_EN
from longproof.agent.offline.words_en import DENYING_PREFIXES, OPPOSITES, PREFIXES
from longproof.agent.offline.words_zh import DENIALS, NOT_DENIALS, STANCES

PLACES = 2
"""The best places of a claim in which an opposite must stand."""
COMPANY = 3
"""Words to either side that are a word's company."""
DENIED = 5
"""Words behind a denial, at most, in which it denies another word."""
BESIDE = 10
"""Words to either side of an opposite that has the claim's neighbour, among which another of its words stands."""
SURE_EN = 0.5
SURE_ZH = 0.30
"""The share of the claim that must be found in one place before denial there counts against it."""
_NO_DENIAL = re.compile("|".join(sorted(NOT_DENIALS, key=len, reverse=True)))
_BREAK = re.compile("[，。；：、？！「」“”,.;:?!]")
_SIDES = {
    word: (n, side)
    for n, sides in enumerate(STANCES)
    for side, words in enumerate(sides)
    for word in words.split()
}
_STANCE = re.compile("|".join(sorted(_SIDES, key=len, reverse=True)))


def look(view: View) -> Opinion:
    """Contradicting where a denial or an opposite is found; else supported where the claim's sentence is there."""
    if view.absent:
        return Opinion("not_found")
    looks = (stances,) if view.chinese else (denials, opposites, extremes)
    found = weighed(view, [finding for each in looks for finding in each(view)])
    if found is None:
        return Opinion("not_found")
    if found:
        return Opinion("contradicting", found)
    return Opinion("implicitly_supported", quote=view.place.span if view.place else None)


def denials(view: View) -> Iterator[Finding]:
    """An English claim that denies something where its place in the evidence denies nothing.

    To say what a text does not mention or provide is no denial of what it says.
    """
    place, denying = view.place, [t for t in view.tokens if t.word in NEGATIONS_EN]
    content = [t for t in view.tokens if is_content(t)]
    if not denying or len(content) < 3 or place is None or place.share < SURE_EN:
        return
    about = next((t for t in view.tokens if t.start > denying[0].start and t.word not in STOP_EN), None)
    there = view.evidence.words[max(0, place.first - 4) : place.last + 4]
    about_text = about is not None and about.word in META_EN
    if NEGATIONS_EN.isdisjoint(there) and not about_text and not _denied(view, denying[0]):
        token = denying[0]
        reason = f'the source does not say "{token.word}" here'
        yield Finding(token.start, token.end, "inversion", "", reason, place.span)


def _denied(view: View, denial: Token) -> bool:
    """Whether the evidence denies, somewhere, what the claim denies: the content word behind its denial."""
    denied = next((t for t in view.tokens if t.start > denial.start and is_content(t)), None)
    words = view.evidence.words
    places = view.evidence.where(denied.key) if denied else ()
    near = (words[max(0, at - DENIED) : at + 2] for at in places)
    return denied is None or any(not NEGATIONS_EN.isdisjoint(around) for around in near)


def extremes(view: View) -> Iterator[Finding]:
    """A word that leaves no exception (always, only, completely), where the evidence has none such at all."""
    for token in view.tokens:
        if token.word in EXTREMES_EN and not view.evidence.holds(token.key):
            reason = f'"{token.word}" says more than the source'
            quote = view.place.span if view.place else None
            yield Finding(token.start, token.end, "fabrication", "", reason, quote, missing=True)


def opposites(view: View) -> Iterator[Finding]:
    """A word that keeps less of its company than its opposite does, near the claim's places and everywhere."""
    near: set[int] | None = None
    for index, token in enumerate(view.tokens):
        others = [o for o in sorted(_opposites(token.key)) if view.evidence.holds(o)]
        company = _company(view.tokens, index) if others else set()
        rival = _rival(view, token.key, others, company, None) if company else ""
        if rival:
            near = near if near is not None else view.evidence.best(terms(view.tokens), WIDE, PLACES)
            rival = _rival(view, token.key, others, company, near)
        rival = rival or (_neighboured(view, index, others) if company else "")
        if rival:
            word = view.evidence.words[view.evidence.where(rival)[0]]
            reason = f'the source has "{word}" here, not "{token.word}"'
            quote = view.place.span if view.place else None
            yield Finding(token.start, token.end, "inversion", word, reason, quote)


def _rival(view: View, own: str, others: Sequence[str], company: set[str], near: set[int] | None) -> str:
    """The opposite that keeps most of the company, if more than the word itself, among the places `near`."""
    kept, rival = max((_kept(view, other, company, near), other) for other in others)
    return rival if kept > _kept(view, own, company, near) else ""


def _neighboured(view: View, index: int, others: Sequence[str]) -> str:
    """An opposite next to the word that stands next to a claim's word, which the evidence doesn't have at all."""
    tokens, keys = view.tokens, view.evidence.keys
    if view.evidence.holds(tokens[index].key):
        return ""
    said = {t.key for t in view.sentence_tokens}
    before = [t.key for t in tokens[max(0, index - 2) : index] if is_content(t)][-1:]
    after = [t.key for t in tokens[index + 1 : index + 3] if is_content(t)][:1]
    rest = {t.key for t in tokens if is_content(t)}.difference(before, after)
    for other in others:
        for at in view.evidence.where(other) if other not in said else ():
            beside = {*before} & {*keys[max(0, at - 2) : at]} or {*after} & {*keys[at + 1 : at + 3]}
            if beside and not rest.isdisjoint(keys[max(0, at - BESIDE) : at + BESIDE + 1]):
                return other
    return ""


def _company(tokens: list[Token], index: int) -> set[str]:
    around = tokens[max(0, index - COMPANY) : index] + tokens[index + 1 : index + 1 + COMPANY]
    return {t.key for t in around if is_content(t)}


def _kept(view: View, key: str, company: set[str], near: set[int] | None) -> int:
    """How much of the company stands around a word of the evidence (`near`: around those inside), at best."""
    keys, reach = view.evidence.keys, COMPANY + 2
    return max(
        (
            len(company & set(keys[max(0, at - reach) : at + reach + 1]))
            for at in view.evidence.where(key)
            if near is None or at in near
        ),
        default=0,
    )


@lru_cache(maxsize=1)
def _table() -> dict[str, set[str]]:
    table: dict[str, set[str]] = {}
    for entry in OPPOSITES.split():
        word, others = entry.split(":")
        for other in others.split(","):
            table.setdefault(stem(word), set()).add(stem(other))
            table.setdefault(stem(other), set()).add(stem(word))
    return table


def _opposites(key: str) -> set[str]:
    found = set(_table().get(key, ()))
    if len(key) < 4:
        return found
    for prefix in DENYING_PREFIXES:
        found.add(prefix + key)
        if key.startswith(prefix) and len(key) > len(prefix) + 3:
            found.add(key[len(prefix) :])
    for a, b in PREFIXES:
        found |= {y + key[len(x) :] for x, y in ((a, b), (b, a)) if key.startswith(x)}
    return found - {key}


def stances(view: View) -> Iterator[Finding]:
    """A stance in a Chinese claim of which its place only has the other side, about the same thing."""
    if view.place is None or view.place.share < SURE_ZH or not view.settled(view.place):
        return
    text = view.evidence.around(view.place, 16)
    there = list(_stances(text))
    for start, word, matter, side in _stances(view.text):
        same = [s for s in there if s[2] == matter]
        about = {t.key for t in read(view.text[start + len(word) : start + len(word) + 8]) if is_content(t)}
        other = [s for s in same if about & set(text[s[0] : s[0] + len(s[1]) + 10])]
        if other and all(s[3] != side for s in same):
            reason = (
                f"原文此处是“{other[0][1]}”的反面"
                if other[0][1] == word
                else f"原文此处是“{other[0][1]}”，意思相反"
            )
            yield Finding(start, start + len(word), "inversion", "", reason, view.place.span)


def _stances(text: str) -> Iterator[tuple[int, str, int, int]]:
    """Every stance word: where, the word, its matter, its side (turned by a denial right before it)."""
    plain = _NO_DENIAL.sub(lambda m: "＿" * len(m[0]), text)
    for match in _STANCE.finditer(plain):
        matter, side = _SIDES[match[0]]
        before = _BREAK.split(plain[max(0, match.start() - 4) : match.start()])[-1]
        yield match.start(), match[0], matter, side ^ int(any(c in DENIALS for c in before))
