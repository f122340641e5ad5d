"""One run over a case file: a report a case, written whole or not at all; a run that was stopped goes on.

Knows: where reports go, which cases of the file are left, and the tables of how they ended. Memory grows by some
hundred bytes a case: their texts stay in the file. Does not know: how a case is checked, or how reports are shown.
"""

import csv
import io
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from longproof.agent.report import not_borne_out
from longproof.agent.types import LABELS, Case, Report, Usage
from longproof.graphs.cases import (
    CaseLine,
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
    sources_key,
)
from longproof.graphs.run_folder import Ended, RunList, open_run, read_lines, state_of
from longproof.graphs.runner import Engine, Planned, RunProgress, Tally, groups_left, plan_groups, run_groups
from longproof.indexes.documents import Cache
from longproof.report.pieces import visible
from longproof.retrieval.files import clear_parts, write_lines, write_whole
from longproof.retrieval.types import BadInput, Document

FORMULA = frozenset("=+-@")
"""What a formula begins with, in a spreadsheet."""
REPORTS, SUMMARY, FAILURES = "reports", "summary.csv", "failures.jsonl"
COLUMNS = ("id", "verdict", "triage", "claims", *LABELS, "undecided", "coverage", "calls", "tokens", "report")


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
    """A batch that has come to its end: how many cases are in which state, and what this run paid."""

    folder: Path
    states: Counter[str]
    verdicts: Counter[str]
    paid: Usage
    seconds: float
    failures: Counter[str | None]
    """Of this run's judgements."""
    not_borne_out: int
    """Faithful cases with sentences that their source doesn't bear out."""


class FileCases:
    """The cases of a file; sources that neighbouring cases share are read once."""

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self._path, self._encoding = path, encoding
        self._read: Cache[Sequence[Document]] = Cache(room=2)

    def case(self, one: Planned) -> Case:
        """The case of a line. Raises BadInput where it is none."""
        return asked_case(parse_case(case_line(self._path, CaseLine(*one.place))))

    def sources(self, one: Planned) -> Sequence[Document]:
        """The sources of a line's case. Raises BadInput where they can't be read."""
        case = parse_case(case_line(self._path, CaseLine(*one.place)))
        key = sources_key(case, self._path.parent)
        return self._read.get(key, lambda: case_documents(case, self._path.parent, self._encoding))


def run_batch(
    cases: Path,
    out: Path,
    engine: Engine,
    *,
    settings: dict[str, Any],
    again: bool = False,
    joined: bool = False,
    progress: Callable[[RunProgress], None] | None = None,
) -> BatchDone:
    """Check all cases of a file into a folder; what has its report there already is not checked again.

    `settings` are what makes reports comparable: a folder takes one batch. `again` takes up what nobody could decide;
    `joined` lets short cases about one long source be checked together.
    Raises BadInput where the folder holds another batch, or the file is none of cases, or holds none.
    """
    planned = planned_cases(cases, joined=joined)
    with open_run(out, {"batch": {k: v for k, v in settings.items() if v}}, EndedCase) as listed:
        clear_parts(out)
        clear_parts(out / REPORTS)
        left = groups_left(
            plan_groups(planned), listed, again=again, written=lambda name: report_path(out, name).exists()
        )
        n_left = sum(one.left for group in left for one in group)
        tally = Tally(len(planned), n_left, progress)

        def finish(one: Planned, result: Report | str) -> None:
            if isinstance(result, Report):
                write_report(out, one.name, result)
            listed.append(_ended(cases, one, result))
            tally.add(result)

        run_groups(engine, left, finish)
        return _end(out, listed, [one.name for one in planned], tally)


