"""`longproof batch`, `evaluate` and `construct`: what they leave in their folders, exit codes, payments."""

import json
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest
from batches import SOURCE, case, write
from fakes import ChatServer
from reader import denying, well
from scripted_writer import novel, writer
from terminal import BATCH, EVALUATE, run

Told = pytest.CaptureFixture[str]
NONE = "no⟦LS⟧ne"


@pytest.fixture
def two(files: Path) -> list[dict[str, object]]:
    """Two cases, one of them wrong, in the folder's case file."""
    rows = [case("<b>right"), case("wrong", response="Tom sold the boat to Ada for ninety pounds.")]
    write(files, rows)
    return rows


def test_it_leaves_reports_pages_and_an_index(files: Path, two: object, capsys: Told) -> None:
    with ChatServer(denying("ninety")) as server:
        judge = ("--judge", f"openai:m@{server.address}")
        assert run(*BATCH, *judge) == 0
        assert not Path("out/pages").exists()
        assert run(*BATCH, *judge, "--html") == 0
    assert capsys.readouterr().out.startswith("2 cases: 1 faithful, 1 hallucinated\n")
    assert sorted(page.name for page in Path("out/pages").iterdir()) == ["_b_right.html", "wrong.html"]
    index = Path("out/index.html").read_text("utf-8")
    assert "./pages/wrong.html" in index
    assert "<b>right" not in index
    assert run(*BATCH, *judge, "--check") == 1


def test_junit_has_a_test_for_every_case_and_says_why_it_fails(
    files: Path, two: list[dict[str, object]]
) -> None:
    rows = [
        case("open\x1b", response="Ada was lonely & <i>cold</i>.\ufffe"),
        {"id": "no\u2028ne", "source": "none.txt", "response": "Ada left."},
        case("said", response=SOURCE),
    ]
    write(files, [*two, *rows])
    assert run(*BATCH, "--junit", "tests.xml") == 2
    suite = ElementTree.parse("tests.xml").getroot()
    assert suite.attrib == {"name": "longproof", "tests": "5", "failures": "3", "errors": "1"}
    tests = {test.get("name"): (one.tag, one.get("type"), str(one.text)) for test in suite for one in test}
    assert {test.get("name") for test in suite} == {"<b>right", "wrong", "open␛", NONE, "said"}
    assert tests.keys() == {"<b>right", "wrong", "open␛", NONE}
    assert tests["wrong"][:2] == ("failure", "hallucinated")
    assert "'ninety' should be 'twenty'" in tests["wrong"][2]
    assert tests["open␛"][:2] == ("failure", "undecided")
    assert "lonely & <i>cold</i>" in tests["open␛"][2]
    assert tests[NONE][:2] == ("error", "not checked")
    assert "none.txt" in tests[NONE][2]


def test_the_documented_step_is_a_command_that_runs(files: Path, two: object) -> None:
    documented = (Path(__file__).parents[3] / "docs" / "embedding.md").read_text("utf-8")
    (line,) = [line.strip() for line in documented.splitlines() if line.strip().startswith("longproof batch")]
    assert run(*shlex.split(line.replace("openai:gpt-4.1", "offline"))[1:]) == 1
    assert Path("checked.xml").is_file()
    assert "hallucinated (no model)" in Path("checked/index.html").read_text("utf-8")


def test_cases_that_cannot_be_checked_are_named_after_the_others_are_done(files: Path, capsys: Told) -> None:
    rows: list[object] = [
        {"id": "gone", "source": "gone.txt", "response": "Ada."},
        {"id": "both", "source": "gone.txt", "source_text": SOURCE, "response": "Ada."},
        {"id": "odd", "source_text": SOURCE},
        {},
        {"id": "record", "source": {"lamp": {"lit": "nine"}}, "response": "The lamp was lit at nine."},
    ]
    write(files, rows)
    assert run(*BATCH) == 2
    told = capsys.readouterr().err
    assert "4 of 5 cases could not be checked" in told
    assert all(f"case {id_}: " in told for id_ in ("gone", "both", "odd"))
    assert "line 4, case line 4: not a case: id: Field required" in told
    assert [path.name for path in Path("out/reports").iterdir()] == ["record.json"]
    index = Path("out/index.html").read_text("utf-8")
    assert "4 of 5 cases could not be checked" in index
    for line, id_ in enumerate(("gone", "both", "odd", "line 4"), 1):
        assert f'{{"id":"{id_}","line":{line},"failure":"' in index


def test_its_help_shows_what_a_case_is(files: Path, capsys: Told) -> None:
    assert run("batch", "--help") == 0
    example = next(line for line in capsys.readouterr().out.splitlines() if line.startswith('  {"id"'))
    write(files, [json.loads(example) | {"source": "source.txt"}])
    assert run(*BATCH) == 0


def test_evaluate_takes_the_limits_of_verify_and_goes_on_where_a_budget_ended(
    files: Path, capsys: Told
) -> None:
    told = [f"Ada has {n} lamps." for n in range(3)]
    rows = [
        case(f"{n}", source_text=f"{text} Tom has none.", response=text, label="faithful")
        for n, text in enumerate(told)
    ]
    write(files, rows)
    with ChatServer(well, delay_s=0.1) as server:
        judge = ("--judge", f"openai:m@{server.address}", "--concurrency", "1")
        assert run(*EVALUATE, *judge, "--dry-run") == 0
        estimate = capsys.readouterr().out
        assert "3 examples" in estimate
        assert "first round: 3 calls (judge 3)" in estimate
        assert server.asked == []
        assert run(*EVALUATE, *judge, "--max-calls", "2") in (0, 2)
        assert len(server.asked) == 2
        assert run(*EVALUATE, *judge) == 0
    assert (len(server.asked), server.most_at_once) == (3, 1)
    assert "| accuracy of faithful | 1.000 |" in capsys.readouterr().out


def test_models_that_make_data_are_asked_and_paid_once(files: Path, capsys: Told) -> None:
    (files / "book.txt").write_text(novel(1, 60).text, "utf-8")
    with ChatServer(writer()) as server:
        model = ("--cases", "20", "--model", f"openai:m@{server.address}")
        paid = []
        for _ in range(2):
            assert run("construct", "longnovel", "book.txt", "--out", "set", *model) == 0
            paid.append("paid now 0" in capsys.readouterr().out)
    assert paid == [False, True]
