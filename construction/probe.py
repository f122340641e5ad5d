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
from longproof.agent.types import Call, Case, Claim, Place, Task
from longproof.construction.case_files import CASES, Provenance, write_cases
from longproof.construction.maker import Maker
from longproof.construction.versions import (
    Made,
    Rejected,
    Written,
    ask_for,
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


class Assignment(Frozen):
    """A source and what is to be written from it. `number` is the source's; a rewriting alone has the `style`."""

    source: Document
    number: int
    task: ProbeTask
    style: str


class Response(Frozen):
    """A text written from a source, with as many inventions as its complexity says, their places, and its claims."""

    assignment: Assignment
    text: str
    question: str
    complexity: int = 0
    inventions: tuple[Place, ...] = ()
    claims: tuple[GivenClaim, ...] = ()


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
    said = [locate_quote(invention, text) for invention in inventions]
    if None in said:
        return Rejected("span_not_found")
    if not all(any(shared_length(one, at) for at in new) for one in said if one):
        return Rejected("span_elsewhere")
    return tuple(new)


def is_invention(origin: Place, places: Sequence[Place]) -> bool | None:
    """Whether a claim from this place is an invention; None where it is partly new."""
    share = sum(shared_length(origin, at) for at in places) / max(1, origin.end - origin.start)
    return None if 0 < share < MIXED else share >= MIXED


async def find_evidence(
    models: Sequence[Model], claim: str, source: str, language: Language
) -> Made[tuple[Place, ...]]:
    """The places of the source that at least `ACCEPTED` of all models find to support the claim.

    Every model looks for evidence, and every model weighs each piece that any found. A call that fails is no vote
    but stays in the denominator.
    """
    prompt = render("find", language, passage=claim, evidence=source)
    found = await asyncio.gather(*(model.ask(prompt, Segments, purpose="find evidence") for model in models))
    calls = [call for answer in found for call in answer.calls]
    said = [segment for answer in found for segment in (answer.value.segments if answer.value else ())]
    pieces = {(at.start, at.end): at for segment in said if (at := locate_quote(segment, source))}
    accepted = []
    for piece in pieces.values():
        votes = await asyncio.gather(*(_supports(model, claim, piece, source, language) for model in models))
        calls += [call for _, more in votes for call in more]
        if sum(passed for passed, _ in votes) >= ACCEPTED * len(models):
            accepted.append(piece)
    return Made(tuple(accepted) or None, () if accepted else ("no_evidence",), tuple(calls))


async def _supports(
    model: Model, claim: str, piece: Place, source: str, language: Language
) -> tuple[bool, tuple[Call, ...]]:
    around = [source[max(0, piece.start - AROUND) : piece.start], source[piece.end : piece.end + AROUND]]
    prompt = render("evaluate", language, passage=claim, piece=piece.text, surroundings=around)
    answer = await model.ask(prompt, PassFail, purpose="weigh evidence")
    return answer.value is not None and answer.value.verdict.strip().lower() == "pass", answer.calls


async def make_probe(run: Maker) -> Provenance:
    """Write base texts, put inventions in, label the claims of all; then the cases."""
    bases = await run.each(plan_assignments(run), write_base)
    wanted = [one.model_copy(update={"complexity": level}) for one in bases for level in COMPLEXITIES]
    made = await run.each([*bases, *await run.each(wanted, insert_inventions)], label_claims)
    write_cases(run.wanted.out / CASES, map(_case, made))
    return run.finish("probe", len(made))


def plan_assignments(run: Maker) -> list[Assignment]:
    """Every source with every task; the style of a rewriting is drawn with the seed."""
    tasks, found = run.wanted.tasks(tuple(TASKS)), []
    for number, source in enumerate(run.wanted.sources):
        style = Random(f"{run.wanted.seed}:{source.id}").choice(STYLES)
        found += [Assignment(source=source, number=number, task=task, style=style) for task in tasks]
    return found


async def write_base(run: Maker, own: Assignment) -> Made[Response]:
    """Write the base text of one source and task, of complexity 0. A question comes before its answer."""
    source, question, calls = own.source.text, "", tuple[Call, ...]()
    language, purpose = prompt_language(source), str(own.task)
    if own.task == "summarization":
        prompt = render("construct_summary", language, evidence=source)
    elif own.task == "style transfer":
        prompt = render("construct_style", language, evidence=source, style=own.style)
    else:
        prompt = render("construct_question", language, evidence=source)
        asked = await _write_text(run.writer, prompt, "question")
        if asked.value is None:
            return Made(None, asked.of(f"base {own.task}").rejected, asked.calls)
        question, calls, purpose = asked.value, asked.calls, "answer"
        prompt = render("construct_answer", language, evidence=source, context=question)
    found = await _write_text(run.writer, prompt, purpose)
    if found.value is None:
        return Made(None, found.of(f"base {own.task}").rejected, calls + found.calls)
    return Made(Response(assignment=own, text=found.value, question=question), (), calls + found.calls)


async def _write_text(model: Model, prompt: Prompt, purpose: str) -> Made[str]:
    """What a model writes; an empty text is none."""

    def believed(answer: Written) -> str | Rejected:
        return answer.text.strip() or Rejected("no_success")

    return await ask_for(model, prompt, Written, believed, purpose=purpose)


async def insert_inventions(run: Maker, wanted: Response) -> Made[Response]:
    """Put inventions into a base text, given with the complexity that is wanted: so many of them.

    Each is found again as words that the base text does not have.
    """
    source, level = wanted.assignment.source.text, wanted.complexity

    def believed(answer: Inserted) -> Response | Rejected:
        text = answer.text.strip()
        places = invention_places(wanted.text, text, answer.inventions, level)
        if isinstance(places, Rejected):
            return places
        return wanted.model_copy(update={"text": text, "inventions": places})

    prompt = render(
        "construct_insert",
        prompt_language(source),
        evidence=source,
        response=wanted.text,
        complexity=str(level),
    )
    purpose = f"insert {level}"
    return (await ask_for(run.writer, prompt, Inserted, believed, purpose=purpose)).of(purpose)


async def label_claims(run: Maker, response: Response) -> Made[Response]:
    """Label the claims of one response: inventions by their place, the others with their evidence."""
    source = response.assignment.source.text
    found, calls = await _decompose(run, response)
    labelled = await asyncio.gather(*(_label_claim(run, claim, response, source) for claim in found))
    order = sorted(range(len(found)), key=lambda n: found[n].origin.start)
    kept = [claim for n in order if (claim := labelled[n].value)]
    rejected = tuple(why for one in labelled for why in one.of("claim").rejected)
    calls += [call for one in labelled for call in one.calls]
    if not kept or (response.inventions and not any(claim.hallucinated for claim in kept)):
        return Made(None, (*rejected, "response: no_claims"), tuple(calls))
    return Made(response.model_copy(update={"claims": tuple(kept)}), rejected, tuple(calls))


async def _decompose(run: Maker, response: Response) -> tuple[list[Claim], list[Call]]:
    """The response's claims, by the run's decomposer. A sentence that could not be decomposed gives none."""
    text, task = Document.of(response.text), TASKS[response.assignment.task]
    case = Case(id="construct", task=task, response=text.text, context=response.question)
    spans = [text.span(start, end) for start, end in sentences(text.text)]
    done = await run.decomposer.decompose(case, spans)
    failed = {sentence.index for sentence in done.sentences if sentence.failure}
    return [claim for claim in done.claims if claim.sentence not in failed], list(done.calls)


async def _label_claim(run: Maker, claim: Claim, response: Response, source: str) -> Made[GivenClaim]:
    """One claim with its label; rejected where it is partly new, or has no agreed evidence."""
    segment = Place(start=claim.origin.start, end=claim.origin.end, text=claim.origin.text)
    new = is_invention(segment, response.inventions)
    if new is None:
        return Made(None, ("mixed",))
    labelled = GivenClaim(text=claim.text, segment=segment.text, hallucinated=new)
    if new:
        return Made(labelled)
    found = await find_evidence(run.models, claim.text, source, prompt_language(source))
    if found.value is None:
        return Made(None, found.rejected, found.calls)
    evidence = tuple(piece.text for piece in found.value)
    return Made(labelled.model_copy(update={"evidence": evidence}), (), found.calls)


def _id(response: Response) -> str:
    own = response.assignment
    return f"{own.number}-{own.task.replace(' ', '_')}-{response.complexity}"


def _case(response: Response) -> GivenCase:
    """The response in the case file format; errors are the inventions."""
    return GivenCase(
        id=_id(response),
        task=TASKS[response.assignment.task],
        source_text=response.assignment.source.text,
        context=response.question,
        response=response.text,
        label="hallucinated" if response.inventions else "faithful",
        errors=tuple(GivenError(**at.model_dump(), kind="fabrication") for at in response.inventions),
        claims=response.claims,
        group=response.assignment.source.id.removeprefix("sha256:")[:16],
        slices={"task": response.assignment.task, "complexity": response.complexity},
    )
