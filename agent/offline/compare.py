"""A claim beside one place of a source: whether it stands there, or which single difference is a conflict.

Knows: what may differ where a claim stands, and what a conflict is: one number, name or denial told otherwise where
the rest is told alike.
Does not know: sources, documents, or anything that needs understanding.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from longproof.agent.offline.reading import Indexed, Match, Token, is_han, word_set
from longproof.agent.offline.scope import clause, clipped, doubts, is_denial, quoted, sentence, unshared
from longproof.agent.types import Kind
from longproof.retrieval.text.numbers import differ

LEAST = 3
"""What a claim tells at least (see `_told`); a shorter one may stand anywhere."""
LIGHT = word_set(
    "a an the that s is are was were be been being am has have had do does did 的 了 着 是 之 所 便 就"
)
"""Words that a claim may have more than its place: they don't say who did what to whom."""
LEADS = LIGHT | word_set("and but while whereas though although 而 但 又 并")
"""Those that it may begin with."""
ALIKE = 0.5
"""The share of a claim's content that a place must tell for its difference to be a conflict."""
ALIKE_LEAST = 4
"""What a place must tell of a claim for that, counted like `LEAST`."""
BEFORE = 2
"""Words that tell alike before a place, where the claim is a later clause, and before a name that is another."""
AROUND = 40
"""Tokens beside a place: a word of the claim that stands so near is told, if in another order."""
_LISTED = re.compile(r"\s*(?:[-*•·]|\d+[.)、])\s")
"""An entry of a list; what it is said of stands in the words above it."""


class Difference(NamedTuple):
    """What the claim's `[start, end)` tells otherwise than the source's `quote`; `value` is the source's word for it.

    `value` is empty where it can't simply take the claim's place.
    """

    start: int
    end: int
    kind: Kind
    reason: str
    value: str
    quote: tuple[int, int]


def comparable(claim: Indexed) -> bool:
    """Whether a claim tells enough by itself to be found: not too short, and no entry of a list."""
    return _told(claim.tokens) >= LEAST and not _LISTED.match(claim.text)


def stands(claim: Indexed, source: Indexed, place: Match) -> bool:
    """Whether all that the claim says is a clause of the source, in order: articles and auxiliaries may differ."""
    matched, shared = ({pair[side] for pair in place.pairs} for side in (0, 1))
    new = {source.tokens[j] for j in range(place.first, place.last) if j not in shared}
    if any(i not in matched and key not in (LIGHT if i else LEADS) for i, key in enumerate(claim.keys)):
        return False
    if any(token.content for token in new) or any(
        _owner(claim, i) != _owner(source, j) for i, j in place.pairs
    ):
        return False
    return clause(source, place) and not unshared(source, place) and not quoted(source, place)


def follows(before: Indexed, source: Indexed, place: Match) -> bool:
    """Whether a place follows what the claim's sentence says before it: a clause means little without its subject."""
    ours = _content(before.tokens)[-BEFORE:]
    theirs = _content(source.tokens[max(0, place.first - AROUND) : place.first])[-len(ours) :]
    return not ours or [token.key for token in ours] == [token.key for token in theirs]


def difference(claim: Indexed, source: Indexed, places: Sequence[Match]) -> Difference | None:
    """The first difference that is a conflict; None where the places tell several things in its stead."""
    found = [d for place in places for d in _differences(claim, source, clipped(source, place))]
    same = [d for d in found if d.start == found[0].start]
    return found[0] if found and len({d.reason for d in same}) == 1 else None


def _differences(claim: Indexed, source: Indexed, place: Match) -> Iterator[Difference]:
    """Differences from one sentence that tells most of the claim, under the same scopes."""
    matched = {i for i, _ in place.pairs}
    missing = [i for i, token in enumerate(claim.tokens) if token.content and i not in matched]
    alike = _told([claim.tokens[i] for i in matched])
    if alike < max(ALIKE_LEAST, ALIKE * _told(claim.tokens)) or quoted(source, place):
        return
    if any(doubts(claim, i) for i in missing):
        return
    ours = [i for i in missing if is_denial(claim.keys[i])]
    theirs = unshared(source, place)
    if not ours and not theirs:
        yield from _replaced(claim, source, place, missing)
    elif len(missing) + len(theirs) == 1:
        yield from _denied(claim, source, place, ours, theirs)


