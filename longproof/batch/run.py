"""One run over a case file: a report a case, written whole or not at all; a run that was stopped goes on.

Knows: which cases of the file are left, and who works on them; where reports, pages, the index and JUnit's XML lie.
Memory grows by some hundred bytes a case: their texts stay in the file. Does not know: how a case is checked, or how
options are given.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from pydantic import Field

from longproof.agent.report import not_borne_out
from longproof.agent.types import Case, Report, Usage
from longproof.graphs.cases import (
    REPORTS,
    CaseLine,
    GivenCase,
    asked_case,
    case_documents,
    case_key,
    case_line,
    case_lines,
    digest,
    file_name,
    group_key,
    line_name,
    parse_case,
    report_path,
    sources_key,
)
from longproof.graphs.joined import joins
from longproof.graphs.runner import (
    Ended,
    Engine,
    Planned,
    RunProgress,
    check_left,
    local_engine,
    state_of,
)
from longproof.graphs.settings import INCOMPARABLE, settings_of
from longproof.graphs.verifier import Verifier
from longproof.indexes.documents import Cache, DocumentStore
from longproof.report.html import index_page, page
from longproof.report.markdown import failure
from longproof.report.saved import open_report
from longproof.report.words import visible
from longproof.retrieval.files import home, write_lines, write_whole
from longproof.retrieval.types import BadInput, Document

PAGES, INDEX = "pages", "index.html"
INDEXED = 5000
"""The most reports that the index page shows; a browser takes no more. The batch's list has them all."""


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


class BatchDone(NamedTuple):
    """A batch that has come to its end: its cases in the file's order, and what this run paid."""

    folder: Path
    cases: list[EndedCase]
    paid: Usage
    seconds: float
    failures: Counter[str | None]
    """Of this run's judgements."""

    @property
    def states(self) -> Counter[str]:
        """The number of cases in each state."""
        return Counter(case.state for case in self.cases)

    @property
    def verdicts(self) -> Counter[str]:
        """The number of reports with each verdict."""
        return Counter(case.verdict for case in self.cases if case.state != "failed")


class FileCases:
    """The cases of a file; sources that neighbouring cases share are read once."""

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self._path, self._encoding = path, encoding
        self._read: Cache[Sequence[Document]] = Cache(room=2)

    def case(self, one: Planned) -> Case:
        """The case of a line. Raises BadInput where it is none."""
        return asked_case(self._given(one))

    def sources(self, one: Planned) -> Sequence[Document]:
        """The sources of a line's case. Raises BadInput where they can't be read."""
        case = self._given(one)
        return self._read.get(one.sources, lambda: case_documents(case, self._path.parent, self._encoding))

    def _given(self, one: Planned) -> GivenCase:
        return parse_case(case_line(self._path, CaseLine(*one.place)), self._path.parent)


def check_cases(
    cases: Path,
    out: Path,
    *,
    settings: dict[str, Any],
    engine: Engine | None = None,
    parallel: int = 4,
    encoding: str | None = None,
    html: bool = False,
    progress: Callable[[RunProgress], None] | None = None,
) -> BatchDone:
    """Check all cases of a file into a folder; what has its report there already is not checked again.

    A folder takes one batch: what makes its reports comparable may not change. Without an `engine`, so many groups of
    cases are checked in `parallel` in this process. Raises BadInput where the folder holds another batch, where the
    file is none of cases, or holds none, and for settings that can check nothing.
    """
    full = settings_of(settings)
    Verifier(**{**settings, "run_id": None}).try_out()
    traffic = None
    if engine is None:
        checker = Verifier(**settings)
        engine, traffic = local_engine(checker, FileCases(cases, encoding), parallel), checker.traffic
    planned = plan_cases(cases, joined=joins(full))
    comparable = full.model_dump(mode="json", exclude={*INCOMPARABLE})
    batch = {name: value for name, value in comparable.items() if value}
    began = time.monotonic()
    lines, at = check_left(
        out,
        {"batch": batch},
        planned,
        engine,
        EndedCase,
        partial(_line_of, cases),
        again=full.retry_failed,
        progress=progress,
        traffic=traffic,
    )
    reported = [case.name for case in lines if case.state != "failed"]
    failed = [case for case in lines if case.state == "failed"]
    write_index(out, reported, failed, html=html, home_=full.home)
    return BatchDone(out, lines, at.paid, time.monotonic() - began, at.failures)


