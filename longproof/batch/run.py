"""One run over a case file: a report a case, written whole or not at all; a run that was stopped goes on.

Knows: what is left, who checks it, where reports go, how far it has come. A case that can't be checked is named in
the failures, and the others go on; where the ledger can't be written, the run stops. Memory doesn't grow with the
number of cases. Paid answers are in the ledger, so a case that was under way when the run died costs nothing again.
Does not know: how a case is checked, or how reports are shown.
"""

import asyncio
import csv
import io
import json
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from longproof.agent.models.ledger import LedgerFailed, RunState
from longproof.agent.models.model import Refused
from longproof.agent.report import judges_failures, total_usage, unanswered
from longproof.agent.types import LABELS, Report, Usage
from longproof.batch.cases import (
    GivenCase,
    asked_case,
    case_documents,
    case_line,
    case_lines,
    given_case,
    sources_key,
)
from longproof.batch.resume_list import CaseState, ResumeList, Summary, Todo, open_resume_list
from longproof.graphs.joined import SOURCE_CHARACTERS
from longproof.graphs.verifier import Checker
from longproof.indexes.documents import Cache
from longproof.report.control_characters import visible
from longproof.retrieval.files import clear_parts, write_lines, write_whole
from longproof.retrieval.types import BadInput, Document, Frozen

FORMULA = frozenset("=+-@")
"""What a formula begins with, in a spreadsheet."""
REPORTS, SUMMARY, FAILURES = "reports", "summary.csv", "failures.jsonl"
COLUMNS = ("id", "verdict", "triage", "claims", *LABELS, "undecided", "coverage", "calls", "tokens", "report")


class BatchProgress(NamedTuple):
    """How far a batch has come. `paid` is what this run paid itself; `seconds_left` is known after the first case."""

    done: int
    total: int
    failed: int
    paid: Usage
    seconds_left: float | None


class BatchDone(NamedTuple):
    """A batch that has come to its end: how many cases are in which state, and what this run paid."""

    folder: Path
    states: dict[CaseState, int]
    verdicts: dict[str, int]
    paid: Usage
    seconds: float
    failures: Counter[str | None]
    """Of this run's judgements."""


Finish = Callable[[Todo, Report | str], None]
"""Called with every case that came to an end, and its report or why there is none."""
Engine = Callable[[Iterable[Sequence[Todo]], Finish], None]
"""Checks what is left, group by group in any order, and calls `Finish` on the caller's thread for each case."""


class EngineOptions(Frozen):
    """Which engine checks the cases, and how many groups of them at once. `parallel` is for each worker.

    Without `ray_address` Ray is started here.
    """

    engine: Literal["local", "ray"] = "local"
    parallel: int = 4
    workers: int = 2
    ray_address: str | None = None
    encoding: str | None = None


def run_batch(
    cases: Path,
    out: Path,
    engine: Engine,
    *,
    settings: dict[str, Any],
    again: bool = False,
    joined: bool = False,
    progress: Callable[[BatchProgress], None] | None = None,
) -> BatchDone:
    """Check all cases of a file into a folder; what has its report there already is not checked again.

    `settings` are what makes reports comparable: a folder takes one batch. `again` takes up what nobody could
    decide; `joined` lets short cases about one long source be checked together.
    Raises BadInput where the folder holds another batch, or the file is none of cases, or holds none.
    """
    if next(case_lines(cases), None) is None:
        raise BadInput(f"there is no case in {cases}: give a file with a case a line")
    with open_resume_list(out, settings) as resume:
        clear_parts(out)
        clear_parts(out / REPORTS)
        run = _Run(resume, out, progress)
        resume.plan(cases, lambda name: run.place(name).exists(), joined=joined)
        run.through(engine, again=again)
        write_lines(out / SUMMARY, _table(resume.summaries()))
        write_lines(out / FAILURES, map(_failure, resume.failures()))
        return run.end()


def local_engine(
    checker: Checker, cases: Path, *, concurrency: int = 4, encoding: str | None = None
) -> Engine:
    """The engine in this process: so many groups of cases at once on one event loop."""

    def engine(todo: Iterable[Sequence[Todo]], finish: Finish) -> None:
        asyncio.run(
            _through(CaseChecker(checker, cases.parent, encoding), cases, iter(todo), finish, concurrency)
        )

    return engine


