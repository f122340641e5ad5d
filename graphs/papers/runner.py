"""The runner of the papers' methods: cut into units, show, ask, vote, arbitrate, report; a small graph a paper.

Knows: what every method has in common, and how its steps, a paper's own among them, become a graph.
Does not know: what any paper asks, or what its answers mean.
"""

import asyncio
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from longproof.agent.report import distinct, report, reported_claim
from longproof.agent.types import (
    Call,
    Case,
    Claim,
    Decision,
    Judgement,
    Look,
    Looked,
    Question,
    ReportClaim,
    SourcePlace,
)
from longproof.agent.vote import final_label, most_common
from longproof.graphs.panel import ask_panel
from longproof.graphs.papers.paper import (
    Paper,
    PaperJudge,
    PaperRun,
    PaperState,
    Step,
    Unit,
    count_votes,
    question_about,
)
from longproof.graphs.reporting import report_documents, stamp_of
from longproof.graphs.run import Pool
from longproof.graphs.settings import Need, Settings, settings_of, unmet
from longproof.graphs.state import VerifyInput, VerifyOutput
from longproof.graphs.verify import NO_SOURCE, VerifyGraph, store_texts
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.loaders import record
from longproof.retrieval.text.chunking import segments
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput, Document


async def read(form: VerifyInput, run: PaperRun) -> PaperState:
    """Keep the texts. Raises BadInput for what this paper can't check."""
    paper, store = run.paper, run.session.store
    if "record" in paper.needs and form.source.strip():
        # Studio's form has room for a text alone.
        stored = await asyncio.to_thread(lambda: store.put(record(form.source)))
        form = form.model_copy(update={"source": "", "sources": [*form.sources, stored]})
    case, sources = await asyncio.to_thread(store_texts, form, store)
    if not sources and paper.shows == "source":
        if case.task != "open":
            raise BadInput(NO_SOURCE)
        if "pages" not in paper.needs:
            raise BadInput(f"the protocol {paper.name} holds a response against a source: give one")
    given: dict[Need, object] = {"labels": case.labels is not None, "reference": case.reference is not None}
    given["record"] = {ref.kind for ref in sources} == {"record"}
    has = [need for need, there in given.items() if there]
    if why := unmet(paper.name, paper.needs, has, among=("labels", "reference", "record")):
        raise BadInput(why)
    count = len(sentences(case.response))
    if case.labels is not None and len(case.labels) != count:
        raise BadInput(
            f"{len(case.labels)} labels are given for {count} sentences: give one for each sentence"
        )
    run.judges()
    return {"started": time.time(), "case": case, "sources": sources}


async def cut(state: PaperState, run: PaperRun) -> PaperState:
    """Cut the response into units; each is about the sentence in which it starts. Nobody is asked."""
    response = Document.of(state["case"].response)
    spans = [response.span(start, end) for start, end in sentences(response.text)]
    parts = spans
    if run.paper.unit == "segment":
        parts = [response.span(start, end) for start, end in segments(response.text)]
    elif run.paper.unit == "response" and spans:
        parts = [response.span(spans[0].start, spans[-1].end)]
    units = []
    for n, part in enumerate(parts):
        sentence = bisect_right(spans, part.start, key=lambda span: span.end)
        units.append(Unit(claim=Claim(id=f"c{n}", index=n, sentence=sentence, text=part.text, origin=part)))
    run.tell({"node": "cut", "claims": len(units)})
    return {"units": units}


async def show(state: PaperState, run: PaperRun) -> PaperState:
    """Put a question about each unit that shows all of the source, or nothing."""
    places = [whole(ref) for ref in state["sources"]] if run.paper.shows == "source" else []
    units = []
    for unit in state["units"]:
        question = question_about(run.paper, [unit.claim], places, run.paper.shows)
        units.append(unit.with_question(question))
    return {"units": units}


async def ask(state: PaperState, run: PaperRun) -> PaperState:
    """Put every question to every judge of the panel."""
    judges, _ = run.judges()
    units, calls = await _put_questions(state["units"], judges, state["case"], run)
    return {"units": units, "calls": calls}


async def vote(state: PaperState, run: PaperRun) -> PaperState:
    """Decide each unit by what the panel said."""
    paper, case = run.paper, state["case"]
    rule = paper.decide or partial(count_votes, coarse=paper.coarse)
    consensus = run.session.settings.consensus or paper.consensus
    units = [unit.model_copy(update={"decision": rule(unit, case, consensus)}) for unit in state["units"]]
    run.tell({"node": "checked", "claims": len(units)})
    return {"units": units}


async def arbitrate(state: PaperState, run: PaperRun) -> PaperState:
    """Let one more judge, who sees what the others said, decide where the panel is split."""
    split = list(filter(_is_split, state["units"]))
    prior = list(chain.from_iterable(unit.judgements for unit in split))
    _, arbiter = run.judges()
    ruled, calls = await _put_questions(split, [arbiter.with_prior(prior)], state["case"], run)
    units = {unit.claim.id: unit for unit in state["units"]}
    for unit in ruled:
        ruling = unit.judgements[-1]
        label = final_label(ruling.label) if ruling.label else None
        decision = Decision(label=label, failure=ruling.failure, decided_by="arbiter")
        units[unit.claim.id] = unit.model_copy(update={"decision": decision})
    return {"units": list(units.values()), "calls": calls}


