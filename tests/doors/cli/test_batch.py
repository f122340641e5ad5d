"""`longproof batch`: what it leaves in its folder, and how it exits."""

import json
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fakes import ChatServer
from reader import denying
from terminal import run

from longproof.agent.types import Usage
from longproof.graphs.runner import RunProgress
from longproof.progress import run_text

NONE = "no⟦LS⟧ne"
SOURCE = "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds.\n"


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "cases.jsonl"
    responses = {
        "<b>right": "Ada lit the lamp at nine.",
        "wrong": "Tom sold the boat to Ada for ninety pounds.",
    }
    rows = [{"id": id_, "source_text": SOURCE, "response": text} for id_, text in responses.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_it_leaves_reports_pages_a_summary_and_an_index(cases, tmp_path, capsys):
    out = tmp_path / "out"
    with ChatServer(denying("ninety")) as server:
        judge = ("--judge", f"openai:m@{server.address}")
        assert run("batch", cases, "--out", out, "--html", *judge) == 0
    assert capsys.readouterr().out.startswith("2 cases: 1 faithful, 1 hallucinated\n")
    assert sorted(p.name for p in (out / "pages").iterdir()) == ["_b_right.html", "wrong.html"]
    index = (out / "index.html").read_text("utf-8")
    assert "./pages/wrong.html" in index
    assert "<b>right" not in index
    assert run("batch", cases, "--out", out, *judge, "--check") == 1


def test_pages_are_written_for_reports_that_an_earlier_run_left_without(cases, tmp_path):
    out = tmp_path / "out"
    assert run("batch", cases, "--out", out) == 0
    assert not (out / "pages").exists()
    assert run("batch", cases, "--out", out, "--html") == 0
    index = (out / "index.html").read_text("utf-8")
    for name in ("_b_right", "wrong"):
        assert f"./pages/{name}.html" in index
        assert (out / "pages" / f"{name}.html").exists()


def test_an_address_of_ray_is_refused_without_its_engine(cases, tmp_path, capsys):
    assert run("batch", cases, "--out", tmp_path / "out", "--ray-address", "auto") == 2
    assert "--engine ray" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_folder_of_an_earlier_edition_is_refused(cases, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "batch.sqlite").write_bytes(b"")
    assert run("batch", cases, "--out", tmp_path / "out") == 2
    assert "an earlier edition of Longproof: choose another folder" in capsys.readouterr().err


def test_junit_has_a_test_for_every_case_and_says_why_it_fails(cases, tmp_path):
    rows = [
        {"id": "open\x1b", "source_text": SOURCE, "response": "Ada was lonely & <i>cold</i>.\ufffe"},
        {"id": "no\u2028ne", "source": "none.txt", "response": "Ada left."},
        {"id": "said", "source_text": SOURCE, "response": SOURCE},
    ]
    with cases.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    assert run("batch", cases, "--out", tmp_path / "out", "--junit", tmp_path / "tests.xml") == 2
    suite = ElementTree.parse(tmp_path / "tests.xml").getroot()
    assert suite.attrib == {"name": "longproof", "tests": "5", "failures": "3", "errors": "1"}
    found = {test.get("name"): (one.tag, one.get("type"), one.text) for test in suite for one in test}
    assert {test.get("name") for test in suite} == {"<b>right", "wrong", "open␛", NONE, "said"}
    assert found.keys() == {"<b>right", "wrong", "open␛", NONE}
    assert found["wrong"][:2] == ("failure", "hallucinated")
    assert "'ninety' should be 'twenty'" in found["wrong"][2]
    assert found["open␛"][:2] == ("failure", "undecided")
    assert "lonely & <i>cold</i>" in found["open␛"][2]
    assert found[NONE][:2] == ("error", "not checked")
    assert "none.txt" in found[NONE][2]
    assert run("batch", cases, "--out", tmp_path / "other", "--junit", tmp_path) == 2
    assert not (tmp_path / "other").exists()


def test_the_documented_step_is_a_command_that_runs(cases, tmp_path, monkeypatch):
    documented = (Path(__file__).parents[3] / "docs" / "embedding.md").read_text("utf-8")
    (line,) = [line.strip() for line in documented.splitlines() if line.strip().startswith("longproof batch")]
    monkeypatch.chdir(tmp_path)
    assert run(*shlex.split(line.replace("openai:gpt-4.1", "offline"))[1:]) == 1
    assert (tmp_path / "checked.xml").is_file()


def test_without_a_model_the_summary_and_the_index_say_so(cases, tmp_path, capsys):
    assert run("batch", cases, "--out", tmp_path / "out", "--check") in (1, 3)
    header, *rows = (tmp_path / "out" / "summary.csv").read_text("utf-8").splitlines()
    assert header.split(",")[2] == "triage"
    assert [row.split(",")[2] for row in rows] == ["1", "1"]
    assert "hallucinated (no model)" in (tmp_path / "out" / "index.html").read_text("utf-8")


def test_cases_that_cannot_be_checked_exit_with_two_after_the_others_are_done(cases, tmp_path, capsys):
    cases.write_text(cases.read_text("utf-8") + "{}\n", "utf-8")
    assert run("batch", cases, "--out", tmp_path / "out") == 2
    told = capsys.readouterr().err
    assert "1 of 3 cases could not be checked" in told
    assert "line 3, case line 3: not a case: id: Field required" in told
    assert len(list((tmp_path / "out" / "reports").iterdir())) == 2


def test_a_case_that_fails_is_called_by_its_id_and_counted_on_the_index(cases, tmp_path, capsys):
    rows = [
        {"id": "gone", "source": "gone.txt", "response": "Ada."},
        {"id": "both", "source": "gone.txt", "source_text": SOURCE, "response": "Ada."},
        {"id": "odd", "source_text": SOURCE},
        {"id": "record", "source": {"lamp": {"lit": "nine"}}, "response": "The lamp was lit at nine."},
    ]
    cases.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert run("batch", cases, "--out", tmp_path / "out") == 2
    told = capsys.readouterr().err
    assert all(f"case {id_}: " in told for id_ in ("gone", "both", "odd"))
    assert "case record" not in told
    index = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "3 of 4 cases could not be checked" in index
    assert '"all":4' in index
    for line, id_ in enumerate(("gone", "both", "odd"), 1):
        assert f'{{"id":"{id_}","line":{line},"failure":"' in index


def test_its_help_shows_what_a_case_is(cases, tmp_path, capsys):
    assert run("batch", "--help") == 0
    example = next(line for line in capsys.readouterr().out.splitlines() if line.startswith('  {"id"'))
    cases.write_text(example, "utf-8")
    (tmp_path / "novel.txt").write_text(SOURCE, "utf-8")
    assert run("batch", cases, "--out", tmp_path / "out") == 0


def test_another_batch_is_refused_in_one_line(cases, tmp_path, capsys):
    assert run("batch", cases, "--out", tmp_path / "out") == 0
    capsys.readouterr()
    assert run("batch", cases, "--out", tmp_path / "out", "--judge", "openai:m@http://127.0.0.1:9/v1") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_no_file_of_cases(tmp_path, capsys):
    assert run("batch", tmp_path / "gone.jsonl", "--out", tmp_path / "out") == 2
    assert "gone.jsonl" in capsys.readouterr().err


def test_a_file_without_cases_is_refused_before_anything_is_written(tmp_path, capsys):
    (tmp_path / "empty.jsonl").write_text("\n \n", "utf-8")
    assert run("batch", tmp_path / "empty.jsonl", "--out", tmp_path / "out") == 2
    told = capsys.readouterr()
    assert "there is no case in" in told.err
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert not (tmp_path / "out").exists()


def test_a_file_in_the_place_of_the_folder_is_refused(cases, tmp_path, capsys):
    (tmp_path / "out").write_text("mine", "utf-8")
    assert run("batch", cases, "--out", tmp_path / "out") == 2
    told = capsys.readouterr().err
    assert "can't make the folder" in told
    assert told.count("\n") == 1


def test_progress_says_cost_and_time_left():
    word = RunProgress(3, 10, 1, Usage(calls=1200, prompt_tokens=5000, completion_tokens=50), 3725.0)
    assert run_text(word) == "1,200 calls, 5,050 tokens paid; 1 failed; 1:02:05 left"
