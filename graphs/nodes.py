"""The nodes around `check`: read, decompose, align, review, report.

Knows: state in, what other folders' functions make of it, state out. Does not know: how any step does its work.
"""

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Send, interrupt

from longproof import __version__
from longproof.agent.cascade import cleared_alone
from longproof.agent.models.prices import money, tokens_of
from longproof.agent.offline import OfflineDecomposer
from longproof.agent.report import report, usage, verdict
from longproof.agent.types import TASKS, Arbiter, Call, Case, Decomposer, ReportDocument, Verdict
from longproof.graphs.check import NODES
from longproof.graphs.evidence.copied import copied, same_text
from longproof.graphs.evidence.placing import by_segment, in_groups
from longproof.graphs.evidence.questions import together
from longproof.graphs.evidence.reading_plan import CLAIMS
from longproof.graphs.policy import Policy, next_step
from longproof.graphs.protocol import LONGPROOF, Need, Protocol, unmet
from longproof.graphs.resources import Pool, Resources
from longproof.graphs.review import applied, form_of, put
from longproof.graphs.settings import PERSON, Settings, settings_of
from longproof.graphs.state import ClaimState, Plan, Reviewed, State, StoredCase, VerifyInput, latest
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput, Document

_WORD = re.compile(r"\w")
Conclude = Callable[[ClaimState, Plan], Verdict]


class Nodes:
    """The outer nodes over one pool of resources.

    `decomposer` stands in for the panel's where a paper judges sentences, segments or whole responses; `policy` and
    `conclude` say what follows from what was said of a claim. `example` is what an empty input stands for.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        decomposer: Decomposer | None = None,
        policy: Policy = next_step,
        conclude: Conclude | None = None,
        example: Callable[[], VerifyInput] | None = None,
    ) -> None:
        self._pool, self._decomposer, self._example = pool, decomposer, example
        self._policy, self._conclude = policy, conclude or partial(concluded, policy)

    async def resources(self, runtime: Runtime[Settings]) -> Resources:
        """What is open for this run."""
        return await self._pool.get(settings_of(runtime.context))

    async def read(self, state: VerifyInput, runtime: Runtime[Settings]) -> State:
        """Texts into the store, once; the state keeps their ids. Raises BadInput for what can't be checked."""
        resources = await self.resources(runtime)
        if self._example and not (state.source.strip() or state.response.strip() or state.sources):
            state = await asyncio.to_thread(self._example)
        given = [Document.of(state.source)] if state.source.strip() else []
        response = Document.of(state.response)
        stored = await asyncio.to_thread(lambda: [resources.store.put(d) for d in [*given, response]])
        sources = list({ref.id: ref for ref in reversed([*state.sources, *stored[:-1]])}.values())[::-1]
        refuse(state, sources, resources.protocol)
        case = Case(
            id=state.case_id,
            task=state.task,
            response=response.text,
            source_ids=tuple(ref.id for ref in sources),
            context=state.context,
            reference=state.reference,
            labels=tuple(state.labels) if state.labels is not None else None,
            parts=tuple(state.parts),
        )
        kept = StoredCase.of(case, response.id, sum(ref.characters for ref in sources))
        return {
            "started": time.time(),
            "case": kept,
            "plan": resources.plan(kept),
            "sources": sources,
        }

    async def decompose(self, state: State, runtime: Runtime[Settings]) -> State:
        """The response's sentences, and the claims in them."""
        resources = await self.resources(runtime)
        case = await state["case"].opened(resources.store)
        response = Document.of(case.response)
        spans = [response.span(start, end) for start, end in sentences(case.response)]
        runtime.stream_writer({"node": "decompose", "sentences": len(spans)})
        decomposer = self._decomposer_of(resources, copies=await _copies(state, resources))
        made = await decomposer.decompose(case, spans)
        runtime.stream_writer({"node": "decompose", "claims": len(made.claims)})
        claims = [ClaimState(claim=claim) for claim in made.claims]
        return {"sentences": made.sentences, "claims": claims, "calls": made.calls}

    async def align(self, state: State, runtime: Runtime[Settings]) -> State:
        """The claims with their places in the sources, and the groups in which they are checked."""
        resources = await self.resources(runtime)
        sources = await resources.sources(state["sources"])
        response = await resources.store.fetch(state["case"].response_id)
        if await _copies(state, resources):
            return {"claims": [copied(one, response, sources) for one in state["claims"]], "groups": []}
        place = by_segment if resources.protocol.segment_characters else in_groups
        claims, groups = await asyncio.to_thread(
            place, state["claims"], response, state["case"].parts, sources, resources.protocol
        )
        runtime.stream_writer({"node": "align", "groups": len(groups)})
        return {"claims": claims, "groups": groups}

    async def join(self, state: State, runtime: Runtime[Settings]) -> State:
        """Where all claim groups meet again. A run that goes on from here with other settings has another plan."""
        resources = await self.resources(runtime)
        return {"plan": resources.plan(state["case"])}

    async def review(self, state: State, runtime: Runtime[Settings]) -> State:
        """Where a person decides what the panel could not: one interrupt for all disputes, then on with them.

        Runs again from its start when the answer comes, so nothing is paid for in here.
        """
        resources = await self.resources(runtime)
        plan = resources.plan(state["case"])
        left = [one for one in latest(state) if self._policy(one, plan).do == "person"]
        if not left:
            return {"decided": []}
        disputes = [await put(one, resources.store) for one in left]
        answer = interrupt(disputes, response_schema=form_of(left))
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        named = tuple(decision.claim_id for decision in answer.decisions)
        runtime.stream_writer({"node": "review", "name": answer.name, "claims": list(named)})
        decided, left_open = applied(answer, left)
        reviews = [Reviewed(name=answer.name, at=at, claims=named)] if named else []
        return {"decided": decided, "checked": [*decided, *left_open], "reviews": reviews}

    async def report(self, state: State, runtime: Runtime[Settings]) -> State:
        """All verdicts, in the order of the claims, and their numbers."""
        resources = await self.resources(runtime)
        case = await state["case"].opened(resources.store)
        claims, plan = latest(state), resources.plan(state["case"])
        calls = distinct(state.get("calls", []))
        verdicts = [self._conclude(one, plan) for one in claims]
        copies = await _copies(state, resources)
        made = report(
            case=case,
            documents=documents(state, case),
            sentences=state["sentences"],
            claims=[one.claim for one in claims],
            verdicts=verdicts,
            searches=[search for one in claims for search in one.searches],
            windows={one.claim.id: one.window for one in claims if one.window},
            looked={one.claim.id: one.how_far(state["case"]) for one in claims},
            calls=[call.model_copy(update={"bought": True}) for call in calls],
            triage=resources.triage,
            copied=copies,
            stamp={
                **_stamp(resources, state["started"], self._decomposer_of(resources, copies=copies)),
                "paid": usage([call for call in calls if call.bought]).model_dump(mode="json"),
                **_cascade(resources, verdicts),
                **_money(resources, calls),
                "reviews": [review.model_dump(mode="json") for review in state.get("reviews", [])],
            },
        )
        return {"report": made}

    def _decomposer_of(self, resources: Resources, *, copies: bool) -> Decomposer:
        """Who finds the claims: nobody is asked about those of a response that is its source."""
        return OfflineDecomposer() if copies else self._decomposer or resources.panel.decomposer


