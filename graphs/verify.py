"""The graph that checks one response against its sources: its nodes around `check`, and what happens after what.

Knows: read, align, a `Send` for each claim group into check; join; search and scan, once for all claims that are
still open, and check again; confirm, once for all convictions; review, report; which graph runs which protocol (the
papers' files are imported when one of theirs is asked for: the product does without them).
Does not know: how a step does its work, or what happens next to a claim (policy).
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from longproof.agent.offline import OfflineDecomposer
from longproof.agent.report import WRONG
from longproof.agent.types import TASKS, Case
from longproof.graphs import check
from longproof.graphs.confirm import confirm
from longproof.graphs.evidence.places import place_claims, place_copy, same_text
from longproof.graphs.evidence.search import group_claims, make_question, scan_sources, search_sources
from longproof.graphs.policy import may_appeal, next_step
from longproof.graphs.reporting import so_far
from longproof.graphs.review import review
from longproof.graphs.run import Pool, Run
from longproof.graphs.settings import LONGPROOF, Protocol, Settings, settings_of
from longproof.graphs.state import (
    Checked,
    CheckState,
    ClaimState,
    State,
    VerifyInput,
    VerifyOutput,
    latest,
)
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput, Document

VerifyGraph = CompiledStateGraph[Any, Settings, VerifyInput, VerifyOutput]
"""The product's graph, or a paper's, which has a state of its own."""
Saver = BaseCheckpointSaver[str]
Sends = list[Send] | str
MOST_SENTENCES = 20_000
"""Sentences of a response, about those of a long novel. So many took 23 CPU seconds and 0.4 GB without a model."""
NO_SOURCE = "there is no source text: give one, or choose the task `open`"


class Method(NamedTuple):
    """A protocol, and how the graph that runs it is built over a pool of resources for this protocol."""

    protocol: Protocol
    graph: Callable[[Pool, Saver | None], VerifyGraph]


def method(name: str) -> Method:
    """The method of this name. Raises BadInput, naming those that exist."""
    if name == LONGPROOF.name:
        return Method(LONGPROOF, verify_graph)
    from longproof.graphs.papers import PAPERS
    from longproof.graphs.papers.runner import paper_graph

    for paper in PAPERS:
        if paper.name == name:
            return Method(paper, partial(paper_graph, paper))
    raise BadInput(f"there is no protocol {name!r}: choose one of {', '.join(protocols())}")


def protocols() -> dict[str, Protocol]:
    """All protocols by their names, our own first."""
    from longproof.graphs.papers import PAPERS

    return {one.name: one for one in (LONGPROOF, *PAPERS)}


def verify_graph(
    pool: Pool | None = None,
    checkpointer: Saver | None = None,
    example: Callable[[], VerifyInput] | None = None,
) -> VerifyGraph:
    """The whole graph over a pool; by default one of its own.

    `example` is what an empty input stands for; without it, an empty input is refused.
    """
    pool = pool or Pool()
    bind = pool.bind

    async def read(given: VerifyInput, runtime: Runtime[Settings]) -> State:
        """Store the texts, once; of sources the state keeps their ids. Raises BadInput for what can't be checked."""
        if example and not (given.source.strip() or given.response.strip() or given.sources):
            given = await asyncio.to_thread(example)
        session = await pool.session(settings_of(runtime.context))
        case, sources = await asyncio.to_thread(store_texts, given, session.store)
        if not sources and case.task != "open":
            raise BadInput(NO_SOURCE)
        return {"started": time.time(), "case": case, "sources": sources}

    builder = StateGraph(State, context_schema=Settings, input_schema=VerifyInput, output_schema=VerifyOutput)
    builder.add_node("read", cast(Any, read), input_schema=VerifyInput)
    builder.add_node(bind(align))
    builder.add_node("check", bind(check_step(pool)), input_schema=CheckState)
    builder.add_node(bind(join))
    builder.add_node("search", bind(search_sources))
    builder.add_node("scan", bind(scan_sources))
    for node in (confirm, review, report):
        builder.add_node(bind(node))
    builder.add_edge(START, "read")
    builder.add_edge("read", "align")
    builder.add_conditional_edges("align", bind(fan_out), ["check", "join"])
    builder.add_edge("check", "join")
    builder.add_conditional_edges("join", bind(after_join), ["check", "search", "scan", "confirm", "review"])
    builder.add_conditional_edges("search", bind(after_search), ["check", "join"])
    builder.add_conditional_edges("scan", bind(after_search), ["check", "join"])
    builder.add_conditional_edges("confirm", bind(after_confirm), ["check", "join"])
    builder.add_conditional_edges("review", bind(after_review), ["check", "report"])
    builder.add_edge("report", END)
    return builder.compile(name="verify", checkpointer=checkpointer)


