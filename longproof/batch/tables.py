"""The files that a batch leaves beside its list: reports, pages, an index, JUnit's XML for builds.

Knows: where each lies; that a case that is hallucinated or undecided fails its test, and one that couldn't be checked
is an error; what XML may not be given. Does not know: how cases were checked.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from pydantic import Field

from longproof.agent.types import Report, Usage
from longproof.graphs.run_folder import Ended
from longproof.indexes.documents import DocumentStore
from longproof.report.html import index_page, page
from longproof.report.markdown import failure
from longproof.report.saved import open_report
from longproof.report.words import visible
from longproof.retrieval.files import home, write_lines, write_whole

REPORTS, PAGES, INDEX = "reports", "pages", "index.html"
INDEXED = 5000
"""How many reports the index page shows; a browser takes no more. The batch's list has them all."""
_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")


class EndedCase(Ended):
    """The line of a case. `usage` is what the answers cost when they were bought."""

    id: str
    line: int
    """Of the case file."""
    triage: bool = False
    claims: int = 0
    counts: dict[str, int] = Field(default_factory=dict)
    coverage: float = 0.0
    not_borne_out: int = 0
    """Sentences of a faithful response that its source doesn't bear out."""
    usage: Usage = Usage()


def report_path(out: Path, name: str) -> Path:
    """The file of the report of this name."""
    return out / REPORTS / f"{name}.json"


def write_report(out: Path, name: str, report: Report) -> None:
    """Write a report whole, or leave what was there."""
    write_whole(report_path(out, name), (report.model_dump_json(indent=2) + "\n").encode())


def write_pages(out: Path, names: Iterable[str], home_: str | None) -> None:
    """Write the pages of these reports that are missing, or older than their reports."""
    store = DocumentStore(home(home_) / "documents")
    for name in names:
        made, target = report_path(out, name), out / PAGES / f"{name}.html"
        if not target.exists() or target.stat().st_mtime_ns < made.stat().st_mtime_ns:
            report = open_report(made)
            texts = {document.id: store.text(document.id) for document in report.documents}
            write_whole(target, page(report, texts).encode())


def write_index(out: Path, names: Sequence[str], failed: Sequence[EndedCase] = (), *, html: bool) -> None:
    """Write the index page, over pages where they are asked for, else over JSON reports."""
    linked = (
        (f"{PAGES}/{name}.html" if html else f"{REPORTS}/{name}.json", open_report(report_path(out, name)))
        for name in names[:INDEXED]
    )
    told = [{"id": one.id, "line": one.line, "failure": one.failure} for one in failed[:INDEXED]]
    write_whole(out / INDEX, index_page(linked, len(failed), told).encode())


def write_junit(out: Path, cases: Sequence[EndedCase], target: Path) -> None:
    """Write how cases ended as one suite of tests. One report at a time is in memory."""
    write_lines(target, _suite(out, cases))


def _suite(out: Path, cases: Sequence[EndedCase]) -> Iterator[str]:
    failed = sum(one.state == "failed" for one in cases)
    wrong = sum(one.state != "failed" and one.verdict != "faithful" for one in cases)
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield f'<testsuite name="longproof" tests="{len(cases)}" failures="{wrong}" errors="{failed}">\n'
    for one in cases:
        if one.state == "failed":
            yield _test(one.id, "error", "not checked", one.failure or "")
        else:
            report = open_report(report_path(out, one.name))
            yield _test(one.id, "failure", report.verdict, failure(report))
    yield "</testsuite>\n"


def _test(name: str, kind: str, type_: str, why: str) -> str:
    """One test; it passed where there is nothing to say why not."""
    opened = f'<testcase classname="longproof" name={_attribute(name)}'
    if not why:
        return f"{opened}/>\n"
    first = why.splitlines()[0]
    text = escape(_plain(why))
    return (
        f"{opened}><{kind} type={_attribute(type_)} message={_attribute(first)}>{text}</{kind}></testcase>\n"
    )


def _attribute(text: str) -> str:
    return quoteattr(_plain(text))


def _plain(text: str) -> str:
    return _NOT_XML.sub("\ufffd", visible(text))
