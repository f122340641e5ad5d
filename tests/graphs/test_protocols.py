"""The rows themselves: the papers' numbers, what each needs, and who is refused."""

from pathlib import Path

import pytest
from scripted import ScriptedArbiter, ScriptedJudge

from longproof import Verifier
from longproof.agent.offline import OfflineJudge
from longproof.agent.recipes import RECIPES
from longproof.graphs.protocol import NEEDS, SCANNED, unmet
from longproof.graphs.protocols import PROTOCOLS, protocol
from longproof.prompts import placeholders
from longproof.retrieval.types import BadInput

SOURCE = "The lamp was lit at nine. Ada sold the boat to Tom. The bridge fell in March. Nobody was hurt."
RESPONSE = "Ada sold the boat to Tom. The bridge fell in March."


def test_the_designs_protocols_are_there() -> None:
    assert {name.split("-")[0] for name in PROTOCOLS} == {
        "longproof", "longnovel", "probe", "verigray", "halueval", "data", "plain"
    }  # fmt: skip
    assert len(PROTOCOLS) == 26
    with pytest.raises(BadInput, match="there is no protocol 'bogus': choose one of longproof"):
        protocol("bogus")


def test_the_papers_numbers() -> None:
    rag = protocol("longnovel-rag")
    assert (rag.segment_characters, rag.block_characters, rag.alignment) == (150, 5500, "greedy")
    assert protocol("probe").consensus == 0.75
    assert protocol("longnovel-arbitration").consensus == 1
    assert {protocol(name).temperature for name in ("verigray", "verigray-rag")} == {0.6}
    assert {row.temperature for row in PROTOCOLS.values() if row.name.startswith("halueval")} == {0.0}
    assert protocol("verigray-rag").engine == "okapi"


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_row_names_a_prompt_that_shows_what_its_rounds_gather(name: str) -> None:
    row = protocol(name)
    shown = {value for part in RECIPES[row.prompt].parts for value in placeholders(part, "en")}
    assert (row.rounds == ("nothing",)) or shown & {"evidence", "piece"}
    assert ("pages" in shown) or row.consult == "never"
    assert row.guards == "paper" or name in ("longproof", "data-to-text")
    assert bool(row.menu) == (row.prompt not in ("judge", "verigray", "verigray_rag"))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_is_missing_is_named_in_one_line(name: str) -> None:
    row = protocol(name)
    why = unmet(row, ())
    assert (why is None) == (not row.needs)
    assert unmet(row, tuple(NEEDS)) is None
    if why:
        assert name in why
        assert "\n" not in why


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


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name != "longproof"])
def test_the_papers_methods_refuse_the_offline_check(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"{name} needs judges that read: give --judge openai:MODEL"):
        Verifier(protocol=name, home=str(tmp_path)).verify(SOURCE, RESPONSE)


def test_the_offline_check_given_as_an_object_is_the_same_check(tmp_path: Path) -> None:
    report = Verifier([OfflineJudge()], home=str(tmp_path)).verify(SOURCE, "A dragon ate the moon.")
    assert (report.triage, report.verdict) == (True, "undecided")
    with pytest.raises(BadInput, match="needs judges that read"):
        Verifier([OfflineJudge()], protocol="probe", home=str(tmp_path)).verify(SOURCE, RESPONSE)
    for judges in ([OfflineJudge(), ScriptedJudge("j", "contradicting")], [OfflineJudge(), OfflineJudge()]):
        with pytest.raises(BadInput, match="no vote beside others"):
            Verifier(judges, home=str(tmp_path)).verify(SOURCE, RESPONSE)


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


def test_a_source_is_read_through_unasked_up_to_a_million_characters_and_beyond_where_asked() -> None:
    row = protocol("longproof")
    assert row.looks(None, SCANNED)[-1] == "scan"
    assert row.looks(None, SCANNED + 1)[-1] == row.looks("search", 1)[-1] == "search"
    assert row.looks("scan", SCANNED + 1) == row.rounds
    assert row.looks("place", 1)[-1] == "window"
    assert protocol("longnovel-rag").looks("place", 1) == protocol("longnovel-rag").rounds
