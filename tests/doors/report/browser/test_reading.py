"""What of a card and of the stamp a person can read: names, explanations, whole sentences."""

import json
from typing import Any

import pytest

from longproof.agent.types import Report

pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("browser")]


def test_every_judge_and_step_of_a_vote_is_explained_and_no_name_breaks_inside_a_word(
    opened: Any, english_report: Any
) -> None:
    report, texts = english_report
    long = "openai:deepseek-ai/DeepSeek-R1-Distill-Qwen-32B@http://127.0.0.1:8000/v1"
    named = Report.model_validate_json(report.model_dump_json().replace('"openai:a"', json.dumps(long)))
    for width in (1400, 480):
        seen = opened((named, texts), width=width)
        seen.press("n")
        seen.js("for (const one of document.querySelectorAll('details')) one.open = true")
        assert seen.texts(".votes th bdi")[0] == "DeepSeek-R1-Distill-Qwen-32B"
        titles = seen.js("return [...document.querySelectorAll('.votes th bdi')].map(e => e.title)")
        assert titles[0].startswith("A language model")
        assert titles[0].endswith(long)
        for part in (
            ".votes th bdi",
            ".votes td:nth-child(2) > span",
            ".votes .by > span",
            ".votes .arbiter .kind > span",
        ):
            told = seen.js("return [...document.querySelectorAll(arguments[0])].map(e => e.title)", part)
            assert told, part
            assert all(told), part
        assert seen.probe("brokenWords(document.querySelector('.votes th bdi'))") == []


def test_the_stamp_is_read_in_rows_without_what_is_not_set(opened: Any, english_report: Any) -> None:
    report, texts = english_report
    settings = {
        "judges": ["openai:a", "openai:b"],
        "pages": None,
        "prices": {},
        "max_tokens": 2000000,
        "stream": False,
    }
    stamp = {**report.stamp, "settings": settings, "refused": {}, "created_at": "2026-11-22T08:38:26Z"}
    seen = opened((report.model_copy(update={"stamp": stamp}), texts))
    rows = seen.texts(".making table tr")
    assert not any(sign in row for row in rows for sign in '{}[]"')
    assert {"max tokens2,000,000", "streamfalse", "created at2026-11-22T08:38:26Z"} <= {*rows}
    assert not any(row.startswith(("pages", "prices", "refused")) for row in rows)


def test_evidence_is_shown_from_where_a_sentence_begins_to_where_one_ends(
    opened: Any, english_report: Any
) -> None:
    seen = opened(english_report)
    assert "thirty-one years" in seen.texts(".card .quotes q")[0]
    assert seen.text(".evidence.chosen") == "thirty-one years"
    for shown in seen.texts(".card .quotes q"):
        assert shown.strip()[0].isupper() or shown[0] in '"“'
        assert shown.strip()[-1] in '.!?"”'
        assert any(shown in text for text in english_report[1].values())