def check_graph(pool: Pool) -> CompiledStateGraph[CheckState, Settings, CheckState, Checked]:
    """One claim group: look, ask, count; taken apart, wider, to the arbiter, to saved pages; then the wrong words."""
    bind, route = pool.bind, pool.bind(check.route)
    builder = StateGraph(CheckState, context_schema=Settings, output_schema=Checked)
    for node in (check.decompose, check.gather, check.judge, check.vote, check.arbitrate, check.consult):
        builder.add_node(bind(node))
    builder.add_node("localise", bind(check.localise_errors))
    builder.add_conditional_edges(START, route, [*check.NODES, "localise"])
    builder.add_conditional_edges("decompose", route, ["gather", "judge", "arbitrate", "consult", "localise"])
    builder.add_conditional_edges(
        "gather", route, ["gather", "judge", "decompose", "arbitrate", "consult", "localise"]
    )
    builder.add_edge("judge", "vote")
    builder.add_conditional_edges("vote", route, ["decompose", "gather", "arbitrate", "consult", "localise"])
    builder.add_conditional_edges("arbitrate", route, ["gather", "consult", "localise"])
    builder.add_conditional_edges("consult", route, ["decompose", "judge", "arbitrate", "localise"])
    builder.add_edge("localise", END)
    return builder.compile(name="check")


def check_step(pool: Pool) -> Callable[[CheckState, Run], Awaitable[Checked]]:
    """`check` for one claim group, once one of the run's places is free.

    Without a bound a run takes half as long again, and a budget is spread over so many groups that none is finished.
    """
    graph = check_graph(pool)

    async def check_group(state: CheckState, run: Run) -> Checked:
        async with run.session.groups:
            done = await graph.ainvoke(state)
        # LangGraph copies all writes that wait at each write; most groups have claims and nothing else.
        return cast("Checked", {name: value for name, value in done.items() if value})

    return check_group


def store_texts(given: VerifyInput, store: DocumentStore) -> tuple[Case, list[DocumentRef]]:
    """Keep the texts of an input: its case and its sources. Raises BadInput for what nobody could check."""
    if given.task not in TASKS:
        raise BadInput(f"there is no task {given.task!r}: choose one of {', '.join(TASKS)}")
    if not re.search(r"\w", given.response):
        raise BadInput("the response has no text: give the text that is to be checked")
    response = Document.of(given.response)
    if (count := len(sentences(response.text))) > MOST_SENTENCES:
        raise BadInput(
            f"the response has {count:,} sentences, and at most {MOST_SENTENCES:,} are checked: split it"
        )
    store.put(response)
    added = [store.put(Document.of(given.source))] if given.source.strip() else []
    sources: dict[str, DocumentRef] = {}
    for ref in [*given.sources, *added]:
        sources.setdefault(ref.id, ref)
    about = given.model_dump(include={"task", "context", "reference", "labels", "parts", "notes"})
    case = Case(id=given.case_id, response=response.text, source_ids=tuple(sources), **about)
    return case, list(sources.values())


