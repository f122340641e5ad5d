"""The nodes around `check`: read, decompose, align, review, report.

Knows: state in, the rooms' functions, state out. Does not know: how any step does its work.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Send, interrupt

from longproof import __version__
from longproof.agent.report import report, usage
from longproof.agent.types import (
    Arbiter,
    Call,
    Case,
    ReportDocument,
    Search,
    Sentence,
    SourcePlace,
    Verdict,
)
from longproof.graphs.convert import dump, opened_case, opened_claims, plain_case, refs
from longproof.graphs.given import as_shown, refuse
from longproof.graphs.resources import Pool, Resources
from longproof.graphs.review import applied, form_of, put, waiting
from longproof.graphs.settings import PERSON, Settings, settings_of
from longproof.graphs.sources import Sources
from longproof.graphs.state import Json, State, Stretch, VerifyInput
from longproof.graphs.stretches import Cut, stretches
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.align import greedy, viterbi
from longproof.retrieval.cut import segments
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document, Window

ALIGNMENTS = {"greedy": greedy, "viterbi": viterbi}


class Nodes:
    """The nodes of the `verify` graph over one pool of resources."""

    def __init__(self, pool: Pool, example: Callable[[], VerifyInput] | None = None) -> None:
        self._pool = pool
        self._example = example

    async def read(self, state: VerifyInput, runtime: Runtime[Settings]) -> State:
        """Texts into the store, once; the state keeps their ids. Raises BadInput for what can't be checked."""
        resources = await self._pool.get(settings_of(runtime.context))
        if self._example and not (state.source.strip() or state.response.strip() or state.sources):
            state = await asyncio.to_thread(self._example)
        given = [Document.of(state.source)] if state.source.strip() else []
        response = Document.of(state.response)
        stored = await asyncio.to_thread(lambda: [resources.store.put(d) for d in [*given, response]])
        sources = [*refs(state.sources), *stored[:-1]]
        refuse(state, sources, resources.protocol)
        sources = await asyncio.to_thread(as_shown, sources, resources.protocol, resources.store)
        case = Case(
            id=state.case_id,
            task=state.task,
            response=response.text,
            source_ids=tuple(ref.id for ref in sources),
            context=state.context,
            reference=state.reference,
            labels=tuple(state.labels) if state.labels is not None else None,
        )
        return {"started": time.time(), "case": plain_case(case, response.id), "sources": dump(sources)}

    async def decompose(self, state: State, runtime: Runtime[Settings]) -> State:
        """The response's sentences, and the claims in them."""
        resources = await self._pool.get(settings_of(runtime.context))
        case = await opened_case(state["case"], resources.store)
        response = Document.of(case.response)
        spans = [response.span(start, end) for start, end in sentences(case.response)]
        made = await resources.panel.decomposer.decompose(case, spans)
        runtime.stream_writer({"station": "decompose", "claims": len(made.claims)})
        return {"sentences": dump(made.sentences), "claims": dump(made.claims), "calls": dump(made.calls)}

    async def align(self, state: State, runtime: Runtime[Settings]) -> State:
        """A window of the source for every segment; neighbouring segments of one window are a stretch."""
        resources = await self._pool.get(settings_of(runtime.context))
        row = resources.protocol
        sources = await resources.sources(refs(state["sources"]))
        response = (await opened_case(state["case"], resources.store)).response
        cut = segments(response, row.segment_characters)
        texts = [response[start:end] for start, end in cut]
        matrix = await asyncio.to_thread(sources.similarity, texts)
        windows = ALIGNMENTS[row.alignment](matrix) if sources.blocks else []
        made = stretches(opened_claims(state["claims"]), cut, windows, together=row.stretch == "window")
        runtime.stream_writer({"station": "align", "stretches": len(made)})
        return {
            "stretches": [_stretch(i, one, sources) for i, one in enumerate(made)],
            "windows": {
                claim.id: _place(window, sources)
                for one in made
                for claim, window in zip(one.claims, one.windows, strict=True)
                if window
            },
        }

    async def review(self, state: State, runtime: Runtime[Settings]) -> State:
        """Where a person decides what the panel could not: one interrupt for all disputes, then on with them.

        Runs again from its start when the answer comes, so nothing is paid for in here.
        """
        left = waiting(state)
        if not left:
            return {"decided": []}
        resources = await self._pool.get(settings_of(runtime.context))
        disputes = [await put(dispute, resources.store) for dispute in left]
        answer = interrupt(disputes, response_schema=form_of(left))
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        claims = [decision.claim_id for decision in answer.decisions]
        runtime.stream_writer({"station": "review", "name": answer.name, "claims": claims})
        return {
            **applied(answer, left, consults=resources.protocol.consults),
            "reviews": [{"name": answer.name, "at": at, "claims": claims}] if claims else [],
        }

    async def report(self, state: State, runtime: Runtime[Settings]) -> State:
        """All verdicts, in the order of the claims, and their numbers."""
        resources = await self._pool.get(settings_of(runtime.context))
        case = await opened_case(state["case"], resources.store)
        claims = opened_claims(state["claims"])
        order = {claim.id: claim.index for claim in claims}
        verdicts = [Verdict.model_validate(v) for v in state.get("verdicts", [])]
        calls = distinct_calls(state)
        made = report(
            case=case,
            documents=_documents(state, case),
            sentences=[Sentence.model_validate(s) for s in state["sentences"]],
            claims=claims,
            verdicts=sorted(verdicts, key=lambda verdict: order[verdict.claim_id]),
            searches=[Search.model_validate(s) for s in state.get("searches", [])],
            windows={i: SourcePlace.model_validate(w) for i, w in state["windows"].items()},
            calls=[call.model_copy(update={"bought": True}) for call in calls],
            triage=resources.triage,
            stamp={
                **_stamp(resources, state["started"]),
                "paid": _paid(calls),
                "reviews": state.get("reviews", []),
            },
        )
        return {"report": made.model_dump(mode="json")}


