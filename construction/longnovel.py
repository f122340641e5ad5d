"""LongNovel's versions of a summary by language models: drafted, labelled, made wrong, reworded (seed 004).

Knows: section 3.2: what is asked for each, and what of an answer is believed: code compares every version with its
base. Labels of drafts are two models' where they agree, a third's where they don't (multi-model arbitration).
Does not know: which units, kinds and models are used, or what is done with a version.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from pydantic import Field

from longproof.agent.forms import KIND_NAMES, NO, YES, Detail, Narrative
from longproof.agent.models.answers import Form
from longproof.agent.models.model import Model
from longproof.agent.types import Kind
from longproof.construction.versions import (
    Change,
    Outcome,
    Rejection,
    Version,
    Written,
    ask,
    checked,
    difference,
    located,
)
from longproof.prompts import Language, render
from longproof.retrieval.text.numbers import numbers

SHORTEST_DRAFT = 20
REWORDED_LENGTH = (0.6, 1.6)
"""A rewording is so many times as long as its base."""
_KINDS: dict[str, Kind] = {word: kind for kind, word in KIND_NAMES.items()}


class Entities(Form):
    """What a summary names (section 3.2)."""

    people: list[str] = Field(default_factory=list)
    organisations: list[str] = Field(default_factory=list)
    places: list[str] = Field(default_factory=list)
    figures: list[str] = Field(default_factory=list)


class WrongVersion(Form):
    """A summary made wrong (Appendix I.1: is_success, hal_summary, error_part)."""

    possible: str = Field(json_schema_extra={"enum": ["yes", "no"]})
    text: str = ""
    wrong_sentence: str = ""
    reason: str = ""


class Label(NamedTuple):
    """One model's word on a draft: whether it is faithful, and the errors that could be placed in it."""

    faithful: bool
    changes: tuple[Change, ...] = ()


async def drafted(model: Model, unit: str, language: Language) -> Outcome[Version]:
    """A summary of the unit, written by the model and marked so."""
    prompt = render("construct_draft", language, evidence=unit)
    return await ask(model, prompt, Written, _long_enough, purpose="draft")


async def entities(model: Model, summary: str, language: Language) -> Outcome[tuple[str, ...]]:
    """The names and figures that the summary holds; those that it doesn't hold are left out."""

    def held(answer: Entities) -> tuple[str, ...]:
        named = [*answer.people, *answer.organisations, *answer.places, *answer.figures]
        return tuple(name for name in dict.fromkeys(named) if name and name in summary)

    prompt = render("construct_entities", language, summary=summary)
    return await ask(model, prompt, Entities, held, purpose="entities")


async def made_wrong(
    model: Model, summary: str, named: Sequence[str], kind: Kind, language: Language
) -> Outcome[Change]:
    """The summary with one error of this kind, checked against it sentence by sentence."""

    def compared(made: WrongVersion) -> Change | Rejection:
        if made.possible.strip().lower() != "yes":
            return "no_success"
        return checked(summary, made.text.strip(), kind, made.wrong_sentence, made.reason)

    prompt = render("construct_wrong", language, summary=summary, entities="\n".join(named))
    prompt = prompt.then(render(f"construct_wrong_{kind}", language))
    return await ask(model, prompt, WrongVersion, compared, purpose=f"wrong: {kind}")


async def reworded(model: Model, summary: str, language: Language) -> Outcome[Version]:
    """The summary in other words: changed indeed, of about its length, with the same figures."""
    prompt = render("construct_reword", language, summary=summary)
    return await ask(model, prompt, Written, partial(_same_said, summary), purpose="reword")


async def labelled(
    models: Sequence[Model], unit: str, summary: str, language: Language
) -> Outcome[tuple[Change, ...]]:
    """The errors of a draft by the first two models, or by the third where they disagree; none where it is faithful.

    `no_choice` where nobody decides: a failed call is no vote. Errors that can't be placed in the summary are left
    out; a draft that is called wrong without an error that can be placed is no case.
    """
    said = list(await asyncio.gather(*(_label(model, unit, summary, language) for model in models[:2])))
    calls = tuple(call for one in said for call in one.calls)
    if {one.value and one.value.faithful for one in said} not in ({True}, {False}):
        if len(models) < 3:
            return Outcome(None, "no_choice", calls)
        said = [await _label(models[2], unit, summary, language)]
        calls += said[0].calls
    labels = [one.value for one in said if one.value]
    if not labels:
        return Outcome(None, said[0].rejection, calls)
    changes = next((label.changes for label in labels if label.changes), ())
    if not labels[0].faithful and not changes:
        return Outcome(None, "span_not_found", calls)
    return Outcome(changes, None, calls)


async def _label(model: Model, unit: str, summary: str, language: Language) -> Outcome[Label]:
    """One model's word, in the form of the paper's own detection prompt."""
    prompt = render("longnovel", language).then(render("source", language, evidence=unit))
    prompt = prompt.then(render("passage", language, passage=summary))
    prompt = prompt.then(render("longnovel_form", language))

    def said(answer: Narrative) -> Label | Rejection:
        if answer.has_hallucination not in (YES, NO):
            return "off_menu"
        if answer.has_hallucination == NO:
            return Label(True)
        placed = [_placed(detail, summary) for detail in answer.details]
        return Label(False, tuple(change for change in placed if change))

    return await ask(model, prompt, Narrative, said, purpose="label")


def _placed(detail: Detail, summary: str) -> Change | None:
    at, kind = located(detail.hallucinated_sentence, summary), _KINDS.get(detail.hallucination_type)
    if at is None or kind is None:
        return None
    right = detail.corrected_content
    return Change(
        text=summary,
        kind=kind,
        wrong=at,
        sentences=at,
        right=right,
        original=right,
        how="drafted",
        reason=detail.reason,
    )


def _long_enough(answer: Written) -> Version | Rejection:
    text = " ".join(answer.text.split())
    return Version(text=text) if len(text) >= SHORTEST_DRAFT else "no_success"


def _same_said(summary: str, answer: Written) -> Version | Rejection:
    text = answer.text.strip()
    least, most = REWORDED_LENGTH
    if difference(summary, text) is None:
        return "not_changed"
    if len(text) > most * len(summary):
        return "too_long"
    if len(text) < least * len(summary):
        return "no_success"
    return Version(text=text) if _figures(text) == _figures(summary) else "figures_differ"


def _figures(text: str) -> list[float]:
    return sorted(number.value for number in numbers(text))
