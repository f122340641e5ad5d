"""The corrected text: the response with the corrections of its wrong claims, as plain text or DOCX.

Knows: an empty correction takes its words out with the marks, spaces and line breaks that only they needed; the two
elements of OOXML that mark a change (`w:del`, `w:ins`: ECMA-376, part 1, 17.13.5), which python-docx doesn't have.
Does not know: who accepted what.
"""

import re
from collections.abc import Container, Iterator, Sequence
from html import escape
from io import BytesIO
from itertools import count
from pathlib import PurePath
from typing import NamedTuple

from longproof.agent.report import WRONG
from longproof.agent.types import Report
from longproof.report.words import visible
from longproof.retrieval.types import BadInput

FORMS = (".txt", ".docx")
"""The suffixes of a corrected text: changes are marked in the DOCX."""
_NOT_XML = re.compile("[\ufffe\uffff\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What XML can't hold, and what shows a text in another order than it has. Not the marks of direction that belong to
Hebrew and Arabic."""

_BRACKETS = ("()", "[]", "{}", "（）", "［］", "“”", "「」", "『』", "《》", "〈〉", "【】")
_OPENERS = "".join(re.escape(pair[0]) for pair in _BRACKETS)
_CLOSERS = "".join(re.escape(pair[1]) for pair in _BRACKETS)
"""Without ‘ and ’: an apostrophe may begin a word (’90s)."""
_MARKS = r",;:.!?、，；：。！？"
_GONE = "\0"
"""Stands for the words that are taken out."""
_LEFT_OVER = [
    *(rf"{re.escape(pair[0])}[ \t]*{_GONE}[ \t]*{re.escape(pair[1])}" for pair in (*_BRACKETS, "‘’", '""')),
    rf"(?:^|(?<=[.!?。！？]))[ \t]*{_GONE}[ \t]*[{_MARKS}—–]+",
    rf"[,;:、，；：—–]+[ \t]*{_GONE}(?=[ \t]*(?:[{_MARKS}{_CLOSERS}—–]|\n|\Z))",
    rf"[ \t]+{_GONE}(?=[{_MARKS}{_CLOSERS}]|\n|\Z)",
    rf"(?:^|(?<=[ \t{_OPENERS}])){_GONE}[ \t]+",
]
"""What goes with the words: brackets around nothing, marks at the beginning, one of two marks, spaces that nothing
needs."""
_RULES = [re.compile(rule, re.MULTILINE) for rule in _LEFT_OVER]
_BULLET = r"^[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]*)?"
_EMPTY_LINE = re.compile(rf"{_BULLET}{_GONE}\n|\n*{_BULLET}{_GONE}\Z", re.MULTILINE)
"""A line of which nothing is left but its bullet or number."""
NEAR = 200
"""How far from the words something goes with them, in characters."""


class Change(NamedTuple):
    """Characters `[start, end)` of the response give way to `new`. `key` names the correction in its report."""

    key: str
    start: int
    end: int
    new: str


def known_changes(report: Report, accepted: Container[str] | None = None) -> list[Change]:
    """The known corrections of wrong claims; those that say the same of the same words are one.

    With `accepted`, only those of these keys: `CLAIM:N`, the claim's id and the number of its error from 0.
    """
    known: dict[tuple[int, int, str], Change] = {}
    for claim in report.claims:
        for number, error in enumerate(claim.errors if claim.label in WRONG else ()):
            key = f"{claim.id}:{number}"
            if error.correction is not None and (accepted is None or key in accepted):
                place = (error.span.start, error.span.end, error.correction)
                known.setdefault(place, Change(key, *place))
    return list(known.values())


def changes(report: Report, accepted: Container[str] | None = None) -> list[Change]:
    """The changes that these corrections come to, in the order of the text; of two that touch the same words the
    first. A deletion takes along what it would leave over."""
    text = report.case.response
    apart: list[Change] = []
    for change in sorted(known_changes(report, accepted), key=lambda one: (one.start, one.end)):
        if not apart or change.start >= apart[-1].end:
            apart.append(change)
    # From the last one on, so that what follows a deletion is known.
    made, after, rest = list[Change](), len(text), ""
    for number in reversed(range(len(apart))):
        change = apart[number]
        words = text[change.start : change.end]
        if not change.new and words.strip(" "):
            start = change.end - len(words.lstrip(" "))
            end = change.start + len(words.rstrip(" "))
            before, behind = left_over(text[:start], text[end:after] + rest)
            least = apart[number - 1].end if number else 0
            change = change._replace(start=max(least, start - before), end=min(end + behind, after))
        rest = change.new + text[change.end : after] + rest
        after = change.start
        made.append(change)
    return made[::-1]


def left_over(left: str, right: str) -> tuple[int, int]:
    """Of a text without some words, how many characters before and after them go, too."""
    left, right = left[-NEAR:].replace(_GONE, " "), right[:NEAR].replace(_GONE, " ")
    text, before = f"{left}{_GONE}{right}", ""
    while text != before:
        before = text
        for rule in _RULES:
            text = rule.sub(_GONE, text, 1)
    kept, rest = _EMPTY_LINE.sub(_GONE, text, 1).split(_GONE)
    return len(left) - len(kept), len(right) - len(rest)


def corrected_text(report: Report, name: str, accepted: Container[str] | None = None) -> bytes:
    """The corrected text in the form that the name's suffix asks for. Raises BadInput for another suffix.

    A DOCX is made of parts of the text, each under the element of its change: none, `w:del` or `w:ins`.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix not in FORMS:
        raise BadInput(f"{name}: a corrected text ends in {' or '.join(FORMS)}")
    text, at = report.case.response, 0
    parts: list[tuple[str, str]] = []
    for change in changes(report, accepted):
        parts += [("", text[at : change.start]), ("w:del", text[change.start : change.end])]
        parts.append(("w:ins", change.new))
        at = change.end
    parts.append(("", text[at:]))
    if suffix == ".docx":
        return _docx(parts)
    return "".join(part for tag, part in parts if tag != "w:del").encode("utf-8", "replace")


def _docx(parts: Sequence[tuple[str, str]]) -> bytes:
    try:
        from docx import Document
        from docx.oxml import parse_xml
        from docx.oxml.ns import nsdecls
    except ModuleNotFoundError as error:
        raise BadInput("to write a DOCX, install longproof[read]") from error

    document = Document()
    section = document.element.body[-1]
    for paragraph in _paragraphs(parts):
        section.addprevious(parse_xml(f"<w:p {nsdecls('w')}>{paragraph}</w:p>"))
    written = BytesIO()
    document.save(written)
    return written.getvalue()


def _paragraphs(parts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The contents of each paragraph. Where the end of one is taken out, the next one goes on there."""
    numbers, words = count(1), ""
    for tag, text in parts:
        held = "w:delText" if tag == "w:del" else "w:t"
        for number, line in enumerate(text.split("\n")):
            if number:
                change = f'<{tag} w:id="{next(numbers)}" w:author="Longproof"/>' if tag else ""
                yield f"<w:pPr><w:rPr>{change}</w:rPr></w:pPr>{words}"
                words = ""
            shown = _NOT_XML.sub("\ufffd", _CONTROLS.sub(lambda match: visible(match[0]), line))
            run = f'<w:r><{held} xml:space="preserve">{escape(shown)}</{held}></w:r>' if line else ""
            if tag and line:
                run = f'<{tag} w:id="{next(numbers)}" w:author="Longproof">{run}</{tag}>'
            words += run
    yield words
