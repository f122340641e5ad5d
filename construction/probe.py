"""PROBE's construction by language models (section 3, Appendix B): base texts, inventions, labelled claims.

Knows: exact spans by comparing with the base text, evidence found by all models and accepted where 3 of 4 of them
agree. A claim of the base text without accepted evidence is left out and counted, a deviation: the paper calls it
hallucinated. Does not know: how models are opened, or how many parts are worked on together.
"""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Literal, NamedTuple

from longproof.agent.models.answers import Form
from longproof.agent.models.model import Model
from longproof.agent.types import Case, Claim, Place, Task
from longproof.construction.maker import Made, Maker
from longproof.construction.versions import (
    Rejected,
    Written,
    locate_quote,
    new_places,
    prompt_language,
    shared_length,
)
from longproof.graphs.cases import GivenCase, GivenClaim, GivenError
from longproof.graphs.papers.probe import PassFail, Segments
from longproof.prompts import Prompt, render
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document

ProbeTask = Literal["summarization", "question answering", "style transfer"]
TASKS: dict[ProbeTask, Task] = {
    "summarization": "summary",
    "question answering": "answer",
    "style transfer": "rewrite",
}
STYLES = ("blog post", "textbook", "lecture notes", "FAQ")
COMPLEXITIES = (1, 2, 3)
ACCEPTED = 0.75
"""The share of models that must find a piece of evidence to support a claim."""
KEPT = 0.8
"""The share of the base text's words that must stand in the text with inventions."""
MIXED = 0.5
"""From this share of new characters on, a claim's segment is an invention."""
AROUND = 300
"""Characters shown around a piece of evidence, on either side."""


class Inserted(Form):
    """A text with inventions in it, and the inventions as they stand there (section 3.2)."""

    text: str
    inventions: list[str]


class Response(NamedTuple):
    """A text written from a source, with as many inventions as its complexity says, their places, and its claims.

    `number` is the source's; a rewriting alone has the `style`, an answer the `question`.
    """

    source: Document
    number: int
    task: ProbeTask
    style: str
    question: str = ""
    text: str = ""
    complexity: int = 0
    inventions: Sequence[Place] = ()


async def make_probe(run: Maker) -> Made:
    """Write base texts, put inventions in, label the claims of all; then the cases."""
    tasks, planned = run.wanted.tasks(tuple(TASKS)), list[Response]()
    for number, source in enumerate(run.wanted.sources):
        style = Random(f"{run.wanted.seed}:{source.id}").choice(STYLES)
        planned += [Response(source, number, task, style) for task in tasks]
    bases = await run.each(planned, write_base)
    wanted = [base._replace(complexity=level) for base in bases for level in COMPLEXITIES]
    with_inventions = await run.each(wanted, insert_inventions)
    cases = await run.each([*bases, *with_inventions], label_claims)
    return Made(cases, len(cases))


async def write_base(run: Maker, response: Response) -> Response | None:
    """Write the base text of one source and task, of complexity 0. A question comes before its answer."""
    source, question, purpose = response.source.text, "", str(response.task)
    language, what = prompt_language(source), f"base {response.task}"
    if response.task == "summarization":
        prompt = render("construct_summary", language, evidence=source)
    elif response.task == "style transfer":
        prompt = render("construct_style", language, evidence=source, style=response.style)
    else:
        prompt = render("construct_question", language, evidence=source)
        question, purpose = await _write_text(run, prompt, "question", what) or "", "answer"
        if not question:
            return None
        prompt = render("construct_answer", language, evidence=source, context=question)
    text = await _write_text(run, prompt, purpose, what)
    return response._replace(text=text, question=question) if text else None


async def _write_text(run: Maker, prompt: Prompt, purpose: str, what: str) -> str | None:
    """The text that a model writes; an empty one is none."""

    def believe(answer: Written) -> str | Rejected:
        return answer.text.strip() or Rejected("no_success")

    return await run.ask(prompt, Written, believe, purpose=purpose, what=what)


