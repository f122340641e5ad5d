"""Lines: which line breaks end something, and which only wrap prose to a width.

Knows: widths of lines, list marks, how a wrapped line goes on.
Does not know: what ends a sentence inside a line.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

WIDEST = 120
"""Wrapped prose is never set wider than this; longer lines are paragraphs of their own."""

_LINE = re.compile(r"[^\r\n\x0b\x0c\x85\u2028\u2029]+")
_BREAK = re.compile(r"[^\S\r\n]*(?:\r\n|\n|\r)")
_ITEM = re.compile(
    r"\s*(?:[-*+•·#>|◆●○■□▪–—]|\(?\d{1,3}[.)、．]|[（(]?[一二三四五六七八九十]{1,3}[、）)]|第\S{1,6}[回章节卷]|[A-Za-z][.)]\s)"
)
_FINISHED = re.compile(r"[。！？!?….:：；;][”’」』）)\]】》\"'*_]*\s*\Z")
_WIDE_FIRST = re.compile(r"\s*[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]")
_INNER_STOP = re.compile("[，。；、]")
_ADDRESS = re.compile(r"@|://|\w\.\w")
_INDENT = re.compile(r"[^\S\n]*")
_FIRST_WORD = re.compile(r"\s*(\S{0,40})")

Range = tuple[int, int]


def logical_lines(text: str) -> Iterator[Range]:
    """Half-open ranges that no line break ends inside, in order, each with at least one visible character.

    A logical line is a line of the text, or several lines of wrapped prose. A break only wraps when no line of its
    paragraph (lines without a blank one between them) is wider than `WIDEST`, the next line is neither a list item
    nor indented deeper, and either the line is unfinished and the next goes on in lower case, or the paragraph is set
    to a width and the next word would not have fitted. Verse, headings and lists keep their breaks.
    """
    for paragraph in _paragraphs(text):
        widest = max(end - start for start, end in paragraph)
        is_set = _is_set(paragraph, widest)
        start, end = paragraph[0]
        for line, after in pairwise(paragraph):
            if widest > WIDEST or not _wraps(text, line, after, widest if is_set else None):
                yield start, end
                start = after[0]
            end = after[1]
        yield start, end


def _paragraphs(text: str) -> Iterator[list[Range]]:
    paragraph: list[Range] = []
    for match in _LINE.finditer(text):
        if match[0].isspace():
            continue
        line = match.start(), match.start() + len(match[0].rstrip())
        if paragraph and not _BREAK.fullmatch(text, paragraph[-1][1], line[0]):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph


def _is_set(paragraph: list[Range], widest: int) -> bool:
    """True if most lines but the last come near the widest, as in prose broken to a width."""
    near = sum(end - start > 0.8 * widest for start, end in paragraph[:-1])
    return near >= 3 and 2 * near > len(paragraph) - 1


def _wraps(text: str, line: Range, after: Range, width: int | None) -> bool:
    """True if the break between two lines of a paragraph only wraps; `width` is what the paragraph is set to."""
    if _ITEM.match(text, *after) or _indent(text, after) > _indent(text, line):
        return False
    word = _FIRST_WORD.match(text, *after)
    first = word[1] if word else ""
    finished = _FINISHED.search(text, max(line[0], line[1] - 12), line[1]) is not None
    if first[:1].islower() and not finished and not _ADDRESS.search(first):
        return True
    if width is None:
        return False
    length = line[1] - line[0]
    if _WIDE_FIRST.match(first):
        return (
            length >= 20
            and length + 2 > width
            and not finished
            and _INNER_STOP.search(text, *line) is not None
        )
    return length >= 40 and length + 1 + len(first) > width


def _indent(text: str, line: Range) -> int:
    match = _INDENT.match(text, *line)
    return len(match[0]) if match else 0