async def align(state: State, run: Run) -> State:
    """Cut the response into sentences, and put them in their places in the sources and in the groups in which they
    are checked. A set phrase is not checked."""
    response = run.case.response
    text = Document.of(response)
    spans = [text.span(start, end) for start, end in sentences(response)]
    cut = await OfflineDecomposer().decompose(run.case, spans)
    run.say({"node": "align", "claims": len(cut.claims)})
    claims = [ClaimState(claim=claim) for claim in cut.claims]
    if same_text(response, run.sources):
        copied = [place_copy(one, response, run.sources) for one in claims]
        return {"claims": copied, "groups": []}
    whole = run.plan.looks == ("source",)
    placed, groups = await asyncio.to_thread(
        place_claims, claims, response, run.case.parts, run.sources, whole=whole
    )
    return {"claims": placed, "groups": groups}


async def join(state: State, run: Run) -> State:
    """Wait until all claim groups are here again. A sentence that was convicted as a whole and whose parts were all
    cleared goes to the arbiter, in their place, with a question that shows all that any of them was shown."""
    changed: list[ClaimState] = []
    for _, held in groupby(latest(state), key=lambda one: one.claim.sentence):
        sentence, *parts = held
        if not may_appeal(sentence, parts, run.plan):
            continue
        last = max((part.asked[-1] for part in parts), key=lambda question: len(question.pages))
        lines = tuple(sorted(sentence.lines_shown().union(*(part.lines_shown() for part in parts))))
        shown = (last.look, (lines,) if lines else (), last.pages, last.prompt)
        whole = sentence.with_question(make_question([sentence.claim.id], run.sources, *shown))
        changed.append(whole.model_copy(update={"unit": "claim", "appealed": True, "own": lines}))
        changed += [part.model_copy(update={"unit": "superseded"}) for part in parts]
    return {"checked": changed} if changed else {}


async def report(state: State, run: Run) -> State:
    """Report on all claims, in their order."""
    return {"report": so_far(state, run.session.settings, run).report}


def fan_out(state: State, run: Run) -> Sends:
    """Every claim group through `check`, and claims in none that can't be searched for first; straight on where there
    are none."""
    due = {one.claim.id: one for one in _due_in_check(state["claims"], run)}
    groups: list[list[ClaimState]] = []
    for ids in state["groups"]:
        waiting = [due.pop(id_) for id_ in ids if id_ in due]
        if waiting:
            groups.append(waiting)
    return _send(state, groups + group_claims(due.values(), run.sources))


def after_join(state: State, run: Run) -> Sends:
    """To an arbiter whoever appeals; then the next look at the whole source that any claim needs; then whatever
    conviction is to be confirmed; else the review."""
    needed = {next_step(one, run.plan).do for one in latest(state)}
    if not needed.isdisjoint(check.NODES):
        return after_search(state, run)
    return next((do for do in ("search", "scan", "confirm") if do in needed), "review")


def after_search(state: State, run: Run) -> Sends:
    """Send what was found through `check`, claims that share their evidence together."""
    return _send(state, group_claims(_due_in_check(latest(state), run), run.sources))


def after_confirm(state: State, run: Run) -> Sends:
    """Convictions that stand go through `check` once more, for their wrong words."""
    asked_about = [one for one in latest(state) if one.confirmation and not one.localised]
    stand = [one for one in asked_about if next_step(one, run.plan).label in WRONG]
    return _send(state, group_claims(stand, run.sources))


def after_review(state: State, run: Run) -> Sends:
    """Send what a person decided through `check`; then the report."""
    return _send(state, [[one] for one in state["decided"]], "report")


def _due_in_check(claims: Iterable[ClaimState], run: Run) -> list[ClaimState]:
    """The claims of which `check` does what they need next."""
    return [one for one in claims if next_step(one, run.plan).do in check.NODES]


def _send(state: State, groups: Iterable[Sequence[ClaimState]], otherwise: str = "join") -> Sends:
    """Send each claim group into `check`. A checkpoint keeps it twice, so it goes without the response."""
    case = state["case"].model_copy(update={"response": ""})
    about = {"case": case, "sources": state["sources"]}
    return [Send("check", {**about, "claims": list(group)}) for group in groups] or otherwise
