"""The stations of `check`, one stretch at a time: gather, find, judge, vote, arbitrate, consult, localise.

Knows: state in, the rooms' functions, state out; and the routes between them, pure and total.
Does not know: how a judge judges or a passage is found.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Literal, cast

from langgraph.runtime import Runtime
from langgraph.types import Command

from longproof.agent.localise import Wrong, localise
from longproof.agent.types import (
    Answered,
    Call,
    Case,
    Claim,
    DecidedBy,
    Error,
    Failure,
    Finder,
    Judgement,
    Label,
    Question,
    Verdict,
)
from longproof.agent.verdict import WRONG, agreed, named, verdict
from longproof.agent.vote import COARSE, SIDES, on_menu
from longproof.graphs.asking import ask
from longproof.graphs.convert import asked, dump, opened_case, opened_claims, opened_question, refs
from longproof.graphs.decisions import (
    COUNTINGS,
    Rule,
    arbitrated,
    from_pages,
    given_labels,
    not_audited,
    not_in_pages,
    to_the_pages,
)
from longproof.graphs.finding import piece_questions, resting_on_pieces, without_evidence
from longproof.graphs.gather import questions, with_snippets
from longproof.graphs.protocols import Protocol
from longproof.graphs.resources import Pool, Resources
from longproof.graphs.settings import PERSON, Settings, settings_of
from longproof.graphs.state import Asked, CheckState, ClaimStanding, Dispute, Standing
from longproof.graphs.telling import shown, voiced
from longproof.graphs.whole import sentence_at
from longproof.indexes.documents import DocumentRef
from longproof.indexes.pages import PageIndex

NOT_CONSULTED = "outside knowledge not consulted"
NOT_IN_PAGES = "nothing in the saved pages speaks of it"
SNIPPETS = 3
"""How many snippets are shown with a claim (VeriGray, seed 002, Appendix F)."""


class Stations:
    """The nodes of the `check` subgraph over one pool of resources."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def gather(
        self, state: CheckState, runtime: Runtime[Settings]
    ) -> Command[Literal["find", "consult", "judge"]]:
        """The next round's questions for the claims that are still open; on to who deals with them first.

        The row says to whom, not the state, so a `Command` takes it there and no edge has to read the state.
        """
        resources = await self._pool.get(settings_of(runtime.context))
        row = resources.protocol
        sources = await resources.sources(refs(state["sources"]))
        places = {
            claim_id: [(n, start, end) for n, start, end in held]
            for claim_id, held in state["stretch"]["places"].items()
        }
        settled = (
            not_audited(state["claims"], state["case"]["labels"]) if row.decision == "undisputed" else {}
        )
        if settled:
            state = {**state, "standings": settled}
        plain = [
            asked(question)
            for number, claims in _by_round(state)
            for question in questions(
                claims,
                sources,
                places,
                row.rounds[number],
                budget=row.budget(number),
                number=number,
                prompt=row.finds or row.prompt,
                size=row.claims_a_question,
            )
        ]
        made: CheckState = {"questions": plain, "asked": plain}
        if row.consults and not state["sources"]:
            return Command(update={**made, "standings": to_the_pages(plain)}, goto="consult")
        return Command(update={**made, "standings": settled} if settled else made, goto=row.first)

    async def find(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """Every model looks for evidence of every claim; what any of them finds is asked about, piece by piece."""
        resources = await self._pool.get(settings_of(runtime.context))
        case = await opened_case(state["case"], resources.store)
        by_id = {claim.id: claim for claim in opened_claims(state["claims"])}
        wanted = [await opened_question(question, resources.store) for question in state["questions"]]
        finders = [judge for judge in resources.panel.judges if isinstance(judge, Finder)]
        answers = await asyncio.gather(
            *(
                asyncio.gather(*(finder.find(q, by_id[q.claim_ids[0]], case) for finder in finders))
                for q in wanted
            )
        )
        found = {q.id: [answer.search for answer in told] for q, told in zip(wanted, answers, strict=True)}
        made = [
            question
            for q in wanted
            for question in piece_questions(q, by_id[q.claim_ids[0]], found[q.id], resources.protocol.prompt)
        ]
        plain = [asked(question) for question in made]
        return {
            "searches": dump(chain.from_iterable(found.values())),
            "calls": dump(call for told in answers for answer in told for call in answer.calls),
            "standings": {
                q.claim_ids[0]: without_evidence(q.id, found[q.id], resources.consensus) for q in wanted
            },
            "questions": plain,
            "asked": plain,
        }

    async def judge(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """Every question to every judge of the panel; see `asking` for the order."""
        resources = await self._pool.get(settings_of(runtime.context))
        case = await opened_case(state["case"], resources.store)
        by_id = {claim.id: claim for claim in opened_claims(state["claims"])}
        opened = [await opened_question(question, resources.store) for question in state["questions"]]
        runtime.stream_writer(shown(opened, by_id))
        answers = await ask(resources.panel.judges, opened, by_id, case)
        return _answered(answers, resources.protocol, case)

    async def vote(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """Where each claim of this round's questions stands now."""
        resources = await self._pool.get(settings_of(runtime.context))
        row = resources.protocol
        before = state.get("standings", {})
        rule = Rule(
            consensus=resources.consensus,
            sides=COARSE if row.menu else SIDES,
            last=row.rounds[-1],
            next_round=lambda id_, side: row.next_round(before[id_]["next"] if id_ in before else 0, side),
            consults=row.consults,
            given=given_labels(state["claims"], state["case"]["labels"]),
            sourced=bool(state["sources"]),
        )
        heard = _judgements(state, {question["id"] for question in state["questions"]})
        standings = {**before, **COUNTINGS[row.decision](state["questions"], heard, rule)}
        runtime.stream_writer(voiced("vote", heard, standings))
        return {"standings": standings}

    async def arbitrate(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """One more judge, for the claims on which the panel is split; or they are left to a person, or split."""
        resources = await self._pool.get(settings_of(runtime.context))
        if resources.settings.arbiter == PERSON:
            return {"standings": _left(state, "pending")}
        arbiter = resources.panel.arbiter
        if arbiter is None:
            return {"standings": _left(state, "failed")}
        case = await opened_case(state["case"], resources.store)
        disputes = [
            (question, await opened_question(question, resources.store), claims)
            for question, claims in _disputes(state)
        ]
        answers = await asyncio.gather(
            *(
                arbiter.arbitrate(opened, claims, _heard(state, question, claims), case)
                for question, opened, claims in disputes
            )
        )
        row = resources.protocol
        standings = dict(state["standings"])
        told = _answered(answers, row, case)
        for (question, _, _), answer in zip(disputes, answers, strict=True):
            for judgement in _read(answer.judgements, row, case):
                standings[judgement.claim_id] = arbitrated(
                    judgement, question, consults=row.consults, sourced=bool(state["sources"])
                )
        runtime.stream_writer(voiced("arbitrate", [j for a in answers for j in a.judgements], standings))
        return {**told, "standings": standings}

    async def consult(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """Saved web pages, for claims that the source doesn't have; without any, fabricated with that caveat."""
        resources = await self._pool.get(settings_of(runtime.context))
        pages = await resources.pages()
        if resources.protocol.consult == "before_judging" and pages:
            return await self._snippets_first(state, resources, pages)
        standings = dict(state["standings"])
        made: list[Question] = []
        found: dict[str, DocumentRef] = {}
        for claim in standing(state, "absent"):
            hits = await asyncio.to_thread(pages.search, claim.text, SNIPPETS) if pages else []
            if not hits or not pages:
                caveat = NOT_IN_PAGES if pages else NOT_CONSULTED
                standings[claim.id] = not_in_pages(
                    standings[claim.id], caveat, sourced=bool(state["sources"])
                )
                continue
            before = await opened_question(_last_asked(state, claim), resources.store)
            made.append(with_snippets(before, claim, [hit.span for hit in hits]))
            found |= {hit.span.source_id: pages.page(hit.span.source_id).document for hit in hits}
        plain = [asked(question) for question in made]
        return {"standings": standings, "questions": plain, "asked": plain, "pages": dump(found.values())}

    async def _snippets_first(self, state: CheckState, resources: Resources, pages: PageIndex) -> CheckState:
        """The questions that are about to be asked, each with the snippets found for it."""
        response = await resources.store.fetch(state["case"]["response"])
        by_id = {claim.id: claim for claim in opened_claims(state["claims"])}
        made: list[Question] = []
        found: dict[str, DocumentRef] = {}
        for plain_question in state["questions"]:
            question = await opened_question(plain_question, resources.store)
            claim = by_id[question.claim_ids[0]]
            query = claim.text if resources.protocol.query == "claim" else sentence_at(response, claim.origin)
            hits = await asyncio.to_thread(pages.search, query, SNIPPETS)
            made.append(with_snippets(question, claim, [hit.span for hit in hits]) if hits else question)
            found |= {hit.span.source_id: pages.page(hit.span.source_id).document for hit in hits}
        plain = [asked(question) for question in made]
        return {"questions": plain, "asked": plain, "pages": dump(found.values())}

    async def localise(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """The exact wrong places of what was decided, and one verdict for every claim of the stretch."""
        resources = await self._pool.get(settings_of(runtime.context))
        places, calls = await self._places(state, resources)
        judgements = _judgements(state)
        found = [
            _verdict(claim, state["standings"][claim.id], judgements, places.get(claim.id, ()))
            for claim in opened_claims(state["claims"])
            if state["standings"][claim.id]["standing"] != "pending"
        ]
        if resources.protocol.decision == "any_piece":
            found = [resting_on_pieces(one, state["asked"], resources.consensus) for one in found]
        runtime.stream_writer({"station": "checked", "claims": len(found)})
        return {"verdicts": dump(found), "calls": dump(calls), "disputes": _pending(state)}

    async def _places(
        self, state: CheckState, resources: Resources
    ) -> tuple[dict[str, tuple[Error, ...]], list[Call]]:
        """Errors for claims that were decided wrong without anybody saying where, asked of a model."""
        model = resources.panel.localiser
        if model is None or not resources.protocol.localises:
            return {}, []
        case = await opened_case(state["case"], resources.store)
        unplaced = [(await opened_question(q, resources.store), wrong) for q, wrong in _unplaced(state)]
        answers = await asyncio.gather(*(localise(model, wrong, q.shown, case) for q, wrong in unplaced))
        places = {id_: errors for answer in answers for id_, errors in answer.errors.items()}
        return places, [call for answer in answers for call in answer.calls]


def entering(state: CheckState) -> str:
    """From the start; or, with what a person decided, to where that claim goes on."""
    return after_arbitrate(state) if state.get("standings") else "gather"


def after_vote(state: CheckState) -> str:
    """Wider where a claim is open, then disputes, then what was not found, then places."""
    if standing(state, "open"):
        return "gather"
    return "arbitrate" if standing(state, "split") else after_arbitrate(state)


def after_arbitrate(state: CheckState) -> str:
    """To the saved pages with what was not found."""
    return "consult" if standing(state, "absent") else "localise"


def after_consult(state: CheckState) -> str:
    """Back to the panel where snippets were found."""
    return "judge" if state["questions"] else "localise"


def standing(state: CheckState, which: Standing) -> list[Claim]:
    """The claims that stand so; before the first vote all are open."""
    standings = state.get("standings", {})
    return opened_claims(
        [
            claim
            for claim in state["claims"]
            if (standings[claim["id"]]["standing"] if claim["id"] in standings else "open") == which
        ]
    )


def _left(state: CheckState, which: Literal["pending", "failed"]) -> dict[str, ClaimStanding]:
    """Where the panel is split and no model arbitrates: pending a person, or undecided for good."""
    standings = dict(state["standings"])
    for claim in standing(state, "split"):
        standings[claim.id] = {**standings[claim.id], "standing": which}
    return standings


def _pending(state: CheckState) -> list[Dispute]:
    """What a person has to know of each claim that is left to one."""
    return [
        {
            "claim": claim.model_dump(mode="json"),
            "question": {**_last_asked(state, claim), "claim_ids": [claim.id]},
            "judgements": [j for j in state.get("judgements", []) if j["claim_id"] == claim.id],
        }
        for claim in standing(state, "pending")
    ]


def _by_round(state: CheckState) -> list[tuple[int, list[Claim]]]:
    """The open claims by the number of the round that each is to be looked at in next."""
    standings = state.get("standings", {})
    found: dict[int, list[Claim]] = {}
    for claim in standing(state, "open"):
        found.setdefault(standings[claim.id]["next"] if claim.id in standings else 0, []).append(claim)
    return sorted(found.items())


def _disputes(state: CheckState) -> list[tuple[Asked, list[Claim]]]:
    """Split claims by the question they were asked in, and that question narrowed to them."""
    split = standing(state, "split")
    disputes = []
    for question in state["asked"]:
        claims = [c for c in split if state["standings"][c.id]["question_id"] == question["id"]]
        if claims:
            narrowed: Asked = {**question, "claim_ids": [c.id for c in claims]}
            disputes.append((narrowed, claims))
    return disputes


def _heard(state: CheckState, question: Asked, claims: Sequence[Claim]) -> list[Judgement]:
    ids = {claim.id for claim in claims}
    return [j for j in _judgements(state, [question["id"]]) if j.claim_id in ids]


def _judgements(state: CheckState, questions: Collection[str] | None = None) -> list[Judgement]:
    """The judgements of all questions, or of those that are named."""
    return [
        Judgement.model_validate(j)
        for j in state.get("judgements", [])
        if questions is None or j["question_id"] in questions
    ]


def _last_asked(state: CheckState, claim: Claim) -> Asked:
    """The question in which this claim was asked about last."""
    id_ = state["standings"][claim.id]["question_id"]
    return next(question for question in state["asked"] if question["id"] == id_)


def _unplaced(state: CheckState) -> list[tuple[Asked, list[Wrong]]]:
    """Claims decided wrong of which no judge said where, by the question that they were decided on."""
    judgements = _judgements(state)
    found: dict[str, tuple[Asked, list[Wrong]]] = {}
    for claim in standing(state, "decided"):
        stands = state["standings"][claim.id]
        label = cast("Label", stands["label"])
        heard = agreed([j for j in judgements if j.claim_id == claim.id], label, stands["question_id"])
        if label in WRONG and not named(heard):
            reasons = tuple(dict.fromkeys(j.reason for j in heard if j.reason))
            question = _last_asked(state, claim)
            found.setdefault(question["id"], (question, []))[1].append(Wrong(claim, reasons))
    return list(found.values())


def _verdict(
    claim: Claim, stands: ClaimStanding, judgements: Sequence[Judgement], localised: Sequence[Error]
) -> Verdict:
    return verdict(
        claim,
        [j for j in judgements if j.claim_id == claim.id],
        label=cast("Label | None", stands["label"] if stands["standing"] == "decided" else None),
        decided_by=cast("DecidedBy", stands["decided_by"]),
        question_id=stands["question_id"],
        failure=cast("Failure | None", stands["failure"]),
        caveat=stands["caveat"],
        localised=localised,
    )


def _read(judgements: Iterable[Judgement], row: Protocol, case: Case) -> list[Judgement]:
    """Judgements in the labels of the row, and with pages as what they are, where it consults them last."""
    read = [on_menu(judgement, row.menu) for judgement in judgements]
    return [from_pages(judgement, case.source_ids) for judgement in read] if row.consults else read


def _answered(answers: Sequence[Answered], row: Protocol, case: Case) -> CheckState:
    return {
        "judgements": dump(_read((j for answer in answers for j in answer.judgements), row, case)),
        "calls": dump(chain.from_iterable(answer.calls for answer in answers)),
    }
