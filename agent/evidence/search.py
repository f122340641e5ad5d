"""A searcher: a language model that looks for the lines of a source that decide claims.

Knows: what each turn of the search shows and asks, how much may be shown, and when it ends. What it finds is
evidence, never a verdict.
Does not know: how passages are found (`Library`), or who judges the claims by them.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple, Protocol

from pydantic import Field

from longproof.agent.evidence.citations import (
    check_citations,
    line_blocks,
    numbered_line,
    on_one_line,
    ranges,
    read_citation,
    runs,
    split_citations,
)
from longproof.agent.evidence.scan import MOST_CLAIMS
from longproof.agent.models.answers import Form
from longproof.agent.models.model import Asker, Model
from longproof.agent.prompting import context_rows, language_of
from longproof.agent.types import Call, Case, Claim, Failure
from longproof.prompts import Prompt, render
from longproof.retrieval.types import Line

TURNS, CHARACTERS = 6, 60_000
"""Turns of one loop at most, and the characters of passages that it may be shown."""
MOST_QUERIES, MOST_READS = 3, 2
"""For each claim in each turn."""
LONGEST_QUERY, LONGEST_NOTE = 200, 60
LEAST_SHOWN = 4_000
"""A turn shows at most half of what the budget has left, or so many characters."""
HITS = "hits"
BETWEEN = "\n\n"
"""What stands between passages."""
_ENTRY = re.compile(r"\W*C?([0-9]{1,4})\W+(done|open)(?![a-z])(.*)", re.DOTALL | re.IGNORECASE)
_REQUEST = re.compile(r"\W*C?([0-9]{1,4})(?![0-9])\W*(\w.*)", re.DOTALL | re.IGNORECASE)
_PLACE = re.compile(r"([0-9]{1,9})(?![0-9]).*", re.DOTALL)


class SearchTurn(Form):
    """A searcher's answer: claims with the lines that bear on them, then what to look for and where to read on."""

    claims: list[str]
    find: list[str] = Field(default_factory=list)
    read: list[str] = Field(default_factory=list)


class Library(Protocol):
    """The sources of one case as a searcher looks into them, and nothing else."""

    def outline(self) -> Sequence[Line]:
        """Headings, or where there are none the openings of even pieces, in order."""

    def find(self, query: str) -> Sequence[Sequence[Line]]:
        """The best passages for a query, about 300 characters each, as runs of whole lines; best first."""

    def read(self, number: int) -> Sequence[Line]:
        """The lines about the line of this number, about 1,500 characters; none where there is no such line."""


class Searched(NamedTuple):
    """The result of a search, by claim id: the lines that were named, what was searched for, and all lines that its
    searcher saw and answered for, beside the outline. A search that broke off keeps what it found before."""

    lines: dict[str, tuple[int, ...]]
    queries: dict[str, tuple[str, ...]]
    seen: dict[str, tuple[int, ...]]
    failures: dict[str, Failure]
    calls: list[Call]


async def search(
    model: Model,
    claims: Sequence[Claim],
    hits: Mapping[str, Sequence[Line]],
    library: Library,
    case: Case,
    *,
    turns: int = TURNS,
) -> Searched:
    """Search for what decides these claims; the first turn shows `hits`, lines that fit each claim's own words."""
    outline = library.outline()
    loops: list[_Loop] = []
    for at in range(0, len(claims), MOST_CLAIMS):
        sought = {n: _Sought(c) for n, c in enumerate(claims[at : at + MOST_CLAIMS], start=1)}
        loops.append(_Loop(Asker(model), library, outline, case, turns, CHARACTERS, sought))
    await asyncio.gather(*(loop.run(hits) for loop in loops))
    result = Searched({}, {}, {}, {}, [])
    for loop in loops:
        result.calls.extend(loop.calls)
        for claim in loop.claims.values():
            result.seen[claim.claim.id] = tuple(sorted(loop.answered))
            result.lines[claim.claim.id] = tuple(claim.named)
            result.queries[claim.claim.id] = tuple(claim.queries)
            if loop.failure and not claim.done:
                result.failures[claim.claim.id] = loop.failure
    return result


@dataclass
class _Sought:
    """A claim, the lines that the searcher named for it in order, and in its words what is missing.

    Of requests: those of earlier turns, what this turn's found, and those for which it had no room.
    """

    claim: Claim
    named: dict[int, None] = field(default_factory=dict)
    queries: dict[str, None] = field(default_factory=dict)
    missing: str = ""
    asked: dict[str, None] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)
    postponed: dict[str, None] = field(default_factory=dict)
    done: bool = False


class _Request(NamedTuple):
    """A request for a claim, the passages that the library has for it, best first, and the lines shown of these."""

    claim: _Sought
    name: str
    passages: Sequence[Sequence[Line]]
    finds: bool
    shown: set[int]


