"""The nodes of `check`, one claim group at a time: gather, judge, vote, arbitrate, consult, localise.

Knows: how to do what the policy says next of each claim.
Does not know: what happens next to a claim (policy), how a judge judges or a passage is found.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from longproof.agent.localise import Wrong, localise
from longproof.agent.report import WRONG, agreeing_judgements, named_errors
from longproof.agent.types import Answered, Call, Claim, Error, Judgement, Label, Lines, Look, Question
from longproof.agent.vote import rest_on_pages
from longproof.graphs.evidence.places import CLAIMS
from longproof.graphs.evidence.questions import group_claims, make_question, widen, with_snippets
from longproof.graphs.panel import ask_cascade, ask_panel, complete
from longproof.graphs.policy import Step, next_step
from longproof.graphs.run import Run
from longproof.graphs.state import CheckState, ClaimState, Plan
from longproof.indexes.documents import DocumentRef
from longproof.indexes.pages import PageIndex

SNIPPETS = 3
"""How many snippets are shown with a claim (VeriGray, seed 002, Appendix F)."""
LONGEST = 200
"""Characters of a text in what a node tells while it works."""
NODES = {"show": "gather", "judge": "judge", "arbitrate": "arbitrate", "consult": "consult"}
"""Which node does what a step says, the first first; what is settled or left to a person goes to `localise`."""


def route(state: CheckState, run: Run) -> str:
    """The node that does what any of the claims needs next. Every edge of `check` asks it."""
    needed = {next_step(one, run.plan).do for one in state["claims"]}
    return next((node for do, node in NODES.items() if do in needed), "localise")


async def gather(state: CheckState, run: Run) -> CheckState:
    """Show each open claim the evidence of its next look, as a question."""
    claims = {one.claim.id: one for one in state["claims"]}
    by_look: dict[Look, list[ClaimState]] = {}
    for one, step in _due(state, run, "show"):
        by_look.setdefault(step.look, []).append(one)
    for look, due in by_look.items():
        show = _show_documents if run.session.triage else _show_lines
        claims |= {one.claim.id: one for one in show(due, look, run)}
    return {"claims": list(claims.values())}


def _show_documents(claims: Sequence[ClaimState], look: Look, run: Run) -> list[ClaimState]:
    """The claims with one question over the documents as they stand, for the offline check."""
    question = make_question([one.claim.id for one in claims], run.sources, look)
    return [one.with_look(look).with_question(question) for one in claims]


def _show_lines(claims: Sequence[ClaimState], look: Look, run: Run) -> list[ClaimState]:
    """The claims with what this look adds to their evidence; where that is nothing, they aren't asked again."""
    groups = [list(claims)] if look == "place" else group_claims(claims, CLAIMS, run.sources)
    shown: list[ClaimState] = []
    for group in groups:
        added = [number for one in group for number in _added_lines(one, look)]
        question = widen(group, run.sources, added, look)
        for one in group:
            after = one.with_look(question.look if question else look)
            shown.append(after.with_question(question) if question else after)
    return shown


def _added_lines(claim: ClaimState, look: Look) -> Lines:
    """The lines of the sources that a look shows for a claim."""
    if claim.found:
        return claim.found
    return claim.place if look == "place" else claim.around


async def judge(state: CheckState, run: Run) -> CheckState:
    """Put every unanswered question to every judge of the panel."""
    claims = {one.claim.id: one.claim for one in state["claims"]}
    due = [one for one, _ in _due(state, run, "judge")]
    unanswered = dict.fromkeys(
        question for one in due for question in one.asked if not one.votes(question.id)
    )
    questions = [await run.show(question) for question in unanswered]
    run.say(_describe_questions(questions, claims))
    judges = run.panel.judges
    if run.settings.cascade and len(judges) > 1:
        places = {one.claim.id: one.place for one in due}
        answers = await ask_cascade(judges, questions, claims, run.case, run.settings.sample, places)
    else:
        answers = await ask_panel(judges, questions, claims, run.case)
    judgements = _judgements(answers, run)
    asked = {one.claim.id for one in due}
    judged: list[ClaimState] = []
    for one in state["claims"]:
        if one.claim.id in asked:
            one = _with_what_was_read(one.with_judgements(judgements), run)
        judged.append(one)
    return {"claims": judged, "calls": _calls(answers)}


