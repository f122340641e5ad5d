"""The nodes of `check`, one claim group at a time: gather, judge, vote, arbitrate, consult, localise.

Knows: how to do what the policy says next of each claim; the papers' graphs use these nodes too.
Does not know: what happens next to a claim (policy), how a judge judges or a passage is found.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from langgraph.runtime import Runtime

from longproof.agent.localise import Wrong, localise
from longproof.agent.report import WRONG, agreed, named
from longproof.agent.types import (
    Answered,
    Call,
    Case,
    Claim,
    Error,
    Judgement,
    Label,
    Question,
    Round,
    SourcePlace,
)
from longproof.agent.vote import resting_on_pages
from longproof.graphs.evidence.questions import questions, together, widened, with_snippets
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.panel import ask_cascade, ask_panel, complete
from longproof.graphs.policy import Policy, Step, next_step
from longproof.graphs.protocol import Protocol
from longproof.graphs.resources import Pool, Resources
from longproof.graphs.settings import Settings, settings_of
from longproof.graphs.state import CheckState, ClaimState, QuestionRef
from longproof.indexes.documents import DocumentRef
from longproof.indexes.pages import PageIndex
from longproof.retrieval.types import Span

SNIPPETS = 3
"""How many snippets are shown with a claim (VeriGray, seed 002, Appendix F)."""
SCANNED = "judge_scanned"
"""The prompt that also says that all of the source was read for the claims."""
LONGEST = 200
"""Characters of a text in what a node tells while it works."""
NODES = {"show": "gather", "judge": "judge", "arbitrate": "arbitrate", "consult": "consult"}
"""Which node does what a step says, the first first; what is settled or left to a person goes to `localise`."""


class CheckNodes:
    """The nodes over one pool of resources; `policy` says what happens next to a claim."""

    def __init__(self, pool: Pool, policy: Policy = next_step) -> None:
        self._pool, self._policy = pool, policy

    async def resources(self, runtime: Runtime[Settings]) -> Resources:
        """What is open for this run."""
        return await self._pool.get(settings_of(runtime.context))

    async def gather(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """The evidence of each open claim's next round, as questions."""
        resources = await self.resources(runtime)
        sources = await resources.sources(state["sources"])
        claims = {one.claim.id: one for one in state["claims"]}
        for round_, due in _by_round(self.due(state, "show")):
            show = _lined if resources.protocol.lined else _as_it_stands
            claims |= {one.claim.id: one for one in show(due, sources, round_, resources.protocol)}
        return {"claims": list(claims.values()), "plan": resources.plan(state["case"])}

    async def judge(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """Every unanswered question to every judge of the panel."""
        resources = await self.resources(runtime)
        case = await state["case"].opened(resources.store)
        claims = {one.claim.id: one.claim for one in state["claims"]}
        due = [one for one, _ in self.due(state, "judge")]
        refs = dict.fromkeys(ref for one in due for ref in one.asked if not one.votes(ref.id))
        sources = await resources.sources(state["sources"])
        opened = [await ref.opened(resources.store, sources) for ref in refs]
        runtime.stream_writer(_shown(opened, claims))
        near = {one.claim.id: one.pieces for one in due}
        answers = await _asked(resources, opened, claims, near, case)
        judgements = _read(answers, case)
        return {
            "claims": [one.with_judgements(judgements) for one in state["claims"]],
            "plan": resources.plan(state["case"]),
            "calls": list(chain.from_iterable(answer.calls for answer in answers)),
        }

    async def vote(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """What the judges said, and what follows from it, for whoever watches. Decides nothing: the policy does."""
        told = [_voted(one, self._policy(one, state["plan"])) for one in state["claims"]]
        runtime.stream_writer({"node": "vote", "claims": told})
        return {}

    async def arbitrate(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """One more judge, for the claims on which the panel is split."""
        resources = await self.resources(runtime)
        arbiter = resources.panel.arbiter
        assert arbiter is not None, "the plan knows whether there is an arbiter"
        case = await state["case"].opened(resources.store)
        sources = await resources.sources(state["sources"])
        disputes = [
            (await _narrowed(ref, held).opened(resources.store, sources), held)
            for ref, held in _by_question([one for one, _ in self.due(state, "arbitrate")])
        ]
        answers = await asyncio.gather(
            *(
                arbiter.arbitrate(question, [one.claim for one in held], _votes(held, question.id), case)
                for question, held in disputes
            )
        )
        answers = [
            complete(answer, arbiter.name, question)
            for answer, (question, _) in zip(answers, disputes, strict=True)
        ]
        words = {j.claim_id: j for j in _read(answers, case)}
        ruled = [_ruled(one, words.get(one.claim.id)) for one in state["claims"]]
        told = [_voted(one, self._policy(one, state["plan"])) for one in ruled if one.claim.id in words]
        runtime.stream_writer({"node": "arbitrate", "claims": told})
        return {"claims": ruled, "calls": list(chain.from_iterable(answer.calls for answer in answers))}

    async def consult(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """Saved web pages, for claims that the source doesn't have."""
        resources = await self.resources(runtime)
        pages = await resources.pages()
        due = {one.claim.id for one, _ in self.due(state, "consult")}
        claims: list[ClaimState] = []
        found: dict[str, DocumentRef] = {}
        for one in state["claims"]:
            if one.claim.id in due:
                one, shown = await _looked_up(one, pages, resources)
                found |= shown
            claims.append(one)
        return {"claims": claims, "pages": list(found.values())}

    async def localise(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """The exact wrong places of claims that were decided wrong without any judge saying where."""
        resources = await self.resources(runtime)
        places, calls = await self._places(state, resources)
        runtime.stream_writer({"node": "checked", "claims": len(state["claims"])})
        return {
            "checked": [
                one.model_copy(update={"localised": places[one.claim.id]}) if one.claim.id in places else one
                for one in state["claims"]
            ],
            "calls": calls,
        }

    def due(self, state: CheckState, do: str) -> list[tuple[ClaimState, Step]]:
        """The claims whose next step is this one."""
        steps = [(one, self._policy(one, state["plan"])) for one in state["claims"]]
        return [(one, step) for one, step in steps if step.do == do]

    def route(self, state: CheckState) -> str:
        """The node that does what any of the claims needs next. Every edge of `check` asks it."""
        needed = {self._policy(one, state["plan"]).do for one in state["claims"]}
        return next((node for do, node in NODES.items() if do in needed), "localise")

    async def _places(
        self, state: CheckState, resources: Resources
    ) -> tuple[dict[str, tuple[Error, ...]], list[Call]]:
        model = resources.panel.localiser
        if model is None or not resources.protocol.localises:
            return {}, []
        case = await state["case"].opened(resources.store)
        wrong = [
            (one, unplaced)
            for one, step in self.due(state, "settle")
            if (unplaced := _unplaced(one, step.label))
        ]
        named = {one.claim.id: unplaced for one, unplaced in wrong}
        sources = await resources.sources(state["sources"])
        asked = [
            (await ref.opened(resources.store, sources), [named[one.claim.id] for one in held])
            for ref, held in _by_question([one for one, _ in wrong])
        ]
        answers = await asyncio.gather(*(localise(model, held, q, case) for q, held in asked))
        places: dict[str, tuple[Error, ...]] = {
            id_: (Error(span=named[id_].claim.origin, reason=why),)
            for answer in answers
            for id_, why in answer.reasons.items()
            if not named[id_].reasons
        }
        places |= {id_: errors for answer in answers for id_, errors in answer.errors.items()}
        return places, [call for answer in answers for call in answer.calls]


async def _asked(
    resources: Resources,
    questions: Sequence[Question],
    claims: Mapping[str, Claim],
    near: Mapping[str, Sequence[SourcePlace]],
    case: Case,
) -> list[Answered]:
    judges, settings = resources.panel.judges, resources.settings
    if settings.cascade and len(judges) > 1:
        return await ask_cascade(judges, questions, claims, case, settings.sample, near)
    return await ask_panel(judges, questions, claims, case)


def _by_round(due: Iterable[tuple[ClaimState, Step]]) -> list[tuple[Round, list[ClaimState]]]:
    """Claims by the round that each is to be looked at in."""
    found: dict[Round, list[ClaimState]] = {}
    for one, step in due:
        found.setdefault(step.round, []).append(one)
    return list(found.items())


def _as_it_stands(
    claims: Sequence[ClaimState], sources: Sources, round_: Round, protocol: Protocol
) -> list[ClaimState]:
    """The claims with their questions over the text of the round, as papers show it."""
    places = {one.claim.id: sources.numbered(one.places) for one in claims}
    made = questions(
        [one.claim for one in claims],
        sources,
        places,
        round_,
        prompt=protocol.prompt,
        size=protocol.claims_a_question,
    )
    refs = [QuestionRef.of(question) for question in made]
    return [one.looked(round_).with_questions(refs) for one in claims]


def _lined(
    claims: Sequence[ClaimState], sources: Sources, round_: Round, protocol: Protocol
) -> list[ClaimState]:
    """The claims with what this round adds to their evidence; where that is nothing, they aren't asked again."""
    done: list[ClaimState] = []
    groups = [list(claims)] if round_ == "place" else together(claims, protocol.claims_a_question)
    for group in groups:
        added = [place for one in group for place in _added(one, round_)]
        scanned = all("scan" in one.rounds and one.unread is None for one in group)
        ref = widened(group, sources, added, round_, SCANNED if scanned else protocol.prompt)
        done += [
            one.looked(ref.round if ref else round_).with_questions([ref] if ref else []) for one in group
        ]
    return done


def _added(claim: ClaimState, round_: Round) -> tuple[SourcePlace, ...]:
    """What a round shows of the sources for a claim."""
    if claim.found:
        return claim.found
    return claim.pieces if round_ == "place" else claim.places


def _by_question(claims: Iterable[ClaimState]) -> list[tuple[QuestionRef, list[ClaimState]]]:
    """Claims by the question in which they were asked about last."""
    found: dict[str, tuple[QuestionRef, list[ClaimState]]] = {}
    for one in claims:
        found.setdefault(one.last_asked, (one.asked[-1], []))[1].append(one)
    return list(found.values())


def _narrowed(ref: QuestionRef, held: Sequence[ClaimState]) -> QuestionRef:
    """A question about these of its claims alone."""
    return ref.model_copy(update={"claim_ids": tuple(one.claim.id for one in held)})


def _votes(claims: Iterable[ClaimState], question_id: str) -> list[Judgement]:
    return list(chain.from_iterable(one.votes(question_id) for one in claims))


def _ruled(claim: ClaimState, word: Judgement | None) -> ClaimState:
    if word is None:
        return claim
    return claim.with_judgements([word]).model_copy(update={"ruling": word, "ruled_by": "arbiter"})


async def _looked_up(
    claim: ClaimState, pages: PageIndex | None, resources: Resources
) -> tuple[ClaimState, dict[str, DocumentRef]]:
    """The claim with a question that shows snippets too, where any is found; and the pages that they are from."""
    if pages is None:
        return claim.model_copy(update={"consulted": "no_pages"}), {}
    spans, found = await found_snippets(pages, claim.claim.text)
    if not spans:
        return claim.model_copy(update={"consulted": "nothing_found"}), {}
    protocol = resources.protocol
    empty = QuestionRef(
        id="",
        claim_ids=(claim.claim.id,),
        places=(),
        round="nothing",
        prompt=protocol.prompt,
        lined=protocol.lined,
    )
    question = with_snippets(claim.asked[-1] if claim.asked else empty, claim.claim, spans)
    return claim.with_questions([question]).model_copy(update={"consulted": "found"}), found


async def found_snippets(pages: PageIndex, query: str) -> tuple[list[Span], dict[str, DocumentRef]]:
    """The best snippets of the saved pages for a query, and the pages that they are from."""
    hits = await asyncio.to_thread(pages.search, query, SNIPPETS)
    spans = [hit.span for hit in hits]
    return spans, {span.source_id: pages.page(span.source_id).document for span in spans}


def _unplaced(claim: ClaimState, label: Label | None) -> Wrong | None:
    """A claim decided wrong of which no judge said where, with the reasons that were given; None for another.

    What all judges take for true, if not from the source, has no wrong words.
    """
    if label is None or label not in WRONG:
        return None
    if all(j.label == "out_dependent" for j in claim.votes(claim.last_asked)):
        return None
    said = agreed(claim.judgements, label, claim.last_asked)
    return (
        None if named(said) else Wrong(claim.claim, tuple(dict.fromkeys(j.reason for j in said if j.reason)))
    )


def _read(answers: Iterable[Answered], case: Case) -> list[Judgement]:
    """What the judges said; what rests on saved pages as what it is."""
    return [
        resting_on_pages(judgement, case.source_ids) for answer in answers for judgement in answer.judgements
    ]


def _shown(asked: Sequence[Question], claims: dict[str, Claim]) -> dict[str, object]:
    """What the panel is about to be asked, and how the evidence begins."""
    return {
        "node": "judge",
        "questions": [
            {
                "round": question.round,
                "claims": [claims[id_].text[:LONGEST] for id_ in question.claim_ids],
                "shown": [span.text[:LONGEST] for span in question.shown],
            }
            for question in asked
        ],
    }


def _voted(claim: ClaimState, step: Step) -> dict[str, object]:
    """Who said what of a claim just now, and what follows from it."""
    said = [j for j in claim.judgements if j.question_id == claim.last_asked]
    return {
        "claim_id": claim.claim.id,
        "votes": [
            {"judge": j.judge, "said": j.label or j.failure, "reason": j.reason[:LONGEST]} for j in said
        ],
        "next": step.do,
        "label": step.label,
    }
