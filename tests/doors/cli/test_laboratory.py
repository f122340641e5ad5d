"""`longproof evaluate` and `construct` from the terminal: budgets, limits, what is paid once."""

from pathlib import Path

import batches
import pytest
from fakes import ChatServer
from reader import Reply, always, well
from scripted_writer import novel, writer
from terminal import EVALUATE, run

Told = pytest.CaptureFixture[str]


def test_evaluate_takes_the_limits_of_verify_and_goes_on_where_a_budget_ended(
    files: Path, capsys: Told
) -> None:
    told = [f"Ada has {n} lamps." for n in range(3)]
    rows = [
        batches.case(f"{n}", source_text=f"{text} Tom has none.", response=text, label="faithful")
        for n, text in enumerate(told)
    ]
    batches.write(files, rows)
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


def test_the_panel_file_says_how_long_an_answer_may_take(files: Path) -> None:
    with ChatServer(always(Reply(hang=True))) as server:
        panel = f'[panel]\njudges = ["openai:m@{server.address}"]\ntimeout_s = 0.2\n'
        (files / "longproof.toml").write_text(panel, "utf-8")
        assert run(*EVALUATE) == 2
    assert "timeout" in (files / "out" / "results.jsonl").read_text("utf-8")


def test_models_that_make_data_are_asked_and_paid_once(files: Path, capsys: Told) -> None:
    (files / "book.txt").write_text(novel(1, 60).text, "utf-8")
    with ChatServer(writer()) as server:
        model = ("--cases", "20", "--model", f"openai:m@{server.address}")
        paid = []
        for _ in range(2):
            assert run("construct", "longnovel", "book.txt", "--out", "set", *model) == 0
            paid.append("paid now 0" in capsys.readouterr().out)
    assert paid == [False, True]