def _with_what_was_read(claim: ClaimState, run: Run) -> ClaimState:
    """The claim after its judges spoke. What was shown to it counts as looked at if one of them answered."""
    question = claim.asked[-1] if claim.asked else None
    votes = claim.votes(question.id) if question else []
    # The offline check reads all of a source even where it can't tell.
    if question is None or not any(j.label or j.failure == "needs_model" for j in votes):
        return claim
    share = 1.0 if question.look == "source" else run.sources.share(claim.lines_read())
    return claim.with_answer(question.look, share)


async def vote(state: CheckState, run: Run) -> CheckState:
    """Tell whoever watches what the judges said, and what follows from it. Decides nothing: the policy does."""
    run.say({"node": "vote", "claims": [_describe_votes(one, run.plan) for one in state["claims"]]})
    return {}


async def arbitrate(state: CheckState, run: Run) -> CheckState:
    """Ask one more judge about the claims on which the panel is split."""
    arbiter = run.panel.arbiter
    assert arbiter is not None, "the plan knows whether there is an arbiter"

    async def decide(question: Question, split: list[ClaimState]) -> Answered:
        asked = question.model_copy(update={"claim_ids": tuple(one.claim.id for one in split)})
        shown = await run.show(asked)
        votes = [judgement for one in split for judgement in one.votes(question.id)]
        answer = await arbiter.arbitrate(shown, [one.claim for one in split], votes, run.case)
        return complete(answer, arbiter.name, shown)

    disputes = _by_last_question(one for one, _ in _due(state, run, "arbitrate"))
    answers = await asyncio.gather(*(decide(question, split) for question, split in disputes))
    rulings = {ruling.claim_id: ruling for ruling in _judgements(answers, run)}
    claims = [_with_ruling(one, rulings.get(one.claim.id)) for one in state["claims"]]
    told = [_describe_votes(one, run.plan) for one in claims if one.claim.id in rulings]
    run.say({"node": "arbitrate", "claims": told})
    return {"claims": claims, "calls": _calls(answers)}


def _with_ruling(claim: ClaimState, ruling: Judgement | None) -> ClaimState:
    if ruling is None:
        return claim
    return claim.with_judgements([ruling]).model_copy(update={"ruling": ruling, "ruled_by": "arbiter"})


async def consult(state: CheckState, run: Run) -> CheckState:
    """Look into the saved web pages, for claims that the source doesn't have."""
    pages = await run.session.pages()
    due = {one.claim.id for one, _ in _due(state, run, "consult")}
    shown: dict[str, DocumentRef] = {}
    claims = [
        await _look_up(one, pages, run, shown) if one.claim.id in due else one for one in state["claims"]
    ]
    return {"claims": claims, "pages": list(shown.values())}


async def _look_up(
    claim: ClaimState, pages: PageIndex | None, run: Run, shown: dict[str, DocumentRef]
) -> ClaimState:
    """The claim with a question that shows snippets too, where any is found; their pages are added to `shown`."""
    if pages is None:
        return claim.model_copy(update={"consulted": "no_pages"})
    spans = [hit.span for hit in await asyncio.to_thread(pages.search, claim.claim.text, SNIPPETS)]
    if not spans:
        return claim.model_copy(update={"consulted": "nothing_found"})
    for span in spans:
        shown[span.source_id] = pages.page(span.source_id).document
    question = with_snippets(claim, run.sources, spans)
    return claim.with_question(question).model_copy(update={"consulted": "found"})


