"""Order and roles: what is told to come later but stands earlier, and who says what.

Knows: words of sequence, where clauses lie in the evidence, who speaks a quotation. Chinese for speakers.
Does not know: numbers, denial, kin.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from longproof.agent.offline.decompose import clauses
from longproof.agent.offline.names import calling, persons
from longproof.agent.offline.reading import NARROW, Evidence, read, terms
from longproof.agent.offline.view import Finding, Opinion, View
from longproof.agent.offline.words_zh import AFTER_FIRST, FIRST, LATER, NAME_ENDS, SPEECH

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
_LEAD = re.compile(rf"[一二三四五六七八九大小老](?:{'|'.join(NAME_ENDS)})")


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
    if at == 0 or not _marked(pieces[at - 1], pieces[at], view.chinese):
        return
    before, after = (
        view.evidence.profile(w, NARROW) if len(w) > 3 else None
        for w in (terms(read(pieces[at - 1])), terms(read(pieces[at])))
    )
    if before is None or after is None or not _reversed(before, after):
        return
    marker = (_LATER if view.chinese else _LATER_EN).search(view.claim.text)
    start, end = marker.span() if marker else (0, len(view.claim.text))
    reason = (
        "原文中这件事在前一件之前" if view.chinese else "in the source this comes before what is told first"
    )
    quote = view.evidence.at(int(after.argmax()), NARROW, float(after.max())).span
    yield Finding(start, end, "temporal", "", reason, quote)


def _marked(before: str, after: str, chinese: bool) -> bool:
    if chinese:
        return bool(_LATER.search(after) or _FIRST.search(before))
    return bool(_LATER_EN.search(after))


def _reversed(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether the second clause surely lies before the first, and no pair of places in the order told is nearly as good."""
    first, second = int(before.argmax()), int(after.argmax())
    if before[first] < SURE or after[second] < SURE or not APART < first - second < FAR:
        return False
    return bool((np.maximum.accumulate(before) + after).max() < KEPT * (before[first] + after[second]))


def speakers(view: View) -> Iterator[Finding]:
    """A claim that someone said or ordered something, where another person of the evidence speaks those words."""
    if not view.chinese or not _SPEECH.search(view.claim.text):
        return
    who = _subject(view)
    if not who:
        return
    rest = view.claim.text.replace(who, "，")
    place = view.evidence.place(terms(read(rest)), NARROW)
    if place is None or place.share < SURE_SPEECH:
        return
    speaker = _speaker(view.evidence, place.first, place.last, terms(read(rest)))
    known = [n for n in _people(view) if n != who and calling(n).search(speaker)] if speaker else []
    if known and not _same(who, speaker):
        start = view.claim.text.find(who)
        reason = f"原文中说这话的是“{speaker}”，不是“{who}”"
        yield Finding(start, start + len(who), "entity", known[0], reason, place.span)


def _people(view: View) -> list[str]:
    return persons(view.case.response, view.evidence) + sorted(set(_LEAD.findall(view.case.response)))


def _subject(view: View) -> str:
    """The person that the claim begins with, or nothing."""
    return max((n for n in _people(view) if view.claim.text.startswith(n)), key=len, default="")


def _same(who: str, speaker: str) -> bool:
    return calling(who).search(speaker) is not None or (who[-1] == speaker[-1] and who[0] in speaker)


def _speaker(evidence: Evidence, first: int, last: int, wanted: Sequence[str]) -> str:
    """Who speaks the quotation that holds most of the wanted terms of tokens [first, last); nothing where none does."""
    span = evidence.shown[evidence.owner[first]]
    inside = set(wanted)
    held = [t.start for a, t in enumerate(evidence.tokens[first:last], first) if t.key in inside]
    opened = [_opening(span.text, start) for start in held]
    quoted = [o for o in opened if o is not None]
    if not quoted or len(quoted) < 0.6 * len(opened):
        return ""
    best = max(dict.fromkeys(quoted), key=quoted.count)
    match = _SPOKEN.search(span.text[max(0, best - 24) : best])
    return match[1] if match else ""


def _opening(text: str, at: int) -> int | None:
    """Where the quotation around `at` opens; None outside quotations."""
    opened = max(text.rfind("「", 0, at + 1), text.rfind("“", 0, at + 1))
    closed = max(text.rfind("」", 0, at), text.rfind("”", 0, at))
    return opened if opened > closed else None
