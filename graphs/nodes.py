"""The nodes around `check`: read, decompose, align, join, review, report; and where each leads.

Knows: state in, what other folders' functions make of it, state out. Does not know: how any step does its work.
"""

import asyncio
import time
from collections.abc import Callable

from langgraph.types import Send, interrupt

from longproof.agent.offline import OfflineDecomposer
from longproof.graphs.check import NODES
from longproof.graphs.evidence.places import CLAIMS, place_claims, place_copy, same_text
from longproof.graphs.evidence.questions import group_claims
from longproof.graphs.policy import next_step
from longproof.graphs.reading import NO_SOURCE, store_texts
from longproof.graphs.reporting import report_on
from longproof.graphs.review import apply_review, describe_dispute, form_of
from longproof.graphs.run import Run, Session
from longproof.graphs.state import ClaimState, Reviewed, State, VerifyInput, latest
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput, Document

Example = Callable[[], VerifyInput]


async def read(given: VerifyInput, session: Session, example: Example | None = None) -> State:
    """Store the texts, once; of sources the state keeps their ids. Raises BadInput for what can't be checked.

    `example` is what an empty input stands for.
    """
    if example and not (given.source.strip() or given.response.strip() or given.sources):
        given = await asyncio.to_thread(example)
    texts = await asyncio.to_thread(store_texts, given, session.store)
    if not texts.sources and texts.case.task != "open":
        raise BadInput(NO_SOURCE)
    return {"started": time.time(), "case": texts.case, "sources": texts.sources}


async def decompose(state: State, run: Run) -> State:
    """Cut the response into sentences, and these into claims."""
    response = Document.of(run.case.response)
    spans = [response.span(start, end) for start, end in sentences(run.case.response)]
    run.say({"node": "decompose", "sentences": len(spans)})
    # Nobody is asked about the claims of a response that is its source.
    copies = same_text(run.case.response, run.sources)
    decomposer = OfflineDecomposer() if copies else run.panel.decomposer
    decomposed = await decomposer.decompose(run.case, spans)
    run.say({"node": "decompose", "claims": len(decomposed.claims)})
    claims = [ClaimState(claim=claim) for claim in decomposed.claims]
    return {"sentences": decomposed.sentences, "claims": claims, "calls": decomposed.calls}


async def align(state: State, run: Run) -> State:
    """Put the claims in their places in the sources, and in the groups in which they are checked."""
    response = run.case.response
    if same_text(response, run.sources):
        return {"claims": [place_copy(one, response, run.sources) for one in state["claims"]], "groups": []}
    whole = run.plan.looks == ("source",)
    claims, groups = await asyncio.to_thread(
        place_claims, state["claims"], response, run.case.parts, run.sources, whole=whole
    )
    run.say({"node": "align", "groups": len(groups)})
    return {"claims": claims, "groups": groups}


async def join(state: State, run: Run) -> State:
    """Wait until all claim groups are here again."""
    return {}


async def review(state: State, run: Run) -> State:
    """Have a person decide what the panel could not: one interrupt for all disputes, then on with them.

    Runs again from its start when the answer comes, so nothing is paid for in here.
    """
    left = run.due(latest(state), "person")
    if not left:
        return {"decided": []}
    disputes = [await describe_dispute(one, run) for one in left]
    answer = interrupt(disputes, response_schema=form_of(left))
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    claim_ids = tuple(decision.claim_id for decision in answer.decisions)
    run.say({"node": "review", "name": answer.name, "claims": list(claim_ids)})
    decided, left_open = apply_review(answer, left)
    reviews = [Reviewed(name=answer.name, at=at, claims=claim_ids)] if claim_ids else []
    return {"decided": decided, "checked": [*decided, *left_open], "reviews": reviews}


async def report(state: State, run: Run) -> State:
    """Report on all claims, in their order."""
    copied = same_text(run.case.response, run.sources)
    done = report_on(state, run.plan, run.settings, run.session, copied=copied)
    return {"report": done.report}


def fan_out(state: State, run: Run) -> list[Send] | str:
    """Every claim group through `check`, and claims in none that can't be searched for first; straight on where there
    are none."""
    due = {one.claim.id: one for one in state["claims"] if next_step(one, run.plan).do in NODES}
    groups = [[due.pop(id_) for id_ in ids if id_ in due] for ids in state["groups"]]
    groups += group_claims(due.values(), CLAIMS, run.sources)
    return [_to_check(state, group) for group in groups if group] or "join"


def after_join(state: State, run: Run) -> str:
    """The next look at the whole source that any claim needs; then whatever conviction is to be confirmed; else the
    review."""
    needed = {next_step(one, run.plan).do for one in latest(state)}
    return next((do for do in ("search", "scan", "confirm") if do in needed), "review")


def after_search(state: State, run: Run) -> list[Send] | str:
    """Send what was found through `check`, claims that share their evidence together."""
    due = [one for one in latest(state) if next_step(one, run.plan).do in NODES]
    return [_to_check(state, group) for group in group_claims(due, CLAIMS, run.sources)] or "join"


def after_confirm(state: State, run: Run) -> list[Send] | str:
    """Convictions that stand go through `check` once more, for their wrong words."""
    stand = [one for one in latest(state) if one.confirmation == "confirmed" and not one.localised]
    return [_to_check(state, group) for group in group_claims(stand, CLAIMS, run.sources)] or "join"


def after_review(state: State, run: Run) -> list[Send] | str:
    """Send what a person decided through `check`; then the report."""
    return [_to_check(state, [one]) for one in state["decided"]] or "report"


def _to_check(state: State, claims: list[ClaimState]) -> Send:
    """A claim group on its way into `check`. A checkpoint keeps it twice, so it goes without the response."""
    case = state["case"].model_copy(update={"response": ""})
    return Send("check", {"case": case, "sources": state["sources"], "claims": claims})
