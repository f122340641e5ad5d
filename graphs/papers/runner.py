"""The runner of the papers' methods: cut into units, show, ask, vote, arbitrate, report; a small graph a paper.

Knows: what every method has in common, and how its steps, a paper's own among them, become a graph.
Does not know: what any paper asks, or what its answers mean.
"""

import asyncio
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import Any, Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from longproof.agent.report import distinct, report, reported_claim
from longproof.agent.types import Claim, Judgement, Looked, ReportClaim, Sentence, SourcePlace
from longproof.agent.vote import final_label
from longproof.graphs.papers.asking import ask_arbiter, ask_panel, open_question, question_about
from longproof.graphs.papers.paper import Decision, Paper, PaperState, Run, Step, Unit
from longproof.graphs.papers.votes import by_vote
from longproof.graphs.protocol import Need, unmet
from longproof.graphs.reading import NO_SOURCE, StoredTexts, store_texts
from longproof.graphs.reporting import report_documents, stamp_of
from longproof.graphs.run import Pool
from longproof.graphs.settings import Settings, settings_of
from longproof.graphs.state import VerifyInput, VerifyOutput
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.text.chunking import segments
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput, Document, Span

PaperGraph = CompiledStateGraph[Any, Settings, VerifyInput, VerifyOutput]
SEGMENT = 150
"""Characters of a segment (LongNovel, seed 004, Appendix D)."""


async def read(given: VerifyInput, run: Run) -> PaperState:
    """Keep the texts. Raises BadInput for what this paper can't check."""
    texts = await asyncio.to_thread(store_texts, given, run.session.store)
    _refuse(run.paper, texts)
    return {"started": time.time(), "case": texts.case, "sources": texts.sources}


async def cut(state: PaperState, run: Run) -> PaperState:
    """Cut the response into units; each is about the sentence in which it starts. Nobody is asked."""
    response = Document.of(state["case"].response)
    spans = [response.span(start, end) for start, end in sentences(response.text)]
    ends = [span.end for span in spans]
    claims = [
        Claim(id=f"c{n}", index=n, sentence=bisect_right(ends, unit.start), text=unit.text, origin=unit)
        for n, unit in enumerate(_parts(run.paper, response, spans))
    ]
    run.tell({"node": "decompose", "claims": len(claims)})
    return {
        "sentences": [Sentence(index=n, span=span) for n, span in enumerate(spans)],
        "units": [Unit(claim=claim) for claim in claims],
    }


async def show(state: PaperState, run: Run) -> PaperState:
    """Put a question about each unit, or one about all, that shows all of the source or nothing."""
    shows = run.paper.shows == "source"
    places = [whole(ref) for ref in state["sources"]] if shows else []
    look = run.paper.shows
    units = state["units"]
    claims = [unit.claim for unit in units]
    if run.paper.together:
        asked = [question_about(run.paper, claims, places, look)] * len(units)
    else:
        asked = [question_about(run.paper, [claim], places, look) for claim in claims]
    shown = [
        unit.model_copy(update={"asked": (question,)}) for unit, question in zip(units, asked, strict=True)
    ]
    return {"units": shown}


async def ask(state: PaperState, run: Run) -> PaperState:
    """Put every question about what is not decided yet to every judge of the panel."""
    due = [unit for unit in state["units"] if unit.decision is None]
    questions = dict.fromkeys(question for unit in due for question in unit.asked)
    opened = [await open_question(question, run.paper, run.session.store) for question in questions]
    claims = {unit.claim.id: unit.claim for unit in due}
    answers = await ask_panel(run.paper, run.session.panel.judges, opened, claims, state["case"])
    said: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in chain.from_iterable(answer.judgements for answer in answers):
        said[judgement.claim_id].append(judgement)
    units = [unit.model_copy(update={"judgements": tuple(said[unit.claim.id])}) for unit in state["units"]]
    return {"units": units, "calls": list(chain.from_iterable(answer.calls for answer in answers))}


async def vote(state: PaperState, run: Run) -> PaperState:
    """Decide each unit by what the panel said."""
    units = []
    for unit in state["units"]:
        decide = run.paper.decide or by_vote
        decision = unit.decision or decide(unit, run.paper, state["case"], run.consensus)
        units.append(unit.model_copy(update={"decision": decision}))
    run.tell({"node": "checked", "claims": len(units)})
    return {"units": units}


async def arbitrate(state: PaperState, run: Run) -> PaperState:
    """Let one more judge decide where the panel is split; without one it stays split."""
    arbiter = run.session.panel.arbiter
    if arbiter is None:
        return {}
    paper, case = run.paper, state["case"]
    disputes: dict[str, list[Unit]] = defaultdict(list)
    for unit in filter(_is_split, state["units"]):
        disputes[unit.asked[-1].id].append(unit)
    answers = []
    for held in disputes.values():
        asked = held[0].asked[-1].model_copy(update={"claim_ids": tuple(unit.claim.id for unit in held)})
        question = await open_question(asked, paper, run.session.store)
        said = [judgement for unit in held for judgement in unit.votes(asked.id)]
        answers.append(ask_arbiter(paper, arbiter, question, [unit.claim for unit in held], said, case))
    answered = await asyncio.gather(*answers)
    rulings = {judgement.claim_id: judgement for answer in answered for judgement in answer.judgements}
    units = []
    for unit in state["units"]:
        if ruling := rulings.get(unit.claim.id):
            decision = Decision(failure=ruling.failure)
            if ruling.label is not None:
                decision = Decision(label=final_label(ruling.label), decided_by="arbiter")
            unit = unit.model_copy(update={"ruling": ruling, "decision": decision})
        units.append(unit)
    return {"units": units, "calls": list(chain.from_iterable(answer.calls for answer in answered))}


