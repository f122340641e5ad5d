"""How far was looked for a claim: told on the terminal, in Markdown and on the page, in both languages."""

import io
import json
from html import unescape
from typing import Any

import pytest
from rich.console import Console

from longproof.agent.types import Report
from longproof.report.html import page
from longproof.report.looked import looked_line, what_would_settle
from longproof.report.markdown import to_markdown
from longproof.report.terminal import print_report
from longproof.report.words import words


def printed(built: Any, width: int = 200) -> str:
    file = io.StringIO()
    print_report(*built, Console(file=file, width=width))
    return file.getvalue()


def lines(built: Any, language: Any) -> list[str]:
    report, _ = built
    return [looked_line(report, claim, words(language)) for claim in report.claims]


def carried(built: Any) -> Any:
    text = page(*built)
    data = text.split('type="application/json"', 1)[1].split(">", 1)[1].split("</script>", 1)[0]
    return json.loads(data)["report"]["claims"]


def test_the_steps_the_search_and_the_share_stand_in_one_line(looked_report: Any) -> None:
    if "Thea" not in looked_report[0].case.response:
        assert lines(looked_report, "zh")[1:3] == [
            "查看范围：对应处，窗口，检索（“秦老的女儿”，“成亲”），为此读了原文的 7%",
            "查看范围：对应处，窗口，检索（“drowned”，“drowned”，“drowned”，“drowned”，另有 3 条），已通读原文",
        ]
        return
    assert lines(looked_report, "en") == [
        "looked at: its place, <1% of the source was read for it",
        "looked at: its place, window, search (“Abel sang”, “a song”), 7% of the source was read for it",
        "looked at: its place, window, search (“drowned”, “drowned”, “drowned”, “drowned”, + 3 more), "
        "all of the source was read",
        "looked at: its place, window, search, a reading of all of it, not finished, "
        "99% of the source was read for it",
    ]


def test_what_would_settle_a_claim_depends_on_what_stopped_it(looked_report: Any) -> None:
    say = words("en")
    told = [what_would_settle(claim, say) for claim in looked_report[0].claims]
    assert [bool(one) for one in told] == [False, True, False, True]
    assert "--reach scan" in told[1]
    assert "--reach" not in told[3]
    assert "--max-tokens" in told[3]


def test_the_terminal_and_markdown_tell_it_of_what_is_wrong_or_open(looked_report: Any) -> None:
    report, _ = looked_report
    language = "en" if "Thea" in report.case.response else "zh"
    told = lines(looked_report, language)
    for text in (printed(looked_report), unescape(to_markdown(*looked_report))):
        assert told[0] not in text
        assert all(line in text for line in told[1:])
        assert words(language)["not_found_so_far"] in text
        assert words(language)["settle_by_reach"] in text


def test_the_page_carries_it_for_every_claim(looked_report: Any) -> None:
    claims = carried(looked_report)
    assert [claim["looked"]["whole"] for claim in claims] == [False, False, True, False]
    assert claims[2]["looked"]["steps"] == ["place", "window", "search"]
    assert claims[2]["looked"]["left_out"] == 3
    assert claims[3]["looked"]["steps"][-1] == "scan_unfinished"
    assert "--reach scan" in claims[1]["settle"]
    assert "settle" not in claims[2]


def test_a_report_that_does_not_say_how_far_was_looked_says_nothing_of_it(english_report: Any) -> None:
    report, texts = english_report
    assert {claim.looked for claim in report.claims} == {None}
    assert "looked at:" not in printed(english_report)
    assert "looked at:" not in unescape(to_markdown(report, texts))
    assert all("looked" not in claim for claim in carried(english_report))


def test_without_a_source_no_share_of_it_is_told(looked_report: Any) -> None:
    report: Report = looked_report[0]
    sourceless = report.model_copy(update={"documents": report.documents[:1]})
    assert not [line for line in lines((sourceless, {}), "en") if "of the source" in line]


@pytest.mark.parametrize("width", [40, 200])
def test_what_was_searched_for_is_cut_and_can_not_pass_for_our_words(hostile_search: Any, width: int) -> None:
    terminal, markdown = printed(hostile_search, width), to_markdown(*hostile_search)
    for text in (terminal, markdown):
        assert not set(text) & set("\x1b\x07\x01\u202e\u2028")
        assert "<script" not in text
    asked = next(line for line in lines(hostile_search, "en") if "Abel sang" in line)
    assert len(asked) < 250
    assert "a”)" not in asked
    assert asked.endswith("”), 7% of the source was read for it")
    assert "”), all of the source" not in asked.replace("drowned", "")
    assert "javascript:" not in markdown
