"""The exact wrong words, their kind and their correction, for claims decided wrong of which no judge said where.

Knows: how a language model is asked for places in the response, and which of them are believed: words that stand in
the claim's sentence, corrections that change something. A model may also answer that nothing there is shown to be
wrong, or that what is wrong stands elsewhere. What can't be placed is a named failure, never a guess.
Does not know: how claims were decided.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, get_args

from longproof.agent.forms import PlaceForm, Places
from longproof.agent.guards import exactly, same, word, wrong_place
from longproof.agent.models.asker import Asker, by_number
from longproof.agent.models.model import Answer, Model
from longproof.agent.prompting import VALUES, brief, language_of, line
from longproof.agent.types import Call, Case, Claim, Error, Failure, Question
from longproof.prompts import Language, Prompt, render
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document, Span

Unmarked = Literal["outside", "nothing"]
"""Why a claim decided wrong has no wrong words in its sentence: they stand elsewhere, or nothing is shown to be
wrong."""


ABSENT: dict[Language, str] = {
    "en": "All of the source was read for it, and nothing of the kind stands there.",
    "zh": "为此通读了原文，没有找到此事。",
}
"""Why a claim is wrong of which the judges only said that they didn't find it."""


class Wrong(NamedTuple):
    """A claim decided wrong, and the reasons that were given for it."""

    claim: Claim
    reasons: tuple[str, ...]


class Localised(NamedTuple):
    """By claim id: its errors, why it has none, or why that isn't known. Every claim stands in exactly one.

    `reasons`: what was said of claims without errors.
    """

    errors: dict[str, tuple[Error, ...]]
    unmarked: dict[str, Unmarked]
    failures: dict[str, Failure]
    calls: list[Call]
    reasons: dict[str, str]


class _Item(NamedTuple):
    """A wrong claim with its sentence, in which its wrong words are sought."""

    claim: Claim
    reasons: tuple[str, ...]
    sentence: Span


class _Placed(NamedTuple):
    """The error of one claim, why it has none, or why that isn't known."""

    error: Error | None = None
    unmarked: Unmarked | None = None
    failure: Failure | None = None
    reason: str = ""


async def localise(model: Model, wrong: Sequence[Wrong], question: Question, case: Case) -> Localised:
    """Ask where these claims are wrong, of a model that sees what the question shows."""
    done = Localised({}, {}, {}, [], {})
    if not wrong:
        return done
    numbered = dict(enumerate(_with_sentences(wrong, case), start=1))
    prompt_of = partial(_prompt, question=question, case=case)
    found, calls = await Asker(model).ask_about(
        numbered, letter="C", purpose="localise", form=Places, prompt_of=prompt_of, read=_read
    )
    done.calls.extend(calls)
    for n, placed in found.items():
        id_ = numbered[n].claim.id
        if placed.error is not None:
            done.errors[id_] = (placed.error,)
        elif placed.unmarked is not None:
            done.unmarked[id_], done.reasons[id_] = placed.unmarked, placed.reason
        elif placed.failure is not None:
            done.failures[id_] = placed.failure
    return done


def _with_sentences(wrong: Sequence[Wrong], case: Case) -> list[_Item]:
    """Claims with their sentences; a claim that is no part of one (a passage, a whole response) with its origin."""
    ranges, text = sentences(case.response), Document.of(case.response)
    items: list[_Item] = []
    for claim, reasons in wrong:
        start, end = ranges[claim.sentence] if claim.sentence < len(ranges) else (0, 0)
        inside = start <= claim.origin.start and claim.origin.end <= end
        sentence = text.span(start, end) if inside else claim.origin
        items.append(_Item(claim, reasons, sentence))
    return items


def _prompt(items: Mapping[int, _Item], question: Question, case: Case) -> Prompt:
    language = language_of(case)
    reasons = [
        line(claim=f"C{n}", reason=reason)
        for n, item in items.items()
        for reason in item.reasons or (ABSENT[language],)
    ]
    return render(
        "localise",
        language,
        evidence=VALUES["evidence"](question, {}, case),
        pages=VALUES["pages"](question, {}, case),
        reasons="\n".join(reasons),
        claims="\n".join(_listed(n, item) for n, item in items.items()),
    )


def _listed(n: int, item: _Item) -> str:
    """A claim, its sentence, and the words of the sentence that it comes from, where these aren't all of it."""
    claim, origin = item.claim, item.claim.origin
    part = {} if origin.text == item.sentence.text else {"words": origin.text}
    return line(claim=f"C{n}", text=claim.text, sentence=item.sentence.text, **part)


def _read(answer: Answer[Places], items: Mapping[int, _Item], _: Prompt) -> dict[int, _Placed]:
    said = by_number((place.claim, place) for place in answer.value.places) if answer.value else {}
    return {
        n: _Placed(failure=answer.failure) if answer.failure else _placed(said.get(n, []), item)
        for n, item in items.items()
    }


def _placed(said: Sequence[PlaceForm], item: _Item) -> _Placed:
    if not said:
        return _Placed(failure="unparsed")
    place, where = said[-1], word(said[-1].where)
    within = _sought_in(place.wrong, item)
    unmarked = next((one for one in get_args(Unmarked) if one == where), None)
    if where != "here" and unmarked is None:
        return _Placed(failure="off_menu")
    if (unmarked and within) or same(place.wrong, place.correction):
        return _Placed(failure="self_contradicted")
    if unmarked:
        return _Placed(unmarked=unmarked, reason=brief(place.reason))
    if within is None:
        return _Placed(failure="ungrounded")
    claim = item.claim.model_copy(update={"origin": within})
    (error,) = wrong_place(place.wrong, place.kind, place.correction, brief(place.reason), claim)
    return _Placed(error=error)


def _sought_in(wrong: str, item: _Item) -> Span | None:
    """The part of the response that has these words: those that the claim comes from before its whole sentence."""
    places = (item.claim.origin, item.sentence)
    return next((place for place in places if exactly(wrong, place)), None)
