"""A report that no model has read, wherever it is shown: how much stands there, conflicts, and needs a model."""

import json
import re
from html import unescape
from typing import Any

import pytest
from rich.console import Console

from longproof.agent.types import Report
from longproof.report.html import index_page, page
from longproof.report.markdown import to_markdown
from longproof.report.terminal import print_report

SAYS = {
    "en": (
        "3 of 42 claims stand there, 1 conflicts, 38 need a model",
        "not checked",
        "every claim stands there",
    ),
    "zh": ("42 条断言中有 3 条原文写明，1 条与原文冲突，38 条需要模型", "未核查", "每条断言原文都写明"),
}
TICKS = ("✔", "✓")


def terminal(report: Report, texts: dict[str, str]) -> str:
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    print_report(report, texts, console)
    return console.export_text()


def carried(html: str) -> Any:
    found = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])


def spoken(report: Report) -> tuple[str, str, str]:
    return SAYS["zh" if "日" in report.case.response else "en"]


def test_terminal_and_markdown_say_how_much_was_read(triage_report: Any) -> None:
    says, unread, _ = spoken(triage_report[0])
    for text in (terminal(*triage_report), unescape(to_markdown(*triage_report))):
        assert says in text
        assert f"– {unread} (38)" in text
        assert "--judge openai:" in text
        assert not any(
            tick in line and unread in line and "✗" not in line
            for tick in TICKS
            for line in text.splitlines()
        )
        assert len(text.splitlines()) < 45


def test_the_page_carries_it_and_calls_no_sentence_checked(triage_report: Any) -> None:
    says, unread, _ = spoken(triage_report[0])
    data = carried(page(*triage_report))
    assert data["summed"] == says
    assert data["unread"] is True
    assert "--judge openai:" in data["triage"]
    assert data["words"]["not_checked"] == unread
    assert data["signs"]["not_checked"] not in TICKS
    assert f"38 {unread}" in data["totals"][0]


def test_what_stands_there_to_the_last_claim_is_faithful_and_still_no_model_has_read(
    standing_report: Any,
) -> None:
    report = standing_report[0]
    assert (report.verdict, report.triage) == ("faithful", True)
    for text in (terminal(*standing_report), unescape(to_markdown(*standing_report))):
        assert spoken(report)[2] in text
        assert "--judge openai:" in text


def test_the_index_says_how_many_no_model_has_read(triage_report: Any, english_report: Any) -> None:
    data = carried(index_page([("a.html", triage_report[0]), ("b.html", english_report[0])]))
    assert [row["triage"] for row in data["rows"]] == [True, False]
    assert data["sums"]["triage"] == 1


@pytest.mark.parametrize("name", ["english_report", "chinese_report"])
def test_where_models_have_read_nothing_is_called_unread(name: str, request: pytest.FixtureRequest) -> None:
    built = request.getfixturevalue(name)
    data = carried(page(*built))
    assert (data["triage"], data["unread"], built[0].triage) == ("", False, False)
    assert "--judge" not in terminal(*built) + to_markdown(*built)