def planned_cases(cases: Path, *, joined: bool) -> list[Planned]:
    """The cases of a file, in its order; a line that is no case is one that fails.

    Raises BadInput where there is none, where two have one id, or ids that make one file name.
    """
    found, seen = list[Planned](), dict[str, tuple[str, int]]()
    for line, data in case_lines(cases):
        id_, one = _planned(cases.parent, line, data, joined=joined)
        known, number = seen.setdefault(one.name.casefold(), (id_, line.number))
        if number != line.number:
            same = "the same id" if known == id_ else f"ids that make one file name, {one.name!r}"
            raise BadInput(f"lines {number} and {line.number} have {same}: rename one")
        found.append(one)
    if not found:
        raise BadInput(f"there is no case in {cases}: give a file with a case a line")
    return found


def _planned(folder: Path, line: CaseLine, data: bytes, *, joined: bool) -> tuple[str, Planned]:
    try:
        case = parse_case(data)
    except BadInput:
        id_ = line_name(data, line)
        return id_, Planned(file_name(id_), digest(data.hex()), place=tuple(line))
    sources = sources_key(case, folder)
    texts = None if case.paths else case.texts
    return str(case.id), Planned(
        file_name(str(case.id)),
        case_key(case, folder),
        sources,
        group_key(asked_case(case), sources, texts) if joined else "",
        case.pair,
        tuple(line),
    )


def report_path(out: Path, name: str) -> Path:
    """The file of the report of this name."""
    return out / REPORTS / f"{name}.json"


def write_report(out: Path, name: str, report: Report) -> None:
    """Write a report whole, or leave what was there."""
    write_whole(report_path(out, name), (report.model_dump_json(indent=2) + "\n").encode())


def ended_cases(folder: Path) -> Iterator[EndedCase]:
    """The lines of a folder whose batch came to its end, in the case file's order."""
    return iter(read_lines(folder, EndedCase))


def _ended(cases: Path, one: Planned, result: Report | str) -> EndedCase:
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


def _end(out: Path, listed: RunList[EndedCase], names: list[str], tally: Tally) -> BatchDone:
    """Put the list in order, write the tables, and say how it ended."""
    listed.keep(names)
    write_lines(out / SUMMARY, _table(line for line in listed.lines(names) if line.state != "failed"))
    failed = (line for line in listed.lines(names) if line.state == "failed")
    write_lines(out / FAILURES, map(_failure, failed))
    entries = listed.entries.values()
    verdicts = Counter[str](entry.verdict for entry in entries if entry.state != "failed")
    states = Counter[str](entry.state for entry in entries)
    open_cases = sum(line.not_borne_out > 0 for line in listed.lines(names) if line.state != "failed")
    return BatchDone(out, states, verdicts, tally.paid, tally.seconds, tally.failures, open_cases)


def _table(ended: Iterable[EndedCase]) -> Iterator[str]:
    """The summary as CSV, a line a case."""
    for cells in chain([COLUMNS], map(_cells, ended)):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(cells)
        yield line.getvalue()


def _cells(one: EndedCase) -> tuple[object, ...]:
    return (
        _inert(one.id),
        one.verdict,
        int(one.triage),
        one.claims,
        *(one.counts.get(label, 0) for label in (*LABELS, "undecided")),
        f"{one.coverage:.4f}",
        one.usage.calls,
        one.usage.prompt_tokens + one.usage.completion_tokens,
        f"{REPORTS}/{one.name}.json",
    )


def _inert(id_: str) -> str:
    """An id that no spreadsheet takes for a formula, and no reader of CSV for two lines.

    Spreadsheets skip spaces and controls before a formula, and take `＝` (full width) for `=`.
    """
    shown = visible(id_).replace("\n", "␊").replace("\t", "␉")
    first = unicodedata.normalize("NFKC", shown.lstrip(" \u00a0\u3000\u200b\ufeff␊␉␍"))[:1]
    return f"'{shown}" if first in FORMULA or shown != id_ else shown


def _failure(failed: EndedCase) -> str:
    told = {"line": failed.line, "id": failed.id, "failure": failed.failure}
    return json.dumps(told, ensure_ascii=False) + "\n"
