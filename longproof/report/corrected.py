"""The corrected text: the response with the corrections of its wrong claims, as plain text or DOCX.

Knows: a correction replaces its words, an empty one takes them out with the marks, spaces and line breaks that only
they needed, and where the right words aren't known nothing is changed; and the two elements of OOXML that mark a
change (`w:del`, `w:ins`: ECMA-376, part 1, 17.13.5), which python-docx doesn't have.
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
from longproof.report.pieces import visible
from longproof.retrieval.types import BadInput

AUTHOR = "Longproof"
FORMS = (".txt", ".docx")
"""The suffixes of a corrected text: changes are marked in the DOCX."""
_NOT_XML = re.compile("[\ufffe\uffff\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What XML can't hold, and what shows a text in another order than it has. Not the marks of direction that belong to
Hebrew and Arabic."""

_OPENERS, _CLOSERS = "([{（［“‘「『《〈【", ")]}）］”’」』》〉】"
_PAUSES, _ENDS = ",;:、，；：—–", ".!?…。！？"
_AFTER_WORDS = {*",;:、，；：", *_ENDS, *_CLOSERS, '"'}
"""What no space stands before."""
_OPENING = r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?"
"""How a line may begin without saying anything: an item's bullet or number."""
_BREAKS = re.compile(r"(?:[ \t]*\n)+")
_PAIRS = [(re.escape(left), re.escape(right)) for left, right in zip(_OPENERS, _CLOSERS, strict=True)]
_LEFT_OVER = [
    *((rf"({left}[ \t]*)", rf"([ \t]*{right})") for left, right in _PAIRS),
    ('(")', '(")'),
    (
        rf"(?:\A{_OPENING}|[{re.escape(_OPENERS)}{_ENDS}][ \t]*)()",
        rf"([ \t]*[{_PAUSES}{_ENDS}])",
    ),
    (rf"[{_PAUSES}][ \t]*()", rf"([ \t]*[{_PAUSES}])"),
    (rf"([{_PAUSES}][ \t]*)", rf"()[ \t]*(?:[{_ENDS}{re.escape(_CLOSERS)}\n]|\Z)"),
]
"""The end of a line and the beginning of what follows, between which nothing is left; the groups go, too: brackets
around nothing, a mark at the beginning, one of two marks."""
_RULES = [(re.compile(rf"{before}\Z"), re.compile(after)) for before, after in _LEFT_OVER]


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
    first."""
    made: list[Change] = []
    for change in sorted(known_changes(report, accepted), key=lambda one: (one.start, one.end)):
        done = made[-1].end if made else 0
        if change.start >= done:
            made.append(change)
    return _widen_deletions(made, report.case.response)


def corrected(report: Report, name: str, accepted: Container[str] | None = None) -> bytes:
    """The corrected text in the form that the name's suffix asks for. Raises BadInput for another suffix."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in FORMS:
        raise BadInput(f"{name}: a corrected text ends in {' or '.join(FORMS)}")
    parts = list(_parts(report.case.response, changes(report, accepted)))
    if suffix == ".docx":
        return _docx(parts, str(report.stamp.get("created_at") or ""))
    return "".join(text for tag, text in parts if tag != "w:del").encode("utf-8", "replace")


def _widen_deletions(made: Sequence[Change], text: str) -> list[Change]:
    """The changes, deletions with what they would leave over: from the last one on, so that what follows is known."""
    done: list[Change] = []
    after, rest = len(text), ""
    for number in range(len(made) - 1, -1, -1):
        change = made[number]
        if not change.new:
            least = made[number - 1].end if number else 0
            change = _widen(change, text, least, text[change.end : after] + rest)
            change = change._replace(end=min(change.end, after))
        rest = change.new + text[change.end : after] + rest
        after = change.start
        done.append(change)
    return done[::-1]


def _widen(change: Change, text: str, least: int, right: str) -> Change:
    """A deletion that begins at `least` or later, and is followed by `right`, with what it would leave over."""
    words = text[change.start : change.end]
    start = change.start + len(words) - len(words.lstrip(" "))
    end = change.end - len(words) + len(words.rstrip(" "))
    if start >= end:
        return change
    before, behind = left_over(text[:start], text[end : change.end] + right)
    return change._replace(start=max(least, start - before), end=end + behind)


