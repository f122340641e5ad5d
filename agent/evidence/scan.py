"""Reading a source through, piece by piece, for the lines that bear on claims.

Knows: a reader proves that it got to a piece's end by citing its last line, and what it cites is checked. What was
not read, or not noted so that it can be checked, is a failure of the claims that it was read for: they can't be
called absent.
Does not know: how a source is cut into pieces, or who judges the claims by what is noted.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from pydantic import Field

from longproof.agent.evidence.citations import check_citations, letters, numbered_line
from longproof.agent.models.answers import Form
from longproof.agent.models.model import UNANSWERED, Answer, Asker, Model
from longproof.agent.prompting import in_sentences, language_of
from longproof.agent.types import Call, Case, Claim, Failure
from longproof.prompts import Prompt, render
from longproof.retrieval.types import Line

MOST_CLAIMS = 50
"""Claims that one reading of a piece, or one search, is for; more take several, searches side by side."""
_NOTE = re.compile(r"\W*C?([0-9]{1,4})(?![0-9])\W*(.*)", re.DOTALL | re.IGNORECASE)
_ANOTHER = re.compile(r"[\s,、&和-]*(?:and\s*)?C\s*[0-9]", re.IGNORECASE)
"""How a note goes on that names a second claim: whose lines it has can't be told."""


class ScanNotes(Form):
    """A reader's notes on one piece of a source, and its last line as proof that all of it was read."""

    notes: list[str] = Field(default_factory=list)
    last: str


class Noted(NamedTuple):
    """By claim id the lines that bear on it, in order, and why some piece was not read for it: it may have both.
    `read` are the claims for which a reader answered at least once, usably or not."""

    lines: dict[str, tuple[int, ...]]
    failures: dict[str, Failure]
    calls: list[Call]
    read: frozenset[str]

    @property
    def failure(self) -> Failure | None:
        """The failure of the first claim that has one."""
        return next(iter(self.failures.values()), None)


@runtime_checkable
class Scanner(Protocol):
    """A judge that can read a source through in its own way."""

    async def scan(self, claims: Sequence[Claim], pieces: Sequence[Sequence[Line]], case: Case) -> Noted:
        """The lines of these pieces that bear on the claims."""


async def can_pay_scan(
    model: Model, claims: Sequence[Claim], pieces: Sequence[Sequence[Line]], case: Case
) -> bool:
    """True if the budget holds the first asking of every piece, so that a scan that is begun comes to its end."""
    prompts = (_prompt(piece, numbered, case) for piece, numbered in _readings(claims, pieces))
    return await model.can_pay(prompts, ScanNotes, "scan")


async def scan(model: Model, claims: Sequence[Claim], pieces: Sequence[Sequence[Line]], case: Case) -> Noted:
    """Read all pieces for all claims, all at once within the model's limits."""
    asker = Asker(model)
    readings = [_read_piece(asker, piece, numbered, case) for piece, numbered in _readings(claims, pieces)]
    lines: dict[str, set[int]] = {}
    failures: dict[str, Failure] = {}
    calls: list[Call] = []
    read: set[str] = set()
    for noted in await asyncio.gather(*readings):
        calls += noted.calls
        read |= noted.read
        for claim_id, numbers in noted.lines.items():
            lines.setdefault(claim_id, set()).update(numbers)
        for claim_id, failure in noted.failures.items():
            failures.setdefault(claim_id, failure)
    in_order = {claim_id: tuple(sorted(numbers)) for claim_id, numbers in lines.items()}
    return Noted(in_order, failures, calls, frozenset(read))


def _readings(
    claims: Sequence[Claim], pieces: Sequence[Sequence[Line]]
) -> Iterator[tuple[Sequence[Line], dict[int, Claim]]]:
    """Each piece that has something to read, with the numbered claims of each prompt about it."""
    for piece in filter(_ends, pieces):
        for at in range(0, len(claims), MOST_CLAIMS):
            yield piece, dict(enumerate(claims[at : at + MOST_CLAIMS], start=1))


def _prompt(piece: Sequence[Line], claims: Mapping[int, Claim], case: Case) -> Prompt:
    """The prompt that shows one piece and asks about these claims."""
    return render(
        "scan",
        language_of(case),
        claims=in_sentences(claims, case),
        piece="\n".join(map(numbered_line, piece)),
    )


async def _read_piece(asker: Asker, piece: Sequence[Line], claims: Mapping[int, Claim], case: Case) -> Noted:
    """Read one piece, once more where the answer could not be used: that adds to what the first one proved."""
    lines: dict[str, tuple[int, ...]] = {}
    ids = frozenset(claim.id for claim in claims.values())

    def read(answer: Answer[ScanNotes], _: object, __: Prompt) -> dict[int, Noted]:
        why, unread = answer.failure, set(claims)
        if answer.value is not None:
            why = "ungrounded"
            noted, unread = _check_notes(answer.value, piece, claims)
            for n, numbers in noted.items():
                lines[claims[n].id] = (*lines.get(claims[n].id, ()), *numbers)
        failures = {claims[n].id: why for n in unread if why}
        answered = frozenset() if answer.failure in UNANSWERED else ids
        return {1: Noted(lines, failures, [], answered)}

    prompt = _prompt(piece, claims, case)
    found, calls = await asker.ask_about(
        {1: piece}, letter="P", purpose="scan", form=ScanNotes, prompt_of=lambda _: prompt, read=read
    )
    return found[1]._replace(calls=calls)


def _check_notes(
    answer: ScanNotes, piece: Sequence[Line], claims: Mapping[int, Claim]
) -> tuple[dict[int, list[int]], set[int]]:
    """The lines that notes prove to bear on claims, by number; and the claims that the piece was not read for."""
    known = {line.number: line for line in piece}
    lines: dict[int, list[int]] = {}
    # One of the last two lines with letters is cited, or a last line of mere marks with all its marks.
    proven, _ = check_citations(answer.last, {line.number: line for line in _ends(piece)})
    marks = piece[-1].span.text.strip()
    ends_in_marks = not letters(marks) and answer.last.split() == [str(piece[-1].number), *marks.split()]
    unread = set() if proven or ends_in_marks else set(claims)
    for note in map(_NOTE.fullmatch, answer.notes):
        if note is None or int(note[1]) not in claims or _ANOTHER.match(note[2]):
            unread = set(claims)
            continue
        number = int(note[1])
        proven, unproven = check_citations(note[2], known)
        lines.setdefault(number, []).extend(proven)
        if unproven or not lines[number]:
            unread.add(number)
    return {n: numbers for n, numbers in lines.items() if numbers}, unread


def _ends(piece: Sequence[Line]) -> list[Line]:
    """The last two lines of a piece that can be cited; none where there is nothing to read in it."""
    return [line for line in piece if letters(line.span.text)][-2:]
