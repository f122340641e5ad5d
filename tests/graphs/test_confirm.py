"""Convictions that are confirmed: what stands, and what is held back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from reader import Asked, Reader, Reply, denying, well
from scripted import ScriptedArbiter, ScriptedJudge, WholeSentences

from longproof import Verifier
from longproof.agent.report import CONFIRMING_FAILED, UNPROVED
from longproof.agent.types import Claim, Question, Report
from longproof.report.totals import total_lines
from longproof.report.words import words
from longproof.retrieval.types import BadInput

FACTS = [f"On day {n} the keeper of lamp {n} wrote the number {n * 7} into the book." for n in range(60)]
SOURCE = "\n".join(FACTS)
LONG = "\n".join([*FACTS, *(f"On night {n} nobody wrote to the miller of gate {n}." for n in range(400))])


def against(*numbers: int, once_more: str = "contradicting") -> Callable[[Question, Claim], str]:
    """A judge that contradicts the facts of these numbers, and says so or otherwise when asked once more."""

    def script(question: Question, claim: Claim) -> str:
        if question.prompt == "confirm":
            return once_more
        return "contradicting" if any(FACTS[n] == claim.text for n in numbers) else "explicitly_supported"

    return script


def check(
    *scripts: Any, facts: int = 60, source: str = SOURCE, **settings: Any
) -> tuple[Report, list[ScriptedJudge]]:
    judges = [ScriptedJudge(f"j{n}", script) for n, script in enumerate(scripts)]
    verifier = Verifier(
        judges, arbiter=ScriptedArbiter("contradicting"), decomposer=WholeSentences(), **settings
    )
    return verifier.verify(source, " ".join(FACTS[:facts])), judges


def without_label(report: Report) -> list[tuple[str, str | None]]:
    return [(claim.text, claim.failure) for claim in report.claims if claim.label is None]


@pytest.mark.parametrize(
    ("once_more", "failure"),
    [
        ("contradicting", None),
        *((word, "unconfirmed") for word in ("implicitly_supported", "not_found", "ambiguous")),
        *((word, word) for word in ("timeout", "over_budget", "unparsed")),
    ],
)
def test_a_conviction_stands_if_borne_out_and_a_failure_is_named(once_more: str, failure: str | None) -> None:
    report, judges = check(*[against(3, once_more=once_more)] * 3, confirm="all")
    assert report.verdict == ("undecided" if failure else "hallucinated")
    assert without_label(report) == ([(FACTS[3], failure)] if failure else [])
    told = [claim.caveat for claim in report.claims if claim.label is None]
    assert told == ([] if failure is None else ["" if failure == "unconfirmed" else CONFIRMING_FAILED])
    asked = [question for judge in judges for question in judge.heard if question.prompt == "confirm"]
    (once,) = asked
    before = [q for q in judges[-1].heard if q.prompt != "confirm" and once.claim_ids[0] in q.claim_ids]
    assert once.shown == before[-1].shown, "all that was shown for it is shown again"
    (line,) = [line for line in total_lines(report, words("en")) if "asked about once more" in line]
    held = "1 held back" if failure == "unconfirmed" else "0 held back"
    assert line.startswith(f"1 claim called wrong and asked about once more, {held}")
    assert ("that question failed" in line) == (failure not in (None, "unconfirmed"))


@pytest.mark.parametrize(
    ("once_more", "label", "failure", "caveat", "proved"),
    [
        ("contradicting", "contradicting", None, "", True),
        ("not_found", "contradicting", None, UNPROVED, False),
        ("explicitly_supported", None, "unconfirmed", "", None),
        ("ambiguous", None, "unconfirmed", "", None),
        ("timeout", "contradicting", None, CONFIRMING_FAILED, None),
    ],
)
def test_a_contradiction_in_a_long_source_is_asked_about_once_more_by_its_cited_lines_alone(
    once_more: str, label: str | None, failure: str | None, caveat: str, proved: bool | None
) -> None:
    report, judges = check(*[against(3, once_more=once_more)] * 3, facts=5, source=LONG)
    claim = report.claims[3]
    assert (claim.label, claim.failure, claim.caveat, claim.proved) == (label, failure, caveat, proved)
    (once,) = [question for judge in judges for question in judge.heard if question.prompt == "confirm"]
    assert {quote for vote in claim.judgements[1:] for quote in vote.quotes} <= set(once.shown)
    assert once.last_line == len(LONG.splitlines()) - 1
    assert len(once.shown) < 4 < len(judges[0].heard[0].shown)
    left, judges = check(*[against(3, once_more=once_more)] * 3, facts=5, source=LONG, confirm="off")
    assert (left.claims[3].label, left.claims[3].proved) == ("contradicting", None)
    assert "confirm" not in {question.prompt for judge in judges for question in judge.heard}


@pytest.mark.parametrize(("then", "proved"), [("contradicting", True), ("timeout", False)])
def test_lines_that_prove_a_contradiction_are_searched_for_once(then: str, proved: bool) -> None:
    def script(question: Question, claim: Claim) -> str:
        proves = any("night 7 " in span.text for span in question.shown)
        if question.prompt == "confirm":
            return then if proves else "not_found"
        return against(3)(question, claim)

    def noting(asked: Asked) -> dict[str, Any]:
        line = next((n for n, text in asked.numbered("passages").items() if "night 7 " in text), None)
        found = [f"C1 done {line} On night 7"] if line else []
        find = [] if line else ["C1 night 7 nobody wrote to the miller of gate 7"]
        return {"claims": found, "find": find, "read": []}

    with ChatServer(Reader(SearchTurn=noting)) as server:
        searcher = f"openai:s@{server.address}"
        report, judges = check(*[script] * 3, facts=5, source=LONG, searcher=searcher, cache=False)
    assert (report.claims[3].label, report.claims[3].proved) == ("contradicting", proved)
    asked = [question for question in judges[-1].heard if question.prompt == "confirm"]
    assert len(asked) == 2
    assert set(asked[0].shown) < set(asked[1].shown)


def test_what_is_nowhere_stands_where_it_is_not_found_once_more() -> None:
    nowhere = [lambda question, claim: "not_found" if claim.text == FACTS[3] else "explicitly_supported"] * 3
    report, _ = check(*nowhere, confirm="all")
    assert [claim.label for claim in report.claims if claim.text == FACTS[3]] == ["fabricated"]


@pytest.mark.parametrize("protocol", ["longproof", "verigray"])
def test_who_could_confirm_nothing_is_told_before_anybody_is_asked(protocol: str) -> None:
    judges = ["offline"] if protocol == "longproof" else [ScriptedJudge("j0", against(3))]
    with pytest.raises(BadInput, match="--confirm all needs a language model, and the protocol longproof"):
        Verifier(judges, protocol=protocol, confirm="all").verify(SOURCE, FACTS[0])


def test_the_arbiters_model_is_asked_in_words_of_its_own(tmp_path: Path) -> None:
    """Both statements in one prompt, all evidence above them, and an answer that counts by its number of calls."""
    asked: list[Asked] = []

    def script(request: Asked) -> Reply:
        if request.form == "StatementChoice":
            asked.append(request)
            return well(request)
        return denying("day 3")(request)

    with ChatServer(script) as server:
        judge, arbiter = (f"openai:{name}@{server.address}" for name in ("reader", "other"))
        verifier = Verifier(judges=[judge], arbiter=arbiter, home=str(tmp_path), confirm="all")
        report = verifier.verify(SOURCE, FACTS[3])
    (request,) = asked
    assert request.body["model"] == "other"
    assert sorted(request.parts("statements"), key=len) == [
        FACTS[3],
        f"It is not so: {FACTS[3]} Wrong in it: “day 3”.",
    ]
    assert without_label(report) == [(FACTS[3], "unconfirmed")]
    assert [call.purpose for call in report.calls].count("confirm") == 1
    assert report.claims[0].judgements[0].judge == f"confirm:{arbiter}"
