"""The terminal with language models: budgets, prices, dry runs, names of runs, the panel file, an interrupt."""

import signal
import subprocess
import sys
import threading
from typing import Any

import pytest
from fakes import ChatServer
from reader import HANGS, Asked, Item, Reader, Reply, by_words, denying, well
from terminal import BATCH, EVALUATE, run, verify

PRICES = "[prices]\na = { input = 2.0, output = 8.0, cached = 0.5 }\nb = { input = 1.0, output = 2.0 }\n"


def test_a_run_goes_on_under_its_name_with_other_limits_and_a_source_that_was_moved(files):
    with ChatServer(well) as server:
        command = ["--judge", f"openai:m@{server.address}", "--run-id", "first", "--check"]
        assert verify(*command, "--max-calls", "0") == 3
        (files / "source.txt").rename(files / "moved.txt")
        assert verify(*command, "--concurrency", "2", source="moved.txt") == 0
        assert len(server.asked) == 1


def test_an_evaluation_that_was_refused_goes_on_when_it_is_run_again(files):
    refused = [Reply(status=401)]
    with ChatServer(lambda one: refused.pop() if refused else well(one)) as server:
        again = (*EVALUATE, "--judge", f"openai:m@{server.address}", "--run-id", "first")
        assert (run(*again), run(*again)) == (2, 0)


@pytest.mark.parametrize("command", [BATCH, EVALUATE])
def test_a_run_in_which_only_the_confirming_question_failed_has_judges_that_answered(files, capsys, command):
    with ChatServer(denying("nine")) as server:
        asked = (*command[:2], "--judge", f"openai:m@{server.address}", "--out")
        assert run(*asked, "first") == 0
        assert run(*asked, "again", "--confirm", "all", "--max-calls", "0") == 0
    told = capsys.readouterr()
    assert "no judge answered" not in told.err
    assert command == EVALUATE or "1 undecided" in told.out


def test_the_panel_file_is_told_of_and_gets_no_key_that_nobody_granted(files, monkeypatch, capsys):
    monkeypatch.setenv("LONGPROOF_API_KEY", "lp-very-secret")
    monkeypatch.delenv("LONGPROOF_API_KEY_HOSTS", raising=False)
    with ChatServer(well) as server:
        judge = f"openai:m@{server.address}"
        (files / "longproof.toml").write_text(f'[panel]\nstream = true\njudges = ["{judge}"]\n', "utf-8")

        def keys(*more: str) -> set[str]:
            server.asked.clear()
            assert verify("--no-cache", *more) == 0
            assert all(asked.body["stream"] for asked in server.asked)
            return {asked.key for asked in server.asked}

        assert keys() == {"none"}
        assert f"longproof.toml names {judge} without a key" in capsys.readouterr().err
        assert keys("--judge", judge) == {"lp-very-secret"}
        assert "longproof.toml" not in capsys.readouterr().err
        monkeypatch.setenv("LONGPROOF_API_KEY_HOSTS", "127.0.0.1")
        assert keys() == {"lp-very-secret"}


def test_keys_appear_nowhere(files, monkeypatch, capsys):
    key = "sk-very-secret-1234"
    monkeypatch.setenv("LONGPROOF_API_KEY", key)

    def telling(asked: Asked, item: Item) -> dict[str, Any]:
        finding = {"label": "contradicting", "kind": "event", "quotes": [asked.first_line], "wrong": "nine"}
        return {**by_words(asked, item), **finding, "reason": f"You sent {asked.key}, {asked.key[:10]}."}

    with ChatServer(Reader(telling)) as server:
        verify("--judge", f"openai:m@{server.address}", "--json", "r.json", "--html", "r.html")
    refusing = Reply(status=401, error={"message": f"Incorrect API key provided: {key[:11]}****"})
    with ChatServer(lambda asked: refusing) as server:
        assert verify("--judge", f"openai:m@{server.address}") == 2
    assert {asked.key for asked in server.asked} == {key}
    written = "".join(capsys.readouterr()).encode()
    written += b"".join(file.read_bytes() for file in files.rglob("*") if file.is_file())
    assert b"Incorrect API key provided: \xe2\x80\xa6" in written
    assert b"You sent" in written
    for start in range(len(key) - 7):
        assert key[start : start + 8].encode() not in written


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_that_it_stops_and_how_to_go_on(number, files, capsys):
    def interrupting(asked: Asked) -> Reply:
        signal.pthread_kill(threading.main_thread().ident or 0, number)
        return HANGS

    # Shells let what runs in the background ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with ChatServer(interrupting) as server:
        assert verify("--run-id", "x", "--judge", f"openai:m@{server.address}") == 130
    told = capsys.readouterr().err
    for says in ("longproof: stopping\n", "go on with: longproof verify", "--run-id x"):
        assert says in told


SOON = """
import os, signal, sys, threading, time
import longproof.__main__ as door

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["longproof", "protocols"]
threading.Timer(float({seconds!r}), os.kill, (os.getpid(), signal.SIGINT)).start()
door.main()
"""


@pytest.mark.parametrize("seconds", ["0.03", "0.2"])
def test_an_interrupt_while_it_starts_is_one_line(seconds):
    done = subprocess.run(
        [sys.executable, "-c", SOON.format(seconds=seconds)], capture_output=True, text=True
    )
    assert done.returncode == 130
    assert done.stderr.startswith("longproof: ")
    assert "Traceback" not in done.stderr


def test_the_dry_run_needs_no_key_and_tells_money_as_the_report_does(files, capsys):
    assert verify("--judge", "openai:gpt-4.1", "--dry-run") == 0
    (files / "prices.toml").write_text(PRICES, "utf-8")
    (files / "longproof.toml").write_text(PRICES.rpartition("b =")[0], "utf-8")
    with ChatServer(well) as server:
        judges = [part for name in "ab" for part in ("--judge", f"openai:{name}@{server.address}")]
        assert verify(*judges, "--prices", "prices.toml", "--dry-run") == 0
        told = capsys.readouterr()
        assert "what the first round reads costs" in told.out
        assert f"where judges disagree, openai:a@{server.address} decides" in told.err
        assert verify(*judges) == 0
        assert "by the prices given" not in capsys.readouterr().out, "one model has no price"
        (files / "longproof.toml").write_text(PRICES, "utf-8")
        assert verify(*judges) == 0
    assert " 0.00" in capsys.readouterr().out.partition("by the prices given")[0]


def test_a_response_far_longer_than_its_source_is_asked_about_and_checked(files, capsys):
    (files / "source.txt").write_text("Ada lit the lamp.", "utf-8")
    (files / "response.txt").write_text("Ada lit the lamp at nine. " * 250, "utf-8")
    assert verify("--dry-run") == 0
    assert verify() == 0
    assert capsys.readouterr().err.count("are they swapped?") == 2
