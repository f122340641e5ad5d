"""The terminal report: width, colours, folding. What it shows is stored: see test_goldens."""

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from longproof.report.terminal import print_report, wrap_text


def printed(built: Any, width: int, **given: Any) -> str:
    file = io.StringIO()
    print_report(*built, Console(file=file, width=width, **given))
    return file.getvalue()


@pytest.mark.parametrize("width", [40, 80, 99, 100, 131, 200])
@pytest.mark.parametrize("name", ["english_report", "chinese_report", "hostile_report"])
def test_no_line_is_wider_than_the_console(name, width, request):
    lines = printed(request.getfixturevalue(name), width).splitlines()
    assert max(map(cell_len, lines)) <= width


def test_colours_only_on_a_terminal(english_report):
    assert "\x1b" not in printed(english_report, 80)
    on_terminal = {"force_terminal": True, "color_system": "standard", "no_color": False}
    assert "\x1b[1;31m" in printed(english_report, 80, **on_terminal)


@given(st.text(st.sampled_from("ab  cd中文，。（）《》“”«»éＡ\n,."), max_size=120), st.integers(2, 40))
def test_a_folded_text_is_no_wider_than_asked_and_loses_nothing_but_blanks(text, width):
    folded = wrap_text(Text(text), width).plain
    assert all(cell_len(line) <= width for line in folded.split("\n"))
    assert "".join(folded.split()) == "".join(text.split())


def test_lines_break_where_they_may_and_styles_stay_on_their_words():
    for folded, width in (("春眠不觉\n晓。", 10), ("他说\n《红楼\n梦》", 6), ("aaa\naaa\na", 3)):
        assert wrap_text(Text(folded.replace("\n", "")), width).plain == folded
    folded = wrap_text(Text("one two ").append("three four", style="red"), 9)
    marked = "".join(folded.plain[s.start : s.end] for s in folded.spans if s.style == "red")
    assert (folded.plain, marked) == ("one two\nthree\nfour", "threefour")
