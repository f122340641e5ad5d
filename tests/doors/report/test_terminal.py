"""The terminal report: width, colours, hostile text. What it shows is stored: see test_goldens."""

import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from longproof.report.terminal import print_report


def printed(built: Any, width: int, **given: Any) -> str:
    file = io.StringIO()
    print_report(*built, Console(file=file, width=width, **given))
    return file.getvalue()


@pytest.mark.parametrize("width", [40, 80, 99, 100, 131, 200])
@pytest.mark.parametrize("name", ["english_report", "chinese_report", "hostile_report"])
def test_no_line_is_wider_than_the_console(name: str, width: int, request: pytest.FixtureRequest) -> None:
    lines = printed(request.getfixturevalue(name), width).splitlines()
    assert max(map(cell_len, lines)) <= width


def test_colours_only_on_a_terminal(english_report: Any) -> None:
    assert "\x1b" not in printed(english_report, 80)
    on_terminal = {"force_terminal": True, "color_system": "standard", "no_color": False}
    assert "\x1b[1;31m" in printed(english_report, 80, **on_terminal)


def test_a_missing_text_is_said_and_its_quotes_stand_alone(english_report: Any) -> None:
    text = printed((english_report[0], {}), 80)
    assert "The text of weir.txt isn't here" in text
    assert "weir.txt (13%): thirty-one years" in text
