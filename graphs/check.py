"""The nodes of `check`, one claim group at a time: decompose, gather, judge, vote, arbitrate, consult, localise.

Knows: how to do what the policy says next of each claim.
Does not know: what happens next to a claim (policy), how a judge judges or a passage is found.
"""

import asyncio
from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from typing import get_args

from longproof.agent.localise import Wrong, localise
from longproof.agent.report import WRONG, agreeing_judgements, named_errors
from longproof.agent.types import Answered, Call, Claim, Error, Judgement, Lines, Look, Question
from longproof.agent.vote import rest_on_pages
from longproof.graphs.evidence.places import CLAIMS, about_the_whole
from longproof.graphs.evidence.search import (
    OWN_PLACES,
    WHOLE,
    cited_lines,
    group_claims,
    make_question,
    widen,
    with_snippets,
)
from longproof.graphs.panel import Cascade, ask_until_clear, complete, needed_to_clear
from longproof.graphs.policy import Inside, next_step
from longproof.graphs.run import Run
from longproof.graphs.state import CheckState, ClaimState, Consulted, replace_claims
from longproof.indexes.documents import DocumentRef

SNIPPETS = 3
"""How many snippets are shown with a claim (VeriGray, Appendix F)."""
LONGEST = 200
"""Characters of a text in what a node tells while it works."""
NODES: tuple[Inside, ...] = get_args(Inside)
"""A group goes to the first of these nodes that any of its claims needs. Where none needs one (settled, a person's,
or waiting for search, scan or confirm), the group leaves through `localise`."""


def route(state: CheckState, run: Run) -> str:
    """The node that does what any of the claims needs next. Every edge of `check` asks it."""
    needed = {next_step(one, run.plan).do for one in state["claims"]}
    return next((node for node in NODES if node in needed), "localise")


async def decompose(state: CheckState, run: Run) -> CheckState:
    """Take the sentences that somebody doubts apart, in one call. One that says one thing stays its only claim."""
    due = run.due(state["claims"], "decompose")
    made = await run.panel.decomposer.decompose(run.case, [one.claim.origin for one in due])
    changed: list[ClaimState] = []
    parts: list[ClaimState] = []
    for number, one in enumerate(due):
        claims = [claim for claim in made.claims if claim.sentence == number]
        # In a cascade only the first judge has read it: as its own part, it is read by the others.
        if len(claims) < 2 and not run.plan.cascade:
            changed.append(one.model_copy(update={"unit": "claim"}))
            continue
        changed.append(one.model_copy(update={"unit": "superseded"}))
        # What was found by the sentence's words is shown; its own words may find more.
        looks = tuple(look for look in one.looks if look not in ("words", "search"))
        looks = looks or (("place",) if one.looks else ())
        for n, claim in enumerate(claims if len(claims) > 1 else [one.claim], start=1):
            id_ = {"id": f"{one.claim.id}.{n}", "index": n, "sentence": one.claim.sentence}
            everywhere = one.everywhere and about_the_whole(claim.text)
            fresh = {"claim": claim.model_copy(update=id_), "unit": "claim", "judgements": ()}
            parts.append(one.model_copy(update={**fresh, "looks": looks, "everywhere": everywhere}))
    run.say({"node": "decompose", "claims": len(due), "parts": len(parts)})
    changed += _ask_about_parts(parts, due, run)
    return {"claims": replace_claims(state["claims"], changed), "calls": made.calls}


def _ask_about_parts(
    parts: Sequence[ClaimState], sentences: Sequence[ClaimState], run: Run
) -> list[ClaimState]:
    """The parts with a question about all parts of sentences that were asked about together, which shows what was
    shown for these; parts of sentences that nobody was asked about as they are."""
    asking = [part for part in parts if not part.asked]
    for question, held in _by_last_question(one for one in sentences if one.asked):
        numbers = {one.claim.sentence for one in held}
        mine = [part for part in parts if part.claim.sentence in numbers]
        evidence: set[int] = set()
        for one in held:
            evidence |= {*one.own, *cited_lines(one, one.last_votes(), run.sources)}
        lines: tuple[Lines, ...] = (tuple(sorted(evidence)),) if evidence else ()
        # All of the source may have been shown for several sentences together.
        lines = question.lines if question.prompt == WHOLE else lines
        for group in _in_groups(mine):
            ids = [part.claim.id for part in group]
            shown = (question.look, lines, question.pages, question.prompt)
            anew = make_question(ids, run.sources, *shown)
            asking += [part.model_copy(update={"asked": (anew,)}) for part in group]
    return asking


