"""What somebody meets who tries the commands for an hour: help, stdin, addresses, data that aren't there."""

import json
import os
import time
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from reader import PROSE, Reply, always, denying, inventing, well
from terminal import run

from longproof.agent.models.limits import Traffic
from longproof.agent.types import Report
from longproof.progress import check_progress, show_progress, traffic_text

SOURCE = "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds.\n" * 3


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "source.txt").write_text(SOURCE, "utf-8")
    (tmp_path / "response.txt").write_text("Ada lit the lamp at nine.", "utf-8")
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


Told = pytest.CaptureFixture[str]


def verify(*more: object, source: str = "source.txt", response: str = "response.txt") -> int:
    return run("verify", "--source", source, "--response", response, *more)


def test_longproof_alone_prints_its_help_and_its_version_when_asked(capsys: Told) -> None:
    assert run() == 0
    commands = capsys.readouterr().out.split("Commands:")[1].strip().splitlines()
    assert len(commands) > 10
    assert not [line for line in commands if line.endswith("...")]
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("longproof 0.")


@pytest.mark.parametrize(
    "command", ["verify", "batch", "construct", "evaluate", "compare", "index", "report"]
)
def test_help_names_values_as_a_person_does(capsys: Told, command: str) -> None:
    assert run(command, "--help") == 0
    told = capsys.readouterr().out
    assert "<" not in told
    assert "FILE" in told or "FOLDER" in told
    if "--judge" in told:
        assert all(form in told for form in ("openai:MODEL", "@http://HOST:PORT/v1", "nli:", "offline"))


def test_a_dry_run_of_openais_own_models_needs_no_key(
    files: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert verify("--judge", "openai:gpt-4.1", "--dry-run") == 0
    assert "first round: " in capsys.readouterr().out
    assert verify("--judge", "openai:gpt-4.1") == 2
    assert "OPENAI_API_KEY is not set" in capsys.readouterr().err


@pytest.mark.parametrize("role", ["source", "response"])
def test_a_dash_is_standard_input(
    files: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO((files / f"{role}.txt").read_bytes())))
    assert verify("--json", "-", **{role: "-"}) == 0
    assert Report.model_validate_json(capsys.readouterr().out).claims


def test_standard_input_is_read_for_one_text_alone(files: Path, capsys: Told) -> None:
    assert verify(source="-", response="-") == 2
    assert "only once" in capsys.readouterr().err


def test_an_address_is_refused_as_what_it_is(files: Path, capsys: Told) -> None:
    assert verify(source="https://example.org/a.html") == 2
    assert "https://example.org/a.html: not a file; save the page first" in capsys.readouterr().err


