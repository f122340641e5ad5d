"""`--searcher` and `--reach`, from the command line and the panel file to the settings of a run."""

import json
from pathlib import Path

import pytest

from longproof.cli import main
from longproof.cli.options import PanelOptions
from longproof.cli.progress import check_progress, looking_text
from longproof.graphs.settings import settings_of

CASE = {"id": "a", "source_text": "Ada lit the lamp.", "response": "Ada lit the lamp."}


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    return int(stop.value.code or 0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("s.txt").write_text("Ada lit the lamp.", "utf-8")
    Path("cases.jsonl").write_text(json.dumps(CASE) + "\n", "utf-8")
    return tmp_path


def test_the_options_are_settings_and_go_before_the_panel_file(folder: Path) -> None:
    toml = folder / "longproof.toml"
    toml.write_text('[panel]\njudges = ["openai:a"]\nsearcher = "openai:of-the-file"\n', "utf-8")
    named = settings_of(PanelOptions(searcher="openai:mine", reach="search").settings(toml))
    assert (named.searcher, named.reach) == ("openai:mine", "search")
    read = settings_of(PanelOptions().settings(toml))
    assert not isinstance(read.searcher, str | None)
    assert read.searcher.text == "openai:of-the-file"
    assert read.reach is None


def test_the_searcher_that_a_file_names_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "longproof.toml").write_text('[panel]\nsearcher = "openai:m@http://127.0.0.1:9/v1"\n', "utf-8")
    PanelOptions().settings(folder / "longproof.toml")
    assert "names openai:m@http://127.0.0.1:9/v1" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ("verify", "--source", "s.txt", "--response", "s.txt"),
        ("batch", "cases.jsonl", "--out", "out"),
        ("evaluate", "cases.jsonl", "--out", "out"),
    ],
)
def test_three_commands_take_them_and_refuse_what_is_none(
    folder: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    assert run(*command, "--reach", "everywhere") == 2
    assert "everywhere" in capsys.readouterr().err
    assert run(*command, "--searcher", "offline") == 2
    assert "offline can't search" in capsys.readouterr().err
    assert run(*command, "--confirm") == 2
    assert "needs a language model" in capsys.readouterr().err
    assert run(*command, "--reach", "place") == 0


def test_progress_says_what_the_whole_source_is_searched_and_read_for() -> None:
    assert looking_text({"node": "search", "claims": 1}) == "searching the source for 1 claim"
    told = looking_text({"node": "scan", "claims": 3, "pieces": 1200})
    assert told == "reading all of the source for 3 claims, in 1,200 pieces"
    assert looking_text({"node": "confirm", "claims": 1, "asked": 0}) == "confirming that 1 claim is wrong"


def test_progress_takes_what_every_node_tells() -> None:
    with check_progress() as progress:
        for node in ("align", "decompose", "search", "checked", "scan", "confirm", "checked"):
            progress({"node": node, "claims": 2, "pieces": 3, "groups": 1})


def test_a_run_name_of_bytes_that_are_no_text_is_refused(folder: Path, capsys) -> None:
    assert run("verify", "--source", "s.txt", "--response", "s.txt", "--run-id", "a\udcffb") == 2
    assert "setting run_id" in capsys.readouterr().err