async def gather(state: CheckState, run: Run) -> CheckState:
    """Show each open claim the evidence of its next look, as a question."""
    by_look: dict[Look, list[ClaimState]] = {}
    for one in run.due(state["claims"], "gather"):
        by_look.setdefault(next_step(one, run.plan).look, []).append(one)
    if "words" in by_look:
        # The first search by meaning embeds all of the source: not on the event loop.
        await asyncio.to_thread(run.sources.meaning)
    shown: list[ClaimState] = []
    for look, due in by_look.items():
        if run.session.triage:
            # The offline check reads the documents as they stand.
            question = make_question([one.claim.id for one in due], run.sources, look)
            shown += [one.with_look(look).with_question(question) for one in due]
        elif look == "words" and due[0].asked:
            for _, parts in groupby(due, key=lambda one: one.claim.sentence):
                shown += _show_their_words(list(parts), run)
        else:
            shown += _show_lines(due, look, run)
    return {"claims": replace_claims(state["claims"], shown)}


def _show_lines(claims: Sequence[ClaimState], look: Look, run: Run) -> list[ClaimState]:
    """The claims with what this look adds to their evidence; where that is nothing, they aren't asked again."""
    groups = _in_groups(claims) if look == "place" else group_claims(claims, run.sources)
    shown: list[ClaimState] = []
    for group in groups:
        # What was found for a claim; else its place, or the window around it.
        added = [one.found or (one.place if look == "place" else one.around) for one in group]
        question = widen(group, run.sources, chain.from_iterable(added), look)
        for one, own in zip(group, added, strict=True):
            after = one.with_look(question.look if question else look, own)
            shown.append(after.with_question(question) if question else after)
    return shown


def _show_their_words(claims: Sequence[ClaimState], run: Run) -> list[ClaimState]:
    """Claims of a sentence that aren't borne out, with a question of their own: what was shown for them, the lines
    that were cited, the places that share most with their words. Where all of it was shown already, none is asked."""
    new: set[int] = set()
    before: set[int] = set()
    for one in claims:
        hits = {line.number for line in run.sources.hits(one.claim.text, OWN_PLACES)}
        new |= hits - one.lines_shown()
        # A place that fits may have been shown beside it for the sake of another claim.
        before |= {*one.own, *cited_lines(one, one.last_votes(), run.sources), *(hits & one.lines_shown())}
    if not new:
        return [one.with_look("words") for one in claims]
    lines = (tuple(sorted(before)), tuple(sorted(new - before)))
    question = make_question([one.claim.id for one in claims], run.sources, "words", lines)
    return [one.with_look("words", before | new).with_question(question) for one in claims]


async def judge(state: CheckState, run: Run) -> CheckState:
    """Put every unanswered question to every judge of the panel."""
    due = run.due(state["claims"], "judge")
    unanswered: dict[Question, None] = {}
    for one in due:
        for question in one.asked:
            if not one.votes(question.id):
                unanswered[question] = None
    questions = [await run.show(question) for question in unanswered]
    claims = {one.claim.id: one.claim for one in state["claims"]}
    told: list[dict[str, object]] = []
    for question in questions:
        texts = [claims[id_].text[:LONGEST] for id_ in question.claim_ids]
        shown = [span.text[:LONGEST] for span in question.shown]
        told.append({"look": question.look, "claims": texts, "shown": shown})
    run.say({"node": "judge", "questions": told})
    judges = run.panel.judges
    places = {one.claim.id: (*one.place, *one.own) for one in due}
    first, cascade = needed_to_clear(len(judges), run.plan.consensus), None
    if run.plan.cascade:
        apart = run.plan.decompose == "doubted"
        whole = {one.claim.id for one in due if apart and one.unit == "sentence"}
        first, cascade = 1, Cascade(run.session.settings.sample, whole)
    answers = await ask_until_clear(judges, first, questions, claims, run.case, places, cascade)
    judgements, calls = _read(answers, run)
    judged: list[ClaimState] = []
    for one in due:
        after, question = one.with_judgements(judgements), one.asked[-1]
        # What was shown counts as looked at if a judge answered; the offline check reads all, even if it can't tell.
        if any(vote.label or vote.failure == "needs_model" for vote in after.votes(question.id)):
            share = 1.0 if question.look == "source" else run.sources.share(after.lines_shown(read=True))
            after = after.with_answer(question.look, share)
        judged.append(after)
    return {"claims": replace_claims(state["claims"], judged), "calls": calls}


async def vote(state: CheckState, run: Run) -> CheckState:
    """Tell whoever watches what follows for each claim from what was said. Decides nothing: the policy does."""
    told: list[dict[str, object]] = []
    for one in state["claims"]:
        step = next_step(one, run.plan)
        told.append({"claim_id": one.claim.id, "next": step.do, "label": step.label})
    run.say({"node": "vote", "claims": told})
    return {}