def test_the_names_of_protocols_are_whole_on_a_narrow_terminal(
    capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run("protocols") == 0
    assert "longnovel-zero-shot-beginning " in capsys.readouterr().out


@pytest.mark.parametrize("lies", ["", "/nowhere"])
def test_a_data_set_that_is_not_there_says_where_to_get_it(
    files: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch, lies: str
) -> None:
    monkeypatch.setenv("LONGPROOF_DATA", lies)
    assert run("evaluate", "storysumm", "--out", "out") == 2
    told = capsys.readouterr().err
    assert "https://github.com/melaniesubbiah/storysumm" in told
    assert "--path" in told
    assert not os.path.exists("out")


@pytest.mark.parametrize("status", [401, 403, 404])
@pytest.mark.parametrize("command", ["verify", "batch", "evaluate"])
def test_a_server_that_refuses_ends_the_run_in_one_line(
    files: Path, capsys: Told, status: int, command: str
) -> None:
    case = {"source_text": SOURCE, "response": "Ada lit the lamp. Tom wept."}
    lines = [json.dumps({"id": str(n), **case}) for n in range(20)]
    (files / "cases.jsonl").write_text("\n".join(lines), "utf-8")
    asked = {"verify": ["verify", "--source", "source.txt", "--response", "response.txt"]}
    asked |= {name: [name, "cases.jsonl", "--out", "out"] for name in ("batch", "evaluate")}
    with ChatServer(always(Reply(status=status, error={"message": "not you"}))) as server:
        assert run(*asked[command], "--judge", f"openai:m@{server.address}") == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert f"answered HTTP {status}: not you; check the key" in told.err
    assert len(server.asked) <= 4


@pytest.mark.parametrize("command", ["verify", "batch"])
def test_a_run_in_which_no_judge_answered_does_not_end_well(files: Path, capsys: Told, command: str) -> None:
    case = {"id": "a", "source": "source.txt", "response": "Ada lit the lamp."}
    (files / "cases.jsonl").write_text(json.dumps(case), "utf-8")
    asked = {"verify": ["verify", "--source", "source.txt", "--response", "response.txt"]}
    asked["batch"] = ["batch", "cases.jsonl", "--out", "out"]
    judge = ("--judge", "openai:m@http://127.0.0.1:9/v1", "--max-calls", "0")
    assert run(*asked[command], *judge) == 2
    assert "no judge answered" in capsys.readouterr().err
    assert run(*asked[command], *judge, "--check") == 3


@pytest.mark.parametrize("command", ["batch", "evaluate"])
def test_a_run_in_which_only_the_confirming_question_failed_has_judges_that_answered(
    files: Path, capsys: Told, command: str
) -> None:
    case = {"id": "a", "source_text": SOURCE, "response": "Ada lit the lamp at nine.", "label": "faithful"}
    (files / "cases.jsonl").write_text(json.dumps(case), "utf-8")
    with ChatServer(denying("nine")) as server:
        asked = [command, "cases.jsonl", "--judge", f"openai:m@{server.address}", "--out"]
        assert run(*asked, "first") == 0
        assert run(*asked, "again", "--confirm", "--max-calls", "0") == 0
    told = capsys.readouterr()
    assert "no judge answered" not in told.err
    assert "1 undecided" in told.out or command == "evaluate"


def test_the_bar_says_what_is_asked_and_waited_for() -> None:
    assert traffic_text(Traffic()) == ""
    told = traffic_text(Traffic(calls=3, tokens=12345, waiting=2, retries=1))
    assert told == "3 calls, 12,345 tokens; 2 waiting for the server; 1 second try"
    with check_progress(Traffic) as progress:
        progress({"node": "decompose", "sentences": 3})


def test_without_a_terminal_what_is_waited_for_is_told_in_plain_lines(capsys: Told) -> None:
    with check_progress(lambda: Traffic(calls=3, tokens=1200, waiting=2), 0.02) as progress:
        progress({"node": "decompose", "claims": 7})
        progress({"node": "checked", "claims": 4})
        time.sleep(0.3)
    told = capsys.readouterr().err.splitlines()
    assert 2 <= len(told) <= 5, "each line waits twice as long as the one before"
    assert "checking claims, 4 of 7; 3 calls, 1,200 tokens; 2 waiting for the server" in told[0]


def test_lines_go_on_where_a_look_at_the_traffic_fails_and_nothing_is_said_of_nothing(capsys: Told) -> None:
    looks = iter([RuntimeError("changed meanwhile"), Traffic(), Traffic(calls=3, tokens=1200)])

    def traffic() -> Traffic:
        look = next(looks, Traffic(calls=3, tokens=1200))
        if isinstance(look, Exception):
            raise look
        return look

    with show_progress("", traffic, 0.02):
        time.sleep(0.3)
    told = capsys.readouterr().err.splitlines()
    assert len(told) >= 1
    assert all("3 calls, 1,200 tokens" in line for line in told)


@pytest.mark.parametrize(
    "words", [["source.txt", "response.txt"], ["--response", "response.txt", "source.txt"]]
)
def test_files_without_their_options_are_told_where_they_go(
    files: Path, capsys: Told, words: list[str]
) -> None:
    assert run("verify", *words) == 2
    told = capsys.readouterr().err
    assert "files go behind --source and --response" in told
    assert told.count("\n") == 1


def test_a_dash_is_standard_output_or_refused_and_never_a_files_name(files: Path, capsys: Told) -> None:
    assert verify("--json", "report.json") == 0
    capsys.readouterr()
    assert run("report", "report.json", "--markdown", "-") == 0
    assert "undecided" in capsys.readouterr().out.splitlines()[0]
    (files / "cases.jsonl").write_text('{"id": "a", "source": "source.txt", "response": "Ada."}', "utf-8")
    assert run("report", "report.json", "--html", "-") == 2
    assert run("report", "report.json", "--corrected", "-") == 2
    assert run("batch", "cases.jsonl", "--out", "out", "--junit", "-") == 2
    assert "name one after --junit" in capsys.readouterr().err
    assert not (files / "-").exists()


def test_what_is_read_is_never_written_over(files: Path, capsys: Told) -> None:
    assert verify("--json", "report.json") == 0
    for arguments in (
        ("verify", "--source", "source.txt", "--response", "response.txt", "--html", "response.txt"),
        ("verify", "--source", "source.txt", "--response", "response.txt", "--json", files / "source.txt"),
        ("report", "report.json", "--html", "report.json"),
        ("batch", "source.txt", "--out", "out", "--junit", "source.txt"),
    ):
        assert run(*arguments) == 2
        assert "is read: name another file" in capsys.readouterr().err
    assert (files / "source.txt").read_text("utf-8") == SOURCE


def test_an_old_word_file_is_named_with_what_helps(files: Path, capsys: Told) -> None:
    (files / "old.doc").write_bytes(bytes.fromhex("D0CF11E0A1B11AE1") + bytes(600))
    assert verify(source="old.doc") == 2
    assert "old.doc: an old Word file: save it as .docx" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["verify", "batch", "evaluate"])
