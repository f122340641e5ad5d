"""A run that waits for a person, at the terminal: it outlives its process, and goes on with what is typed."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from fakes import ChatServer
from reader import Reader, by_words, well
from terminal import VERIFY, run

GRAY = Path(__file__).parents[2] / "gray"
LABEL = "implicitly_supported"


@pytest.fixture
def texts(files):
    """The folder with an article and a summary of it."""
    for name, text in (("source", "article"), ("response", "summary")):
        (files / f"{name}.txt").write_text((GRAY / f"{text}.txt").read_text("utf-8"), "utf-8")


@pytest.fixture
def split(texts):
    """A server with two models that agree on no claim, and a person who decides."""
    with ChatServer(Reader(disagreeing)) as server:
        judges = [f"openai:{name}@{server.address}" for name in ("for", "against")]
        panel = f'[panel]\njudges = {json.dumps(judges)}\narbiter = "person"\n'
        Path("longproof.toml").write_text(panel, "utf-8")
        yield server


def disagreeing(asked, item):
    """One model calls supported, the other contradicting, by the same quote."""
    label = "explicitly_supported" if asked.model == "for" else "contradicting"
    return {**by_words(asked, item), "quotes": [asked.first_line], "label": label}


def verify(*more):
    return run(*VERIFY, "--run-id", "r", *more)


def disputes(capsys):
    capsys.readouterr()
    assert run("review", "r", "--show") == 0
    return json.loads(capsys.readouterr().out)


def answers(files, asked, **changes):
    decisions = [{"claim_id": one["claim_id"], "label": LABEL, "reason": "I read it."} for one in asked]
    review = {"name": "Ines Okafor", "decisions": decisions, **changes}
    (files / "answers.json").write_text(json.dumps(review), "utf-8")
    return files / "answers.json"


def by_person(file):
    """The claims of a report that a person decided."""
    return [one for one in json.loads(file.read_text("utf-8"))["claims"] if one["decided_by"] == "person"]


def test_verify_stops_with_the_next_command_and_review_goes_on_to_the_report(files, split, capsys):
    for _ in range(2):
        assert verify("--json", "r.json") == 3
        assert "longproof review r" in capsys.readouterr().err
    assert not (files / "r.json").exists()
    asked = disputes(capsys)
    assert asked
    assert run("review", "r", "--answers", answers(files, asked), "--json", "r.json", "--html", "r.html") == 0
    decided = {claim["id"]: claim["label"] for claim in by_person(files / "r.json")}
    assert decided == {one["claim_id"]: LABEL for one in asked}
    assert "Ines Okafor" in (files / "r.html").read_text("utf-8")
    assert verify("--json", "again.json") == 0
    (review,) = json.loads((files / "again.json").read_bytes())["stamp"]["reviews"]
    assert review["name"] == "Ines Okafor"
    assert run("review", "r", "--json", "-") == 0


def test_a_run_taken_for_another_case_is_refused_and_keeps_what_the_person_said(files, split, capsys):
    assert verify() == 3
    run("review", "r", "--answers", answers(files, disputes(capsys)))
    (files / "other.txt").write_text("The Marigold left on a Monday in May, the band on her deck.", "utf-8")
    for name, other in {"response": "other.txt", "source": "other.txt", "reach": "place"}.items():
        capsys.readouterr()
        assert verify(f"--{name}", other) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert "the run 'r' was begun with another source, response or settings" in said
    assert verify("--json", "again.json", "--concurrency", "3") == 0
    assert "Ines Okafor" in (files / "again.json").read_text("utf-8")


def test_answers_that_do_not_fit_are_refused_in_one_line_and_lose_nothing(files, split, capsys):
    assert verify() == 3
    asked = disputes(capsys)
    for change, says in (
        ({"name": ""}, "name"),
        ({"decisions": [{"claim_id": "x", "label": LABEL}]}, "claim_id"),
        ({"colour": "red"}, "colour"),
    ):
        assert run("review", "r", "--answers", answers(files, asked, **change)) == 2
        told = capsys.readouterr().err
        assert (says in told, told.count("\n")) == (True, 1)
    assert disputes(capsys) == asked


@pytest.mark.heavy
def test_a_person_answers_at_the_terminal_in_another_process(files, split, capsys):
    assert verify() == 3
    number = len(disputes(capsys))
    typed = "Ines Okafor\n" + "6\nit is meant\n" * number
    command = [sys.executable, "-m", "longproof", "review", "r", "--json", "r.json"]
    env = {name: value for name, value in os.environ.items() if name != "LANGGRAPH_STRICT_MSGPACK"}
    done = subprocess.run(command, input=typed, capture_output=True, text=True, env=env)
    assert (done.returncode, "unregistered type" in done.stderr) == (0, False), done.stderr
    assert done.stdout.count("✗ contradicting (against) · source:1 (0%): ") == number
    people = by_person(files / "r.json")
    assert [one["judgements"][0]["reason"] for one in people] == ["it is meant"] * number


@pytest.mark.heavy
def test_a_run_killed_on_its_way_goes_on_and_pays_for_nothing_twice(texts):
    person = ("--run-id", "r", "--arbiter", "person", "--concurrency", "1")
    with ChatServer(well, delay_s=0.3) as models:
        judges = [part for name in "abc" for part in ("--judge", f"openai:{name}@{models.address}")]
        command = [sys.executable, "-m", "longproof", *VERIFY, *person, *judges]
        first = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while len(models.answered) < 2:
            assert first.poll() is None
            time.sleep(0.05)
        first.kill()
        first.wait(30)
        assert subprocess.run(command).returncode in (0, 3)
        times = Counter((one.body["model"], json.dumps(one.body["messages"])) for one in models.answered)
    assert sum(times.values()) - len(times) <= 1, "more than the one call under way was paid twice"


def lose_last_checkpoint(home):
    """Leave the file as a kill between a node's writes and the next checkpoint does; False if nothing is left."""
    with sqlite3.connect(home / "checkpoints.sqlite") as file:
        last = "(SELECT MAX(checkpoint_id) FROM checkpoints)"
        file.execute(f"DELETE FROM checkpoints WHERE checkpoint_id = {last}")
        return file.execute("SELECT COUNT(*) FROM checkpoints").fetchone()[0]


