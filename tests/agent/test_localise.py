"""Wrong places are words of the response, and corrections change something; the rest is named."""

from typing import Any

import pytest
from fakes import ChatServer, Script
from reader import PROSE, always, entry_of, well
from seam import using

from longproof.agent.localise import Wrong, localise
from longproof.agent.types import Call, Case, Claim, Error, Failure, Question
from longproof.retrieval.types import Document

SOURCE = Document.of("The old keeper gave her nine letters. She did not open them.")
RESPONSE = Document.of("Then the keeper gave her nineteen letters. She opened them.")
CASE = Case(id="case", response=RESPONSE.text, source_ids=(SOURCE.id,))
QUESTION = Question(
    id="q", claim_ids=("c0", "c1"), shown=(SOURCE.span(0, len(SOURCE.text)),), look="window", prompt="judge"
)
CLAIMS = [
    Claim(id=f"c{n}", index=n, sentence=n, text=text, origin=RESPONSE.span(*place))
    for n, (text, place) in enumerate(
        {"The keeper gave Mara nineteen letters.": (0, 42), "Mara opened the letters.": (43, 59)}.items()
    )
]
C1, C2 = {"claim": "C1"}, {"claim": "C2"}
GOOD: list[dict[str, Any]] = [
    entry_of(C1, "nineteen", reason="Nine.", kind="numerical", correction="nine"),
    entry_of(C2, "opened", reason="Not.", kind="inversion", correction="did not open"),
]


def place_errors(
    script: Script, wrong: list[Claim] = CLAIMS, reasons: tuple[str, ...] = ("It says otherwise.",)
) -> tuple[dict[str, Error], ChatServer]:
    server = ChatServer(script)
    doubted = [Wrong(claim, reasons) for claim in wrong]
    made: tuple[dict[str, Error], list[Call]] = using(
        server, lambda model: localise(model, doubted, QUESTION, CASE)
    )
    errors, calls = made
    assert {call.purpose for call in calls} <= {"localise"}
    assert errors.keys() <= {claim.id for claim in wrong}
    return errors, server


def form(*items: dict[str, Any]) -> dict[str, Any]:
    return {"places": items}


def test_places_are_spans_of_the_response() -> None:
    found, server = place_errors([form(*GOOD)])
    errors = [found[claim.id] for claim in CLAIMS]
    assert [RESPONSE.text[e.span.start : e.span.end] for e in errors] == ["nineteen", "opened"]
    assert [(e.kind, e.correction) for e in errors] == [("numerical", "nine"), ("inversion", "did not open")]
    assert [item["reason"] for item in server.asked[0].items("reasons")] == ["It says otherwise."] * 2


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        (always(PROSE), "unparsed"),
        (always(form()), "unparsed"),
        (always(form(*[{**g, "wrong": "the seven lamps"} for g in GOOD])), "ungrounded"),
        (always(form(*[{**g, "wrong": ""} for g in GOOD])), "ungrounded"),
        (always(form(*[{**g, "where": "somewhere"} for g in GOOD])), "off_menu"),
        (always(form(*[{**g, "where": "nothing"} for g in GOOD])), "self_contradicted"),
        (always(form(*[{**g, "where": "outside"} for g in GOOD])), "self_contradicted"),
        (always(form(*[{**g, "correction": g["wrong"].upper()} for g in GOOD])), "self_contradicted"),
    ],
)
def test_what_cannot_be_placed_is_named(script: Script, failure: Failure) -> None:
    found, server = place_errors(script)
    assert found == {}
    assert any(f"C1: {failure}\nC2: {failure}" in asked.user for asked in server.asked[1:])


@pytest.mark.parametrize("where", ["outside", "nothing"])
@pytest.mark.parametrize("wrong", ["", "the seven lamps"])
def test_what_is_not_wrong_here_is_said_and_nothing_is_struck(where: str, wrong: str) -> None:
    answers = [{"claim": g["claim"], "reason": "Not shown.", "where": where, "wrong": wrong} for g in GOOD]
    found, server = place_errors([form(*answers)])
    assert (found, len(server.asked)) == ({}, 1)
    found, _ = place_errors([form(*answers)], reasons=())
    assert found == {claim.id: Error(span=claim.origin, reason="Not shown.") for claim in CLAIMS}


def test_an_error_is_sought_in_the_claims_words_and_then_in_its_sentence() -> None:
    part = CLAIMS[0].model_copy(update={"origin": RESPONSE.span(16, 41)})
    assert part.origin.text == "gave her nineteen letters"
    for wrong, start in [("nineteen", 25), ("keeper", 9), ("er", 22)]:
        found, server = place_errors([form({**GOOD[0], "wrong": wrong, "correction": "x"})], [part])
        assert found["c0"].span.start == start
        (item,) = server.asked[0].items("claims")
        assert (item["sentence"], item["words"]) == (RESPONSE.text[:42], part.origin.text)
    found, _ = place_errors(always(form({**GOOD[0], "wrong": "opened"})), [part])
    assert found == {}, "that stands in another sentence"


def test_nothing_wrong_is_nothing_asked() -> None:
    found, server = place_errors(well, [])
    assert (found, server.asked) == ({}, [])
