"""The questions about claims, whose evidence only grows; search and scan, the nodes that look beyond aligned places.

Knows: search and scan are once for all open claims of a case; what was shown stays where it stood, and what is new
comes behind it; which claims one question asks about; a searcher sees the sources of this case and nothing else; what
a claim's own words find is shown to the judges too, so that no searcher can hide it; a scan that the budget can't pay
is not begun.
Does not know: how a searcher asks or a reader notes (agent), or which claims need it (policy).
"""

import asyncio
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import chain

from longproof.agent.evidence.scan import Noted, can_pay_scan, scan
from longproof.agent.evidence.search import Searched, search
from longproof.agent.types import Claim, Failure, Judgement, Lines, Look, Question, SourcePlace
from longproof.graphs.evidence.places import CLAIMS
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.run import Run
from longproof.graphs.state import ClaimState, State, latest
from longproof.retrieval.ranking import terms
from longproof.retrieval.types import Line, Span

FOUND, TOGETHER = 8000, 12_000
"""Characters of what was found that one question shows, for one claim and for several."""
NOTED = 16_000
"""Characters of what a reader of everything noted for a claim that are shown: as much as of a source shown whole."""
PART, WHOLE, SCANNED, OPEN = "judge", "judge_whole", "judge_scanned", "judge_open"
"""The prompts that judges answer: they say that parts of the source are shown, or all of it, or what bears on the
claims after all was read; or there is none."""
OWN_PLACES = 3
"""Passages that a claim's own words find, shown always."""
HITS_ALONE = 6
"""The same where there is no model to search."""


def widen(
    claims: Sequence[ClaimState], sources: Sources, lines: Iterable[int], look: Look
) -> Question | None:
    """The question about these claims, all asked about in the same one before or in none, with more lines shown; None
    where neither these nor the prompt are new."""
    last = claims[0].asked[-1] if claims[0].asked else None
    shown = claims[0].lines_in_view
    new = tuple(sorted(set(lines) - shown))
    scanned = all("scan" in one.looks and one.unread is None for one in claims)
    whole = len(shown) + len(new) == sources.number_of_lines
    prompt = WHOLE if whole else SCANNED if scanned else PART
    if last and not new and last.prompt == prompt:
        return None
    before, pages = (last.lines, last.pages) if last else ((), ())
    ids, grown = [one.claim.id for one in claims], (*before, new) if new else before
    return make_question(ids, sources, "source" if whole else look, grown, pages, prompt)


def cited_lines(claim: ClaimState, votes: Iterable[Judgement], sources: Sources) -> set[int]:
    """The numbers of the lines that these votes on a claim cite."""
    quotes: set[Span] = set()
    for vote in votes:
        quotes.update(vote.quotes)
    return {number for number in claim.lines_shown() if sources.line(number).span in quotes}


def with_snippets(claim: ClaimState, sources: Sources, snippets: Iterable[Span]) -> Question:
    """The question about one claim, with snippets of saved pages behind the evidence of its last one."""
    last = claim.asked[-1] if claim.asked else None
    places = [SourcePlace(source_id=s.source_id, start=s.start, end=s.end) for s in snippets]
    pages = (*(last.pages if last else ()), *places)
    lines, prompt = (last.lines, last.prompt) if last else ((), OPEN)
    return make_question([claim.claim.id], sources, "pages", lines, pages, prompt)


def make_question(
    claim_ids: Sequence[str],
    sources: Sources,
    look: Look,
    lines: tuple[Lines, ...] = (),
    pages: tuple[SourcePlace, ...] = (),
    prompt: str = PART,
) -> Question:
    """A question without texts, named by all that it shows and asks."""
    places: list[str] = []
    for added in lines:
        for number, start, end in sources.places_of(added):
            places.append(f"{sources.documents[number].id}:{start}-{end}")
    places += [f"{page.source_id}:{page.start}-{page.end}" for page in pages]
    # The "0" is part of the names that kept reports have.
    key = "|".join([prompt, look, "0", *claim_ids, *places])
    id_ = "q-" + sha256(key.encode()).hexdigest()[:12]
    return Question(id=id_, claim_ids=tuple(claim_ids), look=look, prompt=prompt, lines=lines, pages=pages)


def group_claims(claims: Iterable[ClaimState], sources: Sources) -> list[list[ClaimState]]:
    """Claims that one question asks about: those that share their last one and whose windows touch; of those never
    asked about yet, as many as find room for what was found for them."""
    by_last: dict[str, list[list[ClaimState]]] = {}
    for one in claims:
        groups = by_last.setdefault(one.last_asked, [])
        if groups and len(groups[-1]) < CLAIMS and _fits(groups[-1], one, sources):
            groups[-1].append(one)
        else:
            groups.append([one])
    return list(chain.from_iterable(by_last.values()))