def left_over(left: str, right: str) -> tuple[int, int]:
    """Of a text without some words, how many characters before and after them go, too."""
    before, after = left, right
    while True:
        line = before[before.rfind("\n") + 1 :]
        found = [(one.search(line), other.match(after)) for one, other in _RULES]
        ends = next(((one[1], other[1]) for one, other in found if one and other), None)
        if ends is None:
            break
        before, after = before[: len(before) - len(ends[0])], after[len(ends[1]) :]
    lost = _empty_line(before, after) or _doubled_spaces(before, after)
    return len(left) - len(before) + lost[0], len(right) - len(after) + lost[1]


def _empty_line(left: str, right: str) -> tuple[int, int] | None:
    """A line on which nothing is left goes with one of the breaks around it: the wider one stays."""
    above, below = _without_opening(left), _BREAKS.match(right)
    if above is None or not (below or not right.strip()):
        return None
    opening, blank = len(left) - len(above), len(above) - len(above.rstrip())
    if below and (blank == len(above) or above[-blank:].count("\n") >= below[0].count("\n")):
        return opening, below.end()
    return opening + blank, 0


def _doubled_spaces(left: str, right: str) -> tuple[int, int]:
    """One side's spaces, where the other side's are enough, or there should be none."""
    in_left, in_right = len(left) - len(left.rstrip(" \t")), len(right) - len(right.lstrip(" \t"))
    after, starts = right[in_right:][:1], _without_opening(left) is not None
    if not starts and (after in ("", "\n") or after in _AFTER_WORDS):
        return in_left, 0
    if starts or in_left or left[-1:] in {*_OPENERS}:
        return 0, in_right
    return 0, 0


def _without_opening(left: str) -> str | None:
    """The lines above the last one, where that has no more than its opening."""
    above = left[: left.rfind("\n") + 1]
    return above if re.fullmatch(_OPENING, left[len(above) :]) else None


def _parts(text: str, made: Sequence[Change]) -> Iterator[tuple[str, str]]:
    """The text in parts, each under the element of its change: none, `w:del` or `w:ins`."""
    at = 0
    for change in made:
        yield "", text[at : change.start]
        yield "w:del", text[change.start : change.end]
        yield "w:ins", change.new
        at = change.end
    yield "", text[at:]


def _docx(parts: Sequence[tuple[str, str]], when: str) -> bytes:
    try:
        from docx import Document
        from docx.oxml import parse_xml
        from docx.oxml.ns import nsdecls
    except ModuleNotFoundError as error:
        raise BadInput("to write a DOCX, install longproof[read]") from error

    document = Document()
    section = document.element.body[-1]
    for paragraph in _paragraphs(parts, when):
        section.addprevious(parse_xml(f"<w:p {nsdecls('w')}>{paragraph}</w:p>"))
    written = BytesIO()
    document.save(written)
    return written.getvalue()


def _paragraphs(parts: Sequence[tuple[str, str]], when: str) -> Iterator[str]:
    """The contents of each paragraph. Where the end of one is taken out, the next one goes on there."""
    date = f' w:date="{when}"' if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", when) else ""
    numbers = count(1)
    words = ""
    for tag, text in parts:
        held = "w:delText" if tag == "w:del" else "w:t"
        for number, line in enumerate(text.split("\n")):
            if number:
                change = f'<{tag} w:id="{next(numbers)}" w:author="{AUTHOR}"{date}/>' if tag else ""
                yield f"<w:pPr><w:rPr>{change}</w:rPr></w:pPr>{words}"
                words = ""
            shown = _NOT_XML.sub("\ufffd", _CONTROLS.sub(lambda match: visible(match[0]), line))
            run = f'<w:r><{held} xml:space="preserve">{escape(shown)}</{held}></w:r>' if line else ""
            if tag and line:
                run = f'<{tag} w:id="{next(numbers)}" w:author="{AUTHOR}"{date}>{run}</{tag}>'
            words += run
    yield words
