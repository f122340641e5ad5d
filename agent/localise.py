"""The exact wrong words, their kind and their correction, for claims decided wrong of which no judge said where.

Knows: how a language model is asked for places in the response, and which of them are believed: words that stand in
the claim's origin, corrections that change something. What can't be placed is a named failure, never a guess.
Does not know: how claims were decided.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from longproof.agent.forms import PlaceForm, Places
from longproof.agent.guards import exactly, same, wrong_place
from longproof.agent.models.asker import Asker, by_number
from longproof.agent.models.model import Answer, Model
from longproof.agent.prompting import language_of, line, listed
from longproof.agent.recipes import brief
from longproof.agent.types import Call, Case, Claim, Error, Failure
from longproof.prompts import Prompt, render
from longproof.retrieval.types import Span


class Wrong(NamedTuple):
    """A claim decided wrong, and the reasons that were given for it."""

    claim: Claim
    reasons: tuple[str, ...]


class Localised(NamedTuple):
    """By claim id: its errors, or why there are none. Every claim stands in exactly one of the two."""

    errors: dict[str, tuple[Error, ...]]
    failures: dict[str, Failure]
    calls: list[Call]


class _Placed(NamedTuple):
    """The error of one claim, or why it could not be placed."""

    error: Error | None
    failure: Failure | None


async def localise(model: Model, wrong: Sequence[Wrong], shown: Sequence[Span], case: Case) -> Localised:
    """Ask where these claims are wrong."""
    numbered = dict(enumerate(wrong, start=1))
    if not numbered:
        return Localised({}, {}, [])
    prompt_of = partial(_prompt, shown=shown, case=case)
    found, calls = await Asker(model).ask_about(
        numbered, letter="C", purpose="localise", form=Places, prompt_of=prompt_of, read=_read
    )
    done = Localised({}, {}, calls)
    for n, (error, failure) in found.items():
        if error is not None:
            done.errors[numbered[n].claim.id] = (error,)
        elif failure is not None:
            done.failures[numbered[n].claim.id] = failure
    return done


def _prompt(items: Mapping[int, Wrong], shown: Sequence[Span], case: Case) -> Prompt:
    reasons = [line(claim=f"C{n}", reason=reason) for n, item in items.items() for reason in item.reasons]
    return render(
        "localise",
        language_of(case),
        evidence=[span.text for span in shown],
        reasons="\n".join(reasons),
        claims=listed({n: item.claim for n, item in items.items()}),
    )


def _read(answer: Answer[Places], items: Mapping[int, Wrong], _: Prompt) -> dict[int, _Placed]:
    said = by_number((place.claim, place) for place in answer.value.places) if answer.value else {}
    return {
        n: _Placed(None, answer.failure) if answer.failure else _placed(said.get(n, []), item.claim)
        for n, item in items.items()
    }


def _placed(said: Sequence[PlaceForm], claim: Claim) -> _Placed:
    if not said:
        return _Placed(None, "unparsed")
    place = said[-1]
    if same(place.wrong, place.correction):
        return _Placed(None, "self_contradicted")
    if exactly(place.wrong, claim.origin) is None:
        return _Placed(None, "ungrounded")
    return _Placed(
        wrong_place(place.wrong, place.kind, place.correction, brief(place.reason), claim)[0], None
    )