def plan_cases(cases: Path, *, joined: bool) -> list[Planned]:
    """The cases of a file, in its order; a line that is no case is one that fails.

    `joined` lets short cases about one long source be checked together. Raises BadInput where there is no case, or
    two have ids that make one file name.
    """
    planned, seen = list[Planned](), dict[str, int]()
    for line, data in case_lines(cases):
        try:
            case = parse_case(data, cases.parent)
        except BadInput:
            one = Planned(file_name(line_name(data, line)), digest(data.hex()), place=tuple(line))
        else:
            sources = sources_key(case, cases.parent)
            texts = None if case.paths else case.texts
            group = group_key(asked_case(case), sources, texts) if joined else ""
            key = case_key(case, sources)
            one = Planned(file_name(str(case.id)), key, sources, group, case.pair, tuple(line))
        number = seen.setdefault(one.name.casefold(), line.number)
        if number != line.number:
            same = f"ids of one file name, {one.name!r}"
            raise BadInput(f"lines {number} and {line.number} have {same}: rename one")
        planned.append(one)
    if not planned:
        raise BadInput(f"there is no case in {cases}: give a file with a case a line")
    return planned


def _line_of(cases: Path, one: Planned, result: Report | str) -> EndedCase:
    """The line of a case that came to an end."""
    if isinstance(result, str):
        line = CaseLine(*one.place)
        id_ = line_name(case_line(cases, line), line)
        return EndedCase(name=one.name, key=one.key, state="failed", failure=result, id=id_, line=line.number)
    return EndedCase(
        name=one.name,
        key=one.key,
        state=state_of(result),
        verdict=result.verdict,
        id=result.case.id,
        line=one.place[0],
        triage=result.triage,
        claims=len(result.claims),
        counts=result.counts,
        coverage=result.coverage,
        not_borne_out=len({*chain(*not_borne_out(result))}),
        usage=result.usage,
    )


def write_index(
    out: Path,
    names: Sequence[str],
    failed: Sequence[EndedCase] = (),
    *,
    html: bool = True,
    home_: str | None = None,
) -> None:
    """Write the index page over the reports of these names; `html`: over a page for each, with texts from `home_`.

    Pages that are newer than their reports stay.
    """
    made = [report_path(out, name) for name in names]
    store = DocumentStore(home(home_) / "documents")
    for path in made if html else ():
        target = out / PAGES / f"{path.stem}.html"
        if not target.exists() or target.stat().st_mtime_ns < path.stat().st_mtime_ns:
            report = open_report(path)
            texts = {document.id: store.text(document.id) for document in report.documents}
            write_whole(target, page(report, texts).encode())
    linked = (
        (f"{PAGES}/{path.stem}.html" if html else f"{REPORTS}/{path.name}", open_report(path))
        for path in made[:INDEXED]
    )
    told = [{"id": one.id, "line": one.line, "failure": one.failure} for one in failed[:INDEXED]]
    write_whole(out / INDEX, index_page(linked, len(failed), told).encode())


def write_junit(done: BatchDone, target: Path) -> None:
    """Write how cases ended as one suite of tests: what is hallucinated or undecided fails, what couldn't be checked
    is an error. One report at a time is in memory."""
    write_lines(target, _junit_lines(done))


def _junit_lines(done: BatchDone) -> Iterator[str]:
    errors = done.states["failed"]
    wrong = sum(n for verdict, n in done.verdicts.items() if verdict != "faithful")
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield f'<testsuite name="longproof" tests="{len(done.cases)}" failures="{wrong}" errors="{errors}">\n'
    for one in done.cases:
        kind, outcome, why = "error", "not checked", one.failure or ""
        if one.state != "failed":
            report = open_report(report_path(done.folder, one.name))
            kind, outcome, why = "failure", report.verdict, failure(report)
        test = Element("testcase", classname="longproof", name=_xml_text(one.id))
        if why:
            inner = SubElement(test, kind, type=outcome, message=_xml_text(why.splitlines()[0]))
            inner.text = _xml_text(why)
        yield tostring(test, encoding="unicode") + "\n"
    yield "</testsuite>\n"


def _xml_text(text: str) -> str:
    """The text without what XML may not be given."""
    return re.sub("[\ud800-\udfff\ufffe\uffff]", "\ufffd", visible(text))
