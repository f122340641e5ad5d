"""The corrected text: the response with the corrections of its wrong claims, as plain text, Markdown or DOCX.

Knows: a correction replaces its words, an empty one takes them out, and where the right words aren't known nothing is
changed; and the two elements of OOXML that mark a change (`w:del`, `w:ins`: ECMA-376, part 1, 17.13.5), which
python-docx doesn't have. Does not know: who accepted what.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from io import BytesIO
from itertools import count
from pathlib import PurePath
from typing import Any, NamedTuple

from longproof.agent.report import WRONG
from longproof.agent.types import Report
from longproof.report.control_characters import visible
from longproof.report.deletions import left_over
from longproof.report.markdown import escape_markup
from longproof.retrieval.types import BadInput

AUTHOR = "Longproof"
_NOT_XML = re.compile("[\ufffe\uffff\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What XML or HTML can't hold, and what shows a text in another order than it has. Not the marks of direction that
belong to Hebrew and Arabic."""
_INDENTED = re.compile(r"^(?: (?= {3}| {0,2}\t)|\t)(?=[ \t]*[^ \t\n])", re.MULTILINE)
"""The first blank of what Markdown takes for a line of code."""


class Change(NamedTuple):
    """Characters `[start, end)` of the response give way to `new`. `key` names the correction in its report."""

    key: str
    start: int
    end: int
    new: str


class Run(NamedTuple):
    """A run of the text: words that stay, or words that go with those that come in their place."""

    old: str
    new: str | None = None


def known_changes(report: Report, accepted: Container[str] | None = None) -> list[Change]:
    """The known corrections of wrong claims.

    With `accepted`, only those of these keys: `CLAIM:N`, the claim's id and the number of its error from 0.
    """
    return [
        Change(f"{claim.id}:{n}", error.span.start, error.span.end, error.correction)
        for claim in report.claims
        if claim.label in WRONG
        for n, error in enumerate(claim.errors)
        if error.correction is not None and (accepted is None or f"{claim.id}:{n}" in accepted)
    ]


def changes(report: Report, accepted: Container[str] | None = None) -> list[Change]:
    """The changes that these corrections come to, in the order of the text; of two that touch the same words the
    first."""
    kept: list[Change] = []
    for change in sorted(known_changes(report, accepted), key=lambda one: (one.start, one.end)):
        done = kept[-1].end if kept else 0
        if change.start >= done:
            kept.append(change)
    return _tidy(kept, report.case.response)


def corrected(report: Report, name: str, accepted: Container[str] | None = None) -> bytes:
    """The corrected text in the form that the name's suffix asks for. Raises BadInput for another suffix."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in FORMS:
        raise BadInput(f"{name}: a corrected text ends in {', '.join(FORMS)}")
    return FORMS[suffix](report, _runs(report.case.response, changes(report, accepted)))


def _tidy(made: Sequence[Change], text: str) -> list[Change]:
    """The changes, deletions with what they would leave over: from the last one on, so that what follows is known."""
    done: list[Change] = []
    after, rest = len(text), ""
    for n, change in reversed([*enumerate(made)]):
        wide = change
        if not change.new:
            least = made[n - 1].end if n else 0
            wide = _without_debris(change, text, least, text[change.end : after] + rest)
            wide = wide._replace(end=min(wide.end, after))
        rest = wide.new + text[wide.end : after] + rest
        after = wide.start
        done.append(wide)
    return done[::-1]


def _without_debris(change: Change, text: str, least: int, right: str) -> Change:
    """A deletion that begins at `least` or later, and is followed by `right`, with what it would leave over."""
    words = text[change.start : change.end]
    start = change.start + len(words) - len(words.lstrip(" "))
    end = change.end - len(words) + len(words.rstrip(" "))
    if start >= end:
        return change
    before, behind = left_over(text[:start], text[end : change.end] + right)
    return change._replace(start=max(least, start - before), end=end + behind)


def _runs(text: str, made: Sequence[Change]) -> Iterator[Run]:
    at = 0
    for change in made:
        yield Run(text[at : change.start])
        yield Run(text[change.start : change.end], change.new)
        at = change.end
    yield Run(text[at:])


def _text(_: Report, runs: Iterable[Run]) -> bytes:
    return "".join(run.old if run.new is None else run.new for run in runs).encode("utf-8", "replace")


def _markdown(_: Report, runs: Iterable[Run]) -> bytes:
    """Lines stay lines; `<del>` and `<ins>`, since `~~` next to Chinese marks isn't read as a deletion."""
    parts = []
    for run in runs:
        if run.new is None:
            parts.append(_lines(run.old))
        else:
            parts += [_lines(run.old, "del"), _lines(run.new, "ins")]
    text = _INDENTED.sub(lambda found: f"&#{ord(found[0])};", "".join(parts))
    return (text.rstrip("\n") + "\n").encode("utf-8", "replace")


