"""A paper's questions, put to the seats of a panel: language models by the paper's own prompt and form.

Knows: a model's answer is read by the paper's reader; whatever else sits on a panel (an NLI model, an object of the
caller's) judges as it does, and is read in the paper's menu.
Does not know: what a paper asks, or what its answers mean.
"""

import asyncio
from collections.abc import Mapping, Sequence
from hashlib import sha256

from longproof.agent.judge import ModelArbiter, ModelJudge, ask_about_claims
from longproof.agent.models.asker import Asker
from longproof.agent.prompting import language_of, opinions
from longproof.agent.types import (
    Answered,
    Arbiter,
    Case,
    Claim,
    Judge,
    Judgement,
    Look,
    Question,
    SourcePlace,
)
from longproof.graphs.papers.answers import Numbered, fill
from longproof.graphs.papers.paper import About, Asked, Paper
from longproof.graphs.papers.votes import on_menu
from longproof.indexes.documents import DocumentStore
from longproof.prompts import Prompt, render
from longproof.retrieval.types import Span


def question_about(paper: Paper, claims: Sequence[Claim], places: Sequence[SourcePlace], look: Look) -> Asked:
    """A question, named by all that it shows and asks."""
    ids = tuple(claim.id for claim in claims)
    shown = (f"{place.source_id}:{place.start}-{place.end}" for place in places)
    key = "|".join([paper.question or paper.prompt[0], look, "0", *ids, *shown])
    name = "q-" + sha256(key.encode()).hexdigest()[:12]
    return Asked(id=name, claim_ids=ids, places=tuple(places), look=look)


def place_of(span: Span) -> SourcePlace:
    """The place of a span, without its text."""
    return SourcePlace(source_id=span.source_id, start=span.start, end=span.end)


async def open_question(asked: Asked, paper: Paper, store: DocumentStore) -> Question:
    """The question with the texts that it shows."""
    shown = []
    for place in asked.places:
        text = (await store.fetch(place.source_id))[place.start : place.end]
        shown.append(Span(source_id=place.source_id, start=place.start, end=place.end, text=text))
    return Question(
        id=asked.id,
        claim_ids=asked.claim_ids,
        shown=tuple(shown),
        look=asked.look,
        prompt=paper.question or paper.prompt[0],
    )


async def ask_panel(
    paper: Paper,
    judges: Sequence[Judge],
    questions: Sequence[Question],
    claims: Mapping[str, Claim],
    case: Case,
) -> list[Answered]:
    """Every question to every judge; the answers in the order of the questions, then of the judges.

    The first question is awaited, so that a server's prefix cache holds the evidence that the others share.
    """

    async def put(question: Question, judge: Judge) -> Answered:
        asked = [claims[id_] for id_ in question.claim_ids]
        if isinstance(judge, ModelJudge):
            return await _ask(paper, judge.name, asker_of(paper, judge), question, asked, case)
        return _complete(await judge.judge(question, asked, case), judge.name, question, paper)

    answers: list[Answered] = []
    for some in (questions[:1], questions[1:]):
        answers += await asyncio.gather(*(put(question, judge) for question in some for judge in judges))
    return answers


async def ask_arbiter(
    paper: Paper,
    arbiter: Arbiter,
    question: Question,
    claims: Sequence[Claim],
    judgements: Sequence[Judgement],
    case: Case,
) -> Answered:
    """One judgement for each claim by one more judge, who sees what the others said: shuffled, without names."""
    if isinstance(arbiter, ModelArbiter):
        asker = arbiter.asker._replace(once=not paper.asks_again)
        return await _ask(paper, arbiter.name, asker, question, claims, case, judgements)
    answered = await arbiter.arbitrate(question, claims, judgements, case)
    return _complete(answered, arbiter.name, question, paper)


def asker_of(paper: Paper, judge: ModelJudge) -> Asker:
    """A judge's model and how it is asked: at its own temperature, where one is named for it, else at the paper's."""
    asker = judge.asker._replace(once=not paper.asks_again)
    return asker if judge.temperature is not None else asker._replace(temperature=paper.temperature)


async def _ask(
    paper: Paper,
    name: str,
    asker: Asker,
    question: Question,
    claims: Sequence[Claim],
    case: Case,
    prior: Sequence[Judgement] | None = None,
) -> Answered:
    """Ask a model about each claim. `prior`: the judgements that an arbiter decides between."""

    def prompt_of(numbered: Numbered) -> Prompt:
        prompt = fill(paper.prompt, question.shown, numbered, case)
        if prior is None:
            return prompt
        said = opinions(numbered, prior, question)
        return prompt.then(render("arbitrate_paper", language_of(case), opinions=said))

    return await ask_about_claims(
        asker,
        name,
        question,
        claims,
        purpose="judge" if prior is None else "arbitrate",
        form=paper.form,
        prompt_of=prompt_of,
        read=lambda value, n, claim: paper.read(value, About(n, claim, question.shown, case)),
    )


def _complete(answered: Answered, judge: str, question: Question, paper: Paper) -> Answered:
    """The answer in the paper's menu, with a failure for each claim that the judge said nothing of."""
    said = {one.claim_id: one for one in answered.judgements if one.question_id == question.id}
    judgements = []
    for id_ in question.claim_ids:
        silent = Judgement(
            claim_id=id_, judge=judge, round=question.look, question_id=question.id, failure="unavailable"
        )
        judgements.append(on_menu(said.get(id_, silent), paper.menu))
    return Answered(judgements, answered.calls)
