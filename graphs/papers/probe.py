"""PROBE (Zhang et al., 2026): claims, evidence searched by every model, a vote on each piece; and the direct prompt.

Knows: that all models look for evidence of a claim in the whole source, that the union of what they find is voted on
piece by piece with 300 characters around it, that one accepted piece supports a claim and a claim without any is
hallucinated (section 3.3); and the baseline of a single prompt (section 4.1).
"""

import asyncio
from collections.abc import Sequence
from itertools import chain

from pydantic import Field

from longproof.agent.guards import Weighed, find_quote
from longproof.agent.models.answers import Form
from longproof.agent.types import Call, Case, Claim, Decision, Judgement, Label, Search, SourcePlace
from longproof.agent.vote import most_common
from longproof.graphs.papers import works
from longproof.graphs.papers.paper import (
    About,
    Paper,
    PaperJudge,
    PaperRun,
    PaperState,
    Unit,
    choose,
    mark_pieces,
    prompt_about,
    question_about,
)
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document, Span

AROUND = 300
"""Characters on either side of a piece, shown only to understand it by."""
VERDICTS: dict[str, Label] = {"pass": "explicitly_supported", "fail": "fabricated"}
ROUNDING = 1e-9


class Segments(Form):
    """One model's evidence for a claim (listing 16)."""

    thinking: str = ""
    segments: list[str]


class PassFail(Form):
    """One model's vote on a piece of evidence: does it alone support the claim? (Listing 17.)"""

    reasoning: str = ""
    verdict: str = Field(json_schema_extra={"enum": list(VERDICTS)})


class MadeUp(Form):
    """The list that one prompt alone makes of what is made up (section 4.1)."""

    hallucinated: list[str]


def read_verdict(answer: PassFail, about: About) -> Weighed:
    """Pass or fail; a piece that passes is the evidence."""
    read_word = choose(VERDICTS, answer.verdict, answer.reasoning)
    passed = read_word.label == VERDICTS["pass"]
    return read_word._replace(quotes=about.shown[:1]) if passed else read_word


def read_list(answer: MadeUp, about: About) -> Weighed:
    """Read what is listed as made up, perhaps all of the response."""
    return mark_pieces(answer.hallucinated, about.claim.origin, "", whole=True, failure="unparsed")


async def decompose(state: PaperState, run: PaperRun) -> PaperState:
    """Take the response apart into claims, by one model."""
    case = state["case"]
    response = Document.of(case.response)
    spans = [response.span(start, end) for start, end in sentences(case.response)]
    made = await run.session.panel.decomposer.decompose(case, spans)
    run.tell({"node": "decompose", "claims": len(spans), "parts": len(made.claims)})
    units = [Unit(claim=claim) for claim in made.claims]
    return {"units": units, "calls": made.calls}


async def find(state: PaperState, run: PaperRun) -> PaperState:
    """Let every model look for evidence of every claim, and ask about each piece that any of them finds."""
    finders, _ = run.judges()
    store, case, units = run.session.store, state["case"], state["units"]
    documents = await asyncio.to_thread(lambda: [store.open(ref) for ref in state["sources"]])
    source = [document.span(0, len(document.text)) for document in documents]
    order = [document.id for document in documents]
    looking = []
    for unit in units:
        looking += [_search(finder, unit.claim, source, case) for finder in finders]
    found = await asyncio.gather(*looking)
    asking, calls = list[Unit](), list[Call]()
    for n, unit in enumerate(units):
        union, searches = set[Span](), list[Search]()
        for search, made in found[n * len(finders) : (n + 1) * len(finders)]:
            searches.append(search)
            union.update(search.found or ())
            calls += made
        unit = unit.model_copy(update={"searches": tuple(searches)})
        for piece in sorted(union, key=lambda piece: (order.index(piece.source_id), piece.start, piece.end)):
            places = places_around(piece, documents[order.index(piece.source_id)])
            unit = unit.with_question(question_about(run.paper, [unit.claim], places, "source"))
        asking.append(unit)
    return {"units": asking, "calls": calls}


async def _search(
    finder: PaperJudge, claim: Claim, source: Sequence[Span], case: Case
) -> tuple[Search, tuple[Call, ...]]:
    """Ask one model for evidence: pieces in order, or why there are none; `ungrounded`: only what isn't there."""
    answer = await finder.asker.ask(prompt_about(("find",), source, {1: claim}, case), Segments, "find")
    named = [piece for piece in answer.value.segments if piece.strip()] if answer.value else []
    pieces = dict.fromkeys(filter(None, (find_quote(piece, source) for piece in named)))
    failure = answer.failure or ("ungrounded" if named and not pieces else None)
    await finder.asker.mark(answer.call_id, failure)
    found = None if failure else tuple(sorted(pieces, key=lambda piece: (piece.source_id, piece.start)))
    return Search(claim_id=claim.id, judge=finder.name, found=found, failure=failure), answer.calls


def places_around(piece: Span, document: Document) -> list[SourcePlace]:
    """The place of a piece, then those before and after it."""
    before = (max(0, piece.start - AROUND), piece.start)
    after = (piece.end, min(len(document.text), piece.end + AROUND))
    places = []
    for start, end in ((piece.start, piece.end), before, after):
        if start < end:
            places.append(SourcePlace(source_id=document.id, start=start, end=end))
    return places


def by_pieces(unit: Unit, case: Case, consensus: float) -> Decision:
    """A claim with an accepted piece is supported; one that has none, or none that isn't refused, is hallucinated.

    A piece that would be accepted if those who failed had passed it is neither: then nobody decides, nor where too
    many searches failed.
    """
    if not unit.asked:
        if _reaches(consensus, sum(search.found is not None for search in unit.searches), unit.searches):
            return Decision(label=VERDICTS["fail"], decided_by="rule")
        return Decision(failure=most_common(search.failure for search in unit.searches))
    accepted: list[Judgement] = []
    unsure = False
    for piece in unit.asked:
        said = [judgement for judgement in unit.judgements if judgement.question_id == piece.id]
        labels = [judgement.label for judgement in said]
        passed, failed = labels.count(VERDICTS["pass"]), labels.count(None)
        if _reaches(consensus, passed, said):
            accepted += said
        elif _reaches(consensus, passed + failed, said):
            unsure = True
    if accepted:
        quotes = dict.fromkeys(chain.from_iterable(judgement.quotes for judgement in accepted))
        return Decision(label=VERDICTS["pass"], decided_by="vote", evidence=tuple(quotes))
    if unsure:
        return Decision()
    return Decision(label=VERDICTS["fail"], decided_by="vote")


def _reaches(consensus: float, count: int, panel: Sequence[object]) -> bool:
    """True if so many are this share of the panel; a failure is no vote, but counts in it."""
    return count / len(panel) + ROUNDING >= consensus


PROBE = Paper(
    name="probe",
    summary="Claims; every model finds evidence in the whole source; every model votes on each piece.",
    work=works.PROBE,
    cites="section 3.3",
    steps=(decompose, find),
    prompt=("evaluate",),
    form=PassFail,
    read=read_verdict,
    decide=by_pieces,
    unit="claim",
    consensus=0.75,
)
DIRECT = Paper(
    name="probe-direct",
    summary="One prompt lists what in the response is hallucinated.",
    work=works.PROBE,
    cites="section 4.1",
    prompt=("probe_direct",),
    form=MadeUp,
    read=read_list,
)
PAPERS = (PROBE, DIRECT)
