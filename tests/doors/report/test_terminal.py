"""The terminal report: order, marks, width, colours, hostile text."""

import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from longproof.report.terminal import print_report


def printed(built: Any, width: int, texts: dict[str, str] | None = None, **given: Any) -> str:
    report, known = built
    file = io.StringIO()
    print_report(report, known if texts is None else texts, Console(file=file, width=width, **given))
    return file.getvalue()


def test_what_is_wrong_comes_first_with_its_evidence(english_report: Any) -> None:
    text = " ".join(printed(english_report, 90).split())
    order = [
        "✗ hallucinated 3 of 7 sentences are wrong",
        "Wrong (3)",
        "✗ contradicting number · sentence 1 · vote",
        "gauge for «thirty years».",
        "should be: thirty-one years",
        "weir.txt:3 (13%)",
        "«thirty-one",
        "c — no answer in time",
        "relation · sentence 3 · arbiter",
        "∅ fabricated",
        "To be looked at (1)",
        "? undecided sentence 6",
        "coverage 86% (6 of 7 claims decided)",
        "4,080 tokens (480 written)",
        "caveats: outside knowledge not consulted (1)",
    ]
    found = [text.index(piece) for piece in order]
    assert found == sorted(found)
    assert "Triage" not in text


def test_a_wide_console_has_evidence_beside_the_response(english_report: Any) -> None:
    line = next(line for line in printed(english_report, 130).splitlines() if "«thirty years»" in line)
    assert "weir.txt:3" in line


@pytest.mark.parametrize("width", [40, 80, 99, 100, 131, 200])
@pytest.mark.parametrize("name", ["english_report", "chinese_report", "hostile_report"])
def test_no_line_is_wider_than_the_console(name: str, width: int, request: pytest.FixtureRequest) -> None:
    lines = printed(request.getfixturevalue(name), width).splitlines()
    assert max(map(cell_len, lines)) <= width


def test_chinese_reports_speak_chinese(chinese_report: Any) -> None:
    text = printed(chinese_report, 80)
    assert "应为：七岁" in text
    assert "儒林外史:3" in text


def test_colours_only_on_a_terminal(english_report: Any) -> None:
    assert "\x1b" not in printed(english_report, 80)
    assert "\x1b[1;31m" in printed(
        english_report, 80, force_terminal=True, color_system="standard", no_color=False
    )


def test_hostile_text_cannot_drive_the_terminal(hostile_report: Any) -> None:
    text = printed(hostile_report, 80)
    assert not set(text) & set("\x1b\x07\x01\u202e\u2028")
    assert "␛[31mred␇" in text
    assert len(text) < 60_000


def test_a_missing_text_is_said_and_its_quotes_stand_alone(english_report: Any) -> None:
    text = printed(english_report, 80, texts={})
    assert "The text of weir.txt isn't here" in text
    assert "weir.txt (13%): thirty-one years" in text


def test_a_faithful_report_says_that_nothing_was_found(english_report: Any) -> None:
    report, texts = english_report
    calm = [s.model_copy(update={"label": "explicitly_supported"}) for s in report.sentences]
    claims = [c.model_copy(update={"label": "explicitly_supported"}) for c in report.claims]
    made = report.model_copy(
        update={"sentences": tuple(calm), "claims": tuple(claims), "verdict": "faithful"}
    )
    text = printed((made, texts), 80)
    assert "✔ faithful  nothing wrong was found in 7 sentences" in text
    assert "Wrong" not in text
