"""The report of a run: at its end, and while it goes on, stopped or waits.

Knows: how a claim's state becomes a reported claim; the stamp; how the graph's channels grow with what a node writes;
that a claim is open until the policy settles it. Does not know: who watches, or where checkpoints lie.
"""

from collections.abc import Sequence
from operator import add
from typing import Any, NamedTuple, cast, get_type_hints

from longproof.agent.cascade import cleared_alone
from longproof.agent.models.prices import money, tokens_of
from longproof.agent.offline import OfflineDecomposer
from longproof.agent.report import distinct, report, reported_claim
from longproof.agent.specs import as_spec
from longproof.agent.types import Call, Report, ReportClaim, Sentence
from longproof.graphs.policy import next_step
from longproof.graphs.reading import report_documents
from longproof.graphs.run import Session, plan_of
from longproof.graphs.settings import Settings
from longproof.graphs.stamp import settings_told, stamp_of
from longproof.graphs.state import ClaimState, Plan, State, latest
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document, text_id

ADDED = frozenset(
    name
    for name, hint in get_type_hints(State, include_extras=True).items()
    if add in getattr(hint, "__metadata__", ())
)
"""The channels to which nodes add."""
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
    judges = [as_spec(judge).kind for judge in settings.judges]
    reads = settings.searcher is not None or any(kind != "offline" for kind in judges)
    arbiter = settings.arbiter is not None or "openai" in judges
    plan = plan_of(settings, state["sources"], arbiter=arbiter, reads=reads, triage=judges == ["offline"])
    return report_on(state, plan, settings)


def report_on(
    state: State, plan: Plan, settings: Settings, session: Session | None = None, *, copied: bool = False
) -> SoFar:
    """The report on what is known so far: at least `case` and `sources`. Without a session the stamp is short.

    `copied`: the response is its source, word for word.
    """
    case = state["case"]
    claims = latest(state) if "claims" in state else []
    calls = distinct(state.get("calls", []))
    reported = [conclude(one, plan) for one in claims]
    bought = [call.model_copy(update={"bought": True}) for call in calls]
    made = report(
        case=case,
        documents=report_documents(case, text_id(case.response), state["sources"], state.get("pages", [])),
        sentences=state["sentences"] if "sentences" in state else _uncut(case.response),
        claims=reported,
        searches=[search for one in claims for search in one.searches],
        calls=bought,
        triage=session is not None and session.triage,
        copied=copied,
        stamp=_stamp(state, settings, session, reported, calls, copied=copied),
    )
    unsettled = frozenset(one.claim.id for one in claims if next_step(one, plan).do != "settle")
    return SoFar(made, unsettled, "sentences" in state)


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
    )


def grow(state: State, written: State) -> State:
    """The values after a node wrote this: to some channels nodes add, as `State` says."""
    before, given = dict(state), dict(written)
    grown = {name: _items(before.get(name)) + _items(given[name]) for name in ADDED & given.keys()}
    return cast("State", before | given | grown)


def _items(channel: object) -> list[object]:
    """The items of a channel that nodes add to: none before the first of them."""
    return list(channel) if isinstance(channel, Sequence) else []


def _uncut(response: str) -> list[Sentence]:
    """The response's sentences before anybody looked for claims in them."""
    document = Document.of(response)
    return [Sentence(index=n, span=document.span(*place)) for n, place in enumerate(sentences(response))]


def _stamp(
    state: State,
    settings: Settings,
    session: Session | None,
    claims: Sequence[ReportClaim],
    calls: Sequence[Call],
    *,
    copied: bool,
) -> dict[str, Any]:
    """Enough to run it again, and what it took; without a session, what can be told of a run that isn't open."""
    if session is None:
        short: dict[str, Any] = {"settings": settings_told(settings)}
        if settings.prices:
            short["money"] = {"answers": money(tokens_of(calls), settings.prices)}
        return short
    judges = session.panel.judges
    decomposer = OfflineDecomposer.name if copied else session.panel.decomposer.name
    stamp = stamp_of(session, state["started"], decomposer, calls)
    if settings.cascade and len(judges) > 1:
        stamp["cascade"] = cleared_alone(claims, judges[0].name).model_dump(mode="json")
    reviews = [review.model_dump(mode="json") for review in state.get("reviews", [])]
    return stamp | {"coarse": False, "reviews": reviews}
