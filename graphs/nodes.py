"""The nodes around `check`: read, align, join, review, report; and where each leads.

Knows: state in, what other folders' functions make of it, state out. Does not know: how any step does its work.
"""

import asyncio
import time
from collections.abc import Callable

from langgraph.types import Send, interrupt

from longproof.agent.offline import OfflineDecomposer
from longproof.agent.report import WRONG
from longproof.graphs.check import NODES
from longproof.graphs.evidence.places import CLAIMS, place_claims, place_copy, same_text
from longproof.graphs.evidence.questions import group_claims, make_question
from longproof.graphs.opening import NO_SOURCE, store_texts
from longproof.graphs.policy import are_cleared, next_step, was_convicted
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
        return {"sentences": cut.sentences, "claims": copied, "groups": []}
    whole = run.plan.looks == ("source",)
    placed, groups = await asyncio.to_thread(
        place_claims, claims, response, run.case.parts, run.sources, whole=whole
    )
    return {"sentences": cut.sentences, "claims": placed, "groups": groups}


async def join(state: State, run: Run) -> State:
    """Wait until all claim groups are here again. A sentence that was convicted as a whole and whose parts were all
    cleared goes to the arbiter, whole, with all lines that were shown for it."""
    if run.plan.arbiter == "nobody":
        return {}
    by_sentence: dict[int, list[ClaimState]] = {}
    for one in latest(state):
        by_sentence.setdefault(one.claim.sentence, []).append(one)
    changed: list[ClaimState] = []
    for sentence, *parts in by_sentence.values():
        if (
            sentence.unit == "superseded"
            and was_convicted(sentence, run.plan)
            and are_cleared(parts, run.plan)
        ):
            changed += _appeal(sentence, parts, run)
    return {"checked": changed} if changed else {}


def _appeal(sentence: ClaimState, parts: list[ClaimState], run: Run) -> list[ClaimState]:
    """The sentence in the place of its parts, with a question that shows all that any of them was shown."""
    last = max((part.asked[-1] for part in parts), key=lambda question: len(question.pages))
    lines = tuple(sorted(sentence.lines_shown().union(*(part.lines_shown() for part in parts))))
    shown = (last.look, (lines,) if lines else (), last.pages, last.prompt)
    whole = sentence.with_question(make_question([sentence.claim.id], run.sources, *shown)).with_own(lines)
    superseded = [part.model_copy(update={"unit": "superseded"}) for part in parts]
    return [whole.model_copy(update={"unit": "claim", "appealed": True}), *superseded]


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


def after_join(state: State, run: Run) -> list[Send] | str:
    """To an arbiter whoever appeals; then the next look at the whole source that any claim needs; then whatever
    conviction is to be confirmed; else the review."""
    needed = {next_step(one, run.plan).do for one in latest(state)}
    if not needed.isdisjoint(NODES):
        return after_search(state, run)
    return next((do for do in ("search", "scan", "confirm") if do in needed), "review")


def after_search(state: State, run: Run) -> list[Send] | str:
    """Send what was found through `check`, claims that share their evidence together."""
    due = [one for one in latest(state) if next_step(one, run.plan).do in NODES]
    return [_to_check(state, group) for group in group_claims(due, CLAIMS, run.sources)] or "join"


def after_confirm(state: State, run: Run) -> list[Send] | str:
    """Convictions that stand go through `check` once more, for their wrong words."""
    asked_about = [one for one in latest(state) if one.confirmation and not one.localised]
    stand = [one for one in asked_about if next_step(one, run.plan).label in WRONG]
    return [_to_check(state, group) for group in group_claims(stand, CLAIMS, run.sources)] or "join"


def after_review(state: State, run: Run) -> list[Send] | str:
    """Send what a person decided through `check`; then the report."""
    return [_to_check(state, [one]) for one in state["decided"]] or "report"


def _to_check(state: State, claims: list[ClaimState]) -> Send:
    """A claim group on its way into `check`. A checkpoint keeps it twice, so it goes without the response."""
    case = state["case"].model_copy(update={"response": ""})
    return Send("check", {"case": case, "sources": state["sources"], "claims": claims})
