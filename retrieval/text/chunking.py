"""Chunking: the half-open ranges of characters in which a text is aligned, embedded, searched, numbered and shown.

Knows: sizes are those of LongNovel's Appendix D (segments 150, blocks 5,500 characters) and of VeriGray's Appendix
F (snippets 1,600, of which 200 are shared). Segments are whole sentences, since a claim cut in two can't be judged.
Does not know: the numbers of lines, what is searched for, or how chunks are compared.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from longproof.retrieval.text.sentences import Range, sentences, trim

T = TypeVar("T")
SEGMENT = 150
BLOCK = 5500
SNIPPET = 1600
OVERLAP = 200
LONGEST = 400  # a line is never longer than this: a longer sentence is cut
SHORT = 60
"""Sentences that follow each other in a paragraph are one line up to this length: a number for each would cost
Chinese prose, whose sentences are short, a quarter of its length."""

_PHYSICAL = re.compile(r"\S[^\r\n\x0b\x0c\x85\u2028\u2029]*")
_ROW = re.compile(r"\|.*\|\s*\Z", re.DOTALL)
_TURN = re.compile(r"(?:\[[^\[\]\n]{1,30}\]\s*|[^\W\d_][\w .'’-]{0,30})[:：]\s*(?![“\"「『‘])\S")
_CLAUSE = re.compile(r"[，、；：。！？][”’」』）】》]*|[,;:.!?—][”’\")\]]*(?=\s)|—")
_BLANK = re.compile(r"\s+")
_BREAK = re.compile(r"[\r\n\x0b\x0c\x85\u2028\u2029]")


def segments(text: str, size: int = SEGMENT) -> list[Range]:
    """Neighbouring whole sentences of one line, packed in order to at most `size` characters; a longer one alone."""
    return _join_neighbours(text, sentences(text), size)


def _join_neighbours(text: str, pieces: Iterable[Range], size: int) -> list[Range]:
    """Neighbours together up to `size` characters, unless a line break divides them."""
    packed: list[Range] = []
    for start, end in pieces:
        if packed and end - packed[-1][0] <= size and not _BREAK.search(text, packed[-1][1], start):
            packed[-1] = (packed[-1][0], end)
        else:
            packed.append((start, end))
    return packed


def pack(parts: Iterable[T], length: Callable[[T], int], size: int, most: int | None = None) -> list[list[T]]:
    """Neighbours together up to `size` in length, and to so many; a longer one alone."""
    packed: list[list[T]] = []
    room = 0
    for part in parts:
        if not packed or length(part) > room or len(packed[-1]) == most:
            packed.append([])
            room = size
        packed[-1].append(part)
        room -= length(part)
    return packed


def blocks(text: str, size: int = BLOCK) -> list[Range]:
    """Consecutive ranges of `size` characters that cover the text; the last may be shorter. None for no text."""
    return [(start, min(start + size, len(text))) for start in range(0, len(text), size)]


def overlapping(text: str, size: int = 400, step: int = 200) -> list[Range]:
    """Overlapping ranges of `size` characters, one every `step`, up to the one that reaches the end of the text."""
    last = max(0, len(text) - size)
    starts = range(0, last + step, step) if text else range(0)
    return [(start, min(start + size, len(text))) for start in starts]


def evidence_lines(text: str, *, record: bool = False) -> list[Range]:
    """Half-open `[start, end)` of every line of evidence, in order; together they hold all that is not whitespace.

    A line is a sentence, or a few short ones that follow each other in a paragraph, or the whole row of a table or
    turn of a dialogue that stands on a line of its own; in a record, whose fields are lines of the text, a field.
    What is longer than `LONGEST` is cut behind a clause, else at a blank, and inside a word only where it has none.
    """
    if record:
        whole = [trim(text, *match.span()) for match in _PHYSICAL.finditer(text)]
    else:
        whole = _join_neighbours(text, sentences(text, lambda line: _is_row_or_turn(text, *line)), SHORT)
    return [piece for start, end in whole for piece in _pieces(text, start, end)]


def _is_row_or_turn(text: str, start: int, end: int) -> bool:
    """True for a row of a table and a turn of a dialogue that are short enough to be one line of evidence."""
    short = end - start <= LONGEST
    return short and (_ROW.match(text, start, end) or _TURN.match(text, start, end)) is not None


def _pieces(text: str, start: int, end: int) -> Iterator[Range]:
    """The range in pieces of at most LONGEST characters, neither beginning nor ending with whitespace."""
    while end - start > LONGEST:
        # Behind the last clause, unless that leaves only a little; else at the last blank.
        limit = start + LONGEST
        clauses = [
            m.end() for m in _CLAUSE.finditer(text, start + LONGEST // 2, limit + 1) if m.end() <= limit
        ]
        blanks = [m.start() for m in _BLANK.finditer(text, start, limit + 1)]
        cut = (clauses or blanks or [limit])[-1]
        yield trim(text, start, cut)
        blank = _BLANK.match(text, cut, end)
        start = blank.end() if blank else cut
    if start < end:
        yield start, end
