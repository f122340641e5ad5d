"""Money, where a price list is given: in the dry run, in the report; and what a cascade says of itself."""

from pathlib import Path

import pytest
from fakes import ChatServer
from reader import well
from terminal import run

SOURCE = "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds.\n" * 3
RESPONSE = "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds."
PRICES = "[prices]\na = { input = 2.0, output = 8.0, cached = 0.5 }\nb = { input = 1.0, output = 2.0 }\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for name, text in {"source.txt": SOURCE, "response.txt": RESPONSE, "prices.toml": PRICES}.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def check(server: ChatServer, *more: str) -> int:
    judges = [part for name in ("a", "b") for part in ("--judge", f"openai:{name}@{server.address}")]
    return run("verify", "--source", "source.txt", "--response", "response.txt", *judges, *more)


def test_a_list_without_prices_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty.toml").write_text("a = 1\n", "utf-8")
    with ChatServer(well) as server:
        assert check(server, "--prices", "empty.toml", "--dry-run") == 2
    assert "empty.toml names no prices" in capsys.readouterr().err


def test_the_dry_run_and_the_report_tell_money(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer(well) as server:
        assert check(server, "--prices", "prices.toml", "--dry-run") == 0
        assert "what the first round reads costs" in capsys.readouterr().out
        assert check(server, "--prices", "prices.toml") == 0
    assert "cost 0.00" in capsys.readouterr().out


def test_the_table_in_longproof_toml_serves_too_and_a_model_without_a_price_tells_no_money(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "longproof.toml").write_text(
        PRICES.splitlines()[0] + "\n" + PRICES.splitlines()[1] + "\n", "utf-8"
    )
    with ChatServer(well) as server:
        assert check(server) == 0
        assert "cost 0." not in capsys.readouterr().out
        (folder / "longproof.toml").write_text(PRICES, "utf-8")
        assert check(server) == 0
        assert "cost 0.00" in capsys.readouterr().out


def test_a_file_that_is_no_price_list_is_refused_before_anything_is_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "prices.toml").write_text("[prices]\na = 3\n", "utf-8")
    with ChatServer(well) as server:
        assert check(server, "--prices", "prices.toml") == 2
        assert server.asked == []
    assert capsys.readouterr().err.count("\n") == 1


def test_a_cascade_asks_the_second_judge_less_and_says_what_follows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ChatServer(well) as server:
        assert check(server, "--cascade") == 0
        judged = [one.body["model"] for one in server.asked if one.form == "Findings"]
    assert judged == ["a"]
    assert "cascade: 2 claims cleared by the first judge alone" in capsys.readouterr().out
