"""`longproof evaluate`: its limits, and what it says on stderr could not be checked, and why."""

import json
from pathlib import Path

import pytest
from fakes import ChatServer
from reader import Reply, always, well
from terminal import run


def test_what_could_not_be_checked_is_told_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    cases = tmp_path / "cases.jsonl"
    lines = [{"id": "a", "source_text": "Anna left.", "response": ""}]
    lines.append({"id": "b", "source_text": "Anna left.", "response": "Anna left."})
    cases.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert run("evaluate", cases, "--out", tmp_path / "out") == 0
    told = capsys.readouterr().err
    assert "could not be checked" in told
    assert "response" in told


@pytest.fixture
def cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "home"))
    rows = [
        {"id": f"{n}", "source_text": f"Ada has {n} lamps. Tom has none.", "response": f"Ada has {n} lamps."}
        for n in range(3)
    ]
    rows = [{**row, "label": "faithful"} for row in rows]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return tmp_path


def evaluate(*more: str) -> int:
    return run("evaluate", "cases.jsonl", "--out", "out", *more)


def test_it_takes_the_limits_of_verify_and_goes_on_where_a_budget_ended(
    cases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ChatServer(well, delay_s=0.1) as server:
        judge = ("--judge", f"openai:m@{server.address}", "--concurrency", "1")
        assert evaluate(*judge, "--dry-run") == 0
        told = capsys.readouterr().out
        assert "3 examples" in told
        assert "first round: 6 calls (decompose 3, judge 3)" in told
        assert server.asked == []
        assert evaluate(*judge, "--max-calls", "0") == 2
        assert "no judge answered" in capsys.readouterr().err
        assert evaluate(*judge, "--max-calls", "3") in (0, 2)
        assert len(server.asked) == 3
        assert evaluate(*judge) == 0
    assert (len(server.asked), server.most_at_once) == (6, 1)
    assert "| accuracy of faithful | 1.000 |" in capsys.readouterr().out


def test_the_panel_file_says_how_long_an_answer_may_take(cases: Path) -> None:
    with ChatServer(always(Reply(hang=True))) as server:
        panel = f'[panel]\njudges = ["openai:m@{server.address}"]\ntimeout_s = 0.2\n'
        (cases / "longproof.toml").write_text(panel, "utf-8")
        assert evaluate() == 2
    assert "timeout" in (cases / "out" / "results.jsonl").read_text("utf-8")