def _fits(group: Sequence[ClaimState], one: ClaimState, sources: Sources) -> bool:
    """True if one more claim leaves a question's evidence short enough, or shares the windows of the group."""
    if one.found:
        return sum(sources.characters_of(other.found) for other in (*group, one)) <= TOGETHER
    if one.place and not one.asked:
        places = {other.place for other in (*group, one)}
        return sum(map(sources.characters_of, places)) <= TOGETHER
    last = group[-1].around
    return last == one.around or not set(last).isdisjoint(one.around)


async def search_sources(state: State, run: Run) -> State:
    """Have a searcher look through all of the sources for what the claims' places lack."""
    due = run.due(latest(state), "search")
    claims, searcher = [one.claim for one in due], run.panel.searcher
    hits = await asyncio.to_thread(own_hits, claims, run.sources, OWN_PLACES if searcher else HITS_ALONE)
    run.say({"node": "search", "claims": len(due)})
    searched = Searched({}, {}, {}, {}, [])
    if searcher is not None:
        searched = await search(searcher, claims, hits, run.sources, run.case)
    checked: list[ClaimState] = []
    for one in due:
        id_, shown = one.claim.id, one.lines_in_view
        named = dict.fromkeys([*(line.number for line in hits[id_]), *searched.lines.get(id_, ())])
        found = _fitting(FOUND, (number for number in named if number not in shown), run.sources)
        if not found and not one.asked:
            found = one.place  # nothing at all is shown yet
        failure, seen = searched.failures.get(id_), searched.seen.get(id_, ())
        after = one.with_look("search").model_copy(update={"found": found, "unread": failure})
        if not failure or seen:
            share = run.sources.share(one.lines_shown(read=True).union(seen))
            after = after.with_answer("search", share, searched.queries.get(id_, ()))
        checked.append(after)
    return {"checked": checked, "calls": searched.calls}


async def scan_sources(state: State, run: Run) -> State:
    """Read all of the sources, for claims found nowhere; first show them their own place, where it never was."""
    due = run.due(latest(state), "scan")
    at_places: list[ClaimState] = []
    for one in due:
        # A search may have come first.
        unseen = tuple(sorted(set(one.place) - one.lines_shown()))
        if unseen:
            at_places.append(one.model_copy(update={"found": unseen}))
    if at_places:
        return {"checked": at_places}
    pieces = run.sources.pieces()
    run.say({"node": "scan", "claims": len(due), "pieces": len(pieces)})
    claims = [one.claim for one in due]
    searcher, scanner = run.panel.searcher, run.panel.scanner
    if searcher is None:
        assert scanner is not None, "the plan knows whether anybody reads all"
        noted = await scanner.scan(claims, pieces, run.case)
    elif await can_pay_scan(searcher, claims, pieces, run.case):
        noted = await scan(searcher, claims, pieces, run.case)
    else:
        unread: dict[str, Failure] = {claim.id: "not_found_so_far" for claim in claims}
        noted = Noted({}, unread, [], frozenset())
    return {"checked": [_with_notes(one, noted, run.sources) for one in due], "calls": noted.calls}


def own_hits(claims: Sequence[Claim], sources: Sources, passages: int) -> dict[str, list[Line]]:
    """The lines that the claims' own words find, by claim id."""
    return {claim.id: sources.hits(claim.text, passages) for claim in claims}


def _with_notes(claim: ClaimState, noted: Noted, sources: Sources) -> ClaimState:
    """The claim with the lines that were noted for it and aren't shown now: where they are too many, with those that
    share most with its words, and not as read through, since the judges don't see the others."""
    id_ = claim.claim.id
    new = set(noted.lines.get(id_, ())) - claim.lines_in_view
    words = set(terms(claim.claim.text))
    by_words = sorted(new, key=lambda n: -len(words & set(terms(sources.line(n).span.text))))
    kept = _fitting(NOTED, by_words, sources)
    unread = noted.failures.get(id_) or ("not_found_so_far" if len(kept) < len(new) else None)
    after = claim.with_look("scan").model_copy(update={"found": kept, "unread": unread})
    # A reading that was begun is told even if it was not finished.
    return after.with_answer("scan", 0.0) if id_ in noted.read else after


def _fitting(room: int, numbers: Iterable[int], sources: Sources) -> Lines:
    """As many of these lines, the first first, as find room."""
    kept: list[int] = []
    for number in numbers:
        room -= len(sources.line(number).span.text)
        if room < 0 and kept:
            break
        kept.append(number)
    return tuple(sorted(kept))
