"""Figures that an article gives to someone, against that one's row of a record.

Knows: records told a fact a line (`players[3].PTS: 12`), rows (lines with one path but for the last key), and that a
column counts a unit when its name abbreviates it (`PTS` points, `REB` rebounds).
Does not know: sums, averages, parts of a game: a clause that speaks of them is left alone.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from longproof.agent.offline.view import Finding, View
from longproof.retrieval.text.numbers import Number, numbers
from longproof.retrieval.types import Span

_LINE = re.compile(r"^(?P<row>\S*?)(?:\.|^)(?P<key>[^\s.\[\]:]+): (?P<value>.+)$", re.MULTILINE)
_ELSEWHERE = re.compile(
    r"\b(?:averag\w*|season|last|past|previous|combin\w*|quarters?|half|halves|period|overtime|straight|more|fewer|most"
    r"|least|games?|career|total|ahead|lead|deficit|run|per|of (?:his|her|their))\b",
    re.IGNORECASE,
)
_SHOT = re.compile(r"-points?$")
"""`three-point` names a kind of shot; so does `30-point` a lead or a game."""
_NAME = re.compile(r"[A-Z][\w.'’-]+(?: [A-Z][\w.'’-]+)*")


class Cell(NamedTuple):
    """One fact of a record: its row, its column, its value, and its line."""

    row: str
    key: str
    value: str
    span: Span


def figures_of_rows(view: View) -> Iterator[Finding]:
    """Numbers of the claim that the row of the one they are given to has otherwise."""
    if view.chinese or view.case.task != "article" or _ELSEWHERE.search(view.claim.text):
        return
    given = [n for n in numbers(view.claim.text) if n.unit and not n.ordinal and not _SHOT.search(n.text)]
    table = _cells(view.question.shown) if given else ()
    for number in given:
        row = _row(view, number, table)
        cell = _column(table, row, number.unit) if row else None
        if cell and float(cell.value) != number.value:
            reason = f"{cell.key} is {cell.value} in the record"
            yield Finding(
                number.start, number.end, "numerical", _corrected(number, cell.value), reason, cell.span
            )


def _cells(shown: tuple[Span, ...]) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            m["row"], m["key"], m["value"],
            Span(source_id=s.source_id, start=s.start + m.start(), end=s.start + m.end(), text=m[0]),
        )
        for s in shown
        for m in _LINE.finditer(s.text)
    )  # fmt: skip


def _row(view: View, number: Number, table: tuple[Cell, ...]) -> str | None:
    """The row of the last name before the number in its sentence; None where the name is in no row or in several."""
    at = max(view.sentence.find(view.claim.text), 0)
    names = [
        m[0].removesuffix("'s").removesuffix("’s") for m in _NAME.finditer(view.sentence[: at + number.start])
    ]
    for name in reversed(names):
        rows = {cell.row for cell in table if cell.row and name in (cell.value, *cell.value.split())}
        if rows:
            return rows.pop() if len(rows) == 1 else None
    return None


def _column(table: tuple[Cell, ...], row: str, unit: str) -> Cell | None:
    """The row's one numeric cell whose key abbreviates the unit; None where there is none or are several."""
    found = [
        c
        for c in table
        if c.row == row and _abbreviates(c.key, unit) and c.value.replace(".", "", 1).isdigit()
    ]
    return found[0] if len(found) == 1 else None


def _abbreviates(key: str, unit: str) -> bool:
    """Whether the letters of a key stand in the unit's plural in order, the first one first: STL in steals."""
    letters, word = key.casefold(), iter(unit + "s")
    return (
        letters.isalpha() and len(letters) >= 2 and letters[0] == unit[:1] and all(c in word for c in letters)
    )


def _corrected(number: Number, value: str) -> str:
    digits = re.search(r"\d+(?:\.\d+)?", number.text)
    return number.text.replace(digits[0], value, 1) if digits else f"{value} {number.unit}"