def distinct_calls(state: State) -> list[Call]:
    """Each call once, in an order that does not depend on time; bought if this run bought it."""
    found: dict[str, Call] = {}
    for plain in state.get("calls", []):
        call = Call.model_validate(plain)
        known = found.get(call.id)
        found[call.id] = call if known is None or call.bought else known
    return sorted(found.values(), key=lambda call: call.id)


def after_review(state: State) -> list[Send] | str:
    """What a person decided goes on through `check`; then the report."""
    return [Send("check", {**_shared(state), **one}) for one in state["decided"]] or "report"


def fan_out(state: State) -> list[Send] | str:
    """Every stretch through `check`; straight on where there are none."""
    claims = {claim["id"]: claim for claim in state["claims"]}
    shared = _shared(state)
    return [
        Send("check", {**shared, "stretch": stretch, "claims": [claims[i] for i in stretch["claim_ids"]]})
        for stretch in state["stretches"]
    ] or "review"


def _shared(state: State) -> Json:
    return {"case": state["case"], "sources": state["sources"]}


def _stretch(index: int, cut: Cut, sources: Sources) -> Stretch:
    places = {
        claim.id: [list(place) for place in sources.places(window)] if window else []
        for claim, window in zip(cut.claims, cut.windows, strict=True)
    }
    return {"index": index, "claim_ids": list(places), "places": places}


def _place(window: Window, sources: Sources) -> Json:
    """The window's place in the document that holds its centre."""
    number = sources.blocks[window.centre][0]
    place = next(place for place in sources.places(window) if place[0] == number)
    return sources.named(place).model_dump(mode="json")


def _documents(state: State, case: Case) -> list[ReportDocument]:
    response = ReportDocument(
        id=state["case"]["response"], role="response", kind="text", characters=len(case.response)
    )
    pages = {ref.id: ref for ref in refs(state.get("pages", []))}
    return [
        response,
        *(_described(ref, "source") for ref in refs(state["sources"])),
        *(_described(pages[id_], "page") for id_ in sorted(pages)),
    ]


def _described(ref: DocumentRef, role: Literal["source", "page"]) -> ReportDocument:
    return ReportDocument(
        id=ref.id, role=role, kind=ref.kind, title=ref.title, uri=ref.uri, characters=ref.characters
    )


def _paid(calls: Sequence[Call]) -> Json:
    """What this run paid itself; what the ledger already had cost it nothing."""
    return usage([call for call in calls if call.bought]).model_dump(mode="json")


def _name(arbiter: Arbiter | None) -> str | None:
    return arbiter.name if arbiter else None


def _stamp(resources: Resources, started: float) -> dict[str, Any]:
    settings = resources.settings
    return {
        "longproof": __version__,
        "protocol": settings.protocol,
        "judges": [judge.name for judge in resources.panel.judges],
        "coarse": bool(resources.protocol.menu),
        "arbiter": PERSON if settings.arbiter == PERSON else _name(resources.panel.arbiter),
        "decomposer": resources.panel.decomposer.name,
        "refused": {purpose: list(paid) for purpose, paid in resources.budget.refused_steps().items()},
        "settings": settings.model_dump(mode="json", exclude={"home", "run_id", "retry_failed"}),
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(time.time() - started, 3),
    }