async def write_report(state: PaperState, run: PaperRun) -> PaperState:
    """Make the report of all units, in their order."""
    case, paper, panel = state["case"], run.paper, run.session.panel
    calls = distinct(state.get("calls", []))
    cutter = panel.decomposer.name if paper.unit == "claim" else f"whole {paper.unit}s"
    stamp = stamp_of(run.session, state["started"], cutter, calls)
    made = report(
        case=case,
        documents=report_documents(case, state["sources"], state.get("pages", [])),
        claims=[_report_unit(unit, state["sources"]) for unit in state["units"]],
        searches=list(chain.from_iterable(unit.searches for unit in state["units"])),
        calls=[call.model_copy(update={"bought": True}) for call in calls],
        stamp={**stamp, "coarse": paper.coarse},
    )
    return {"report": made}


def paper_graph(paper: Paper, pool: Pool, saver: BaseCheckpointSaver[str] | None = None) -> VerifyGraph:
    """The graph of a paper's method over a pool for it."""

    def node(step: Step) -> Any:
        """The step as a node: this is where every step gets its run from."""

        async def run_step(state: PaperState, runtime: Runtime[Settings]) -> PaperState:
            session = await pool.session(settings_of(runtime.context))
            return await step(state, PaperRun(paper, session, runtime.stream_writer))

        return run_step

    def after_vote(state: PaperState) -> str:
        return "arbitrate" if any(map(_is_split, state["units"])) else "report"

    builder = StateGraph(
        PaperState, context_schema=Settings, input_schema=VerifyInput, output_schema=VerifyOutput
    )
    before = START
    for step in (read, *(paper.steps or (cut, show)), ask, vote):
        name = step.__name__
        builder.add_node(name, node(step), input_schema=VerifyInput if step is read else PaperState)
        builder.add_edge(before, name)
        before = name
    builder.add_node("arbitrate", node(arbitrate))
    builder.add_node("report", node(write_report))
    builder.add_conditional_edges(before, after_vote, ["arbitrate", "report"])
    builder.add_edge("arbitrate", "report")
    builder.add_edge("report", END)
    return builder.compile(name="verify", checkpointer=saver)


def whole(ref: DocumentRef) -> SourcePlace:
    """All of a source."""
    return SourcePlace(source_id=ref.id, start=0, end=ref.characters)


def _is_split(unit: Unit) -> bool:
    return unit.decision is not None and unit.decision.failure == "split"


async def _put_questions(
    units: Sequence[Unit], judges: Sequence[PaperJudge], case: Case, run: PaperRun
) -> tuple[list[Unit], list[Call]]:
    """The units with what these judges answer to the questions about them, and the calls made."""
    about: dict[Question, list[str]] = defaultdict(list)
    for unit in units:
        for question in unit.asked:
            about[question].append(unit.claim.id)
    questions: list[Question] = []
    for question, ids in about.items():
        shown = tuple(await run.session.snippets(question))
        # Texts that stand there without places have no numbers.
        questions.append(question.model_copy(update={"claim_ids": tuple(ids), "shown": shown, "pages": ()}))
    answers = await ask_panel(judges, questions, {unit.claim.id: unit.claim for unit in units}, case)
    names = [judge.name for judge in judges]
    said, calls = defaultdict[tuple[str, str], list[Judgement]](list), list[Call]()
    # They come by endpoint; a report has them in the order of the panel.
    for answer in sorted(answers, key=lambda answer: names.index(answer.judgements[0].judge)):
        calls += answer.calls
        for judgement in answer.judgements:
            said[judgement.question_id, judgement.claim_id].append(judgement)
    answered: list[Unit] = []
    for unit in units:
        judgements = list(unit.judgements)
        for question in unit.asked:
            judgements += said[question.id, unit.claim.id]
        answered.append(unit.model_copy(update={"judgements": tuple(judgements)}))
    return answered, calls


def _report_unit(unit: Unit, sources: Sequence[DocumentRef]) -> ReportClaim:
    """The unit as the report has it; what was shown for it counts as looked at if a judge answered for it."""
    decision = unit.decision
    assert decision is not None, "every unit went through the vote"
    answered = {judgement.question_id for judgement in unit.judgements if judgement.label is not None}
    looks: dict[Look, None] = {}
    places: set[SourcePlace] = set()
    for question in unit.asked:
        if question.id in answered:
            looks[question.look] = None
            places.update(question.pages)
    characters = {ref.id: ref.characters for ref in sources}
    shown = sum(place.end - place.start for place in places if place.source_id in characters)
    share = min(1.0, round(shown / max(1, sum(characters.values())), 4))
    failure = decision.failure or most_common(one.failure for one in unit.judgements)
    return reported_claim(
        unit.claim,
        unit.judgements,
        decision.model_copy(update={"failure": failure}),
        unit.asked[-1].id if unit.asked else "",
        window=unit.window,
        looked=Looked(rounds=tuple(looks), share=share),
    )