def test_a_run_that_lost_its_last_checkpoints_goes_on_and_asks_nobody_again(files, split, capsys):
    assert verify() == 3
    review = answers(files, disputes(capsys))
    assert run("review", "r", "--answers", review) == 0
    asked = len(split.asked)
    for lost in range(1, 5):
        for _ in range(lost):
            assert lose_last_checkpoint(files / "home")
        assert verify("--json", "r.json") == 0
        assert by_person(files / "r.json")
        (files / "r.json").unlink()
    assert len(split.asked) == asked


@pytest.mark.parametrize(
    ("table", "column"), [("checkpoints", "checkpoint"), ("writes", "value"), ("checkpoints", "metadata")]
)
def test_a_damaged_checkpoint_is_named_and_left_as_it_is(files, split, capsys, table, column):
    assert verify() == 3
    path = files / "home" / "checkpoints.sqlite"
    with sqlite3.connect(path) as file:
        for row, value in file.execute(f"SELECT rowid, {column} FROM {table}").fetchall():
            data = bytearray(value)
            data[len(data) // 2] ^= 1
            file.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (bytes(data), row))
        before = file.execute(f"SELECT {column} FROM {table}").fetchall()
    for command in (
        ("review", "r", "--show"),
        ("review", "r", "--answers", answers(files, [])),
        (*VERIFY, "--run-id", "r"),
    ):
        capsys.readouterr()
        assert run(*command) == 2
        refusal = capsys.readouterr().err
        assert "damaged" in refusal.splitlines()[-1] or "begun with another" in refusal.splitlines()[-1]
        assert "Traceback" not in refusal
    with sqlite3.connect(path) as file:
        assert file.execute(f"SELECT {column} FROM {table}").fetchall() == before


def test_a_run_of_another_edition_is_begun_anew_and_its_answers_are_kept(files, split, capsys, monkeypatch):
    assert verify() == 3
    monkeypatch.setattr("longproof.review.EDITION", 99)
    assert run("review", "r", "--show") == 2
    assert "no run 'r'" in capsys.readouterr().err
    assert verify("--max-calls", "0") == 3
    assert disputes(capsys)