async def insert_inventions(run: Maker, base: Response) -> Response | None:
    """Put inventions into a base text, given with the complexity that is wanted: so many of them.

    Each is found again as words that the base text does not have.
    """
    source, purpose = base.source.text, f"insert {base.complexity}"

    def believe(answer: Inserted) -> Response | Rejected:
        text = answer.text.strip()
        new, kept = new_places(base.text, text)
        if not new:
            return Rejected("not_changed")
        if kept < KEPT:
            return Rejected("base_rewritten")
        if len(answer.inventions) != base.complexity:
            return Rejected("wrong_count")
        for invention in answer.inventions:
            place = locate_quote(invention, text)
            if place is None:
                return Rejected("span_not_found")
            if not shared_length(place, new):
                return Rejected("span_elsewhere")
        return base._replace(text=text, inventions=new)

    prompt = render(
        "construct_insert",
        prompt_language(source),
        evidence=source,
        response=base.text,
        complexity=str(base.complexity),
    )
    return await run.ask(prompt, Inserted, believe, purpose=purpose, what=purpose)


async def label_claims(run: Maker, response: Response) -> GivenCase | None:
    """The case of a response, its claims labelled: inventions by their place, the others with their evidence.

    A sentence that the run's decomposer could not take apart gives no claim.
    """
    text, task = Document.of(response.text), TASKS[response.task]
    case = Case(id="construct", task=task, response=text.text, context=response.question)
    spans = [text.span(start, end) for start, end in sentences(text.text)]
    done = await run.decomposer.decompose(case, spans)
    run.calls += done.calls
    claims = [claim for claim in done.claims if claim.sentence not in done.failures]
    claims.sort(key=lambda claim: claim.origin.start)
    labelled = await asyncio.gather(*(_label_claim(run, claim, response) for claim in claims))
    kept = tuple(filter(None, labelled))
    if not kept or (response.inventions and not any(claim.hallucinated for claim in kept)):
        run.reject("response", "no_claims")
        return None
    return GivenCase(
        id=f"{response.number}-{response.task.replace(' ', '_')}-{response.complexity}",
        task=task,
        source_text=response.source.text,
        context=response.question,
        response=response.text,
        label="hallucinated" if response.inventions else "faithful",
        errors=tuple(GivenError(**at.model_dump(), kind="fabrication") for at in response.inventions),
        claims=kept,
        group=response.source.id.removeprefix("sha256:")[:16],
        slices={"task": response.task, "complexity": response.complexity},
    )


async def _label_claim(run: Maker, claim: Claim, response: Response) -> GivenClaim | None:
    """One claim with its label; rejected where it is partly new, or has no agreed evidence."""
    origin = claim.origin
    share = shared_length(origin, response.inventions) / max(1, origin.end - origin.start)
    if 0 < share < MIXED:
        run.reject("claim", "mixed")
        return None
    if share:
        return GivenClaim(text=claim.text, segment=origin.text, hallucinated=True)
    evidence = await find_evidence(run, claim.text, response.source.text)
    if not evidence:
        run.reject("claim", "no_evidence")
        return None
    return GivenClaim(text=claim.text, segment=origin.text, hallucinated=False, evidence=evidence)


async def find_evidence(run: Maker, claim: str, source: str) -> tuple[str, ...]:
    """The pieces of the source that at least `ACCEPTED` of all models find to support the claim.

    Every model looks for evidence, and every model weighs each piece that any found, shown with its surroundings. A
    call that fails is no vote but stays in the denominator.
    """
    language = prompt_language(source)
    prompt = render("find", language, passage=claim, evidence=source)

    async def look(model: Model) -> list[str]:
        found = await run.ask(
            prompt, Segments, lambda answer: answer.segments, purpose="find evidence", model=model
        )
        return found or []

    pieces = dict[tuple[int, int], Place]()
    for segments in await asyncio.gather(*map(look, run.models)):
        for segment in segments:
            if place := locate_quote(segment, source):
                pieces[place.start, place.end] = place

    async def supports(model: Model, piece: Place) -> bool:
        before, after = source[max(0, piece.start - AROUND) : piece.start], source[piece.end :][:AROUND]
        shown = render("evaluate", language, passage=claim, piece=piece.text, surroundings=[before, after])
        return bool(await run.ask(shown, PassFail, is_pass, purpose="weigh evidence", model=model))

    def is_pass(answer: PassFail) -> bool:
        return answer.verdict.strip().lower() == "pass"

    accepted = list[str]()
    for piece in pieces.values():
        votes = await asyncio.gather(*(supports(model, piece) for model in run.models))
        if sum(votes) >= ACCEPTED * len(run.models):
            accepted.append(piece.text)
    return tuple(accepted)
