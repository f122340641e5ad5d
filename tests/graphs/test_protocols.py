"""The rows themselves: the papers' numbers, what each needs, and the offline panel under those that it can serve."""

from pathlib import Path

import pytest
from scripted import ScriptedJudge

from longproof import Verifier
from longproof.agent.readers import ASKINGS
from longproof.graphs.protocols import NEEDS, PROTOCOLS, missing, protocol
from longproof.prompts import placeholders
from longproof.retrieval.types import BadInput

SOURCE = "The lamp was lit at nine. Ada sold the boat to Tom. The bridge fell in March. Nobody was hurt."
RESPONSE = "Ada sold the boat to Tom. The bridge fell in March."
OFFLINE = [row.name for row in PROTOCOLS.values() if not row.needs]


def test_the_designs_protocols_are_there() -> None:
    assert {name.split("-")[0] for name in PROTOCOLS} == {
        "longproof", "longnovel", "probe", "verigray", "halueval", "data"
    }  # fmt: skip
    assert len(PROTOCOLS) == 25
    with pytest.raises(BadInput, match="there is no protocol 'bogus': choose one of longproof"):
        protocol("bogus")


def test_the_papers_numbers() -> None:
    rag = protocol("longnovel-rag")
    assert (rag.segment_characters, rag.block_characters, rag.alignment) == (150, 5500, "greedy")
    assert (protocol("probe").consensus, protocol("probe").decision) == (0.75, "any_piece")
    assert protocol("longnovel-arbitration").consensus == 1
    assert {protocol(name).temperature for name in ("verigray", "verigray-rag")} == {0.6}
    assert {row.temperature for row in PROTOCOLS.values() if row.name.startswith("halueval")} == {0.0}
    assert (protocol("verigray-rag").engine, protocol("verigray-rag").query) == ("okapi", "sentence")


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_row_names_a_prompt_that_shows_what_its_rounds_gather(name: str) -> None:
    row = protocol(name)
    shown = {value for part in ASKINGS[row.prompt].parts for value in placeholders(part, "en")}
    assert (row.rounds == ("nothing",)) or shown & {"evidence", "piece"}
    assert ("pages" in shown) or row.consult == "never"
    assert row.guards == "paper" or name in ("longproof", "data-to-text")
    assert bool(row.menu) == (row.prompt not in ("judge", "verigray", "verigray_rag"))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_is_missing_is_named_in_one_line(name: str) -> None:
    row = protocol(name)
    why = missing(row, ())
    assert (why is None) == (not row.needs)
    assert missing(row, tuple(NEEDS)) is None
    if why:
        assert name in why
        assert "\n" not in why


@pytest.mark.parametrize("name", OFFLINE)
def test_the_offline_panel_answers_in_the_rows_labels(name: str, tmp_path: Path) -> None:
    row = protocol(name)
    report = Verifier(protocol=name, home=str(tmp_path)).verify(SOURCE, RESPONSE)
    assert report.stamp["coarse"] == bool(row.menu)
    assert report.verdict == "faithful"
    for claim in report.claims:
        for judgement in claim.judgements:
            assert not row.menu or judgement.label in (*row.menu, None)


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


@pytest.mark.parametrize("name", ["probe", "longnovel-zero-shot", "halueval-qa", "data-to-text"])
def test_where_the_offline_panel_makes_no_sense_it_says_so(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"{name} needs judges that are language models"):
        Verifier(protocol=name, home=str(tmp_path)).verify(SOURCE, RESPONSE)


def test_several_judges_of_a_paper_that_has_one_go_to_the_arbiter_where_they_split(tmp_path: Path) -> None:
    judges = [ScriptedJudge("a", "contradicting"), ScriptedJudge("b", "explicitly_supported")]
    report = Verifier(judges, protocol="verigray", home=str(tmp_path)).verify(SOURCE, RESPONSE)
    assert {claim.decided_by for claim in report.claims} == {"arbiter"}
