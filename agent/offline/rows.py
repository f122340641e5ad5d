"""Figures that an article gives to someone, against that one's row of a record.

Knows: records told a fact a line (`players[3].PTS: 12`), rows (lines with one path but for the last key), and that a
column counts a unit when its name abbreviates it (`PTS` points, `REB` rebounds).
Does not know: sums, averages, parts of a game: a clause that speaks of them is left alone.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from longproof.retrieval.text.numbers import Number, numbers

_LINE = re.compile(r"^(?P<row>\S*?)(?:\.|^)(?P<key>[^\s.\[\]:]+): (?P<value>.+)$", re.MULTILINE)
_ELSEWHERE = re.compile(
    r"\b(?:averag\w*|season|last|past|previous|combin\w*|quarters?|half|halves|period|overtime|straight|more|fewer|most"
    r"|least|games|two-game|career|total|ahead|lead|deficit|run|per|of (?:his|her|their))\b",
    re.IGNORECASE,
)
_ONE = re.compile(r"\ban?\b")
_UNIT = re.compile(r"(?:\s([a-z]+)(?![\w-]| over| more)|(?: - |-)([a-z]+)(?= ?,| double| triple))")
"""A three-point shot and a 30-point lead are no figures of anybody; a 12-rebound double-double is."""
_NAME = re.compile(r"[A-Z][\w.'’-]+(?: [A-Z][\w.'’-]+)*")


SHARED = 3
"""A name in more rows than this is what they have in common, as a town is, and not the one that a row is about."""


class Cell(NamedTuple):
    """One fact of a record: its column, its value, and where its line lies."""

    key: str
    value: str
    start: int
    end: int


class Rows:
    """The rows of a record, and which rows a name stands in."""

    def __init__(self, text: str) -> None:
        self._cells: dict[str, list[Cell]] = defaultdict(list)
        self._named: dict[str, set[str]] = defaultdict(set)
        for line in _LINE.finditer(text):
            if line["row"]:
                self._cells[line["row"]].append(Cell(line["key"], line["value"], *line.span()))
                for name in (line["value"], *line["value"].split()):
                    self._named[name].add(line["row"])

    def wrong(self, sentence: str, start: int) -> Iterator[tuple[Number, Cell]]:
        """The figures of a sentence from `start` on that the row of the one they are given to has otherwise."""
        if not self._cells or _ELSEWHERE.search(sentence, start):
            return
        for number in [*numbers(sentence), *_ones(sentence)]:
            unit = _UNIT.match(sentence, number.end)
            if number.start >= start and unit and number.exact and not number.ordinal:
                cell = self._cell(sentence[: number.start], unit[1] or unit[2])
                if cell and float(cell.value) != number.value:
                    yield number, cell

    def _cell(self, before: str, unit: str) -> Cell | None:
        """The cell of a unit in the row of the last name that has one; None where there are several."""
        given: list[list[Cell]] = []
        for name in _NAME.findall(before):
            rows = self._named.get(re.sub("^The |['’]s?$", "", name), ())
            cells = [cell for row in rows for cell in self._cells[row] if _counts(cell, unit)]
            if 0 < len(cells) <= SHARED:
                given.append(cells)
        plain = [cells for cells in given if cells[0].key.isalpha()] or given
        return plain[-1][0] if plain and len(plain[-1]) == 1 else None


def _ones(sentence: str) -> list[Number]:
    """`a steal` is one."""
    return [Number(m.start(), m.end(), 1.0, m[0]) for m in _ONE.finditer(sentence)]


def _counts(cell: Cell, unit: str) -> bool:
    return bool(re.fullmatch(r"\d+(?:\.\d+)?", cell.value)) and _abbreviates(cell.key, unit)


def _abbreviates(key: str, unit: str) -> bool:
    """Whether the letters of a key stand in the unit's plural in order, the first one first: STL in steals."""
    letters, word = key.casefold().rpartition("-")[2], iter(unit.removesuffix("s") + "s")
    return (
        letters.isalpha() and len(letters) >= 2 and letters[0] == unit[:1] and all(c in word for c in letters)
    )
