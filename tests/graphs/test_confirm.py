"""Convictions that are confirmed: what stands, what is held back, and that no rate is guessed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes import Asked, ChatServer, Reply, denying, well
from scripted import ScriptedArbiter, ScriptedJudge, WholeSentences

from longproof import Verifier
from longproof.agent.trust.reliability import JudgeRates, Reliability
from longproof.agent.types import Claim, Question, Report
from longproof.graphs.policy import CONFIRMING_FAILED
from longproof.retrieval.types import BadInput

FACTS = [f"On day {n} the keeper of lamp {n} wrote the number {n * 7} into the book." for n in range(60)]
SOURCE = "\n".join(FACTS)
RATES = Reliability(
    judges=tuple(
        JudgeRates(judge=f"j{n}", sensitivity=s, specificity=c)
        for n, (s, c) in enumerate(((0.9, 0.999), (0.8, 0.99), (0.7, 0.97)))
    ),
    prevalence=0.02,
    claims=1000,
)


def against(*numbers: int, once_more: str = "contradicting") -> Callable[[Question, Claim], str]:
    """A judge that contradicts the facts of these numbers, and says so or otherwise when asked once more."""

    def script(question: Question, claim: Claim) -> str:
        if question.prompt == "confirm":
            return once_more
        return "contradicting" if any(FACTS[n] == claim.text for n in numbers) else "explicitly_supported"

    return script


def checked(*scripts: Any, facts: int = 60, **settings: Any) -> tuple[Report, list[ScriptedJudge]]:
    judges = [ScriptedJudge(f"j{n}", script) for n, script in enumerate(scripts)]
    verifier = Verifier(
        judges, arbiter=ScriptedArbiter("contradicting"), decomposer=WholeSentences(), **settings
    )
    return verifier.verify(SOURCE, " ".join(FACTS[:facts])), judges


def undecided(report: Report) -> list[tuple[str, str | None]]:
    return [(claim.text, claim.failure) for claim in report.claims if claim.label is None]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "rates.json"
    path.write_text(RATES.model_dump_json())
    return str(path)


@pytest.mark.parametrize(
    ("once_more", "failure"),
    [
        ("contradicting", None),
        ("implicitly_supported", "unconfirmed"),
        ("not_found", "unconfirmed"),
        ("timeout", "timeout"),
        ("over_budget", "over_budget"),
        ("unparsed", "unparsed"),
    ],
)
def test_a_conviction_stands_once_borne_out_and_a_failed_question_is_named_as_one(
    once_more: str, failure: str | None
) -> None:
    report, judges = checked(*[against(3, once_more=once_more)] * 3, confirm=True)
    assert report.verdict == ("undecided" if failure else "hallucinated")
    assert undecided(report) == ([(FACTS[3], failure)] if failure else [])
    told = [claim.caveat for claim in report.claims if claim.label is None]
    assert told == ([] if failure is None else ["" if failure == "unconfirmed" else CONFIRMING_FAILED])
    asked = [question for judge in judges for question in judge.heard if question.prompt == "confirm"]
    (once,) = asked
    before = [q for q in judges[-1].heard if q.prompt != "confirm" and once.claim_ids[0] in q.claim_ids]
    assert once.shown == before[-1].shown, "all that was shown for it is shown again"
    answered = failure in (None, "unconfirmed")
    risk = {"convicted": 1, "asked": answered, "held": failure == "unconfirmed", "failed": not answered}
    assert {name: report.stamp["risk"][name] for name in risk} == risk
    assert report.stamp["risk"]["chance"] is None, "no rates were known, so no chance is named"


def test_what_is_nowhere_stands_where_it_is_not_found_once_more() -> None:
    nowhere = [lambda question, claim: "not_found" if claim.text == FACTS[3] else "explicitly_supported"] * 3
    report, _ = checked(*nowhere, confirm=True)
    assert [claim.label for claim in report.claims if claim.text == FACTS[3]] == ["fabricated"]


def test_weak_convictions_alone_are_asked_about_and_strong_ones_stand(file: str) -> None:
    scripts = against(3), against(3, 5), against(3, 5, once_more="implicitly_supported")
    free, _ = checked(*scripts)
    assert [claim.label for claim in free.claims].count("contradicting") == 2
    report, judges = checked(*scripts, max_risk=0.005, reliability=file)
    assert undecided(report) == [(FACTS[5], "unconfirmed")]
    assert report.verdict == "hallucinated"
    assert sum(question.prompt == "confirm" for question in judges[-1].heard) == 1
    taken = report.stamp["risk"]
    assert (taken["convicted"], taken["asked"], taken["held"], taken["rates"]) == (2, 1, 1, "file")
    assert taken["chance"] <= 0.005 < taken["chance_before"]
    assert taken["judges"] == [one.model_dump() for one in RATES.judges]


def test_what_could_not_be_confirmed_either_is_held_back_unasked(file: str) -> None:
    scripts = against(3), against(3, 5), against(3, 5)
    report, judges = checked(*scripts, max_risk=0.0001, reliability=file)
    assert undecided(report) == [(FACTS[5], "unconfirmed")]
    assert not any(question.prompt == "confirm" for question in judges[-1].heard)


def test_rates_may_come_from_the_votes_of_the_run_itself() -> None:
    scripts = against(*range(9)), against(*range(9)), against(*range(9), 20, 21)
    report, _ = checked(*scripts, max_risk=0.05)
    assert report.stamp["risk"]["rates"] == "votes"
    assert report.stamp["risk"]["chance"] <= 0.05


def test_where_a_runs_own_votes_tell_no_rates_every_conviction_is_confirmed_and_no_risk_is_named() -> None:
    """Ten claims are too few; only the answers could tell, so nothing that was paid for is thrown away."""
    report, judges = checked(
        *[against(3, 5)] * 2, against(3, 5, once_more="not_found"), facts=10, max_risk=0.05
    )
    assert undecided(report) == [(FACTS[3], "unconfirmed"), (FACTS[5], "unconfirmed")]
    assert sum(question.prompt == "confirm" for judge in judges for question in judge.heard) == 2
    taken = report.stamp["risk"]
    assert (taken["max_risk"], taken["rates"], taken["chance"]) == (0.05, None, None)


@pytest.mark.parametrize(
    ("size", "facts", "settings", "why"),
    [
        (2, 60, {"max_risk": 0.05}, "give --reliability FILE"),
        (13, 60, {"max_risk": 0.05}, "of at most twelve judges"),
        (
            3,
            60,
            {"confirm": True, "reliability": "nowhere.json"},
            "--reliability says nothing without --max-risk",
        ),
        (3, 60, {"max_risk": 0.05, "reliability": "nowhere.json"}, "nowhere.json: No such file"),
        (3, 60, {"confirm": True, "protocol": "verigray"}, "the protocol longproof"),
    ],
)
def test_no_rate_is_guessed(size: int, facts: int, settings: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        checked(*[against(3)] * size, facts=facts, **settings)


def test_a_file_must_know_every_judge_and_hold_rates(file: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no rates of j3"):
        checked(*[against(3)] * 4, max_risk=0.05, reliability=file)
    (tmp_path / "bad.json").write_text('{"judges": [], "prevalence": 2, "claims": 1}')
    with pytest.raises(BadInput, match="holds no rates of judges"):
        checked(*[against(3)] * 3, max_risk=0.05, reliability=str(tmp_path / "bad.json"))
    with pytest.raises(BadInput, match="need a language model"):
        Verifier(judges=["offline"], confirm=True).verify(SOURCE, FACTS[0])


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
        verifier = Verifier(judges=[judge], arbiter=arbiter, home=str(tmp_path), confirm=True)
        report = verifier.verify(SOURCE, FACTS[3])
    (request,) = asked
    assert request.body["model"] == "other"
    assert sorted(request.parts("statements"), key=len) == [FACTS[3], f"It is not so: {FACTS[3]}"]
    assert undecided(report) == [(FACTS[3], "unconfirmed")]
    assert [call.purpose for call in report.calls].count("confirm") == 1
    assert report.claims[0].judgements[0].judge == "confirm:other"
