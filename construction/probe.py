"""PROBE's texts by language models: written from a source, inventions inserted, claims with agreed evidence.

Knows: seed 000, section 3, Appendix B: three tasks, complexity 1 to 3, exact spans by comparing with the base text,
evidence found by all models and accepted where 3 of 4 of them agree. A claim of the base text without accepted
evidence is left out and counted, a deviation: the paper calls it hallucinated. Does not know: which sources are used.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from longproof.agent.forms import PassFail, Segments
from longproof.agent.models.answers import Form
from longproof.agent.models.model import Model
from longproof.agent.types import Call, Place
from longproof.construction.versions import Outcome, Rejection, Written, ask, located, place
from longproof.prompts import Language, Prompt, render
from longproof.retrieval.text.tokens import CJK

ProbeTask = Literal["summarization", "question answering", "style transfer"]
PROBE_TASKS: tuple[ProbeTask, ...] = get_args(ProbeTask)
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
_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+|[^\w\s]")


class Inserted(Form):
    """A text with inventions in it, and the inventions as they stand there (section 3.2)."""

    text: str
    inventions: list[str]


class Base(NamedTuple):
    """A text without inventions, and the question that it answers, if it does."""

    text: str
    question: str = ""


class Poisoned(NamedTuple):
    """A text with inventions, and where they stand."""

    text: str
    places: tuple[Place, ...]


async def base_text(
    model: Model, source: str, task: ProbeTask, style: str, language: Language
) -> Outcome[Base]:
    """The text that the task asks for, in two calls where a question comes first."""
    if task == "summarization":
        return await _written(model, render("construct_summary", language, evidence=source), task)
    if task == "style transfer":
        return await _written(model, render("construct_style", language, evidence=source, style=style), task)
    asked = await _written(model, render("construct_question", language, evidence=source), "question")
    if asked.value is None:
        return asked
    question = asked.value.text
    prompt = render("construct_answer", language, evidence=source, context=question)
    answer = await _written(model, prompt, "answer", question)
    return answer._replace(calls=asked.calls + answer.calls)


async def _written(model: Model, prompt: Prompt, purpose: str, question: str = "") -> Outcome[Base]:
    def believed(answer: Written) -> Base | Rejection:
        text = answer.text.strip()
        return Base(text, question) if text else "no_success"

    return await ask(model, prompt, Written, believed, purpose=purpose)


async def inserted(
    model: Model, source: str, base: str, complexity: int, language: Language
) -> Outcome[Poisoned]:
    """The base text with so many inventions, each found again as words that the base text does not have."""

    def believed(answer: Inserted) -> Poisoned | Rejection:
        return poisoned(base, answer.text.strip(), answer.inventions, complexity)

    prompt = render("construct_insert", language, evidence=source, response=base, complexity=str(complexity))
    return await ask(model, prompt, Inserted, believed, purpose=f"insert {complexity}")


def poisoned(base: str, text: str, inventions: Sequence[str], complexity: int) -> Poisoned | Rejection:
    """The places of the inventions, or why the text is not what was asked for."""
    new, kept = new_places(base, text)
    if not new:
        return "not_changed"
    if kept < KEPT:
        return "base_rewritten"
    if len(inventions) != complexity:
        return "wrong_count"
    said = [located(invention, text) for invention in inventions]
    if None in said:
        return "span_not_found"
    if not all(any(overlap(one, at) for at in new) for one in said if one):
        return "span_elsewhere"
    return Poisoned(text, tuple(new))


def new_places(base: str, text: str) -> tuple[list[Place], float]:
    """The places of the text that its base does not have, and the share of the base's words that it keeps.

    Compared word by word, Chinese by characters; an added place begins with a word where it could as well begin
    with the mark before it. Places with at most a word between them are one.
    """
    old, new = [m[0] for m in _WORD.finditer(base)], list(_WORD.finditer(text))
    matcher = SequenceMatcher(None, old, [m[0] for m in new], autojunk=False)
    ranges: list[tuple[int, int]] = []
    for step, _, _, i, j in matcher.get_opcodes():
        while step == "insert" and j < len(new) and new[i][0] == new[j][0] and not new[i][0][0].isalnum():
            i, j = i + 1, j + 1
        if step in ("insert", "replace"):
            ranges.append((new[i].start(), new[j - 1].end()))
    kept = sum(block.size for block in matcher.get_matching_blocks()) / max(1, len(old))
    return [place(text, a, b) for a, b in _joined(ranges, text)], kept


def _joined(ranges: Sequence[tuple[int, int]], text: str) -> Iterator[tuple[int, int]]:
    """The ranges, close ones as one: a comparison by words finds a word in common by chance."""
    if not ranges:
        return
    start, end = ranges[0]
    for (_, _), (a, b) in pairwise(ranges):
        if len(_WORD.findall(text[end:a])) > 1:
            yield start, end
            start = a
        end = b
    yield start, end


def overlap(one: Place, other: Place) -> int:
    """How many characters two places share."""
    return max(0, min(one.end, other.end) - max(one.start, other.start))


def invented(origin: Place, places: Sequence[Place]) -> bool | None:
    """Whether a claim from this place is an invention; None where it is partly new."""
    share = sum(overlap(origin, at) for at in places) / max(1, origin.end - origin.start)
    return None if 0 < share < MIXED else share >= MIXED


async def grounded(
    models: Sequence[Model], claim: str, source: str, language: Language
) -> Outcome[tuple[Place, ...]]:
    """The places of the source that at least `ACCEPTED` of all models find to support the claim.

    Every model looks for evidence, and every model weighs each piece that any found. A call that fails is no vote
    but stays in the denominator.
    """
    prompt = render("find", language, passage=claim, evidence=source)
    found = await asyncio.gather(*(model.ask(prompt, Segments, purpose="find evidence") for model in models))
    calls = [call for answer in found for call in answer.calls]
    said = [segment for answer in found for segment in (answer.value.segments if answer.value else ())]
    pieces = {(at.start, at.end): at for segment in said if (at := located(segment, source))}
    accepted = []
    for piece in pieces.values():
        votes = await asyncio.gather(*(_supports(model, claim, piece, source, language) for model in models))
        calls += [call for _, more in votes for call in more]
        if sum(passed for passed, _ in votes) >= ACCEPTED * len(models):
            accepted.append(piece)
    return Outcome(tuple(accepted) or None, None if accepted else "no_choice", tuple(calls))


async def _supports(
    model: Model, claim: str, piece: Place, source: str, language: Language
) -> tuple[bool, tuple[Call, ...]]:
    around = [source[max(0, piece.start - AROUND) : piece.start], source[piece.end : piece.end + AROUND]]
    prompt = render("evaluate", language, passage=claim, piece=piece.text, surroundings=around)
    answer = await model.ask(prompt, PassFail, purpose="weigh evidence")
    return answer.value is not None and answer.value.verdict.strip().lower() == "pass", answer.calls
