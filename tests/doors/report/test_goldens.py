"""One stored output for each way of showing a report, in each language.

`LONGPROOF_WRITE_GOLDENS=1 pytest tests/doors/report/test_goldens.py` stores them anew: read the difference then.
"""

import io
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from rich.console import Console

from longproof.adapters import brief_of
from longproof.agent.types import Report
from longproof.report.html import index_line, page_data
from longproof.report.markdown import failure, to_markdown
from longproof.report.terminal import print_report
from longproof.report.words import language, words
from longproof.verifier import Report as Shown

GOLDEN = Path(__file__).parents[2] / "golden" / "report"
Texts = Mapping[str, str]


def terminal(width: int) -> Callable[[Report, Texts], str]:
    def printed(report: Report, texts: Texts) -> str:
        file = io.StringIO()
        print_report(report, texts, Console(file=file, width=width))
        return re.sub(r" +$", "", file.getvalue(), flags=re.MULTILINE)

    return printed


def page_as_json(report: Report, texts: Texts) -> str:
    data = page_data(report, texts, words(language(report.case.response)))
    for document in data["report"]["documents"]:
        document.pop("text", None)
    claims = data["report"].pop("claims")
    rows = [json.dumps(claim, ensure_ascii=False, sort_keys=True) for claim in claims]
    return "\n".join([json.dumps(data, ensure_ascii=False, indent=1), *rows]) + "\n"


PRINTERS: dict[str, Callable[[Report, Texts], str]] = {
    "narrow.txt": terminal(80),
    "wide.txt": terminal(130),
    "md": to_markdown,
    "notebook.html": lambda report, _: Shown.of(report, None)._repr_html_().replace("<li>", "\n<li>") + "\n",
    "failure.txt": lambda report, _: failure(report) + "\n",
    "brief.json": lambda report, _: brief_of(report).model_dump_json(indent=1) + "\n",
    "page.json": page_as_json,
    "index.json": lambda report, _: json.dumps(index_line("r.html", report), indent=1) + "\n",
}


@pytest.mark.parametrize("printer", PRINTERS)
def test_what_is_shown_is_what_was_stored(stored_report, printer):
    name, (report, texts) = stored_report
    path = GOLDEN / f"{name}.{printer}"
    assert {one.name.split(".", 2)[2] for one in GOLDEN.iterdir()} == {*PRINTERS}
    shown = PRINTERS[printer](report, texts)
    if os.environ.get("LONGPROOF_WRITE_GOLDENS"):
        path.write_text(shown, "utf-8")
    assert shown == path.read_text("utf-8")


@pytest.mark.parametrize("printer", ["narrow.txt", "wide.txt", "md", "notebook.html", "failure.txt"])
def test_a_hostile_report_drives_nothing(hostile_report, hostile_search, printer):
    for report in (hostile_report, hostile_search):
        shown = PRINTERS[printer](*report)
        assert not set(shown) & set("\x1b\x07\x01\u202e\u2028")
        assert len(shown) < 60_000
        if not printer.endswith(".txt"):
            assert not re.search(r"<(?!/?(?:p|b|ul|li|br|q|code)>)", shown)
