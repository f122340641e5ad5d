"""What of a card, of the stamp and of an index a person can read: names, explanations, rows."""

from pathlib import Path
from typing import Any

import pytest

from longproof.report.html import index_page, page

pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("browser")]


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


def test_an_index_sorts_filters_and_links(
    opened_file: Any, tmp_path: Path, english_report: Any, chinese_report: Any
) -> None:
    case = chinese_report[0].case.model_copy(update={"id": "王冕"})
    calm = chinese_report[0].model_copy(update={"verdict": "faithful", "claims": (), "case": case})
    path = tmp_path / "index.html"
    path.write_text(index_page([("zh.html", calm), ("en.html", english_report[0])]), encoding="utf-8")
    (tmp_path / "en.html").write_text(page(*english_report), encoding="utf-8")
    seen = opened_file(path)
    assert seen.texts("tbody td:nth-child(2)") == ["weir", "王冕"]
    for key, first in (("cost", "weir"), ("cost", "王冕"), ("verdict", "weir"), ("verdict", "王冕")):
        seen.one(f"[data-key={key}] button").click()
        assert seen.texts("tbody td:nth-child(2)")[0] == first
    assert seen.one("[data-key=verdict]").get_attribute("aria-sort") == "descending"
    seen.one(".chip[data-value=relation]").click()
    assert seen.texts("tbody td:nth-child(2)") == ["weir"]
    seen.one("tbody a").click()
    assert seen.text("h1 .word") == "hallucinated"
