"""The terminal: exit codes, stdout that stays clean, odd texts, the demo, what an hour's user meets."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import metadata
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from disputing import disputing
from fakes import ChatServer
from reader import PROSE, Reply, always, denying, well
from scripts import benchmark
from terminal import VERIFY, run, verify

from longproof.agent.types import Report


def test_the_exit_code_is_the_verdict_only_under_check(files, capsys):
    with ChatServer(denying("ninety")) as server:
        judge = ("--judge", f"openai:m@{server.address}")
        assert verify(*judge, "--check") == 0
        assert "faithful" in capsys.readouterr().out
        (files / "response.txt").write_text("Tom sold the boat to Ada for ninety pounds.", "utf-8")
        assert (verify(*judge), verify(*judge, "--check")) == (0, 1)


@pytest.mark.parametrize("response", ["Napoleon died.", "What a day! Ada lit the lamp at nine."])
def test_what_no_model_has_read_exits_with_three_under_check(files, capsys, response):
    (files / "response.txt").write_text(response, "utf-8")
    assert verify("--check", "--json", "-") == 3
    report = Report.model_validate_json(capsys.readouterr().out)
    assert (report.verdict, report.triage) == ("undecided", True)


def test_names_that_arent_utf_8_are_read_and_reported(files):
    odd = {role: os.fsdecode(b"caf\xe9 " + role.encode() + b".txt") for role in ("source", "response")}
    for role, name in odd.items():
        (files / f"{role}.txt").rename(files / name)
    assert verify("--json", files / "out" / "r.json", "--html", files / "out" / "r.html", **odd) == 0
    report = Report.model_validate_json((files / "out" / "r.json").read_bytes())
    assert "<html" in (files / "out" / "r.html").read_text("utf-8")
    assert report.case.id == "caf\ufffd response"
    assert report.documents[1].uri.endswith("caf\ufffd source.txt")


@pytest.mark.parametrize("role", ["source", "response"])
def test_a_dash_is_standard_input(files, capsys, monkeypatch, role):
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO((files / f"{role}.txt").read_bytes())))
    assert verify("--json", "-", **{role: "-"}) == 0
    assert Report.model_validate_json(capsys.readouterr().out).claims


def test_a_text_without_a_source_is_left_open_or_held_against_saved_pages(files, capsys):
    text = "The Orla tower stands in Dunmore. The Orla tower was opened in 1889."
    (files / "response.txt").write_text(text, "utf-8")
    asked = ("verify", "--response", "response.txt", "--task", "open", "--check")
    assert run(*asked) == 3
    told = " ".join(capsys.readouterr().out.split())
    assert "0 of 2 claims stand there, 2 undecided" in told
    assert "there is no source, and no saved page speaks of it" in told
    (files / "pages").mkdir()
    (files / "pages" / "tower.txt").write_text(text, "utf-8")
    assert run(*asked, "--pages", "pages") == 3
    assert "2 outside knowledge" in capsys.readouterr().out


def test_the_doctor_asks_a_model_a_question_of_each_kind_and_counts_what_a_novel_would_cost(files, capsys):
    (files / "p.toml").write_text("[prices]\nm = { input = 2.0, output = 8.0 }\n", "utf-8")
    with ChatServer(well) as server:
        assert run("doctor", "--judge", f"openai:m@{server.address}", "--prices", "p.toml") == 0
    _, *kinds, cost = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0].strip() for line in kinds] == ["judge", "split", "search"]
    for line in kinds:
        assert re.search(r"answered in [\d.]+ s, [\d,]+ tokens read, [\d,]+ written; fits the form", line)
    assert re.search(r"[\d,]+ tokens; reading them costs 0\.\d+ USD by the prices given", cost)


def test_a_model_that_is_of_no_use_is_named_by_the_doctor(files, capsys):
    with ChatServer(always(PROSE)) as server:
        assert run("doctor", "--judge", f"openai:m@{server.address}") == 0
    assert capsys.readouterr().out.count("of no use: ") == 3
    with ChatServer(always(Reply(status=404, error={"message": "no\x1b[31m such model"}))) as server:
        assert run("doctor", "--judge", f"openai:m@{server.address}") == 2
    said = "no [31m such model; check the key, the address and the model's name 'm'"
    assert said in capsys.readouterr().err


def test_a_pdfs_warnings_dont_reach_the_terminal(files, capfd):
    pypdf = pytest.importorskip("pypdf", reason="the extra `read` is not installed")
    writer = pypdf.PdfWriter()
    writer.add_blank_page(10, 10)
    writer.write(files / "odd.pdf")
    data = (files / "odd.pdf").read_bytes()
    (files / "odd.pdf").write_bytes(b"\x1b[31mjunk\n" + data.replace(b"startxref", b"startxxxx"))
    assert verify(source="odd.pdf") == 2
    err = capfd.readouterr().err
    assert (err.count("\n"), "\x1b" in err) == (1, False)


def test_help_version_doctor_and_schema_answer_and_words_need_no_index(files, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for command, says in (
        (("--version",), "longproof 0."),
        (("protocols",), "longnovel-zero-shot-beginning "),
        (("protocols",), "\nVeriGray: Qiang Ding, Lvzhou Luo, Yixuan Cao, Ping Luo (2025). "),
        (("index", "source.txt"), "nothing to build"),
    ):
        assert run(*command) == 0
        assert says in capsys.readouterr().out
    assert run() == 0
    commands = capsys.readouterr().out.split("Commands:")[1].strip().splitlines()
    assert len(commands) > 10
    assert not [line for line in commands if line.endswith("...")]
    assert run("doctor") == 0
    told = capsys.readouterr().out
    extras = {*(metadata("longproof").get_all("Provides-Extra") or [])} - {"test", "dev"}
    assert all(f"  extra {extra}: " in told for extra in extras)
    assert all(f"  {name} " in told for name in ("langgraph", "httpx2", "bm25s"))
    assert run("doctor", "--schema") == 0
    assert "verdict" in json.loads(capsys.readouterr().out)["properties"]


def test_an_unforeseen_error_exits_with_70_one_line_and_a_saved_traceback(monkeypatch, tmp_path, capsys):
    def crashing(*_: object, **__: object) -> None:
        raise RecursionError("line\x1b[31m\none, sk-SECRET, tok-SECRET")

    monkeypatch.setattr("longproof.cli.app", crashing)
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LONGPROOF_API_KEY", "sk-SECRET\n")
    monkeypatch.setenv("LONGPROOF_API_KEY_HOSTS", "localhost=MY_TOKEN")
    monkeypatch.setenv("MY_TOKEN", "tok-SECRET")
    assert run("verify", "--check") == 70
    err = capsys.readouterr().err
    (saved,) = (tmp_path / "home" / "errors").iterdir()
    kept = saved.read_text("utf-8")
    assert (err.count("\n"), "\x1b" in err, str(saved) in err) == (1, False, True)
    assert saved.stat().st_mode & 0o077 == 0
    assert ("RecursionError" in kept, "SECRET" in err + kept) == (True, False)
    monkeypatch.setenv("LONGPROOF_HOME", "/dev/null/nowhere")
    assert run("verify", "--check") == 70
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "code"),
    [
        pytest.param("-m longproof protocols > /dev/full", 2, marks=pytest.mark.heavy),
        pytest.param("-u -m longproof protocols | true", 141, marks=pytest.mark.heavy),
        ("-m longproof verify --check --html r.html > /dev/full", 2),
        ("-u -m longproof verify --check --json - | true", 141),
    ],
)
def test_where_nothing_can_be_written_is_no_verdict(files, command, code):
    command = command.replace("verify", " ".join(VERIFY))
    # What Python still holds for a stdout without -u is lost at its very end: the exit code must outlive that.
    command = f"unset PYTHONUNBUFFERED; {sys.executable} {command}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    says = "longproof: can't write: No space left on device\n" if code == 2 else ""
    assert (done.returncode, done.stderr.rpartition("r.html\n")[2]) == (code, says)
    assert (files / "r.html").exists() == ("--html" in command)


@pytest.mark.heavy
def test_a_demo_that_was_recorded_is_replayed_by_nobody(tmp_path, capsys, monkeypatch):
    kept = tmp_path / "kept.gz"
    with ChatServer(disputing) as server:
        a, b, c = (f"openai:{name}@{server.address}" for name in ("m0", "m1", "m9"))
        asked = benchmark("record_demo").record_demo("zh", kept, [a, b], c)
        assert asked == len(server.asked)
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--language", "zh", "--replay", kept) == 0
    first, *told, command, page = capsys.readouterr().out.splitlines()
    for line, says in ((first, "m0, m1"), (first, "m9"), ("".join(told), "植入的"), (command, "--source")):
        assert says in line
    assert Path(page) == tmp_path / "elsewhere" / "demo-zh.html"
    assert "<html" in Path(page).read_text("utf-8")
    assert not list(tmp_path.glob("*.html"))
    assert run("demo", "--language", "en", "--replay", kept) == 2
    assert "no recording of the demo" in capsys.readouterr().err


def test_the_offline_demo_says_what_it_found_and_that_the_rest_needs_a_model(files, capsys):
    for language, first, needs in (
        ("en", "No model is asked: this is the offline check.", "To see those takes a model"),
        ("zh", "不询问任何模型：这是离线检查。", "要发现这些需要模型"),
    ):
        assert run("demo", "--offline-check", "--language", language) == 0
        lines = capsys.readouterr().out.splitlines()
        assert (lines[0], lines[-3].endswith(needs)) == (first, True)
        assert Path(lines[-1]) == files / "home" / f"demo-{language}-offline.html"
        assert Path(lines[-1]).exists()
