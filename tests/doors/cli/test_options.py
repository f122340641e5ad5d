"""Options are made from `Settings`: the same ones for every command that checks, under headings in its help."""

from typing import Any, get_type_hints

import pytest
import typer.main
from terminal import run

from longproof.cli import app
from longproof.cli.options import EVERY_SETTING, SETTINGS, SettingOptions
from longproof.graphs.settings import Settings, settings_of
from longproof.graphs.verifier import MoreSettings

CHECKING = {
    **{name: set[str]() for name in ("verify", "batch", "evaluate")},
    "serve": {"protocol", "run_id"},
    "mcp": {"run_id"},
}
"""The commands that check, and the settings that are none of their options."""


def asked(**given: Any) -> SettingOptions:
    return SettingOptions(**{**dict.fromkeys(EVERY_SETTING), **given})


@pytest.mark.parametrize("command", CHECKING)
def test_every_setting_but_two_is_an_option_of_every_command_that_checks(command):
    assert sorted(EVERY_SETTING) == sorted(Settings.model_fields.keys() - {"home", "sample"})
    commands: Any = typer.main.get_command(app)
    options = {one.name: one for one in commands.commands[command].params}
    assert {*EVERY_SETTING} - options.keys() == CHECKING[command]
    for heading, names in SETTINGS.items():
        assert {options[name].rich_help_panel for name in names if name in options} <= {heading}


def test_editors_are_told_every_setting_with_its_type():
    fields = {name: field.annotation for name, field in Settings.model_fields.items()}
    for given_first in ("judges", "arbiter", "decomposer"):
        del fields[given_first]
    assert get_type_hints(MoreSettings) == fields


@pytest.mark.parametrize(
    "command", ["verify", "batch", "construct", "evaluate", "compare", "index", "report"]
)
def test_help_has_headings_in_the_order_in_which_a_reader_asks(capsys, command):
    assert run(command, "--help") == 0
    told = capsys.readouterr().out
    places = [told.index(f"\n{heading}:") for heading in SETTINGS if f"\n{heading}:" in told]
    assert places == sorted(places)
    if "--judge" in told:
        assert len(places) == len(SETTINGS)
        assert all(form in told for form in ("openai:MODEL", "@http://HOST:PORT/v1", "nli:", "offline"))


def test_options_go_before_the_panel_file_which_goes_before_the_defaults(tmp_path, capsys):
    toml = tmp_path / "longproof.toml"
    toml.write_text('[panel]\njudges = ["openai:a"]\nsearcher = "openai:b"\nconsensus = 0.9\n', "utf-8")
    named = settings_of(asked(searcher="openai:mine", reach="search", consensus=0.5).settings(toml))
    assert (named.searcher, named.reach, named.consensus) == ("openai:mine", "search", 0.5)
    assert "openai:b" not in capsys.readouterr().err
    read = settings_of(asked().settings(toml))
    assert [getattr(one, "text", one) for one in (read.judges[0], read.searcher)] == ["openai:a", "openai:b"]
    assert (read.reach, read.consensus) == (None, 0.9)
    assert "names openai:b" in capsys.readouterr().err
    assert settings_of(asked().settings(tmp_path / "none.toml")) == Settings()