async def localise_errors(state: CheckState, run: Run) -> CheckState:
    """Place the wrong words of claims that were decided wrong without any judge saying where."""
    errors, calls = await _placed_errors(state, run)
    run.say({"node": "checked", "claims": len(state["claims"])})
    checked: list[ClaimState] = []
    for one in state["claims"]:
        placed = errors.get(one.claim.id)
        checked.append(one.model_copy(update={"localised": (placed,)}) if placed else one)
    return {"checked": checked, "calls": calls}


async def _placed_errors(state: CheckState, run: Run) -> tuple[dict[str, Error], list[Call]]:
    """The error of each claim that needs one placed, by claim id, and the calls made."""
    model = run.panel.localiser
    if model is None:
        return {}, []
    wrong: dict[str, Wrong] = {}
    convicted: list[ClaimState] = []
    for one, step in _due(state, run, "settle"):
        if unplaced := _without_a_place(one, step.label):
            wrong[one.claim.id] = unplaced
            convicted.append(one)
    asked = []
    for question, held in _by_last_question(convicted):
        unplaced_claims = [wrong[one.claim.id] for one in held]
        asked.append(localise(model, unplaced_claims, await run.show(question), run.case))
    errors: dict[str, Error] = {}
    calls: list[Call] = []
    for answer in await asyncio.gather(*asked):
        calls += answer.calls
        errors |= answer.errors
        for claim_id, reason in answer.reasons.items():
            if not wrong[claim_id].reasons:
                errors[claim_id] = Error(span=wrong[claim_id].claim.origin, reason=reason)
    return errors, calls


def _without_a_place(claim: ClaimState, label: Label | None) -> Wrong | None:
    """A claim decided wrong of which no judge said where, with the reasons that were given; None for another.

    What all judges take for true, if not from the source, has no wrong words.
    """
    if label is None or label not in WRONG:
        return None
    if all(j.label == "out_dependent" for j in claim.votes(claim.last_asked)):
        return None
    agreeing = agreeing_judgements(claim.judgements, label, claim.last_asked)
    if named_errors(agreeing):
        return None
    return Wrong(claim.claim, tuple(dict.fromkeys(j.reason for j in agreeing if j.reason)))


def _due(state: CheckState, run: Run, do: str) -> list[tuple[ClaimState, Step]]:
    """The claims whose next step is this one."""
    steps = [(one, next_step(one, run.plan)) for one in state["claims"]]
    return [(one, step) for one, step in steps if step.do == do]


def _by_last_question(claims: Iterable[ClaimState]) -> list[tuple[Question, list[ClaimState]]]:
    """Claims by the question in which they were asked about last."""
    by_id: dict[str, tuple[Question, list[ClaimState]]] = {}
    for one in claims:
        by_id.setdefault(one.last_asked, (one.asked[-1], []))[1].append(one)
    return list(by_id.values())


def _judgements(answers: Iterable[Answered], run: Run) -> list[Judgement]:
    """All judgements; those that rest on saved pages alone are out-dependent."""
    said = [judgement for answer in answers for judgement in answer.judgements]
    return [rest_on_pages(judgement, run.case.source_ids) for judgement in said]


def _calls(answers: Iterable[Answered]) -> list[Call]:
    return [call for answer in answers for call in answer.calls]


def _describe_questions(questions: Sequence[Question], claims: Mapping[str, Claim]) -> dict[str, object]:
    """Tell what the panel is about to be asked, and how the evidence begins."""
    told = [
        {
            "look": question.look,
            "claims": [claims[id_].text[:LONGEST] for id_ in question.claim_ids],
            "shown": [span.text[:LONGEST] for span in question.shown],
        }
        for question in questions
    ]
    return {"node": "judge", "questions": told}


def _describe_votes(claim: ClaimState, plan: Plan) -> dict[str, object]:
    """Tell who said what of a claim just now, and what follows from it."""
    step = next_step(claim, plan)
    votes = [
        {"judge": j.judge, "said": j.label or j.failure, "reason": j.reason[:LONGEST]}
        for j in claim.judgements
        if j.question_id == claim.last_asked
    ]
    return {"claim_id": claim.claim.id, "votes": votes, "next": step.do, "label": step.label}