def _replaced(claim: Indexed, source: Indexed, place: Match, missing: Sequence[int]) -> Iterator[Difference]:
    """A number or name of the claim in whose stead, between the same neighbours, the source has another."""
    near = set(source.keys[max(0, place.first - AROUND) : place.last + AROUND])
    absent = [claim.tokens[i] for i in missing if claim.keys[i] not in near]
    names = [token for token in absent if _is_name(token, claim)]
    figures = [token for token in absent if token.number]
    for one, other in _gaps(claim, source, place):
        kind = _kind(claim, source, one, other)
        if kind is None or not set(one) <= set(absent) or any(token.key in claim.keys for token in other):
            continue
        if not set(names if kind == "numerical" else [*names, *figures]) <= set(one):
            continue  # it tells of somebody who isn't named there
        if kind == "entity" and _told([t for t in claim.tokens if t.start < one[0].start]) < BEFORE:
            continue  # two may do the same
        said, told = claim.text[one[0].start : one[-1].end], source.text[other[0].start : other[-1].end]
        alone = set(figures) <= set(one)
        reason = f"“{said}” here, “{told}” in the source"
        yield Difference(
            one[0].start, one[-1].end, kind, reason, told if alone else "", source.range(place, other[-1])
        )


def _gaps(claim: Indexed, source: Indexed, place: Match) -> Iterator[tuple[list[Token], list[Token]]]:
    """What carries content between two neighbours that are told alike, and a number behind the last one."""
    for (i, j), (k, m) in pairwise(place.pairs):
        yield _content(claim.tokens[i + 1 : k]), _content(source.tokens[j + 1 : m])
    i, j = place.pairs[-1]
    behind = source.tokens[j + 1 : min(j + 2, sentence(source, place)[1])]
    if behind and i + 1 < len(claim.tokens) and claim.tokens[i + 1].number:
        yield _content(claim.tokens[i + 1 :]), behind


def _kind(claim: Indexed, source: Indexed, one: Sequence[Token], other: Sequence[Token]) -> Kind | None:
    """Which kind of conflict it is to say one thing for the other: for numbers and names, as many in both."""
    if not one or len(one) != len(other):
        return None
    if one[0].number and other[0].number:
        return "numerical" if len(one) == 1 and differ(one[0].number, other[0].number) else None
    named = all(_is_name(token, claim) for token in one) and all(_is_name(token, source) for token in other)
    return "entity" if named and one[0].key[0] != other[0].key[0] else None


def _denied(
    claim: Indexed, source: Indexed, place: Match, ours: Sequence[int], theirs: Sequence[int]
) -> Iterator[Difference]:
    """A claim that denies what its place tells, or tells what its place denies, in the same words but for that."""
    shared = {j for _, j in place.pairs}
    new = [j for j in range(place.first, place.last) if j not in shared and source.tokens[j].content]
    if new != list(theirs) or not all(is_denial(source.keys[j]) for j in theirs):
        return
    if theirs:
        word = source.tokens[theirs[0]]
        reason = f"“{source.text[word.start : word.end]}” in the source, not here"
        yield Difference(0, len(claim.text), "inversion", reason, "", source.range(place))
    elif ours:
        word = claim.tokens[ours[0]]
        reason = f"“{claim.text[word.start : word.end]}” here, not in the source"
        yield Difference(word.start, word.end, "inversion", reason, "", source.range(place))


def _owner(reading: Indexed, index: int) -> bool:
    """Whether a token is of one who owns: `Ada's`."""
    token = reading.tokens[index]
    return reading.text[token.start : token.end].casefold().endswith(("'s", "’s"))


def _content(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.content]


def _told(tokens: Sequence[Token]) -> float:
    """How much tokens tell: a word one, a number or a Chinese character half, a function word nothing."""
    return sum(0.5 if token.number or is_han(token.key) else 1.0 for token in tokens if token.content)


def _is_name(token: Token, reading: Indexed) -> bool:
    """Whether a word is written as a name: with a capital, behind a word of its sentence."""
    before = reading.text[max(0, token.start - 2) : token.start]
    if token.number or not token.content or not reading.text[token.start].isupper():
        return False
    return (before[-1:] in (" ", "-") and before[:1].isalnum()) or is_han(before[-1:])
