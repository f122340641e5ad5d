"""The nodes that look beyond the aligned places: search and scan, once for all open claims of a case.

Knows: a searcher sees the sources of this case and nothing else; what a claim's own words find is shown to the judges
too, so that no searcher can hide it; a scan that the budget can't pay is not begun.
Does not know: how a searcher asks or a reader notes (agent), or which claims need it (policy).
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from langgraph.runtime import Runtime

from longproof.agent.evidence.scan import MOST_CLAIMS, Noted, Scanner, scan
from longproof.agent.evidence.search import Searched, search
from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import Case, Claim, SourcePlace
from longproof.graphs.evidence.questions import NOTED, TOGETHER
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.policy import Policy, next_step
from longproof.graphs.resources import Pool, Resources
from longproof.graphs.settings import Settings, settings_of
from longproof.graphs.state import ClaimState, State, latest
from longproof.retrieval.lexical import terms
from longproof.retrieval.types import Line

HITS = 2
"""Passages that a claim's own words find, shown always."""
HITS_ALONE = 6
"""The same where there is no model to search."""


class SearchNodes:
    """The two nodes over one pool of resources; `policy` says which claims they are for."""

    def __init__(self, pool: Pool, policy: Policy = next_step) -> None:
        self._pool, self._policy = pool, policy

    async def search(self, state: State, runtime: Runtime[Settings]) -> State:
        """A searcher looks through all of the sources for what their places lack."""
        resources, sources, case = await self._opened(state, runtime)
        due = self._due(state, "search", resources)
        claims = [one.claim for one in due]
        hits = await asyncio.to_thread(
            _hits, claims, sources, HITS if resources.panel.searcher else HITS_ALONE
        )
        runtime.stream_writer({"node": "search", "claims": len(due)})
        found = await _searched(claims, hits, sources, case, resources)
        return {"checked": [_with_search(one, hits, found, sources) for one in due], "calls": found.calls}

    async def scan(self, state: State, runtime: Runtime[Settings]) -> State:
        """All of the sources is read, for claims found nowhere; first their own place, where it was never shown."""
        resources, sources, case = await self._opened(state, runtime)
        due = self._due(state, "scan", resources)
        if placed := [at for one in due if (at := _at_its_place(one, sources)).found]:
            return {"checked": placed}
        pieces = sources.pieces()
        runtime.stream_writer({"node": "scan", "claims": len(due), "pieces": len(pieces)})
        if not _affordable(pieces, len(due), resources):
            unread = {"unread": "not_found_so_far"}
            return {"checked": [one.looked("scan").model_copy(update=unread) for one in due]}
        noted = await _read_through([one.claim for one in due], pieces, case, resources)
        return {"checked": [_with_notes(one, noted, sources) for one in due], "calls": noted.calls}

    async def _opened(self, state: State, runtime: Runtime[Settings]) -> tuple[Resources, Sources, Case]:
        resources = await self._pool.get(settings_of(runtime.context))
        sources = await resources.sources(state["sources"])
        return resources, sources, await state["case"].opened(resources.store)

    def _due(self, state: State, do: str, resources: Resources) -> list[ClaimState]:
        plan = resources.plan(state["case"])
        return [one for one in latest(state) if self._policy(one, plan).do == do]


async def _searched(
    claims: Sequence[Claim],
    hits: Mapping[str, Sequence[Line]],
    sources: Sources,
    case: Case,
    resources: Resources,
) -> Searched:
    if resources.panel.searcher is None:
        return Searched({}, {}, (), None, [])
    return await search(resources.panel.searcher, claims, hits, sources, case)


def _hits(claims: Sequence[Claim], sources: Sources, passages: int) -> dict[str, list[Line]]:
    """What the claims' own words find, by claim id."""
    return {claim.id: sources.hits(claim.text, passages) for claim in claims}


def _with_search(
    claim: ClaimState, hits: Mapping[str, Sequence[Line]], found: Searched, sources: Sources
) -> ClaimState:
    """The claim with what was found for it and not shown yet; its first place where that is nothing at all."""
    id_ = claim.claim.id
    shown = _shown(claim, sources)
    named = dict.fromkeys([*(line.number for line in hits[id_]), *found.lines.get(id_, ())])
    places = _named(_within(TOGETHER, (n for n in named if n not in shown), sources), sources)
    seen = shown | set(named) | set(found.shown)
    return claim.looked("search").model_copy(
        update={
            "found": places or (() if claim.asked else claim.pieces),
            "queries": found.queries.get(id_, ()),
            "share": sources.share(seen),
        }
    )


def _at_its_place(claim: ClaimState, sources: Sources) -> ClaimState:
    """The claim with what it was not shown of the place that it was aligned to: a search may have come first."""
    new = _named(set(sources.numbers(claim.pieces)) - _shown(claim, sources), sources)
    return claim.model_copy(update={"found": new})


async def _read_through(
    claims: Sequence[Claim], pieces: Sequence[Sequence[Line]], case: Case, resources: Resources
) -> Noted:
    """What a reader of everything noted: the searcher's model, else a judge that scores passages."""
    if resources.panel.searcher is not None:
        return await scan(resources.panel.searcher, claims, pieces, case)
    scanner = next(judge for judge in resources.panel.judges if isinstance(judge, Scanner))
    return await scanner.scan(claims, pieces, case)


def _with_notes(claim: ClaimState, noted: Noted, sources: Sources) -> ClaimState:
    """The claim with the lines that were noted for it and not shown yet: where they are too many, with those that
    share most with its words, and not as read through, since the judges don't see the others."""
    id_ = claim.claim.id
    new = set(noted.lines.get(id_, ())) - _shown(claim, sources)
    words = set(terms(claim.claim.text))
    fitting = sorted(new, key=lambda n: -len(words & set(terms(sources.line(n).span.text))))
    kept = _within(NOTED, fitting, sources)
    unread = noted.failures.get(id_) or ("not_found_so_far" if kept < new else None)
    return claim.looked("scan").model_copy(update={"found": _named(kept, sources), "unread": unread})


def _shown(claim: ClaimState, sources: Sources) -> set[int]:
    """The lines that the judges saw."""
    return set(sources.numbers(place for ref in claim.asked for place in ref.places))


def _within(room: int, numbers: Iterable[int], sources: Sources) -> set[int]:
    """As many of these lines, the first first, as find room."""
    kept = set[int]()
    for number in numbers:
        room -= len(sources.line(number).span.text)
        if room < 0 and kept:
            break
        kept.add(number)
    return kept


def _named(numbers: set[int], sources: Sources) -> tuple[SourcePlace, ...]:
    return tuple(map(sources.named, sources.places_of(numbers)))


def _affordable(pieces: Sequence[Sequence[Line]], claims: int, resources: Resources) -> bool:
    """Whether the budget holds a prompt for every piece and every fifty claims; who scores passages is not paid."""
    if resources.panel.searcher is None:
        return True
    budget, prompts = resources.budget, -(-claims // MOST_CLAIMS)
    if budget.max_calls is not None and budget.calls + len(pieces) * prompts > budget.max_calls:
        return False
    if budget.max_tokens is None:
        return True
    tokens = sum(estimate_tokens(line.span.text) for piece in pieces for line in piece)
    return budget.tokens + tokens * prompts <= budget.max_tokens
