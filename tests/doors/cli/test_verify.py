"""The terminal with language models: budgets, dry runs, runs, the panel file, a resume command."""

import json
import os
import signal
import subprocess
import time

import pytest
from fakes import ChatServer
from reader import well
from terminal import run

SOURCE = "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds.\n" * 3


@pytest.fixture
def files(tmp_path, monkeypatch):
    (tmp_path / "source.txt").write_text(SOURCE, "utf-8")
    (tmp_path / "response.txt").write_text("Ada lit the lamp at nine.", "utf-8")
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def verify(*more):
    return run("verify", "--source", "source.txt", "--response", "response.txt", *more)


@pytest.mark.parametrize("other", ["response", "source", "settings"])
def test_a_run_taken_for_another_case_is_refused_before_anything_is_asked(files, capsys, other):
    with ChatServer(well) as server:
        command = ["--judge", f"openai:m@{server.address}", "--run-id", "first"]
        assert verify(*command) == 0
        capsys.readouterr()
        paid = len(server.asked)
        if other == "settings":
            command += ["--reach", "place"]
        else:
            (files / f"{other}.txt").write_text(SOURCE + "Ada lit the lamp at ten.", "utf-8")
        assert verify(*command) == 2
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 1
        assert "the run 'first' was begun with another source, response or settings" in said[0]
        assert len(server.asked) == paid


def test_the_same_case_goes_on_under_its_name_with_other_limits(files, capsys):
    with ChatServer(well) as server:
        command = ["--judge", f"openai:m@{server.address}", "--run-id", "first"]
        assert verify(*command, "--max-calls", "1", "--check") == 3
        (files / "moved").mkdir()
        (files / "source.txt").rename(files / "moved" / "source.txt")
        moved = ["--source", "moved/source.txt", "--response", "response.txt", "--concurrency", "2"]
        assert run("verify", *moved, *command, "--check") == 0
        assert len(server.asked) == 2


def test_a_dry_run_pays_nothing_and_names_the_price(files, capsys):
    with ChatServer(well) as server:
        assert verify("--judge", f"openai:m@{server.address}", "--dry-run") == 0
        assert server.asked == []
    out = capsys.readouterr().out
    assert "first round: " in out
    assert "at most" in out


def test_a_spent_budget_is_undecided_and_exits_with_three_under_check(files, capsys):
    with ChatServer(well) as server:
        assert (
            verify("--judge", f"openai:m@{server.address}", "--max-calls", "1", "--check", "--json", "-") == 3
        )
    assert json.loads(capsys.readouterr().out)["claims"][0]["failure"] == "over_budget"


@pytest.mark.heavy
def test_a_server_that_is_not_there_leaves_claims_undecided_with_the_reason(files, capsys):
    assert verify("--judge", "openai:m@http://127.0.0.1:9/v1", "--check", "--json", "-") == 3
    assert json.loads(capsys.readouterr().out)["claims"][0]["failure"] == "unavailable"


def test_the_panel_file_seats_the_judges_and_options_go_before_it(files, capsys):
    with ChatServer(well) as server:
        (files / "longproof.toml").write_text(
            f'[panel]\njudges = [{{spec = "openai:m@{server.address}", samples = 3}}]\n'
        )
        assert verify("--json", "-") == 0
        assert len(json.loads(capsys.readouterr().out)["stamp"]["judges"]) == 3
        asked = len(server.asked)
        assert verify("--judge", "offline", "--json", "-") == 0
        assert len(server.asked) == asked


def test_the_panel_file_says_whether_answers_stream_and_how_long_one_may_take(files, capsys):
    with ChatServer(well) as server:
        (files / "longproof.toml").write_text(
            f'[panel]\njudges = ["openai:m@{server.address}"]\nstream = true\ntimeout_s = 900\n'
        )
        assert verify("--json", "-") == 0
        assert [asked.body["stream"] for asked in server.asked] == [True, True]
    settings = json.loads(capsys.readouterr().out)["stamp"]["settings"]
    assert (settings["stream"], settings["timeout_s"]) == (True, 900)


def test_the_panel_file_is_told_of_and_gets_no_key_that_nobody_granted(files, monkeypatch, capsys):
    monkeypatch.setenv("LONGPROOF_API_KEY", "lp-very-secret")
    monkeypatch.delenv("LONGPROOF_API_KEY_HOSTS", raising=False)
    with ChatServer(well) as server:
        judge = f"openai:m@{server.address}"
        (files / "longproof.toml").write_text(f'[panel]\njudges = ["{judge}"]\n')
        assert verify("--json", "-") == 0
        assert f"longproof.toml names {judge} without a key" in capsys.readouterr().err
        assert {asked.key for asked in server.asked} == {"none"}
        server.asked.clear()
        assert verify("--judge", judge, "--json", "-", "--no-cache") == 0
        assert "longproof.toml" not in capsys.readouterr().err
        assert {asked.key for asked in server.asked} == {"lp-very-secret"}
        server.asked.clear()
        monkeypatch.setenv("LONGPROOF_API_KEY_HOSTS", "127.0.0.1")
        assert verify("--json", "-", "--no-cache") == 0
        assert {asked.key for asked in server.asked} == {"lp-very-secret"}


def test_keys_appear_nowhere(files, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-1234")
    with ChatServer(well) as server:
        verify("--judge", f"openai:m@{server.address}", "--json", "r.json", "--html", "r.html")
    out, err = capsys.readouterr()
    assert "very-secret" not in out + err
    for file in files.rglob("*"):
        assert file.is_dir() or b"very-secret" not in file.read_bytes()


@pytest.mark.parametrize("told", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.heavy)])
def test_an_interrupted_run_says_how_to_go_on(told, files, capsys):
    with ChatServer(well, delay_s=30) as server:
        command = [
            "longproof",
            "verify",
            "--source",
            "source.txt",
            "--response",
            "response.txt",
            "--run-id",
            "x",
        ]
        done = subprocess.Popen(
            [*command, "--judge", f"openai:m@{server.address}"],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ,
            # Shells let what runs in the background ignore SIGINT, and children inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        while not server.asked:
            time.sleep(0.05)
        done.send_signal(told)
        _, err = done.communicate(timeout=180)
    assert done.returncode == 130
    assert "longproof: stopping\n" in err
    assert "go on with: longproof verify" in err
    assert "--run-id x" in err
