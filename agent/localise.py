"""The exact wrong words, their kind and their correction, for claims decided wrong of which no judge said where.

Knows: which places in the response a language model is believed: words that stand in the claim's sentence,
corrections that change something. What can't be placed is a failure, never a guess.
Does not know: how claims were decided.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pydantic import Field

from longproof.agent.guards import same, word, wrong_place
from longproof.agent.models.answers import Form
from longproof.agent.models.model import Answer, Asker, Model, by_number
from longproof.agent.prompting import brief, language_of, line, sentence_of, shown_blocks
from longproof.agent.types import KINDS, Call, Case, Claim, Error, Failure, Question
from longproof.prompts import Language, Prompt, render

ABSENT: dict[Language, str] = {
    "en": "All of the source was read for it, and nothing of the kind stands there.",
    "zh": "为此通读了原文，没有找到此事。",
}
"""Why a claim is wrong of which the judges only said that they didn't find it."""


class PlaceForm(Form):
    """The place where one claim is wrong, and its correction; only what is wrong `here` has the last three fields."""

    claim: str
    reason: str
    where: str = Field(json_schema_extra={"enum": ["here", "outside", "nothing"]})
    wrong: str = ""
    kind: str = Field(default="none", json_schema_extra={"enum": [*KINDS, "none"]})
    correction: str = ""


class Places(Form):
    """The wrong places of all claims asked about."""

    places: list[PlaceForm]


class Wrong(NamedTuple):
    """A claim decided wrong, the reasons that were given for it, and if all of the source was read for it."""

    claim: Claim
    reasons: tuple[str, ...]
    absent: bool = False


class _Placed(NamedTuple):
    """The error of one claim; or none where its sentence has none; or why that isn't known."""

    error: Error | None = None
    failure: Failure | None = None


async def localise(
    model: Model, wrong: Sequence[Wrong], question: Question, case: Case
) -> tuple[dict[str, Error], list[Call]]:
    """Ask where these claims are wrong, of a model that sees what the question shows: errors by claim id, and the
    calls made. A claim that nobody gave a reason for is one error where no words of its sentence are called wrong.
    """
    if not wrong:
        return {}, []
    placed, calls = await Asker(model).ask_about(
        dict(enumerate(wrong, start=1)),
        letter="C",
        purpose="localise",
        form=Places,
        prompt_of=partial(_prompt, question=question, case=case),
        read=partial(_read, case=case),
    )
    errors = {wrong[n - 1].claim.id: one.error for n, one in placed.items() if one.error}
    return errors, calls


def _prompt(items: Mapping[int, Wrong], question: Question, case: Case) -> Prompt:
    language = language_of(case)
    reasons: list[str] = []
    claims: list[str] = []
    for n, (claim, given, absent) in items.items():
        reasons += [line(claim=f"C{n}", reason=why) for why in given or (ABSENT[language],) * absent]
        sentence, words = sentence_of(claim, case).text, claim.origin.text
        part = {} if words == sentence else {"words": words}
        claims.append(line(claim=f"C{n}", text=claim.text, sentence=sentence, **part))
    return render(
        "localise", language, **shown_blocks(question), reasons="\n".join(reasons), claims="\n".join(claims)
    )


def _read(answer: Answer[Places], items: Mapping[int, Wrong], _: Prompt, case: Case) -> dict[int, _Placed]:
    if answer.value is None:
        return dict.fromkeys(items, _Placed(failure=answer.failure))
    by_claim = by_number((place.claim, place) for place in answer.value.places)
    return {n: _place(by_claim.get(n, []), wrong, case) for n, wrong in items.items()}


def _place(forms: Sequence[PlaceForm], wrong: Wrong, case: Case) -> _Placed:
    """The error that an answer names last for one claim, if it is to be believed.

    Its words are sought in those that the claim comes from before its whole sentence.
    """
    if not forms:
        return _Placed(failure="unparsed")
    form, where, claim = forms[-1], word(forms[-1].where), wrong.claim
    if where not in ("here", "outside", "nothing"):
        return _Placed(failure="off_menu")
    reason = brief(form.reason)
    said = (form.wrong, form.kind, form.correction, reason)
    errors = wrong_place(*said, claim.origin, sentence_of(claim, case))
    if (where != "here" and errors) or same(form.wrong, form.correction):
        return _Placed(failure="self_contradicted")
    if where != "here":
        return _Placed(None if wrong.reasons else Error(span=claim.origin, reason=reason))
    return _Placed(errors[0]) if errors else _Placed(failure="ungrounded")