async def write_report(state: PaperState, run: Run) -> PaperState:
    """Make the report of all units, in their order."""
    case, units, calls = state["case"], state["units"], distinct(state.get("calls", []))
    response = Document.of(case.response)
    by_model = run.session.panel.decomposer.name if "decompose" in _names(run.paper) else ""
    made = report(
        case=case,
        documents=report_documents(case, response.id, state["sources"], state.get("pages", [])),
        sentences=state["sentences"],
        claims=[_report_unit(unit, state["sources"]) for unit in units],
        searches=[search for unit in units for search in unit.searches],
        calls=[call.model_copy(update={"bought": True}) for call in calls],
        stamp={
            **stamp_of(run.session, state["started"], by_model or f"whole {run.paper.unit}s", calls),
            "coarse": bool(run.paper.menu),
        },
    )
    return {"report": made}


def paper_graph(paper: Paper, pool: Pool, saver: BaseCheckpointSaver[str] | None = None) -> PaperGraph:
    """The graph of a paper's method over a pool for it."""
    builder = StateGraph(
        PaperState, context_schema=Settings, input_schema=VerifyInput, output_schema=VerifyOutput
    )
    before = START
    for name, step in zip(_names(paper), paper.steps or STEPS, strict=True):
        takes: Any = VerifyInput if step is read else PaperState
        builder.add_node(name, _node(step, paper, pool), input_schema=takes)
        builder.add_edge(before, name)
        before = name
    builder.add_node("arbitrate", _node(arbitrate, paper, pool))
    builder.add_node("report", _node(write_report, paper, pool))
    builder.add_conditional_edges(before, _after_vote, ["arbitrate", "report"])
    builder.add_edge("arbitrate", "report")
    builder.add_edge("report", END)
    return builder.compile(name="verify", checkpointer=saver)


def whole(ref: DocumentRef) -> SourcePlace:
    """All of a source."""
    return SourcePlace(source_id=ref.id, start=0, end=ref.characters)


STEPS: tuple[Step, ...] = (read, cut, show, ask, vote)
"""The steps of a method that has none of its own."""


class Node(Protocol):
    """A step as LangGraph calls it."""

    async def __call__(self, state: PaperState, runtime: Runtime[Settings]) -> PaperState:
        """The step's additions to the state."""


def _node(step: Step, paper: Paper, pool: Pool) -> Node:
    """The node of a step: this is where every step gets its run from."""

    async def node(state: PaperState, runtime: Runtime[Settings]) -> PaperState:
        session = await pool.session(settings_of(runtime.context))
        return await step(state, Run(paper, session, runtime.stream_writer))

    return node


def _names(paper: Paper) -> list[str]:
    return [str(getattr(step, "__name__", step)) for step in paper.steps or STEPS]


def _after_vote(state: PaperState) -> str:
    return "arbitrate" if any(_is_split(unit) for unit in state["units"]) else "report"


def _is_split(unit: Unit) -> bool:
    return unit.decision is not None and unit.decision.failure == "split"


def _parts(paper: Paper, response: Document, spans: Sequence[Span]) -> list[Span]:
    """The units of a response whose sentences these are."""
    if paper.unit == "segment":
        return [response.span(start, end) for start, end in segments(response.text, SEGMENT)]
    if paper.unit == "response":
        return [response.span(spans[0].start, spans[-1].end)] if spans else []
    return list(spans)


def _refuse(paper: Paper, texts: StoredTexts) -> None:
    """Raises BadInput where this can't be checked by this paper."""
    case, sources = texts.case, texts.sources
    if not sources and paper.shows == "source":
        if case.task != "open":
            raise BadInput(NO_SOURCE)
        if "pages" not in paper.needs:
            raise BadInput(f"the protocol {paper.name} holds a response against a source: give one")
    has: list[Need] = []
    has += ["labels"] if case.labels is not None else []
    has += ["reference"] if case.reference is not None else []
    has += ["record"] if sources and all(ref.kind == "record" for ref in sources) else []
    if why := unmet(paper.name, paper.needs, has, among=("labels", "reference", "record")):
        raise BadInput(why)
    count = len(sentences(case.response))
    if case.labels is not None and len(case.labels) != count:
        raise BadInput(
            f"{len(case.labels)} labels are given for {count} sentences: give one for each sentence"
        )


def _report_unit(unit: Unit, sources: Sequence[DocumentRef]) -> ReportClaim:
    """The unit as the report has it."""
    decision = unit.decision
    assert decision is not None, "every unit went through the vote"
    claim = reported_claim(
        unit.claim,
        [*unit.judgements, *([unit.ruling] if unit.ruling else [])],
        label=decision.label,
        decided_by=decision.decided_by,
        question_id=unit.asked[-1].id if unit.asked else "",
        failure=decision.failure,
        window=unit.window,
        looked=_looked(unit, sources),
    )
    return claim if decision.evidence is None else claim.model_copy(update={"evidence": decision.evidence})


def _looked(unit: Unit, sources: Sequence[DocumentRef]) -> Looked:
    """How far was looked for a unit: what was shown counts if a judge answered for it."""
    ids, characters = {ref.id for ref in sources}, sum(ref.characters for ref in sources)
    answered = {judgement.question_id for judgement in unit.judgements if judgement.label is not None}
    asked = [question for question in unit.asked if question.id in answered]
    places = {place for question in asked for place in question.places if place.source_id in ids}
    shown = sum(place.end - place.start for place in places)
    looks = tuple(dict.fromkeys(question.look for question in asked))
    return Looked(rounds=looks, share=min(1.0, round(shown / max(1, characters), 4)))
