"""The exact wrong words, their kind and their correction, for claims decided wrong of which no judge said where.

Knows: how a language model is asked for places in the response, and which of them are believed: words that stand in
the claim's sentence, corrections that change something. A model may also answer that nothing there is shown to be
wrong, or that what is wrong stands elsewhere. What can't be placed is a failure, never a guess.
Does not know: how claims were decided.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from longproof.agent.forms import PlaceForm, Places
from longproof.agent.guards import exactly, same, word, wrong_place
from longproof.agent.models.model import Answer, Asker, Model, by_number
from longproof.agent.prompting import brief, evidence, language_of, line, pages, sentence_of
from longproof.agent.types import Call, Case, Claim, Error, Failure, Question
from longproof.prompts import Language, Prompt, render
from longproof.retrieval.types import Span

ABSENT: dict[Language, str] = {
    "en": "All of the source was read for it, and nothing of the kind stands there.",
    "zh": "为此通读了原文，没有找到此事。",
}
"""Why a claim is wrong of which the judges only said that they didn't find it."""


class Wrong(NamedTuple):
    """A claim decided wrong, and the reasons that were given for it."""

    claim: Claim
    reasons: tuple[str, ...]
    absent: bool = False
    """All of the source was read for it."""


class Localised(NamedTuple):
    """The errors that were placed, by claim id; what was said of claims without any; and the calls made."""

    errors: dict[str, Error]
    reasons: dict[str, str]
    calls: list[Call]


class _Item(NamedTuple):
    """A wrong claim, and what is told of it."""

    claim: Claim
    reasons: tuple[str, ...]
    sentence: Span
    """The sentence in which its wrong words are sought."""


class _Placed(NamedTuple):
    """The error of one claim; or why there is none in its sentence; or why that isn't known."""

    error: Error | None = None
    failure: Failure | None = None
    reason: str = ""


async def localise(model: Model, wrong: Sequence[Wrong], question: Question, case: Case) -> Localised:
    """Ask where these claims are wrong, of a model that sees what the question shows."""
    if not wrong:
        return Localised({}, {}, [])
    items = dict(enumerate(_with_sentences(wrong, case), start=1))
    prompt_of = partial(_prompt, question=question, case=case)
    placed, calls = await Asker(model).ask_about(
        items, letter="C", purpose="localise", form=Places, prompt_of=prompt_of, read=_read
    )
    result = Localised({}, {}, calls)
    for n, one in placed.items():
        claim_id = items[n].claim.id
        if one.error is not None:
            result.errors[claim_id] = one.error
        elif one.failure is None:
            result.reasons[claim_id] = one.reason
    return result


def _with_sentences(wrong: Sequence[Wrong], case: Case) -> list[_Item]:
    """Claims with their sentences, and with the reasons that are known: what was sought everywhere may be absent."""
    items: list[_Item] = []
    for claim, reasons, absent in wrong:
        known = reasons or ((ABSENT[language_of(case)],) if absent else ())
        items.append(_Item(claim, known, sentence_of(claim, case)))
    return items


def _prompt(items: Mapping[int, _Item], question: Question, case: Case) -> Prompt:
    language = language_of(case)
    reasons: list[str] = []
    for n, item in items.items():
        reasons += [line(claim=f"C{n}", reason=why) for why in item.reasons]
    return render(
        "localise",
        language,
        evidence=evidence(question, case),
        pages=pages(question, case),
        reasons="\n".join(reasons),
        claims="\n".join(_describe(n, item) for n, item in items.items()),
    )


def _describe(n: int, item: _Item) -> str:
    """A claim, its sentence, and the words of the sentence that it comes from, where these aren't all of it."""
    claim, origin = item.claim, item.claim.origin
    part = {} if origin.text == item.sentence.text else {"words": origin.text}
    return line(claim=f"C{n}", text=claim.text, sentence=item.sentence.text, **part)


def _read(answer: Answer[Places], items: Mapping[int, _Item], _: Prompt) -> dict[int, _Placed]:
    if answer.value is None:
        return dict.fromkeys(items, _Placed(failure=answer.failure))
    by_claim = by_number((place.claim, place) for place in answer.value.places)
    return {n: _place(by_claim.get(n, []), item) for n, item in items.items()}


def _place(forms: Sequence[PlaceForm], item: _Item) -> _Placed:
    """The error that an answer names last for one claim, if it is to be believed."""
    if not forms:
        return _Placed(failure="unparsed")
    form, where = forms[-1], word(forms[-1].where)
    if where not in ("here", "outside", "nothing"):
        return _Placed(failure="off_menu")
    within = _part_with(form.wrong, item)
    if (where != "here" and within) or same(form.wrong, form.correction):
        return _Placed(failure="self_contradicted")
    if where != "here":
        return _Placed(reason=brief(form.reason))
    if within is None:
        return _Placed(failure="ungrounded")
    claim = item.claim.model_copy(update={"origin": within})
    (error,) = wrong_place(form.wrong, form.kind, form.correction, brief(form.reason), claim)
    return _Placed(error=error)


def _part_with(words: str, item: _Item) -> Span | None:
    """The part of the response that has these words: those that the claim comes from before its whole sentence."""
    return next((part for part in (item.claim.origin, item.sentence) if exactly(words, part)), None)
