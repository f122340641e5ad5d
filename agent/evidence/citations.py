"""Lines of evidence as prompts show them, and as answers cite them.

Knows: a line is shown as `123| its text` and cited by its number and its first characters (`123 Ada lit`), so that a
citation proves that the line was read. Lines of saved pages are numbered -1, -2, … and go by P1, P2, ….
Does not know: which lines were shown, or what a citation is used for.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from longproof.retrieval.text.normalise import CJK, fold
from longproof.retrieval.types import Line

WEIGHT = 4
"""A beginning proves something from two CJK characters or four others on, or where it is the whole line."""
_CJK_CHARACTER = re.compile(f"[{CJK}]")
_ELLIPSIS = re.compile(r"…|⋯|\.{3}|。{3}")
_BREAK = re.compile(r"[;；\n]")
_CITATION = re.compile(
    r"[^\w]*(P?)([0-9]{1,9})(?:[-–]([0-9]{1,9}))?(?![0-9])[|:：.)\]]?(.*)", re.DOTALL | re.IGNORECASE
)
MOST_IN_RANGE = 40
"""Lines that one cited range may name."""
MOST_JOINED = 20
"""Pieces between semicolons that may belong to one cited line; what a model goes on to write proves nothing more."""


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
        if cut and _follows(line, cut[-1][-1]):
            cut[-1].append(line)
        else:
            cut.append([line])
    return cut


def _follows(line: Line, before: Line) -> bool:
    return 0 <= before.number == line.number - 1 and before.span.source_id == line.span.source_id


def ranges(numbers: Iterable[int]) -> str:
    """The numbers in order, runs shortened: `12-14, 40`."""
    ends: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if ends and ends[-1][1] == number - 1:
            ends[-1] = (ends[-1][0], number)
        else:
            ends.append((number, number))
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in ends)


def cited_lines(text: str) -> list[tuple[int, str]]:
    """The lines that an answer cites, `12 Ada lit; 15 Tom`: numbers with what is said to be their beginnings.

    Of a cited range, `12-14 Ada lit`, the first is named. What begins with no number is left out.
    """
    matches = (_CITATION.fullmatch(part) for part in split_citations(text))
    return [(_number(match), match[4].strip()) for match in matches if match]


def _number(citation: re.Match[str]) -> int:
    """The number of the line that a citation names; those of pages are negative."""
    return -int(citation[2]) if citation[1] else int(citation[2])


def split_citations(text: str) -> list[str]:
    """The parts of an answer between semicolons, without what is empty."""
    return [part.strip() for part in _BREAK.split(text) if part.strip()]


def by_number(lines: Iterable[Line]) -> dict[int, Line]:
    """The lines by the numbers that they are cited by."""
    return {line.number: line for line in lines}


def proven_lines(text: str, known: Mapping[int, Line]) -> list[int]:
    """The numbers of the known lines that the text cites with their true beginnings, each once, in order of citing.

    Of a range the beginning of its first line proves all of it.
    """
    return list(dict.fromkeys(number for parts in _citations_in(text) for number in _prove(parts, known)))


def count_unproven(text: str, known: Mapping[int, Line]) -> int:
    """The number of citations in the text that prove no line."""
    return sum(not _prove(parts, known) for parts in _citations_in(text))


def _citations_in(text: str) -> list[list[str]]:
    """Each citation: the part that begins with a number, and those after it, which a semicolon may have cut off."""
    found: list[list[str]] = []
    for part in split_citations(text):
        if _CITATION.fullmatch(part):
            found.append([part])
        elif found and len(found[-1]) < MOST_JOINED:
            found[-1].append(part)
    return found


def _prove(parts: Sequence[str], known: Mapping[int, Line]) -> list[int]:
    """The lines that one citation proves: as it stands, or with what a semicolon inside the line cut off."""
    for until in range(1, len(parts) + 1):
        match = _CITATION.fullmatch("; ".join(parts[:until]))
        number = _number(match) if match else -1
        if match is None or number not in known:
            return []
        if begins(known[number], match[4].strip()):
            last = min(int(match[3] or number), number + MOST_IN_RANGE - 1)
            return [n for n in range(number, max(number, last) + 1) if n in known]
    return []


def begins(line: Line, beginning: str) -> bool:
    """True if the line begins so; case, script, width, blanks, punctuation and what an ellipsis cuts off don't
    matter. A few characters (`says_something`) say nothing, unless they are all of the line."""
    whole = _all_letters(line.span.text)
    cut = _ELLIPSIS.split(beginning.strip().lstrip("…⋯.。"))[0]
    return any(
        bool(said) and whole.startswith(said) and (said == whole or says_something(said))
        for said in (letters(beginning), letters(cut))
    )


def says_something(quote: str) -> bool:
    """True if a quote is long enough for its place to mean anything."""
    return len(letters(quote)) + len(_CJK_CHARACTER.findall(quote)) >= WEIGHT


def letters(text: str) -> str:
    """The letters and digits of the folded text."""
    return "".join(character for character in fold(text).text if character.isalnum())


@lru_cache(maxsize=4096)
def _all_letters(line: str) -> str:
    """The letters of a line, which an answer may cite many times."""
    return letters(line)
