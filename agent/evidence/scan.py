"""Reading a source through, piece by piece, for the lines that bear on claims.

Knows: each piece is read once for at most fifty claims; a reader proves that it got to a piece's end by citing its
last line, and what it cites is checked. What was not read, or not noted in a way that can be checked, is a failure
of the claims that it was read for: they can't be called absent.
Does not know: how a source is cut into pieces, or who judges the claims by what is noted.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from longproof.agent.evidence.citations import (
    by_number,
    count_unproven,
    letters,
    numbered_line,
    proven_lines,
)
from longproof.agent.forms import ScanNotes
from longproof.agent.models.model import Answer, Asker, Model
from longproof.agent.prompting import in_sentences, language_of
from longproof.agent.types import Call, Case, Claim, Failure
from longproof.prompts import Prompt, render
from longproof.retrieval.types import Line

MOST_CLAIMS = 50
"""Claims that one reading of a piece, or one search, is for; more take several, searches side by side."""
_NOTE = re.compile(r"\W*C?([0-9]{1,4})(?![0-9])\W*(.*)", re.DOTALL | re.IGNORECASE)
_ANOTHER = re.compile(r"[\s,、&和-]*(?:and\s*)?C\s*[0-9]", re.IGNORECASE)
"""How a note goes on that names a second claim: whose lines it has can't be told."""


class Noted(NamedTuple):
    """By claim id: numbers of the lines that bear on it, in order, where there are any; and why some piece was not
    read for it. A claim may have both: what was noted of other pieces stays."""

    lines: dict[str, tuple[int, ...]]
    failures: dict[str, Failure]
    calls: list[Call]


@runtime_checkable
class Scanner(Protocol):
    """A judge that can read a source through in its own way."""

    async def scan(self, claims: Sequence[Claim], pieces: Sequence[Sequence[Line]], case: Case) -> Noted:
        """The lines of these pieces that bear on the claims."""
        ...


class _Reading(NamedTuple):
    """One reading of a piece, by the claims' numbers: lines noted, and why it counts as not read."""

    lines: dict[int, list[int]]
    failures: dict[int, Failure]

    @property
    def failure(self) -> Failure | None:
        """The first reason to ask about the piece again."""
        return next(iter(self.failures.values()), None)


async def scan(model: Model, claims: Sequence[Claim], pieces: Sequence[Sequence[Line]], case: Case) -> Noted:
    """Read all pieces for all claims, all at once within the model's limits."""
    batches = [claims[at : at + MOST_CLAIMS] for at in range(0, len(claims), MOST_CLAIMS)]
    readers = [
        _Reader(Asker(model), piece, dict(enumerate(batch, start=1)), case)
        for piece in pieces
        for batch in batches
        if _ends(piece)
    ]
    lines: dict[str, set[int]] = {}
    failures: dict[str, Failure] = {}
    calls: list[Call] = []
    read = await asyncio.gather(*(reader.read() for reader in readers))
    for reader, (reading, made) in zip(readers, read, strict=True):
        calls += made
        for n, noted in reading.lines.items():
            lines.setdefault(reader.claims[n].id, set()).update(noted)
        for n, failure in reading.failures.items():
            failures.setdefault(reader.claims[n].id, failure)
    return Noted({claim_id: tuple(sorted(noted)) for claim_id, noted in lines.items()}, failures, calls)


class _Reader(NamedTuple):
    """Reads one piece for the claims of one prompt."""

    asker: Asker
    piece: Sequence[Line]
    claims: dict[int, Claim]
    case: Case

    async def read(self) -> tuple[_Reading, list[Call]]:
        """Read the piece, once more where the answer could not be used. Returns also the calls made."""
        noted: dict[int, list[int]] = {}

        def read(
            answer: Answer[ScanNotes], pieces: Mapping[int, Sequence[Line]], prompt: Prompt
        ) -> dict[int, _Reading]:
            """A second answer adds to what the first one proved."""
            (reading,) = self._reading(answer, pieces, prompt).values()
            for n, numbers in reading.lines.items():
                noted.setdefault(n, []).extend(numbers)
            return {1: reading._replace(lines={**noted})}

        found, calls = await self.asker.ask_about(
            {1: self.piece},
            letter="P",
            purpose="scan",
            form=ScanNotes,
            prompt_of=self._prompt,
            read=read,
        )
        return found[1], calls

    def _prompt(self, pieces: Mapping[int, Sequence[Line]]) -> Prompt:
        return render(
            "scan",
            language_of(self.case),
            claims=in_sentences(self.claims, self.case),
            piece="\n".join(numbered_line(line) for piece in pieces.values() for line in piece),
        )

    def _reading(
        self, answer: Answer[ScanNotes], pieces: Mapping[int, Sequence[Line]], _: Prompt
    ) -> dict[int, _Reading]:
        if answer.value is None:
            return {1: _Reading({}, dict.fromkeys(self.claims, answer.failure or "unparsed"))}
        known = by_number(self.piece)
        lines: dict[int, list[int]] = {}
        unread = set() if _names_the_end(answer.value.last, self.piece) else set(self.claims)
        for note in map(_NOTE.fullmatch, answer.value.notes):
            if note is None or int(note[1]) not in self.claims or _ANOTHER.match(note[2]):
                unread = set(self.claims)
                continue
            number = int(note[1])
            lines.setdefault(number, []).extend(proven_lines(note[2], known))
            if count_unproven(note[2], known) or not lines[number]:
                unread.add(number)
        noted = {n: numbers for n, numbers in lines.items() if numbers}
        return {1: _Reading(noted, dict.fromkeys(sorted(unread), "ungrounded"))}


def _names_the_end(last: str, piece: Sequence[Line]) -> bool:
    """True if one of the last two lines with letters is cited, or a last line of mere marks with all its marks."""
    end = piece[-1]
    marks = end.span.text.strip()
    ends_in_marks = not letters(marks) and last.split() == [str(end.number), *marks.split()]
    return ends_in_marks or bool(proven_lines(last, by_number(_ends(piece))))


def _ends(piece: Sequence[Line]) -> list[Line]:
    """The last two lines of a piece that can be cited; none where there is nothing to read in it."""
    return [line for line in piece if letters(line.span.text)][-2:]