async def _copies(state: State, resources: Resources) -> bool:
    """Whether the product checks a response that is its source, word for word."""
    if resources.protocol.name != LONGPROOF.name:
        return False
    response = await resources.store.fetch(state["case"].response_id)
    return same_text(response, await resources.sources(state["sources"]))


def refuse(given: VerifyInput, sources: Sequence[DocumentRef], protocol: Protocol) -> None:
    """Raises BadInput where this can't be checked by this protocol."""
    if given.task not in TASKS:
        raise BadInput(f"there is no task {given.task!r}: choose one of {', '.join(TASKS)}")
    if not _WORD.search(given.response):
        raise BadInput("the response has no text: give the text that is to be checked")
    if not sources and protocol.rounds != ("nothing",):
        _refuse_without_a_source(given, protocol)
    has: list[Need] = []
    has += ["labels"] if given.labels is not None else []
    has += ["reference"] if given.reference is not None else []
    has += ["record"] if sources and all(ref.kind == "record" for ref in sources) else []
    if why := unmet(protocol, has, among=("labels", "reference", "record")):
        raise BadInput(why)
    _refuse_labels(given)


def _refuse_without_a_source(given: VerifyInput, protocol: Protocol) -> None:
    if given.task != "open":
        raise BadInput("there is no source text: give one, or choose the task `open`")
    if protocol.consult == "never":
        raise BadInput(f"the protocol {protocol.name} holds a response against a source: give one")


def _refuse_labels(given: VerifyInput) -> None:
    if given.labels is None:
        return
    count = len(sentences(given.response))
    if len(given.labels) != count:
        raise BadInput(
            f"{len(given.labels)} labels are given for {count} sentences: give one for each sentence"
        )


