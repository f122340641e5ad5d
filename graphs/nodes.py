"""The nodes around `check`: read, decompose, align, review, report.

Knows: state in, what other folders' functions make of it, state out. Does not know: how any step does its work.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Send, interrupt

from longproof.agent.cascade import cleared_alone
from longproof.agent.offline import OfflineDecomposer
from longproof.agent.report import distinct, report, verdict
from longproof.agent.types import Case, Decomposer, ReportDocument, Verdict
from longproof.graphs.check import NODES
from longproof.graphs.evidence.copied import copied, same_text
from longproof.graphs.evidence.placing import in_groups
from longproof.graphs.evidence.questions import together
from longproof.graphs.evidence.reading_plan import CLAIMS
from longproof.graphs.policy import Policy, next_step
from longproof.graphs.protocol import LONGPROOF
from longproof.graphs.reading import NO_SOURCE, report_documents, store_texts
from longproof.graphs.resources import Pool, Resources
from longproof.graphs.review import applied, form_of, put
from longproof.graphs.settings import Settings, settings_of
from longproof.graphs.stamp import stamp_of
from longproof.graphs.state import ClaimState, Plan, Reviewed, State, StoredCase, VerifyInput, latest
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput, Document

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
        texts = await asyncio.to_thread(store_texts, state, resources.store)
        if not texts.sources and texts.case.task != "open":
            raise BadInput(NO_SOURCE)
        characters = sum(ref.characters for ref in texts.sources)
        kept = StoredCase.of(texts.case, texts.response.id, characters)
        return {
            "started": time.time(),
            "case": kept,
            "plan": resources.plan(kept),
            "sources": texts.sources,
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
        claims, groups = await asyncio.to_thread(
            in_groups, state["claims"], response, state["case"].parts, sources, resources.protocol
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
                **stamp_of(
                    resources, state["started"], self._decomposer_of(resources, copies=copies).name, calls
                ),
                **_cascade(resources, verdicts),
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
    """What a report of this state points into."""
    return report_documents(case, state["case"].response_id, state["sources"], state.get("pages", []))


def _cascade(resources: Resources, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """With a cascade, how many claims its first judge cleared alone, and what became of those read again."""
    judges = resources.panel.judges
    if not resources.settings.cascade or len(judges) < 2:
        return {}
    return {"cascade": cleared_alone(verdicts, judges[0].name).model_dump(mode="json")}
