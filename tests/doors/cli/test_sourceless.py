"""A text without a source, from the terminal: left open, or held against saved pages."""

from pathlib import Path

import pytest
from terminal import run

TEXT = "The Orla tower stands in Dunmore. The Orla tower was opened in 1889."


def verified(folder: Path, *options: str) -> int:
    response = folder / "response.txt"
    response.write_text(TEXT, "utf-8")
    return run("verify", "--response", response, *options)


def test_without_pages_nothing_is_decided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verified(tmp_path, "--task", "open", "--check") == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "0 of 2 claims stand there, 2 undecided" in said
    assert "there is no source, and no saved page speaks of it" in said


def test_saved_pages_bear_it_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "tower.txt").write_text(TEXT, "utf-8")
    assert verified(tmp_path, "--task", "open", "--pages", str(pages), "--check") == 3
    assert "2 outside knowledge" in capsys.readouterr().out


def test_any_other_task_needs_a_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verified(tmp_path) == 2
    assert "there is no source text: give one, or choose the task `open`" in capsys.readouterr().err