def concluded(policy: Policy, claim: ClaimState, plan: Plan) -> Verdict:
    """The verdict on a claim that is settled; on one that isn't, that nobody decided."""
    step = policy(claim, plan)
    return verdict(
        claim.claim,
        claim.judgements,
        label=step.label,
        decided_by=step.decided_by,
        question_id=claim.last_asked,
        failure=step.failure,
        caveat=step.caveat,
        localised=claim.localised,
    )


def distinct(calls: Sequence[Call]) -> list[Call]:
    """Each call once, in an order that does not depend on time; bought if this run bought it."""
    found: dict[str, Call] = {}
    for call in calls:
        known = found.get(call.id)
        found[call.id] = call if known is None or call.bought else known
    return sorted(found.values(), key=lambda call: call.id)


def fan_out(state: State) -> list[Send] | str:
    """Every claim group through `check`, and claims in none that can't be searched for first; straight on where there
    are none."""
    due = {one.claim.id: one for one in state["claims"] if next_step(one, state["plan"]).do in NODES}
    grouped = {id_ for group in state["groups"] for id_ in group}
    groups = [[due[id_] for id_ in group if id_ in due] for group in state["groups"]]
    alone = together([one for id_, one in due.items() if id_ not in grouped], CLAIMS)
    return [group_sent(state, group) for group in (*groups, *alone) if group] or "join"


def after_join(state: State) -> str:
    """The next look at the whole source that any claim needs; then whatever conviction is to be confirmed; else the
    review."""
    needed = {next_step(one, state["plan"]).do for one in latest(state)}
    return next((do for do in ("search", "scan", "confirm") if do in needed), "review")


def after_search(state: State) -> list[Send] | str:
    """What was found goes through `check`, claims that share their evidence together."""
    due = [one for one in latest(state) if next_step(one, state["plan"]).do in NODES]
    return [group_sent(state, group) for group in together(due, CLAIMS)] or "join"


def after_confirm(state: State) -> list[Send] | str:
    """Convictions that stand go through `check` once more, for their wrong words."""
    stand = [one for one in latest(state) if one.confirmation == "confirmed" and not one.localised]
    return [group_sent(state, group) for group in together(stand, CLAIMS)] or "join"


def after_review(state: State) -> list[Send] | str:
    """What a person decided goes on through `check`; then the report."""
    return [group_sent(state, [one]) for one in state["decided"]] or "report"


def group_sent(state: State, claims: list[ClaimState]) -> Send:
    """A claim group on its way into `check`."""
    shared = {"case": state["case"], "plan": state["plan"], "sources": state["sources"]}
    return Send("check", {**shared, "claims": claims})


def documents(state: State, case: Case) -> list[ReportDocument]:
    """What a report of this state points into: the response, the sources, the pages that were shown."""
    response = ReportDocument(
        id=state["case"].response_id, role="response", kind="text", characters=len(case.response)
    )
    pages = {ref.id: ref for ref in state.get("pages", [])}
    return [
        response,
        *(_described(ref, "source") for ref in state["sources"]),
        *(_described(pages[id_], "page") for id_ in sorted(pages)),
    ]


def _described(ref: DocumentRef, role: Literal["source", "page"]) -> ReportDocument:
    return ReportDocument(
        id=ref.id, role=role, kind=ref.kind, title=ref.title, uri=ref.uri, characters=ref.characters
    )


def _money(resources: Resources, calls: Sequence[Call]) -> dict[str, Any]:
    """Where prices are given, what all answers cost when they were bought, and what this run paid."""
    prices = resources.settings.prices
    if not prices:
        return {}
    paid = money(tokens_of(call for call in calls if call.bought), prices)
    return {"money": {"answers": money(tokens_of(calls), prices), "paid": paid}}


def _cascade(resources: Resources, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """With a cascade, how many claims its first judge cleared alone, and what became of those read again."""
    judges = resources.panel.judges
    if not resources.settings.cascade or len(judges) < 2:
        return {}
    return {"cascade": cleared_alone(verdicts, judges[0].name).model_dump(mode="json")}


def _name(arbiter: Arbiter | None) -> str | None:
    return arbiter.name if arbiter else None


def _stamp(resources: Resources, started: float, decomposer: Decomposer) -> dict[str, Any]:
    settings = resources.settings
    return {
        "longproof": __version__,
        "protocol": settings.protocol,
        "judges": [judge.name for judge in resources.panel.judges],
        "coarse": bool(resources.protocol.menu),
        "arbiter": PERSON if settings.arbiter == PERSON else _name(resources.panel.arbiter),
        "decomposer": decomposer.name,
        "refused": {purpose: list(paid) for purpose, paid in resources.budget.refused_steps().items()},
        "settings": settings.model_dump(mode="json", exclude={"home", "run_id", "retry_failed"}),
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(time.time() - started, 3),
    }