@dataclass
class _Loop:
    """One searcher at work on at most `MOST_CLAIMS` claims."""

    asker: Asker
    library: Library
    outline: Sequence[Line]
    case: Case
    turns: int
    room: int
    claims: dict[int, _Sought]
    seen: dict[int, Line] = field(default_factory=dict)
    answered: set[int] = field(default_factory=set)
    """Lines that were shown in a turn that the searcher answered."""
    calls: list[Call] = field(default_factory=list)
    failure: Failure | None = None

    async def run(self, hits: Mapping[str, Sequence[Line]]) -> None:
        """Turn after turn, until all claims are done, nothing new is asked for or found, or a turn failed."""
        own = ((claim, hits.get(claim.claim.id)) for claim in self.claims.values())
        requests = [_Request(claim, HITS, runs(lines), False, set()) for claim, lines in own if lines]
        for turn in range(1, self.turns + 1):
            new = self._show(requests)
            if turn > 1 and not new:
                return
            answer = await self.asker.ask(self._prompt(turn, new), SearchTurn, "search")
            self.calls += answer.calls
            self.failure = answer.failure or self._take_notes(answer.value)
            await self.asker.mark(answer.call_id, self.failure)
            if answer.value is None or self.failure:
                return
            self.answered |= set(self.seen)
            if not self._open or turn == self.turns:
                return
            requests = await asyncio.to_thread(self._look_up, answer.value)

    @property
    def _open(self) -> dict[int, _Sought]:
        return {n: claim for n, claim in self.claims.items() if not claim.done}

    def _show(self, requests: Sequence[_Request]) -> list[Line]:
        """The lines that this turn shows and none did before: the best passage of each request, then the second."""
        room = min(self.room, max(self.room // 2, LEAST_SHOWN))
        before = set(self.seen)
        for ranked in zip_longest(*(request.passages for request in requests), fillvalue=()):
            for request, passage in zip(requests, ranked, strict=True):
                unseen = {line.number: line for line in passage if line.number not in self.seen}
                size = sum(len(block) + len(BETWEEN) for block in line_blocks(unseen.values()))
                if size > room:
                    continue
                room -= size
                self.room -= size
                self.seen |= unseen
                request.shown.update(line.number for line in passage)
        for claim in self.claims.values():
            claim.asked |= dict.fromkeys(claim.found)
            claim.found, claim.postponed = {}, {}
        for claim, name, passages, finds, shown in requests:
            if shown or not any(passages):
                claim.found[name] = ranges(shown) or "nothing"
                if finds:
                    claim.queries[name] = None
            elif name != HITS:
                # What there was no room to show may be asked for again.
                claim.postponed[name] = None
        return [self.seen[number] for number in sorted(set(self.seen) - before)]

    def _prompt(self, turn: int, new: Sequence[Line]) -> Prompt:
        known = self.seen | {line.number: line for line in self.outline}
        last = " (the last)" if turn == self.turns else ""
        claims = [f"Turn {turn} of {self.turns}{last}"]
        contexts = context_rows((one.claim for one in self._open.values()), self.case)
        for (n, claim), context in zip(self._open.items(), contexts, strict=True):
            claims += [*context, *_describe(n, claim, known)]
        return render(
            "search",
            language_of(self.case),
            outline="\n".join(map(numbered_line, self.outline)),
            claims="\n".join(claims),
            passages=BETWEEN.join(line_blocks(new)),
        )

    def _take_notes(self, answer: SearchTurn | None) -> Failure | None:
        """Take down what the searcher says of claims. An answer that says and asks nothing is `unparsed`."""
        if answer is None:
            return None
        known = {line.number: line for line in self.outline} | self.seen
        entries = [found for text in answer.claims if (found := self._about(_ENTRY, text))]
        for claim, entry in entries:
            proven, _ = check_citations(entry[3], known)
            claim.named |= dict.fromkeys(proven)
            claim.done = claim.done or entry[2].lower() == "done"
            words = [part for part in split_citations(entry[3]) if not read_citation(part)]
            claim.missing = on_one_line("; ".join(words))[:LONGEST_NOTE]
        asks = any(self._about(_REQUEST, text) for text in (*answer.find, *answer.read))
        return None if entries or asks else "unparsed"

    def _look_up(self, answer: SearchTurn) -> list[_Request]:
        """Answer from the library the requests about open claims that were not made before, so many for each."""
        requests: dict[tuple[str, str], _Request] = {}
        made = Counter[tuple[str, bool]]()
        for n, text in enumerate((*answer.find, *answer.read)):
            finds, about = n < len(answer.find), self._about(_REQUEST, text)
            if about is None:
                continue
            claim, words = about[0], about[1][2]
            made[claim.claim.id, finds] += 1
            if claim.done or made[claim.claim.id, finds] > (MOST_QUERIES if finds else MOST_READS):
                continue
            place = None if finds else _PLACE.fullmatch(words)
            name = f"read {int(place[1])}" if place else on_one_line(words)[:LONGEST_QUERY]
            asked = claim.queries if finds else claim.asked | claim.found
            if name in asked or (claim.claim.id, name) in requests or not (finds or place):
                continue
            passages = [self.library.read(int(place[1]))] if place else self.library.find(name)
            requests[claim.claim.id, name] = _Request(claim, name, passages, finds, set())
        return list(requests.values())

    def _about(self, form: re.Pattern[str], text: str) -> tuple[_Sought, re.Match[str]] | None:
        """The claim that a text of this form names by its number, and the parts of the text."""
        match = form.fullmatch(text)
        claim = self.claims.get(int(match[1])) if match else None
        return (claim, match) if claim and match else None


def _describe(n: int, claim: _Sought, seen: Mapping[int, Line]) -> Iterator[str]:
    """A claim and what is known of it, as lines of the prompt."""
    yield f"C{n}| {on_one_line(claim.claim.text)}"
    if claim.named:
        openings = (f"{number} {on_one_line(seen[number].span.text)[:40]}" for number in claim.named)
        yield f"- noted: {'; '.join(openings)}"
    if claim.missing:
        yield f"- missing: {claim.missing}"
    if asked := [name[:LONGEST_NOTE] for name in claim.asked if name != HITS]:
        yield f"- asked: {' / '.join(asked)}"
    if claim.found:
        yield f"- found: {' / '.join(f'{name[:LONGEST_NOTE]}: {where}' for name, where in claim.found.items())}"
    if claim.postponed:
        yield f"- no room: {' / '.join(name[:LONGEST_NOTE] for name in claim.postponed)}"