@pytest.mark.parametrize("reply", [PROSE, Reply("{}"), inventing])
def test_a_judge_that_answers_only_rubbish_is_no_judge(
    files: Path, capsys: Told, command: str, reply: Any
) -> None:
    case = {"id": "a", "source": "source.txt", "response": "Ada lit the lamp."}
    (files / "cases.jsonl").write_text(json.dumps(case), "utf-8")
    asked = {"verify": ["verify", "--source", "source.txt", "--response", "response.txt"]}
    asked |= {name: [name, "cases.jsonl", "--out", "out"] for name in ("batch", "evaluate")}
    with ChatServer(always(reply) if isinstance(reply, Reply) else reply) as server:
        assert run(*asked[command], "--judge", f"openai:m@{server.address}") == 2
        told = capsys.readouterr().err
        assert "no usable answer came from" in told
        assert "is it a model that follows instructions?" in told
        if command != "evaluate":
            assert run(*asked[command], "--judge", f"openai:m@{server.address}", "--check") == 3


def test_an_evaluation_that_was_refused_goes_on_when_it_is_run_again(files: Path, capsys: Told) -> None:
    refused: list[Reply] = [Reply(status=401)]
    with ChatServer(lambda one: refused.pop() if refused else well(one)) as server:
        again = [*asked(files, "evaluate"), "--judge", f"openai:m@{server.address}", "--run-id", "first"]
        assert (run(*again), run(*again)) == (2, 0)


def test_report_says_what_it_takes_to_a_runs_name(files: Path, capsys: Told) -> None:
    assert run("report", "20261122-114529-0520") == 2
    told = capsys.readouterr().err
    assert "20261122-114529-0520: no such file" in told
    assert "a run's name finds no report: only answers are kept under it" in told
    assert "--json" in told


def asked(files: Path, command: str) -> list[str]:
    """This command on a small case."""
    case = {"id": "a", "source": "source.txt", "response": "Ada lit the lamp."}
    (files / "cases.jsonl").write_text(json.dumps(case), "utf-8")
    if command in ("batch", "evaluate"):
        return [command, "cases.jsonl", "--out", "out"]
    return ["verify", "--source", "source.txt", "--response", "response.txt"]
