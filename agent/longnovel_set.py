"""LongNovel's versions of a summary by language models: drafted, labelled, made wrong, reworded (seed 004).

Knows: what is asked in which order, and what of an answer is believed: code compares every version with its base.
Labels of drafts are two models' where they agree, a third's where they don't (multi-model arbitration).
Does not know: which units, kinds and models are used, or what is done with a version.
"""

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from longproof.agent.construct_forms import Entities, Written, WrongVersion
from longproof.agent.forms import KIND_NAMES as KIND_WORDS
from longproof.agent.forms import NO, YES, Narrative
from longproof.agent.made import Change, Rejection, Version, checked, difference, located
from longproof.agent.model import Model
from longproof.agent.types import Call, Kind
from longproof.prompts import Language, render
from longproof.retrieval.text.numbers import numbers

T = TypeVar("T")
SHORTEST_DRAFT = 20
REWORDED_LENGTH = (0.6, 1.6)
"""A rewording is so many times as long as its base."""
_KINDS: dict[str, Kind] = {word: kind for kind, word in KIND_WORDS.items()}


class Outcome(NamedTuple, Generic[T]):
    """Exactly one of value and rejection, and the calls that it rests on."""

    value: T | None
    rejection: Rejection | None
    calls: tuple[Call, ...] = ()


class Labelled(NamedTuple):
    """What the models say of a draft: the errors that could be placed in it; none where it is faithful."""

    changes: tuple[Change, ...]
    faithful: bool


async def drafted(model: Model, unit: str, language: Language, sample: int = 0) -> Outcome[Version]:
    """A summary of the unit, written by the model and marked so."""
    prompt = render("construct_draft", language, evidence=unit)
    answer = await model.ask(prompt, Written, purpose="draft", sample=sample)
    if answer.value is None:
        return Outcome(None, answer.failure, answer.calls)
    text = " ".join(answer.value.text.split())
    if len(text) < SHORTEST_DRAFT:
        return Outcome(None, "no_success", answer.calls)
    return Outcome(Version(text=text, maker="model"), None, answer.calls)


async def entities(model: Model, summary: str, language: Language) -> Outcome[list[str]]:
    """The names and figures that the summary holds; those that it doesn't hold are left out."""
    answer = await model.ask(
        render("construct_entities", language, summary=summary), Entities, purpose="entities"
    )
    if answer.value is None:
        return Outcome(None, answer.failure, answer.calls)
    filled = answer.value
    named = [*filled.people, *filled.organisations, *filled.places, *filled.figures]
    return Outcome([name for name in dict.fromkeys(named) if name and name in summary], None, answer.calls)


async def made_wrong(
    model: Model, summary: str, named: Sequence[str], kind: Kind, language: Language, sample: int = 0
) -> Outcome[Change]:
    """The summary with one error of this kind, checked against it sentence by sentence."""
    prompt = render("construct_wrong", language, summary=summary, entities="\n".join(named))
    prompt = prompt.then(render(f"construct_wrong_{kind}", language))
    answer = await model.ask(prompt, WrongVersion, purpose=f"wrong: {kind}", sample=sample)
    if answer.value is None:
        return Outcome(None, answer.failure, answer.calls)
    if answer.value.possible.strip().lower() != "yes":
        return Outcome(None, "no_success", answer.calls)
    made = answer.value
    found = checked(summary, made.text.strip(), kind, made.wrong_sentence, made.reason)
    if isinstance(found, Change):
        return Outcome(found, None, answer.calls)
    return Outcome(None, found, answer.calls)


async def reworded(model: Model, summary: str, language: Language, sample: int = 0) -> Outcome[Version]:
    """The summary in other words: changed indeed, of about its length, with the same figures."""
    answer = await model.ask(
        render("construct_reword", language, summary=summary), Written, purpose="reword", sample=sample
    )
    if answer.value is None:
        return Outcome(None, answer.failure, answer.calls)
    text = answer.value.text.strip()
    if difference(summary, text) is None:
        return Outcome(None, "not_changed", answer.calls)
    least, most = REWORDED_LENGTH
    if not least * len(summary) <= len(text) <= most * len(summary):
        return Outcome(None, "too_long" if len(text) > len(summary) else "no_success", answer.calls)
    if _figures(text) != _figures(summary):
        return Outcome(None, "figures_differ", answer.calls)
    return Outcome(Version(text=text, maker="model"), None, answer.calls)


async def labelled(
    judges: Sequence[Model], arbiter: Model | None, unit: str, summary: str, language: Language
) -> Outcome[Labelled]:
    """Whether a draft is faithful, by two models, and a third where they disagree.

    `no_choice` where nobody decides: a failure is no voice. Errors that can't be placed in the summary are left out;
    a draft that is called wrong without an error that can be placed is no case.
    """
    voices = [await _voice(judge, unit, summary, language) for judge in judges]
    calls = tuple(call for voice in voices for call in voice.calls)
    said = [voice.value for voice in voices]
    if None in said or len({v.faithful for v in said if v}) > 1:
        if arbiter is None:
            return Outcome(None, "no_choice", calls)
        last = await _voice(arbiter, unit, summary, language)
        calls += last.calls
        if last.value is None:
            return Outcome(None, last.rejection, calls)
        said = [last.value]
    decided = [voice for voice in said if voice is not None]
    first = next((voice for voice in decided if voice.changes), decided[0] if decided else None)
    if first is None:
        return Outcome(None, "no_choice", calls)
    if not first.faithful and not first.changes:
        return Outcome(None, "span_not_found", calls)
    return Outcome(first, None, calls)


async def _voice(judge: Model, unit: str, summary: str, language: Language) -> Outcome[Labelled]:
    """One model's word, in the form of the paper's own detection prompt."""
    parts = [
        render("longnovel", language),
        render("source", language, evidence=unit),
        render("passage", language, passage=summary),
        render("longnovel_form", language),
    ]
    prompt = parts[0].then(parts[1]).then(parts[2]).then(parts[3])
    answer = await judge.ask(prompt, Narrative, purpose="label")
    if answer.value is None:
        return Outcome(None, answer.failure, answer.calls)
    if answer.value.has_hallucination not in (YES, NO):
        return Outcome(None, "off_menu", answer.calls)
    if answer.value.has_hallucination == NO:
        return Outcome(Labelled((), True), None, answer.calls)
    changes = []
    for detail in answer.value.details:
        at, kind = located(detail.hallucinated_sentence, summary), _KINDS.get(detail.hallucination_type)
        if at is not None and kind is not None:
            changes.append(
                Change(
                    text=summary,
                    kind=kind,
                    wrong=at,
                    stretch=at,
                    right=detail.corrected_content,
                    original=detail.corrected_content,
                    how="drafted",
                    reason=detail.reason,
                )
            )
    return Outcome(Labelled(tuple(changes), False), None, answer.calls)


def _figures(text: str) -> list[float]:
    return sorted(number.value for number in numbers(text))
