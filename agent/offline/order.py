"""Order and roles: what is told to come later but stands earlier, and who says what.

Knows: words of sequence, where clauses lie in the evidence, who speaks a quotation. Chinese for speakers.
Does not know: numbers, denial, kin.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from longproof.agent.offline.decompose import clauses
from longproof.agent.offline.lines import read
from longproof.agent.offline.names import calling, persons
from longproof.agent.offline.reading import NARROW, Evidence, plain, terms
from longproof.agent.offline.view import Finding, Opinion, View
from longproof.agent.offline.words_zh import AFTER_FIRST, FIRST, LATER, NAME_ENDS, SPEECH

Profile = NDArray[np.float64]

SURE = 0.25
KEPT = 0.90
"""Two clauses are out of order where no order as told reaches this share of their best places."""
APART = 3
FAR = 60
"""Cells: the places must be at least so far apart, and at most."""
SURE_SPEECH = 0.40
_LATER = re.compile("|".join(LATER))
_FIRST = re.compile(f"(?:{'|'.join(FIRST)})(?![{AFTER_FIRST}])")
_LATER_EN = re.compile(r"\b(?:then|later|afterwards?|subsequently|after that|finally)\b", re.IGNORECASE)
_SPEECH = re.compile("|".join(SPEECH))
_SPOKEN = re.compile(r"([^。！？：:，,；;「」“”『』\n]{1,14}?)(?:道|说|說|曰|云)[：:，]?\s*$")
_CALLED = re.compile(rf"[一二三四五六七八九大小老](?:{'|'.join(NAME_ENDS)})")


def look(view: View) -> Opinion:
    """Contradicting where order or speaker disagree; otherwise supported where the claim's sentence is there."""
    if view.absent:
        return Opinion("not_found")
    found = (*sequence(view), *speakers(view))
    if found:
        return Opinion("contradicting", found)
    return Opinion("implicitly_supported", quote=view.place.span if view.place else None)


def sequence(view: View) -> Iterator[Finding]:
    """A claim told to come after the clause before it, where the evidence has the two the other way round."""
    pieces = [view.sentence[a:b] for a, b in clauses(view.sentence)]
    at = next((i for i, piece in enumerate(pieces) if piece == view.claim.text), 0)
    if at == 0 or not _marked(plain(pieces[at - 1]), plain(pieces[at]), view.chinese):
        return
    before, after = (_profile(view.evidence, piece) for piece in pieces[at - 1 : at + 1])
    if before is None or after is None or not _reversed(before, after):
        return
    marker = (_LATER if view.chinese else _LATER_EN).search(view.text)
    start, end = marker.span() if marker else (0, len(view.claim.text))
    reason = (
        "原文中这件事在前一件之前" if view.chinese else "in the source this comes before what is told first"
    )
    quote = view.evidence.at(int(after.argmax()), NARROW, float(after.max())).span
    yield Finding(start, end, "temporal", "", reason, quote)


def _profile(evidence: Evidence, clause: str) -> Profile | None:
    """Where a clause lies; None where it has too few terms to tell."""
    wanted = terms(read(clause))
    return evidence.profile(wanted, NARROW) if len(wanted) > 3 else None


def _marked(before: str, after: str, chinese: bool) -> bool:
    if chinese:
        return bool(_LATER.search(after) or _FIRST.search(before))
    return bool(_LATER_EN.search(after))


def _reversed(before: Profile, after: Profile) -> bool:
    """Whether the second clause surely lies first, and no two places in the order told are nearly as good."""
    first, second = int(before.argmax()), int(after.argmax())
    if before[first] < SURE or after[second] < SURE or not APART < first - second < FAR:
        return False
    return bool((np.maximum.accumulate(before) + after).max() < KEPT * (before[first] + after[second]))


def speakers(view: View) -> Iterator[Finding]:
    """A claim that someone said or ordered something, where another person of the response speaks those words."""
    if not view.chinese or not _SPEECH.search(view.text):
        return
    who = subject(view)
    wanted = terms(read(view.text.replace(who, "，"))) if who else []
    place = view.evidence.place(wanted, NARROW)
    if place is None or place.share < SURE_SPEECH or not view.settled(place):
        return
    speaker = _speaker(view.evidence, place.first, place.last, wanted)
    other = _named(speaker, view)
    if other and not _same(who, speaker):
        start = view.text.find(who)
        reason = f"原文中说这话的是“{speaker}”，不是“{who}”"
        yield Finding(start, start + len(who), "entity", other, reason, place.span)


def subject(view: View) -> str:
    """The person that a Chinese claim begins with, or nothing."""
    called = _CALLED.match(view.text)
    return called[0] if called else next(iter(persons(view.text, view.evidence, leading=True)), "")


def _named(speaker: str, view: View) -> str:
    """A person in the words before a quotation whom the response names too, or nothing."""
    called = _CALLED.search(speaker)
    names = [called[0]] if called else persons(speaker, view.evidence)
    return next((name for name in names if name in plain(view.case.response)), "")


def _same(who: str, speaker: str) -> bool:
    return calling(who).search(speaker) is not None


def _speaker(evidence: Evidence, first: int, last: int, wanted: Sequence[str]) -> str:
    """Who speaks the quotation that holds most of the wanted terms in [first, last), or nothing."""
    span = evidence.shown[evidence.owner[first]]
    inside = set(wanted)
    held = [evidence.starts[i] for i in range(first, last) if evidence.keys[i] in inside]
    opened = [_opening(span.text, start) for start in held]
    quoted = [o for o in opened if o is not None]
    if not quoted or len(quoted) < 0.6 * len(opened):
        return ""
    best = max(dict.fromkeys(quoted), key=quoted.count)
    match = _SPOKEN.search(span.text[max(0, best - 24) : best])
    return plain(match[1]) if match else ""


def _opening(text: str, at: int) -> int | None:
    """Where the quotation around `at` opens; None outside quotations."""
    opened = max(text.rfind("「", 0, at + 1), text.rfind("“", 0, at + 1))
    closed = max(text.rfind("」", 0, at), text.rfind("”", 0, at))
    return opened if opened > closed else None