def _lines(text: str, tag: str = "") -> str:
    """Escape each line by itself, but for the spaces at its ends. Each stands in an element of its own: a browser
    ends one with the paragraph that it began in."""
    lines = []
    for line in _without_controls(text).split("\n"):
        words = line.strip()
        escaped = line.replace(words, escape_markup(words), 1) if words else line
        marked = tag and (words or (line and line == text))
        lines.append(f"<{tag}>{escaped}</{tag}>" if marked else escaped)
    return "\n".join(lines)


def _without_controls(text: str) -> str:
    """The text as it is, but for marks in the place of what can't stay."""
    return _CONTROLS.sub(lambda found: visible(found[0]), text)


def _docx(report: Report, runs: Iterable[Run]) -> bytes:
    try:
        from docx import Document
    except ModuleNotFoundError as error:
        raise BadInput("to write a DOCX, install longproof[read]") from error

    document = Document()
    paragraph = document.add_paragraph()
    numbers = count(1)
    when = str(report.stamp.get("created_at") or "")
    for run in runs:
        gone = run.new is not None
        for tag, text in (("w:del" if gone else "", run.old), ("w:ins", run.new or "")):
            for nth, line in enumerate(text.split("\n")):
                if nth and tag:
                    _change_end(paragraph._p, _change(tag, next(numbers), when))
                paragraph = document.add_paragraph() if nth else paragraph
                if line:
                    _add(paragraph._p, line, _change(tag, next(numbers), when) if tag else None)
    written = BytesIO()
    document.save(written)
    return written.getvalue()


def _add(paragraph: Any, text: str, changed: Any = None) -> None:
    """A run of text at the end of a paragraph; inside of the element of a change, if one is given."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    run = OxmlElement("w:r")
    gone = changed is not None and changed.tag == qn("w:del")
    held = OxmlElement("w:delText" if gone else "w:t")
    held.set(qn("xml:space"), "preserve")
    held.text = _NOT_XML.sub("\ufffd", _without_controls(text))
    run.append(held)
    if changed is None:
        paragraph.append(run)
    else:
        changed.append(run)
        paragraph.append(changed)


def _change_end(paragraph: Any, change: Any) -> None:
    """The end of a paragraph is changed: where it is taken out, the next one goes on there."""
    from docx.oxml import OxmlElement

    mark = OxmlElement("w:rPr")
    mark.append(change)
    paragraph.get_or_add_pPr().append(mark)


def _change(tag: str, number: int, when: str) -> Any:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    element = OxmlElement(tag)
    element.set(qn("w:id"), str(number))
    element.set(qn("w:author"), AUTHOR)
    if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", when):
        element.set(qn("w:date"), when)
    return element


FORMS: dict[str, Callable[[Report, Iterable[Run]], bytes]] = {
    ".md": _markdown,
    ".txt": _text,
    ".docx": _docx,
}
"""How a corrected text is written, by its suffix: changes are marked in all but the plain text."""
