"""Texts without a source: saved pages are asked at once, and where they don't speak of it nobody decides."""

from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from papers import traced, verifier
from reader import Reader
from scripted import ScriptedArbiter, ScriptedJudge, WholeSentences

from longproof import Verifier
from longproof.agent.types import Claim, Question
from longproof.graphs.papers import PAPERS
from longproof.retrieval.types import BadInput

TOWER, OPENED = "The Orla tower stands in Dunmore.", "The Orla tower was opened in 1889."
WRONG, UNKNOWN = "The Orla tower was opened in 1899.", "The Orla tower was painted by Tom Rell."
PAGE = f"{TOWER} {OPENED} Its lamp is lit at nine."
SAID = {TOWER: "explicitly_supported", OPENED: "implicitly_supported", WRONG: "contradicting"}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "tower.txt").write_text(PAGE, "utf-8")
    return folder


def says(question: Question, claim: Claim) -> str:
    return SAID.get(claim.text, "not_found")


def check(
    home: Path, *texts: str, pages: Path | None = None, script: Any = says
) -> tuple[Any, list[list[str]], list[ScriptedJudge]]:
    judges = script if isinstance(script, list) else [ScriptedJudge(f"j{n}", script) for n in range(3)]
    arbiter = ScriptedArbiter("explicitly_supported" if isinstance(script, list) else "not_found")
    folder = str(pages) if pages else None
    asks = Verifier(judges, arbiter=arbiter, decomposer=WholeSentences(), pages=folder, home=str(home))
    report, paths = traced(asks, "", " ".join(texts), task="open")
    return report, paths, judges


def test_without_source_and_pages_nobody_is_asked_and_nothing_is_decided(tmp_path: Path) -> None:
    report, paths, judges = check(tmp_path, TOWER, UNKNOWN)
    assert (report.verdict, report.coverage) == ("undecided", 0)
    assert {(c.label, c.failure, c.decided_by) for c in report.claims} == {(None, "sourceless", "nobody")}
    assert paths == [["consult", "localise"]]
    assert [judge.heard for judge in judges] == [[], [], []]


def test_pages_are_asked_at_once_and_what_only_they_say_is_out_dependent(tmp_path: Path, pages: Path) -> None:
    report, (path,), judges = check(tmp_path, TOWER, OPENED, WRONG, pages=pages)
    assert path == ["consult", "judge", "vote", "decompose", "localise"]
    assert [c.label for c in report.claims] == ["out_dependent", "out_dependent", "contradicting"]
    assert {q.look for judge in judges for q in judge.heard} == {"pages"}
    assert [span.text for span in report.claims[0].evidence] == [PAGE]
    assert report.verdict == "hallucinated"


def test_what_no_page_speaks_of_stays_open(tmp_path: Path, pages: Path) -> None:
    report, _, _ = check(tmp_path, TOWER, UNKNOWN, "Quinces ripen late.", pages=pages)
    found = [(claim.label, claim.failure) for claim in report.claims]
    assert found == [("out_dependent", None), (None, "sourceless"), (None, "sourceless")]
    assert report.verdict == "undecided"


def test_pages_that_only_some_judges_can_read_go_to_the_arbiter(tmp_path: Path, pages: Path) -> None:
    split = [ScriptedJudge(f"j{n}", ("not_found", "explicitly_supported")[n % 2]) for n in range(4)]
    report, (path,), _ = check(tmp_path, TOWER, pages=pages, script=split)
    assert path == ["consult", "judge", "vote", "decompose", "arbitrate", "localise"]
    assert (report.claims[0].label, report.claims[0].decided_by) == ("out_dependent", "arbiter")


SHOWS_A_SOURCE = [one.name for one in PAPERS if one.shows == "source"]


@pytest.mark.parametrize("name", sorted({*SHOWS_A_SOURCE} - {"probe", "verigray-rag"}))
def test_a_paper_that_holds_texts_against_a_source_is_refused_without_one(name: str, tmp_path: Path) -> None:
    asks = Verifier([ScriptedJudge("j", "fabricated")], protocol=name, home=str(tmp_path))
    with pytest.raises(BadInput, match=f"the protocol {name} holds a response against a source"):
        asks.verify("", TOWER, task="open")
    with pytest.raises(BadInput, match="there is no source text: give one, or choose the task `open`"):
        asks.verify("", TOWER)


@pytest.mark.parametrize("name", ["halueval-qa", "halueval-dialogue-cot", "halueval-general"])
def test_what_needs_no_source_runs_without_one(name: str, tmp_path: Path) -> None:
    answer = {"reasoning": "", "answer": "no"}
    with ChatServer(Reader(Recognition=answer, ReasonedRecognition=answer)) as server:
        report = verifier(server, tmp_path, name).verify("", TOWER, task="open")
    assert (report.verdict, report.coverage) == ("faithful", 1)
