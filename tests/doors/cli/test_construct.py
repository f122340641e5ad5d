"""`longproof construct` from the terminal: what it prints, writes and refuses."""

from pathlib import Path

import pytest
from fakes import ChatServer
from scripted_writer import novel, writer
from typer.testing import CliRunner

from longproof.cli.commands import app
from longproof.retrieval.types import BadInput


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_text(novel(1, 60).text, encoding="utf-8")
    return path


def test_models_are_asked_and_paid_once(book, tmp_path, monkeypatch):
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "home"))
    out = tmp_path / "set"
    with ChatServer(writer()) as server:
        asked = [
            "construct",
            "longnovel",
            str(book),
            "--out",
            str(out),
            "--cases",
            "20",
            "--model",
            f"openai:m@{server.address}",
        ]
        first, second = CliRunner().invoke(app, asked), CliRunner().invoke(app, asked)
    assert first.exit_code == second.exit_code == 0, first.output
    assert "paid now 0" in second.output
    assert "paid now 0" not in first.output


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["poems"], "no construction"),
        (["probe"], "needs a language model"),
    ],
)
def test_what_cannot_be_made_is_refused(book, tmp_path, arguments, why):
    kind, *more = arguments
    done = CliRunner().invoke(app, ["construct", kind, str(book), "--out", str(tmp_path / "set"), *more])
    assert isinstance(done.exception, BadInput)
    assert why in str(done.exception)
