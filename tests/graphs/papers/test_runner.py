"""What all papers share: units that lose nothing, votes in a paper's menu, a table of names, what is refused."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from counted import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from scripted import ScriptedArbiter, ScriptedJudge

from longproof import Verifier
from longproof.agent.types import LABELS, Case, Judgement
from longproof.graphs.papers import all_papers, find_paper
from longproof.graphs.papers.answers import VALUES
from longproof.graphs.papers.paper import Paper, PaperState, Run
from longproof.graphs.papers.runner import cut
from longproof.graphs.papers.votes import COARSE, on_menu
from longproof.graphs.protocol import NEEDS, unmet
from longproof.graphs.protocols import protocol, protocols
from longproof.prompts import placeholders
from longproof.retrieval.types import BadInput

TEXT = (
    "Ada sold the boat. Tom bought it for ninety pounds! Was it worth that?\n第二天他们去了渡口。没有人说话。"
)
SOURCE = "The lamp was lit at nine. Ada sold the boat to Tom. The bridge fell in March. Nobody was hurt."
RESPONSE = "Ada sold the boat to Tom. The bridge fell in March."
BY_UNIT = {"sentence": "verigray", "segment": "longnovel-rag", "response": "probe-direct"}


def named(name: str) -> Paper:
    found = find_paper(name)
    assert found is not None
    return found


def cut_into(unit: str, text: str = TEXT) -> PaperState:
    run: Any = Run(named(BY_UNIT[unit]), None, lambda event: None)  # type: ignore[arg-type]
    return asyncio.run(cut({"case": Case(id="x", response=text)}, run))


@pytest.mark.parametrize(("unit", "count"), [("sentence", 5), ("segment", 2), ("response", 1)])
def test_so_many_units(unit: str, count: int) -> None:
    made = cut_into(unit)
    assert len(made["units"]) == count
    assert len(made["sentences"]) == 5


@given(st.text(alphabet="ab .!?。！\n我", min_size=1, max_size=80), st.sampled_from(sorted(BY_UNIT)))
def test_every_sentence_lies_in_exactly_one_unit(text: str, unit: str) -> None:
    made = cut_into(unit, text)
    claims = [one.claim for one in made["units"]]
    for sentence in made["sentences"]:
        span = sentence.span
        assert sum(c.origin.start <= span.start and span.end <= c.origin.end for c in claims) == 1
    for claim in claims:
        assert text[claim.origin.start : claim.origin.end] == claim.text
        span = made["sentences"][claim.sentence].span
        assert span.start <= claim.origin.start < span.end


def test_the_time_grows_with_the_units_not_with_their_square() -> None:
    assert_linear(lambda size: cut_into("sentence", "Ada ran. " * size), 500)


@given(st.sampled_from([*LABELS, "not_found"]), st.sets(st.sampled_from(LABELS), min_size=1))
def test_a_menu_never_turns_right_into_wrong(said: Any, menu: Any) -> None:
    judgement = Judgement(claim_id="c0", judge="j", round="source", question_id="q", label=said)
    made = on_menu(judgement, menu)
    if made.label is None:
        assert made.failure == "off_menu"
        return
    assert made.label in menu
    if said != "no_fact":
        assert COARSE[made.label] == COARSE[said]


def test_the_designs_protocols_are_there() -> None:
    names = list(protocols())
    assert {name.split("-")[0] for name in names} == {
        "longproof", "longnovel", "probe", "verigray", "halueval", "data", "plain"
    }  # fmt: skip
    assert len(names) == 26
    with pytest.raises(BadInput, match="there is no protocol 'bogus': choose one of longproof"):
        protocol("bogus")


def test_the_papers_numbers() -> None:
    assert named("probe").consensus == 0.75
    assert named("longnovel-arbitration").consensus == 1
    warm = {one.name: one.temperature for one in all_papers() if one.temperature}
    assert warm == {"verigray": 0.6, "verigray-rag": 0.6}
    assert [one.name for one in all_papers() if one.asks_again] == ["data-to-text"]


@pytest.mark.parametrize("name", [one.name for one in all_papers()])
def test_a_prompt_asks_for_what_is_shown_and_a_need_is_named_in_one_line(name: str) -> None:
    one = named(name)
    asked = {value for part in one.prompt for value in placeholders(part, "en")}
    assert asked <= VALUES.keys()
    assert one.shows == "nothing" or asked & {"evidence", "piece"}
    why = unmet(one.name, one.needs, ())
    assert (why is None) == (not one.needs)
    assert unmet(one.name, one.needs, tuple(NEEDS)) is None
    assert why is None or (name in why and "\n" not in why)


@pytest.mark.parametrize("name", [one.name for one in all_papers()])
def test_the_papers_methods_refuse_the_offline_check(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"{name} needs judges that read: give --judge openai:MODEL"):
        Verifier(protocol=name, home=str(tmp_path)).verify(SOURCE, RESPONSE)


@pytest.mark.parametrize("setting", [{"arbiter": "person"}, {"cascade": True}])
def test_a_papers_panel_leaves_nothing_to_a_person_and_has_no_cascade(setting: Any, tmp_path: Path) -> None:
    judges = [ScriptedJudge("a", "contradicting"), ScriptedJudge("b", "contradicting")]
    asks = Verifier(judges, protocol="verigray", home=str(tmp_path), **setting)
    with pytest.raises(BadInput, match="verigray asks a whole panel and no person"):
        asks.verify(SOURCE, RESPONSE)


def test_a_judge_that_knows_all_labels_is_read_in_a_coarse_menu(tmp_path: Path) -> None:
    words = {
        "explicitly_supported": "implicitly_supported",
        "no_fact": "implicitly_supported",
        "not_found": "fabricated",
        "out_dependent": "fabricated",
        "contradicting": "contradicting",
        "ambiguous": None,
    }
    for said, label in words.items():
        judge = ScriptedJudge("j", said)
        report = Verifier([judge], protocol="longnovel-rag", home=str(tmp_path)).verify(SOURCE, RESPONSE)
        assert (report.claims[0].label, report.claims[0].failure) == (label, None if label else "off_menu")
        assert report.stamp["coarse"]


def test_several_judges_of_a_paper_that_has_one_go_to_the_arbiter_where_they_split(tmp_path: Path) -> None:
    judges = [ScriptedJudge("a", "contradicting"), ScriptedJudge("b", "explicitly_supported")]
    arbiter = ScriptedArbiter("contradicting")
    report = Verifier(judges, arbiter, protocol="verigray", home=str(tmp_path)).verify(SOURCE, RESPONSE)
    assert {claim.decided_by for claim in report.claims} == {"arbiter"}


def test_where_nobody_arbitrates_splits_stay_split(tmp_path: Path) -> None:
    judges = [ScriptedJudge("a", "contradicting"), ScriptedJudge("b", "explicitly_supported")]
    report = Verifier(judges, protocol="verigray", home=str(tmp_path)).verify(SOURCE, RESPONSE)
    assert {(claim.label, claim.failure, claim.decided_by) for claim in report.claims} == {
        (None, "split", "nobody")
    }
    assert report.verdict == "undecided"


def test_where_answers_are_coarse_wrong_is_wrong(tmp_path: Path) -> None:
    judges = [ScriptedJudge("a", "contradicting"), ScriptedJudge("b", "fabricated")]
    for name, label in (("verigray", None), ("longnovel-rag", "contradicting")):
        asks = Verifier(judges, protocol=name, home=str(tmp_path), consensus=1.0)
        assert asks.verify(SOURCE, RESPONSE).claims[0].label == label