class CaseChecker:
    """Checks lines of a case file; sources that neighbouring cases share are read once."""

    def __init__(self, checker: Checker, folder: Path, encoding: str | None = None) -> None:
        self._checker, self._folder, self._encoding = checker, folder, encoding
        self._read: Cache[Sequence[Document]] = Cache(room=2)

    async def checked(self, group: Sequence[bytes]) -> list[Report | str]:
        """For each of these lines the report on its case, or why there is none. Raises LedgerFailed and
        Refused: every further case would pay and keep nothing, or get no answer."""
        together = await self._together(group) if len(group) > 1 else None
        return together or [await self._alone(data) for data in group]

    async def _together(self, group: Sequence[bytes]) -> list[Report | str] | None:
        """The reports on a group; None where its cases must be checked one by one: the source is short, or one of
        them fails, which must not cost the others."""
        try:
            cases = [given_case(data) for data in group]
            sources = await asyncio.to_thread(self._sources, cases[0])
            if sum(len(source.text) for source in sources) <= SOURCE_CHARACTERS:
                return None
            return [*await self._checker.averify_group(sources, [asked_case(case) for case in cases])]
        except (LedgerFailed, Refused):
            raise
        except Exception:
            return None

    async def _alone(self, data: bytes) -> Report | str:
        try:
            case = given_case(data)
            return await self._checker.averify(
                await asyncio.to_thread(self._sources, case),
                case.response,
                task=case.task,
                context=case.context or "",
                case_id=str(case.id),
                reference=case.reference,
                labels=case.labels,
            )
        except (LedgerFailed, Refused):
            raise
        except BadInput as error:
            return str(error)
        except Exception as error:
            # A defect met by one case in ten thousand must not cost the others; it is named in the failures.
            return f"{type(error).__name__}: {error}"

    async def close(self, state: RunState = "done") -> None:
        """Let go of what is open on this event loop; the run ended so."""
        await self._checker.close(state)

    def _sources(self, case: GivenCase) -> Sequence[Document]:
        if not case.paths:
            return case_documents(case, self._folder)
        key = sources_key(case, self._folder)
        return self._read.get(key, lambda: case_documents(case, self._folder, self._encoding))


async def _through(
    checker: CaseChecker, cases: Path, todo: Iterator[Sequence[Todo]], finish: Finish, concurrency: int
) -> None:
    said: Counter[str | None] = Counter()

    async def work() -> None:
        for group in todo:
            checked = await checker.checked([case_line(cases, one.line) for one in group])
            for one, result in zip(group, checked, strict=True):
                said.update(judges_failures(result) if isinstance(result, Report) else ())
                finish(one, result)

    state: RunState = "interrupted"
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work())
        state = "failed" if unanswered(said) else "done"
    except BaseExceptionGroup as failed:
        state = "failed" if isinstance(failed.exceptions[0], BadInput) else state
        raise failed.exceptions[0] from failed
    finally:
        await checker.close(state)


class _Run:
    """One pass over what is left: writes reports, notes them as done, says how far it has come."""

    def __init__(
        self, resume: ResumeList, out: Path, progress: Callable[[BatchProgress], None] | None
    ) -> None:
        self._resume, self._out, self._progress = resume, out, progress
        self._began, self._finished, self._paid = time.monotonic(), 0, Usage()
        self._done = self._failed = self._total = 0
        self._failures: Counter[str | None] = Counter()

    def place(self, name: str) -> Path:
        """Where the report of this name lies."""
        return self._out / REPORTS / f"{name}.json"

    def through(self, engine: Engine, *, again: bool) -> None:
        """Check what is left. What was written before an error stays."""
        states = self._resume.states()
        self._total = sum(states.values())
        self._failed = states["failed"]
        self._done = self._total - self._resume.left(again=again)
        self._report_progress()
        if self._done < self._total:
            engine(self._resume.todo(again=again), self._finish)

    def end(self) -> BatchDone:
        """How it ended."""
        return BatchDone(
            self._out,
            self._resume.states(),
            self._resume.verdicts(),
            self._paid,
            time.monotonic() - self._began,
            self._failures,
        )

    def _finish(self, one: Todo, result: Report | str) -> None:
        if not one.left:
            return
        if isinstance(result, str):
            self._resume.failed(one.name, result)
            self._failed += 1
        else:
            write_whole(self.place(one.name), (result.model_dump_json(indent=2) + "\n").encode())
            self._resume.done(one.name, result)
            self._failures += judges_failures(result)
            self._paid = total_usage([self._paid, Usage.model_validate(result.stamp["paid"])])
        self._finished += 1
        self._done += 1
        self._report_progress()

    def _report_progress(self) -> None:
        if self._progress is None:
            return
        spent = time.monotonic() - self._began
        left = spent / self._finished * (self._total - self._done) if self._finished else None
        self._progress(BatchProgress(self._done, self._total, self._failed, self._paid, left))


def _table(summaries: Iterable[Summary]) -> Iterator[str]:
    """The summary as CSV, a line a case."""
    for cells in chain([COLUMNS], map(_cells, summaries)):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(cells)
        yield line.getvalue()


def _cells(one: Summary) -> tuple[object, ...]:
    tokens = one.usage.prompt_tokens + one.usage.completion_tokens
    return (
        _inert(one.id),
        one.verdict,
        int(one.triage),
        one.claims,
        *(one.counts.get(label, 0) for label in (*LABELS, "undecided")),
        f"{one.coverage:.4f}",
        one.usage.calls,
        tokens,
        f"{REPORTS}/{one.name}.json",
    )


def _inert(id_: str) -> str:
    """An id that no spreadsheet takes for a formula, and no reader of CSV for two lines.

    Spreadsheets skip spaces and controls before a formula, and take `＝` (full width) for `=`.
    """
    shown = visible(id_).replace("\n", "␊").replace("\t", "␉")
    first = unicodedata.normalize("NFKC", shown.lstrip(" \u00a0\u3000\u200b\ufeff␊␉␍"))[:1]
    return f"'{shown}" if first in FORMULA or shown != id_ else shown


def _failure(failure: tuple[int, str, str]) -> str:
    line, id_, reason = failure
    return json.dumps({"line": line, "id": id_, "failure": reason}, ensure_ascii=False) + "\n"