async def arbitrate(state: CheckState, run: Run) -> CheckState:
    """Ask one more judge about the claims on which the panel is split."""
    due = run.due(state["claims"], "arbitrate")
    disputes = _by_last_question(due)
    answers = await asyncio.gather(*(_decide(question, split, run) for question, split in disputes))
    rulings, calls = _read(answers, run)
    by_claim = {ruling.claim_id: ruling for ruling in rulings}
    ruled: list[ClaimState] = []
    for one in due:
        ruling = by_claim[one.claim.id]
        after = one.with_judgements([ruling])
        ruled.append(after.model_copy(update={"ruling": ruling, "ruled_by": "arbiter"}))
    run.say({"node": "arbitrate", "claims": len(ruled)})
    return {"claims": replace_claims(state["claims"], ruled), "calls": calls}


async def _decide(question: Question, split: Sequence[ClaimState], run: Run) -> Answered:
    """The arbiter's word on each of these claims, which the panel was asked about in this question."""
    arbiter = run.panel.arbiter
    assert arbiter is not None, "the plan knows whether there is an arbiter"
    claims: list[Claim] = []
    votes: list[Judgement] = []
    for one in split:
        claims.append(one.claim)
        votes += one.last_votes()
    shown = await run.show(question.model_copy(update={"claim_ids": tuple(claim.id for claim in claims)}))
    answer = await arbiter.arbitrate(shown, claims, votes, run.case)
    return complete(answer, arbiter.name, shown)


async def consult(state: CheckState, run: Run) -> CheckState:
    """Look into the saved web pages, for claims that the source doesn't have."""
    pages = await run.session.pages()
    shown: dict[str, DocumentRef] = {}
    consulted: list[ClaimState] = []
    for one in run.due(state["claims"], "consult"):
        outcome: Consulted = "no_pages"
        if pages is not None:
            spans = [hit.span for hit in await asyncio.to_thread(pages.search, one.claim.text, SNIPPETS)]
            shown |= {span.source_id: pages.pages[span.source_id] for span in spans}
            outcome = "found" if spans else "nothing_found"
            if spans:
                one = one.with_question(with_snippets(one, run.sources, spans))
        consulted.append(one.model_copy(update={"consulted": outcome}))
    return {"claims": replace_claims(state["claims"], consulted), "pages": list(shown.values())}


async def localise_errors(state: CheckState, run: Run) -> CheckState:
    """Place the wrong words of claims that were decided wrong without any judge saying where; or tell why a model
    can't."""
    model, claims = run.panel.localiser, state["claims"]
    asked = []
    for question, held in _by_last_question(one for one in run.due(claims, "settle") if one.asked):
        wrong = [found for one in held if (found := _without_a_place(one, run))]
        if model and wrong:
            asked.append(localise(model, wrong, await run.show(question), run.case))
    errors: dict[str, Error] = {}
    calls: list[Call] = []
    for placed_errors, made in await asyncio.gather(*asked):
        errors |= placed_errors
        calls += made
    decided = [one for one in claims if one.claim.id in errors]
    placed = [one.model_copy(update={"localised": (errors[one.claim.id],)}) for one in decided]
    run.say({"node": "checked", "claims": len(claims)})
    return {"checked": replace_claims(claims, placed), "calls": calls}


def _without_a_place(claim: ClaimState, run: Run) -> Wrong | None:
    """A claim decided wrong of which no judge said where, with the reasons that were given; None for another.

    What all judges take for true, if not from the source, has no wrong words.
    """
    label = next_step(claim, run.plan).label
    if label is None or label not in WRONG:
        return None
    votes = claim.votes(claim.last_asked)
    if votes and all(j.label == "out_dependent" for j in votes):
        return None
    agreeing = agreeing_judgements(claim.judgements, label, claim.last_asked)
    if named_errors(agreeing):
        return None
    reasons = tuple(dict.fromkeys(j.reason for j in agreeing if j.reason))
    return Wrong(claim.claim, reasons, absent=claim.read_whole)


def _in_groups(claims: Sequence[ClaimState]) -> list[Sequence[ClaimState]]:
    """The claims in groups of as many as a question asks about."""
    return [claims[n : n + CLAIMS] for n in range(0, len(claims), CLAIMS)]


def _by_last_question(claims: Iterable[ClaimState]) -> list[tuple[Question, list[ClaimState]]]:
    """Claims by the question in which they were asked about last."""
    by_id: dict[str, tuple[Question, list[ClaimState]]] = {}
    for one in claims:
        by_id.setdefault(one.last_asked, (one.asked[-1], []))[1].append(one)
    return list(by_id.values())


def _read(answers: Iterable[Answered], run: Run) -> tuple[list[Judgement], list[Call]]:
    """All judgements, those that rest on saved pages alone as out-dependent; and the calls made."""
    judgements: list[Judgement] = []
    calls: list[Call] = []
    for answer in answers:
        calls += answer.calls
        judgements += [rest_on_pages(judgement, run.case.source_ids) for judgement in answer.judgements]
    return judgements, calls
