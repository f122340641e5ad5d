"""Lines of evidence as prompts show them, and as answers cite them.

Knows: a line is shown as `123| its text` and cited by its number and its first characters (`123 Ada lit`), so that a
citation proves that the line was read. Lines of saved pages are numbered -1, -2, … and go by P1, P2, ….
Does not know: which lines were shown, or what a citation is used for.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from longproof.retrieval.text.normalise import CJK, fold
from longproof.retrieval.types import Line

_CJK_CHARACTER = re.compile(f"[{CJK}]")
_ELLIPSIS = re.compile(r"…|⋯|\.{3}|。{3}")
_BREAK = re.compile(r"[;；\n]")
_CITATION = re.compile(
    r"\W*(?P<page>[PＰ] ?)?(?P<number>\d{1,9})(?:[-–](?P<last>\d{1,9}))?(?!\d)"
    r"[\])】）>》*`]* ?[|｜:：.,，、]? ?(?P<begins>.*)",
    re.IGNORECASE,
)


def line_blocks(lines: Iterable[Line]) -> list[str]:
    """The lines as prompts show them, one block for each run of consecutive numbers."""
    return ["\n".join(map(numbered_line, run)) for run in runs(lines)]


def numbered_line(line: Line) -> str:
    """One line as prompts show it: its number, and its text without line breaks."""
    return f"{line_name(line.number)}| {on_one_line(line.span.text)}"


def line_name(number: int) -> str:
    """The name that a line goes by: its number, or P1, P2, … for snippets of saved pages."""
    return str(number) if number >= 0 else f"P{-number}"


def on_one_line(text: str) -> str:
    """The text with blanks and line breaks folded into single spaces."""
    return " ".join(text.split())


def runs(lines: Iterable[Line]) -> list[list[Line]]:
    """The lines in their order, cut where a number does not follow the one before it; pages stay apart."""
    cut: list[list[Line]] = []
    for line in lines:
        before = cut[-1][-1] if cut else line
        same_source = before.span.source_id == line.span.source_id
        if 0 <= before.number == line.number - 1 and same_source:
            cut[-1].append(line)
        else:
            cut.append([line])
    return cut


def ranges(numbers: Iterable[int]) -> str:
    """The numbers in order, runs shortened: `12-14, 40`."""
    ends: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if ends and ends[-1][1] == number - 1:
            ends[-1] = (ends[-1][0], number)
        else:
            ends.append((number, number))
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in ends)


class Citation(NamedTuple):
    """A cited line: its number, the last of a range `12-14 Ada lit`, and what is said to be its beginning."""

    number: int
    last: int
    beginning: str


def read_citation(text: str) -> Citation | None:
    """The citation `12 Ada lit`, whatever marks a model sets around its number; None where no number begins it."""
    said = _CITATION.fullmatch(" ".join(text.split()))
    if said is None or (said["page"] and not int(said["number"])):
        return None
    sign = -1 if said["page"] else 1
    number, last = int(said["number"]), int(said["last"] or said["number"])
    return Citation(sign * number, sign * last, said["begins"])


def split_citations(text: str) -> list[str]:
    """The parts of an answer between semicolons, without what is empty."""
    return [part.strip() for part in _BREAK.split(text) if part.strip()]


def check_citations(text: str, known: Mapping[int, Line]) -> tuple[list[int], int]:
    """The numbers of the known lines that the text cites with their true beginnings, each once, in order of citing;
    and how many citations prove no line. Of a range the beginning of its first line proves all of it, up to 40 lines.
    """
    citations: list[list[str]] = []
    for part in split_citations(text):
        if read_citation(part):
            citations.append([part])
        elif citations and len(citations[-1]) < 20:
            # A semicolon may stand in the line; what a model goes on to write proves nothing more.
            citations[-1].append(part)
    proven = [_prove(parts, known) for parts in citations]
    return list(dict.fromkeys(chain.from_iterable(proven))), proven.count([])


def _prove(parts: Sequence[str], known: Mapping[int, Line]) -> list[int]:
    """The lines that one citation proves: as it stands, or with what a semicolon inside the line cut off."""
    for until in range(1, len(parts) + 1):
        cited = read_citation("; ".join(parts[:until]))
        if cited is None or cited.number not in known:
            return []
        first = cited.number
        if begins(known[first].span.text, cited.beginning):
            last = min(cited.last, first + 39)
            return [n for n in range(first, max(first, last) + 1) if n in known]
    return []


def begins(line: str, beginning: str) -> bool:
    """True if the line begins so; case, script, width, blanks, punctuation and what an ellipsis cuts off don't
    matter. A few characters (`says_something`) say nothing, unless they are all of the line."""
    whole = letters(line)
    cut = _ELLIPSIS.split(beginning.strip().lstrip("…⋯.。"))[0]
    return any(
        bool(said) and whole.startswith(said) and (said == whole or says_something(said))
        for said in (letters(beginning), letters(cut))
    )


def says_something(quote: str) -> bool:
    """True if a quote is long enough for its place to mean anything: two CJK characters, or four others."""
    return len(letters(quote)) + len(_CJK_CHARACTER.findall(quote)) >= 4


@lru_cache(maxsize=4096)
def letters(text: str) -> str:
    """The letters and digits of the folded text."""
    return "".join(character for character in fold(text) if character.isalnum())
