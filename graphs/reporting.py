"""The report of a run: at its end, and while it goes on, stopped or waits.

Knows: how a claim's state becomes a reported claim; the stamp; how the graph's channels grow with what a node writes;
that a claim is open until the policy settles it. Does not know: who watches, or where checkpoints lie.
"""

import time
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, cast

from longproof import __version__
from longproof.agent.models.prices import money
from longproof.agent.offline import OfflineDecomposer
from longproof.agent.report import cleared_alone, distinct, report, reported_claim, usage
from longproof.agent.specs import as_spec
from longproof.agent.types import Call, Case, Judgement, Report, ReportClaim, ReportDocument, Sentence
from longproof.graphs.policy import next_step
from longproof.graphs.run import Session, plan_of
from longproof.graphs.settings import PERSON, Settings
from longproof.graphs.state import ClaimState, Plan, State, latest
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document, text_id

ADDED = ("checked", "calls", "pages", "reviews")
"""The channels to which nodes add, as `State` says."""
LEAST_UNREAD = 0.0001
"""The share that is left unread where not all was read, however much a searcher saw in passing."""


class SoFar(NamedTuple):
    """A report in which claims may be missing or undecided for now."""

    report: Report
    open_claims: frozenset[str]
    """The ids of the claims that are not settled."""
    decomposed: bool
    """False while the claims aren't known, and all sentences are open."""


def report_of(known: Report | SoFar) -> Report:
    """The report, whether it is done or not."""
    return known.report if isinstance(known, SoFar) else known


def so_far(state: State, settings: Settings) -> SoFar:
    """The report on a run that goes on, stopped or waits, which nothing need be open for."""
    judges = [as_spec(judge) for judge in settings.judges]
    models = any(judge.is_model for judge in judges)
    offline = all(judge.kind == "offline" for judge in judges)
    plan = plan_of(
        settings,
        state["sources"],
        arbiter=settings.arbiter is not None or models,
        reads=settings.searcher is not None or not offline,
        decomposes=models,
        confirms=models,
        cascade=settings.cascade and len(judges) > 1,
        triage=offline,
    )
    return report_on(state, plan, settings)


def report_on(
    state: State, plan: Plan, settings: Settings, session: Session | None = None, *, copied: bool = False
) -> SoFar:
    """The report on what is known so far: at least `case` and `sources`. Without a session the stamp is short.

    `copied`: the response is its source, word for word.
    """
    case, claims = state["case"], latest(state) if "claims" in state else []
    calls = distinct(state.get("calls", []))
    reported = [conclude(one, plan) for one in claims if one.unit != "superseded"]
    superseded: dict[int, list[Judgement]] = {}
    for one in claims:
        if one.unit == "superseded":
            superseded.setdefault(one.claim.sentence, []).extend(one.judgements)
    if session is None:
        stamp = _short_stamp(settings, calls)
    else:
        decomposer = OfflineDecomposer.name if copied else session.panel.decomposer.name
        stamp = stamp_of(session, state["started"], decomposer, calls)
        stamp["coarse"] = False
        stamp["reviews"] = [one.model_dump(mode="json") for one in state.get("reviews", [])]
        judges = session.panel.judges
        if settings.cascade and len(judges) > 1:
            stamp["cascade"] = cleared_alone(reported, judges[0].name).model_dump(mode="json")
    whole = report(
        case=case,
        documents=report_documents(case, text_id(case.response), state["sources"], state.get("pages", [])),
        sentences=state["sentences"] if "sentences" in state else _uncut(case.response),
        claims=reported,
        calls=[call.model_copy(update={"bought": True}) for call in calls],
        triage=session is not None and session.triage,
        copied=copied,
        superseded=superseded,
        stamp=stamp,
    )
    unsettled: set[str] = set()
    for one in claims:
        if next_step(one, plan).do not in ("settle", "nothing"):
            unsettled.add(one.claim.id)
    return SoFar(whole, frozenset(unsettled), "sentences" in state)


def conclude(claim: ClaimState, plan: Plan) -> ReportClaim:
    """The claim as the report has it; one that isn't settled is undecided."""
    step = next_step(claim, plan)
    share = 1.0 if claim.read_whole else min(round(claim.looked.share, 4), 1 - LEAST_UNREAD)
    return reported_claim(
        claim.claim,
        claim.judgements,
        label=step.label,
        decided_by=step.decided_by,
        question_id=claim.last_asked,
        failure=step.failure,
        caveat=step.caveat,
        localised=claim.localised,
        window=claim.window,
        looked=claim.looked.model_copy(update={"share": share}),
        proved={"confirmed": True, "unproved": False}.get(claim.confirmation or "")
        if step.label == "contradicting"
        else None,
    )


def grow(state: State, written: State) -> State:
    """The values after a node wrote this: to some channels nodes add, as `State` says."""
    before, given = dict(state), dict(written)
    for name in given.keys() & {*ADDED}:
        given[name] = [*cast("list[object]", before.get(name) or []), *cast("list[object]", given[name])]
    return cast("State", before | given)


def _uncut(response: str) -> list[Sentence]:
    """The response's sentences before anybody looked for claims in them."""
    document = Document.of(response)
    return [Sentence(index=n, span=document.span(*place)) for n, place in enumerate(sentences(response))]


def stamp_of(session: Session, started: float, decomposer: str, calls: Sequence[Call]) -> dict[str, Any]:
    """Enough to run it again, and what it took; `calls` are all that the answers rest on, each once."""
    settings, panel = session.settings, session.panel
    bought = [call for call in calls if call.bought]
    stamp = _short_stamp(settings, calls)
    if settings.prices:
        stamp["money"]["paid"] = money(bought, settings.prices)
    refused = session.limits.budget.refused_steps()
    return stamp | {
        "longproof": __version__,
        "protocol": settings.protocol,
        "judges": [judge.name for judge in panel.judges],
        "arbiter": PERSON if settings.arbiter == PERSON else panel.arbiter and panel.arbiter.name,
        "decomposer": decomposer,
        "refused": {purpose: list(paid) for purpose, paid in refused.items()},
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(time.time() - started, 3),
        "paid": usage(bought).model_dump(mode="json"),
    }


def _short_stamp(settings: Settings, calls: Sequence[Call]) -> dict[str, Any]:
    """The part of a stamp that can be told of a run that isn't open."""
    told = settings.model_dump(mode="json", exclude={"home", "run_id", "retry_failed"})
    stamp: dict[str, Any] = {"settings": told}
    if settings.prices:
        stamp["money"] = {"answers": money(calls, settings.prices)}
    return stamp


def report_documents(
    case: Case, response_id: str, sources: Sequence[DocumentRef], pages: Sequence[DocumentRef]
) -> list[ReportDocument]:
    """The texts that a report points into: the response, the sources, the pages that were shown."""
    response = ReportDocument(
        id=response_id, role="response", kind="text", characters=len(case.response), notes=case.notes
    )
    documents = [response, *(_as_document(ref, "source") for ref in sources)]
    shown = {ref.id: ref for ref in pages}
    return [*documents, *(_as_document(shown[id_], "page") for id_ in sorted(shown))]


def _as_document(ref: DocumentRef, role: Literal["source", "page"]) -> ReportDocument:
    fields = ref.model_dump(exclude={"raw_id", "notes"})
    return ReportDocument(role=role, notes=ref.notes, **fields)
