"""Wrong places are words of the response, and corrections change something; the rest is named."""

import asyncio
import json
from typing import Any

import pytest
from fakes import PROSE, Asked, ChatServer, Reply, Script, always, well

from longproof.agent.localise import Localised, Wrong, localise
from longproof.agent.models.clients import OpenAIChat
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Limits
from longproof.agent.models.model import Model
from longproof.agent.types import Case, Claim, Failure
from longproof.retrieval.types import Document

SOURCE = Document.of("The old keeper gave her nine letters. She did not open them.")
RESPONSE = Document.of("Then the keeper gave her nineteen letters. She opened them.")
CASE = Case(id="case", response=RESPONSE.text, source_ids=(SOURCE.id,))
CLAIMS = [
    Claim(
        id="c0",
        index=0,
        sentence=0,
        text="The keeper gave Mara nineteen letters.",
        origin=RESPONSE.span(0, 42),
    ),
    Claim(id="c1", index=1, sentence=1, text="Mara opened the letters.", origin=RESPONSE.span(43, 59)),
]
GOOD: list[dict[str, Any]] = [
    {"claim": "C1", "reason": "Nine.", "wrong": "nineteen", "kind": "numerical", "correction": "nine"},
    {"claim": "C2", "reason": "Not.", "wrong": "opened", "kind": "inversion", "correction": "did not open"},
]


def localised(script: Script, wrong: list[Claim] = CLAIMS) -> tuple[Localised, ChatServer]:
    async def run(address: str) -> Localised:
        ledger = await Ledger.open(None)
        model = Model(OpenAIChat("m", address), ledger, Limits(), timeout_s=0.4, first_wait_s=0.001)
        shown = [SOURCE.span(0, len(SOURCE.text))]
        try:
            return await localise(
                model, [Wrong(claim, ("It says otherwise.",)) for claim in wrong], shown, CASE
            )
        finally:
            await ledger.close()
            await model.close()

    with ChatServer(script) as server:
        found = asyncio.run(run(server.address))
    assert set(found.errors) | set(found.failures) == {claim.id for claim in wrong}
    assert not set(found.errors) & set(found.failures)
    return found, server


def form(*items: dict[str, Any]) -> Reply:
    return Reply(json.dumps({"places": items}))


def test_places_are_spans_of_the_response() -> None:
    found, server = localised([form(*GOOD)])
    errors = [found.errors[claim.id][0] for claim in CLAIMS]
    assert [RESPONSE.text[e.span.start : e.span.end] for e in errors] == ["nineteen", "opened"]
    assert [(e.kind, e.correction) for e in errors] == [("numerical", "nine"), ("inversion", "did not open")]
    assert [item["reason"] for item in server.asked[0].items("reasons")] == ["It says otherwise."] * 2
    assert found.calls[0].purpose == "localise"


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        (always(PROSE), "unparsed"),
        (always(form()), "unparsed"),
        (always(form(*[{**g, "wrong": "the seven lamps"} for g in GOOD])), "ungrounded"),
        (always(form(*[{**g, "wrong": ""} for g in GOOD])), "ungrounded"),
        (always(form(*[{**g, "correction": g["wrong"].upper()} for g in GOOD])), "self_contradicted"),
    ],
)
def test_what_cannot_be_placed_is_named(script: Script, failure: Failure) -> None:
    found, _ = localised(script)
    assert found.failures == {"c0": failure, "c1": failure}
    assert found.errors == {}


def test_only_what_failed_is_asked_again() -> None:
    def script(asked: Asked) -> Reply:
        return form(GOOD[0]) if asked.number == 0 else form(GOOD[1])

    found, server = localised(script)
    assert set(found.errors) == {"c0", "c1"}
    assert [item["claim"] for item in server.asked[1].items("claims")] == ["C2"]


def test_leaving_words_out_is_a_correction() -> None:
    found, _ = localised([form(*[{**g, "correction": ""} for g in GOOD])])
    assert {e.correction for errors in found.errors.values() for e in errors} == {""}


def test_nothing_wrong_is_nothing_asked() -> None:
    found, server = localised(well, [])
    assert (found, server.asked) == (Localised({}, {}, []), [])
