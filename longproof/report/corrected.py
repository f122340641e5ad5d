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
from longproof.report.words import visible
from longproof.retrieval.types import BadInput

AUTHOR = "Longproof"
FORMS = (".txt", ".docx")
"""The suffixes of a corrected text: changes are marked in the DOCX."""
_NOT_XML = re.compile("[\ufffe\uffff\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What XML can't hold, and what shows a text in another order than it has. Not the marks of direction that belong to
Hebrew and Arabic."""

_OPENING = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?")
"""How a line may begin without saying anything: an item's bullet or number."""
_BRACKETS = ("()", "[]", "{}", "（）", "［］", "“”", "「」", "『』", "《》", "〈〉", "【】")
_PAIRS = [(re.escape(pair[0]), re.escape(pair[1])) for pair in (*_BRACKETS, "‘’", '""')]
_OPENERS = "".join(re.escape(pair[0]) for pair in _BRACKETS)
_CLOSERS = "".join(re.escape(pair[1]) for pair in _BRACKETS)
"""Without ‘ and ’: an apostrophe may begin a word (’90s)."""
_MARKS = r",;:.!?、，；：。！？"
_LEFT_OVER = [
    *((rf"{left}[ \t]*", rf"[ \t]*{right}") for left, right in _PAIRS),
    (r"(?:^|(?<=[.!?。！？]))[ \t]*", rf"[ \t]*[{_MARKS}—–]+"),
    (r"[,;:、，；：—–]+[ \t]*", rf"(?=[ \t]*(?:[{_MARKS}{_CLOSERS}—–]|\n|\Z))"),
    (r"[ \t]+", rf"(?=[{_MARKS}{_CLOSERS}]|\n|\Z)"),
    (rf"(?:^|(?<=[ \t{_OPENERS}]))", r"[ \t]+"),
]
"""The end of a line and the beginning of what follows, between which nothing is left, and which go, too: brackets
around nothing, marks at the beginning, one of two marks, spaces that nothing needs."""
_RULES = [(re.compile(rf"(?:{before})\Z"), re.compile(after)) for before, after in _LEFT_OVER]


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
    for number in reversed(range(len(made))):
        change = made[number]
        words = text[change.start : change.end]
        if not change.new and words.strip(" "):
            start = change.end - len(words.lstrip(" "))
            end = change.start + len(words.rstrip(" "))
            before, behind = left_over(text[:start], text[end:after] + rest)
            least = made[number - 1].end if number else 0
            change = change._replace(start=max(least, start - before), end=min(end + behind, after))
        rest = change.new + text[change.end : after] + rest
        after = change.start
        done.append(change)
    return done[::-1]


def left_over(left: str, right: str) -> tuple[int, int]:
    """Of a text without some words, how many characters before and after them go, too."""
    before, after = left, right
    while True:
        line = before[before.rfind("\n") + 1 :]
        if _OPENING.fullmatch(line) and after[:1] in ("", "\n"):  # nothing is left of the line
            before = before[: len(before) - len(line)]
            before, after = (before, after[1:]) if after else (before.rstrip("\n"), "")
            break
        for rule, other in _RULES:
            end, start = rule.search(line), other.match(after)
            if end and start and (end[0] or start[0]):
                before, after = before[: len(before) - len(end[0])], after[len(start[0]) :]
                break
        else:
            break
    return len(left) - len(before), len(right) - len(after)


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
