"""The exact wrong words, their kind and their correction, for claims decided wrong of which nobody said where.

Knows: how a language model is asked for places in the response, and which of them are believed: words that stand in
the claim's origin, corrections that change something. What can't be placed is named, not guessed.
Does not know: how claims were decided.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from longproof.agent.asking import language_of, line, listed
from longproof.agent.forms import PlaceForm, Places
from longproof.agent.guards import exactly, same, wrong_place
from longproof.agent.judge import ASKED_AGAIN
from longproof.agent.model import Model
from longproof.agent.readers import brief, by_number
from longproof.agent.types import Call, Case, Claim, Error, Failure
from longproof.prompts import render
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


async def localise(model: Model, wrong: Sequence[Wrong], shown: Sequence[Span], case: Case) -> Localised:
    """Ask where these claims are wrong, once more for what could not be placed."""
    numbered = dict(enumerate(wrong, start=1))
    if not numbered:
        return Localised({}, {}, [])
    found, calls, call_id = await _round(model, numbered, shown, case, {})
    left = {n: failure for n, failure in found.items() if isinstance(failure, str) and failure in ASKED_AGAIN}
    if left:
        again, more, call_id = await _round(model, {n: numbered[n] for n in left}, shown, case, left)
        found, calls = found | again, calls + more
    done = Localised({}, {}, calls)
    for n, outcome in found.items():
        if isinstance(outcome, Error):
            done.errors[numbered[n].claim.id] = (outcome,)
            continue
        done.failures[numbered[n].claim.id] = outcome
        if outcome in ASKED_AGAIN:
            await model.mark(call_id, outcome)
    return done


async def _round(
    model: Model,
    numbered: Mapping[int, Wrong],
    shown: Sequence[Span],
    case: Case,
    failed: Mapping[int, Failure],
) -> tuple[dict[int, Error | Failure], list[Call], str | None]:
    language = language_of(case)
    reasons = [line(claim=f"C{n}", reason=reason) for n, item in numbered.items() for reason in item.reasons]
    prompt = render(
        "localise",
        language,
        evidence=[span.text for span in shown],
        reasons="\n".join(reasons),
        claims=listed({n: item.claim for n, item in numbered.items()}),
    )
    if why := [f"C{n}: {failure}" for n, failure in failed.items() if failure != "timeout"]:
        prompt = prompt.then(render("again", language, reasons="\n".join(why)))
    answer = await model.ask(prompt, Places, purpose="localise")
    said = by_number((place.claim, place) for place in answer.value.places) if answer.value else {}
    found = {n: answer.failure or _placed(said.get(n, []), item.claim) for n, item in numbered.items()}
    return found, list(answer.calls), answer.call_id


def _placed(said: Sequence[PlaceForm], claim: Claim) -> Error | Failure:
    if not said:
        return "unparsed"
    place = said[-1]
    if same(place.wrong, place.correction):
        return "self_contradicted"
    if exactly(place.wrong, claim.origin) is None:
        return "ungrounded"
    return wrong_place(place.wrong, place.kind, place.correction, brief(place.reason), claim)[0]
