"""PROBE's construction by language models (seed 000, section 3, Appendix B): base texts, inventions, labelled claims.

Knows: three tasks, complexity 1 to 3, exact spans by comparing with the base text, evidence found by all models and
accepted where 3 of 4 of them agree. A claim of the base text without accepted evidence is left out and counted, a
deviation: the paper calls it hallucinated.
Does not know: how models are opened, or how many parts are worked on together.
"""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Literal

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
from longproof.prompts import Language, Prompt, render
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document, Frozen

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


class Response(Frozen):
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
    inventions: tuple[Place, ...] = ()
    claims: tuple[GivenClaim, ...] = ()


async def make_probe(run: Maker) -> Made:
    """Write base texts, put inventions in, label the claims of all; then the cases."""
    bases = await run.each(plan_responses(run), write_base)
    wanted = [base.model_copy(update={"complexity": level}) for base in bases for level in COMPLEXITIES]
    with_inventions = await run.each(wanted, insert_inventions)
    labelled = await run.each([*bases, *with_inventions], label_claims)
    return Made(list(map(_case, labelled)), len(labelled))


def plan_responses(run: Maker) -> list[Response]:
    """Every source with every task, still without a text; the style of a rewriting is drawn with the seed."""
    tasks, planned = run.wanted.tasks(tuple(TASKS)), list[Response]()
    for number, source in enumerate(run.wanted.sources):
        style = Random(f"{run.wanted.seed}:{source.id}").choice(STYLES)
        planned += [Response(source=source, number=number, task=task, style=style) for task in tasks]
    return planned


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
    return response.model_copy(update={"text": text, "question": question}) if text else None


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
        places = invention_places(base.text, text, answer.inventions, base.complexity)
        if isinstance(places, Rejected):
            return places
        return base.model_copy(update={"text": text, "inventions": places})

    prompt = render(
        "construct_insert",
        prompt_language(source),
        evidence=source,
        response=base.text,
        complexity=str(base.complexity),
    )
    return await run.ask(prompt, Inserted, believe, purpose=purpose, what=purpose)


def invention_places(
    base: str, text: str, inventions: Sequence[str], complexity: int
) -> tuple[Place, ...] | Rejected:
    """The places of the inventions, or why the text is not what was asked for."""
    new, kept = new_places(base, text)
    if not new:
        return Rejected("not_changed")
    if kept < KEPT:
        return Rejected("base_rewritten")
    if len(inventions) != complexity:
        return Rejected("wrong_count")
    named = [locate_quote(invention, text) for invention in inventions]
    if None in named:
        return Rejected("span_not_found")
    for place in named:
        if place and not any(shared_length(place, at) for at in new):
            return Rejected("span_elsewhere")
    return tuple(new)


async def label_claims(run: Maker, response: Response) -> Response | None:
    """Label the claims of one response: inventions by their place, the others with their evidence.

    A sentence that the run's decomposer could not take apart gives no claim.
    """
    text, task = Document.of(response.text), TASKS[response.task]
    case = Case(id="construct", task=task, response=text.text, context=response.question)
    spans = [text.span(start, end) for start, end in sentences(text.text)]
    done = await run.decomposer.decompose(case, spans)
    run.calls += done.calls
    failed = {sentence.index for sentence in done.sentences if sentence.failure}
    claims = [claim for claim in done.claims if claim.sentence not in failed]
    claims.sort(key=lambda claim: claim.origin.start)
    labelled = await asyncio.gather(*(_label_claim(run, claim, response) for claim in claims))
    kept = tuple(claim for claim in labelled if claim)
    if not kept or (response.inventions and not any(claim.hallucinated for claim in kept)):
        run.reject("response", "no_claims")
        return None
    return response.model_copy(update={"claims": kept})


async def _label_claim(run: Maker, claim: Claim, response: Response) -> GivenClaim | None:
    """One claim with its label; rejected where it is partly new, or has no agreed evidence."""
    segment = Place(start=claim.origin.start, end=claim.origin.end, text=claim.origin.text)
    new = is_invention(segment, response.inventions)
    if new is None:
        run.reject("claim", "mixed")
        return None
    labelled = GivenClaim(text=claim.text, segment=segment.text, hallucinated=new)
    if new:
        return labelled
    evidence = await find_evidence(run, claim.text, response.source.text)
    if not evidence:
        run.reject("claim", "no_evidence")
        return None
    return labelled.model_copy(update={"evidence": evidence})


def is_invention(origin: Place, places: Sequence[Place]) -> bool | None:
    """True if a claim from this place is an invention; None where it is partly new."""
    share = sum(shared_length(origin, at) for at in places) / max(1, origin.end - origin.start)
    return None if 0 < share < MIXED else share >= MIXED


async def find_evidence(run: Maker, claim: str, source: str) -> tuple[str, ...]:
    """The pieces of the source that at least `ACCEPTED` of all models find to support the claim.

    Every model looks for evidence, and every model weighs each piece that any found. A call that fails is no vote
    but stays in the denominator.
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
    accepted = []
    for piece in pieces.values():
        weighings = (_supports(run, model, claim, piece, source, language) for model in run.models)
        if sum(await asyncio.gather(*weighings)) >= ACCEPTED * len(run.models):
            accepted.append(piece.text)
    return tuple(accepted)


async def _supports(
    run: Maker, model: Model, claim: str, piece: Place, source: str, language: Language
) -> bool:
    """True if the model finds that this piece, shown with its surroundings, supports the claim."""
    around = [source[max(0, piece.start - AROUND) : piece.start], source[piece.end : piece.end + AROUND]]
    prompt = render("evaluate", language, passage=claim, piece=piece.text, surroundings=around)

    def believe(answer: PassFail) -> bool:
        return answer.verdict.strip().lower() == "pass"

    return bool(await run.ask(prompt, PassFail, believe, purpose="weigh evidence", model=model))


def _case(response: Response) -> GivenCase:
    """The response in the case file format; errors are the inventions."""
    return GivenCase(
        id=f"{response.number}-{response.task.replace(' ', '_')}-{response.complexity}",
        task=TASKS[response.task],
        source_text=response.source.text,
        context=response.question,
        response=response.text,
        label="hallucinated" if response.inventions else "faithful",
        errors=tuple(GivenError(**at.model_dump(), kind="fabrication") for at in response.inventions),
        claims=response.claims,
        group=response.source.id.removeprefix("sha256:")[:16],
        slices={"task": response.task, "complexity": response.complexity},
    )
