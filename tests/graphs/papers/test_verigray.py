"""VeriGray: the temperature that judges are asked at, and the audit of given labels."""

import json
from pathlib import Path
from typing import Any

from fakes import ChatServer
from hypothesis import given
from hypothesis import strategies as st
from papers import verifier
from reader import Reader
from walked import SAID as WORD
from walked import claim, judgement

from longproof import Verifier
from longproof.agent.specs import Spec
from longproof.agent.types import LABELS as ALL
from longproof.agent.types import Case, Label
from longproof.graphs.papers.paper import Decision, Unit
from longproof.graphs.papers.verigray import NOT_AUDITED, by_dispute, disputes

GRAY = Path(__file__).parents[2] / "gray"
ARTICLE, SUMMARY = ((GRAY / f"{name}.txt").read_text("utf-8") for name in ("article", "summary"))
SAID: list[dict[str, Any]] = json.loads((GRAY / "labels.json").read_text("utf-8"))
LABELS: dict[str, Label] = {said["sentence"]: said["label"] for said in SAID}


def test_a_judges_own_temperature_goes_before_the_papers(tmp_path: Path) -> None:
    with ChatServer(Reader(Option={"facts": [], "label": "no_fact"})) as server:
        spec = Spec(kind="openai", model="m", address=server.address, temperature=0.1)
        asks = Verifier([spec], protocol="verigray", home=str(tmp_path))
        asks.verify(ARTICLE, SAID[0]["sentence"])
    assert [one.body["temperature"] for one in server.asked] == [0.1]


def test_an_audit_asks_five_models_about_all_but_ambiguous_and_out_dependent(tmp_path: Path) -> None:
    given = list(LABELS.values())
    right = {"contradicting": "contradictory"} | dict.fromkeys(("fabricated", "no_fact"), "not_attributable")
    reader = Reader(
        Attribution=lambda asked: {"answer": right.get(LABELS[asked.part("passage")], "attributable")}
    )
    with ChatServer(reader) as server:
        report = verifier(server, tmp_path, "verigray-audit", 5).verify(ARTICLE, SUMMARY, labels=given)
    assert {LABELS[one.part("passage")] for one in server.asked} == {*given} - {"ambiguous", "out_dependent"}
    assert len(server.asked) == 5 * 5
    assert [claim.label for claim in report.claims] == given


def test_a_label_disputes_the_other_sides() -> None:
    assert not disputes("explicitly_supported", "implicitly_supported")
    assert disputes("explicitly_supported", "fabricated")
    assert disputes("fabricated", "contradicting")
    assert not disputes("no_fact", "fabricated")
    assert disputes("no_fact", "contradicting")


@given(st.sampled_from(ALL), st.lists(WORD, min_size=1, max_size=5))
def test_one_dispute_flags_and_a_panel_that_only_fails_says_so(label: Label, said: list[str]) -> None:
    judgements = tuple(judgement("q0", f"j{n}", word) for n, word in enumerate(said))
    case = Case(id="x", response="Ada lit the lamp at ten.", labels=(label,))
    made = by_dispute(Unit(claim=claim().claim, judgements=judgements), case, 2 / 3)
    words: list[Any] = [word for word in said if word in (*ALL, "not_found")]
    if label in NOT_AUDITED:
        assert (made.label, made.decided_by) == (label, "rule")
    elif not words:
        assert made == Decision(), "undecided, for the judges' own reason"
    elif any(disputes(label, word) for word in words):
        assert (made.label, made.failure, made.decided_by) == (None, "disputed", "nobody")
    else:
        assert (made.label, made.decided_by) == (label, "vote")
