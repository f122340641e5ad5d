"""Options are made from `Settings`: the same ones for every command that checks, under headings in its help."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer.main
from terminal import run

from longproof.cli.commands import app
from longproof.cli.options import EVERY_SETTING, SETTINGS, SettingOptions
from longproof.graphs.settings import Settings, settings_of
from longproof.progress import check_progress, looking_text

CASE = {"id": "a", "source_text": "Ada lit the lamp.", "response": "Ada lit the lamp."}
VERIFY = ("verify", "--source", "s.txt", "--response", "s.txt")
BATCH, EVALUATE = ("batch", "cases.jsonl", "--out", "out"), ("evaluate", "cases.jsonl", "--out", "out")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("s.txt").write_text("Ada lit the lamp.", "utf-8")
    Path("cases.jsonl").write_text(json.dumps(CASE) + "\n", "utf-8")
    return tmp_path


def asked(**given: Any) -> SettingOptions:
    return SettingOptions(**{**dict.fromkeys(EVERY_SETTING), **given})


def test_every_setting_is_an_option_but_two() -> None:
    assert {*EVERY_SETTING} == Settings.model_fields.keys() - {"home", "sample"}
    assert len(EVERY_SETTING) == len({*EVERY_SETTING})


@pytest.mark.parametrize(
    ("command", "without"),
    [
        ("verify", set()),
        ("batch", set()),
        ("evaluate", set()),
        ("serve", {"protocol", "run_id"}),
        ("mcp", {"run_id"}),
    ],
)
def test_every_command_that_checks_has_the_same_options(command: str, without: set[str]) -> None:
    commands: Any = typer.main.get_command(app)
    options = {one.name: one for one in commands.commands[command].params}
    assert {*EVERY_SETTING} - options.keys() == without
    for heading, names in SETTINGS.items():
        assert {options[name].rich_help_panel for name in names if name in options} <= {heading}


def test_the_help_has_headings_in_the_order_in_which_a_reader_asks(capsys) -> None:
    assert run("verify", "--help") == 0
    told = capsys.readouterr().out
    places = [told.index(f"\n{heading}:") for heading in SETTINGS]
    assert places == sorted(places)
    assert "[default: lexical]" in told


def test_options_go_before_the_panel_file_which_goes_before_the_defaults(folder: Path) -> None:
    toml = folder / "longproof.toml"
    toml.write_text('[panel]\njudges = ["openai:a"]\nsearcher = "openai:b"\nconsensus = 0.9\n', "utf-8")
    named = settings_of(asked(searcher="openai:mine", reach="search", consensus=0.5).settings(toml))
    assert (named.searcher, named.reach, named.consensus) == ("openai:mine", "search", 0.5)
    read = settings_of(asked().settings(toml))
    assert [getattr(one, "text", one) for one in (read.judges[0], read.searcher)] == ["openai:a", "openai:b"]
    assert (read.reach, read.consensus) == (None, 0.9)
    assert settings_of(asked().settings(folder / "none.toml")) == Settings()


def test_the_searcher_that_a_file_names_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "longproof.toml").write_text('[panel]\nsearcher = "openai:m@http://127.0.0.1:9/v1"\n', "utf-8")
    asked(searcher="openai:mine").settings(folder / "longproof.toml")
    assert capsys.readouterr().err == ""
    asked().settings(folder / "longproof.toml")
    assert "names openai:m@http://127.0.0.1:9/v1" in capsys.readouterr().err


@pytest.mark.parametrize("command", [VERIFY, BATCH, EVALUATE])
def test_what_is_no_value_of_an_option_is_refused_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    refused = {
        ("--reach", "everywhere"): "everywhere",
        ("--searcher", "offline"): "offline can't search",
        ("--confirm",): "needs a language model",
        ("--protocol", "nope"): "nope",
        ("--judge", "oracle"): "oracle",
        ("--pages", "nowhere"): "there is no folder nowhere",
        ("--max-calls", "-1"): "--max-calls",
        ("--tokens-per-minute", "0"): "setting tokens_per_minute",
        ("--run-id", "a\udcffb"): "setting run_id",
        ("--bogus",): "bogus",
    }
    for more, says in refused.items():
        assert run(*command, *more) == 2, more
        told = capsys.readouterr().err
        assert says in told
        assert told.count("\n") == 1
    assert run(*command, "--reach", "place") == 0


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("[panell]\njudges = ['openai:m']", "there is no [panell]: did you mean [panel]?"),
        ("consensus = 2", "did you mean 'consensus', under [panel]?"),
        ("[panel]\njudgs = ['openai:m']", "did you mean 'judges'"),
    ],
)
def test_a_misspelt_panel_file_is_refused_by_every_command_that_reads_it(
    folder: Path, capsys: pytest.CaptureFixture[str], toml: str, says: str
) -> None:
    (folder / "longproof.toml").write_text(toml, "utf-8")
    serve = [("serve", "--no-open")] if find_spec("uvicorn") else []
    for command in (VERIFY, BATCH, EVALUATE, ("doctor",), *serve):
        assert run(*command) == 2
        assert says in capsys.readouterr().err


def test_progress_says_what_the_whole_source_is_searched_and_read_for() -> None:
    assert looking_text({"node": "search", "claims": 1}) == "searching the source for 1 claim"
    told = looking_text({"node": "scan", "claims": 3, "pieces": 1200})
    assert told == "reading all of the source for 3 claims, in 1,200 pieces"
    assert looking_text({"node": "confirm", "claims": 1, "asked": 0}) == "confirming that 1 claim is wrong"


def test_progress_takes_what_every_node_tells() -> None:
    with check_progress() as progress:
        for node in ("align", "decompose", "search", "checked", "scan", "confirm", "checked"):
            progress({"node": node, "claims": 2, "pieces": 3, "groups": 1})
