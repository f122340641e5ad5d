"""Many cases through a checker, several groups at once; each ends with a report or a reason, and a line in a folder.

Knows: which cases are checked together, which of them are left, that a defect which one case meets must not cost the
others. `run.json` says what is run; `results.jsonl` gets a line as each case ends, in order at the end. One process
writes to a folder at a time: the lock is SQLite's, which works everywhere, and the death of its holder frees it.
Does not know: where cases come from, or what else a line holds.
"""

import asyncio
import json
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import ValidationError

from longproof.agent.models.ledger import LedgerFailed
from longproof.agent.models.model import UNANSWERED, Refused
from longproof.agent.report import judges_failures, total_usage
from longproof.agent.types import Case, Outcome, Report, Usage
from longproof.graphs.cases import digest, report_path
from longproof.graphs.joined import SOURCE_CHARACTERS, case_groups
from longproof.graphs.verifier import Verifier, run
from longproof.retrieval.files import private_file, private_folder, write_lines, write_whole
from longproof.retrieval.types import BadInput, Document, Frozen

RUN, RESULTS, LOCK = "run.json", "results.jsonl", "lock"
EDITION = 3
"""Of the folder's form. A folder of another edition is refused."""
State = Literal["done", "unfinished", "failed"]
"""`unfinished`: there is a report, but some calls were never answered; `failed`: there is none."""


class Planned(NamedTuple):
    """A case of a run."""

    name: str
    """Of its line in the run's folder."""
    key: str
    """A digest of all that shapes its check."""
    sources: str = ""
    """A digest that cases with the same sources share."""
    joined: str = ""
    """A key that cases share which may be checked together; empty for one checked alone."""
    pair: str | None = None
    """A name that cases share which must never be checked together."""
    place: tuple[int, ...] = ()
    """Tells whoever checks the case where to find it."""


class Cases(Protocol):
    """The source of the cases of a run."""

    def case(self, one: Planned) -> Case:
        """The case, without its sources. Raises BadInput where it is none."""
        ...

    def sources(self, one: Planned) -> Sequence[Document]:
        """The case's sources, read. Raises BadInput where they can't be."""
        ...


Finish = Callable[[Planned, Report | str], None]
"""Called with every case that came to an end, and its report or why there is none."""
Engine = Callable[[Sequence[Sequence[Planned]], Finish], None]
"""Checks groups in any order, and calls `Finish` for each case."""


class RunProgress(NamedTuple):
    """The state of a run. `paid` is what this run paid itself; `seconds_left` is known after the first case."""

    done: int
    total: int
    failed: int
    paid: Usage
    seconds_left: float | None


class Tally:
    """Counts how cases end, and tells how far the run has come."""

    def __init__(self, total: int, left: int, progress: Callable[[RunProgress], None] | None = None) -> None:
        self.paid, self.failures = Usage(), Counter[str | None]()
        self._total, self._left, self._failed, self._progress = total, left, 0, progress
        self._began, self._ended = time.monotonic(), 0
        self._tell()

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self._began

    def add(self, result: Report | str) -> None:
        """Count a case that came to an end."""
        self._ended += 1
        if isinstance(result, str):
            self._failed += 1
        else:
            self.failures += judges_failures(result)
            self.paid = total_usage([self.paid, Usage.model_validate(result.stamp.get("paid") or {})])
        self._tell()

    def _tell(self) -> None:
        """Say how far the run has come."""
        if self._progress:
            left = self._left - self._ended
            seconds = self.seconds / self._ended * left if self._ended else None
            self._progress(RunProgress(self._total - left, self._total, self._failed, self.paid, seconds))


class Ended(Frozen):
    """The line of a case that came to an end."""

    name: str
    """Of this line alone."""
    key: str
    """A digest of all that shaped its check."""
    state: State
    verdict: Outcome = "undecided"
    failure: str | None = None
    """Why there is no report."""


L = TypeVar("L", bound=Ended)


class RunList(Generic[L]):
    """The cases of a folder that came to an end. Open it with `open_run`."""

    def __init__(self, path: Path, kind: type[L]) -> None:
        self._path = path
        self._lines = {line.name: line for line in read_lines(path, kind)}

    def append(self, line: L) -> None:
        """Add the line of a case, and have it on the disk before going on."""
        with self._path.open("ab") as file:
            file.write(line.model_dump_json().encode("utf-8") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._lines[line.name] = line

    def keep(self, names: Iterable[str]) -> list[L]:
        """Keep the lines of these cases alone, in this order; the lines that there are."""
        kept = [line for line in map(self._lines.get, names) if line]
        write_lines(self._path, (line.model_dump_json() + "\n" for line in kept))
        return kept

    def is_left(self, one: Planned, again: bool, reports: Path | None) -> bool:
        """True for a case without a line or a report of its own; `again`: and for one that nobody could decide."""
        line = self._lines.get(one.name)
        if not line or line.key != one.key or line.state != "done":
            return True
        if reports and not report_path(reports, one.name).exists():
            return True
        return again and line.verdict == "undecided"


def read_lines(folder: Path, kind: type[L]) -> list[L]:
    """All lines of a run's folder, or of its list. Raises BadInput where there is none, or a line is not ours."""
    path = folder / RESULTS if folder.is_dir() else folder
    if not path.is_file():
        raise BadInput(f"{folder} holds no {RESULTS}: give the folder that a run wrote")
    lines: list[L] = []
    with path.open("rb") as file:
        for number, data in enumerate(file, start=1):
            try:
                lines.append(kind.model_validate_json(data))
            except ValidationError as error:
                raise BadInput(f"{path.name} line {number} is not a result of this version") from error
    return lines


@contextmanager
def open_run(
    folder: Path, run: Mapping[str, object], kind: type[L], *, anew: bool = False
) -> Iterator[RunList[L]]:
    """The list of a run in this folder, for this process alone; `anew` drops what was done. Raises BadInput where the
    folder can't be made, is in use, or holds what another run or an earlier edition left."""
    private_folder(folder)
    with _lock(folder):
        path, wanted = folder / RESULTS, {"edition": EDITION, **json.loads(json.dumps(run))}
        if not (folder / RUN).exists() and not path.exists():
            write_whole(
                folder / RUN, (json.dumps(wanted, indent=2, ensure_ascii=False) + "\n").encode("utf-8")
            )
        known = None
        with suppress(OSError, ValueError):
            known = json.loads((folder / RUN).read_bytes())
        if known != wanted:
            raise BadInput(
                f"{folder} holds another run, or one with other settings or of an earlier edition of Longproof: "
                f"choose another folder, or the same settings (see {RUN})"
            )
        if anew:
            path.unlink(missing_ok=True)
        private_file(path)
        # A killed run leaves at most one line that was not written whole.
        if (data := path.read_bytes()) and not data.endswith(b"\n"):
            write_whole(path, data[: data.rfind(b"\n") + 1])
        yield RunList(path, kind)


def state_of(report: Report) -> State:
    """`unfinished` where a claim is undecided because nobody answered: another run may decide it."""
    left = any(claim.label is None and claim.failure in UNANSWERED for claim in report.claims)
    return "unfinished" if left else "done"


def plan_groups(cases: Sequence[Planned]) -> list[list[Planned]]:
    """The cases in the groups that are checked together, those with the same sources behind each other. The key of a
    case tells its group, too: in another group its report is made anew."""
    first: dict[str, int] = {}
    for number, case in enumerate(cases):
        first.setdefault(case.sources, number)
    by_key = sorted(enumerate(cases), key=lambda numbered: numbered[1].joined)
    groups = list(case_groups((case.joined, case.pair, (number, case)) for number, case in by_key))
    groups.sort(key=lambda group: (first[group[0][1].sources], group[0][0]))
    named: list[list[Planned]] = []
    for group in groups:
        members = [case for _, case in group]
        if len(members) > 1:
            together = digest([case.key for case in members])
            members = [case._replace(key=digest([case.key, together])) for case in members]
        named.append(members)
    return named


def check_left(
    rounds: Sequence[Sequence[Planned]],
    engine: Callable[[int], Engine],
    listed: RunList[L],
    line_of: Callable[[Planned, Report | str], L],
    *,
    again: bool,
    reports: Path | None = None,
    progress: Callable[[RunProgress], None] | None = None,
) -> tuple[list[L], Tally]:
    """Check what is left of each round, one after the other, with its engine; all lines in order, and what it took.

    `line_of` makes the line of a case that ended; `reports` is the folder that keeps whole reports, if one does. With
    a case that is left, all of its group are checked.
    """
    left, due, names = list[list[Sequence[Planned]]](), set[str](), list[str]()
    for planned in rounds:
        names += [one.name for one in planned]
        left.append([])
        for group in plan_groups(planned):
            new = {one.name for one in group if listed.is_left(one, again, reports)}
            due |= new
            if new:
                left[-1].append(group)
    tally = Tally(len(names), len(due), progress)

    def finish(one: Planned, result: Report | str) -> None:
        if one.name in due:
            if reports and isinstance(result, Report):
                write_whole(report_path(reports, one.name), f"{result.model_dump_json(indent=2)}\n".encode())
            listed.append(line_of(one, result))
            tally.add(result)

    for number, groups in enumerate(left):
        if groups:
            engine(number)(groups, finish)
    return listed.keep(names), tally


def local_engine(checker: Verifier, cases: Cases, parallel: int = 4) -> Engine:
    """The engine in this process: so many groups at once. The first error that concerns all stops the run."""

    def engine(groups: Sequence[Sequence[Planned]], finish: Finish) -> None:
        left = iter(groups)

        async def work() -> None:
            for group in left:
                for one, result in zip(group, await check_planned(checker, cases, group), strict=True):
                    finish(one, result)

        async def check_groups() -> None:
            try:
                async with asyncio.TaskGroup() as workers:
                    for _ in range(parallel):
                        workers.create_task(work())
            except BaseExceptionGroup as failed:
                raise failed.exceptions[0] from failed
            finally:
                await checker.close()

        run(check_groups())

    return engine


async def check_planned(checker: Verifier, cases: Cases, group: Sequence[Planned]) -> list[Report | str]:
    """For each case of a group the report, or why there is none. Raises LedgerFailed and Refused: every further case
    would pay and keep nothing, or get no answer."""
    if len(group) > 1:
        try:
            sources = await asyncio.to_thread(cases.sources, group[0])
            if sum(len(source.text) for source in sources) > SOURCE_CHARACTERS:
                return [*await checker.check_group(sources, list(map(cases.case, group)))]
        except (LedgerFailed, Refused):
            raise
        except Exception:
            pass  # one that fails must not cost the others: each says by itself what is wrong with it
    results: list[Report | str] = []
    for one in group:
        try:
            sources = await asyncio.to_thread(cases.sources, one)
            results.append(await checker.check(sources, cases.case(one)))
        except (LedgerFailed, Refused):
            raise
        except BadInput as error:
            results.append(str(error))
        except Exception as error:
            # A defect that one case in ten thousand meets must not cost the others; its line names it.
            results.append(f"{type(error).__name__}: {error}")
    return results


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    try:
        private_file(folder / LOCK)
        connection = sqlite3.connect(folder / LOCK, timeout=0, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise BadInput(f"can't write to {folder}: {error}; name another folder") from error
    with closing(connection):
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            raise BadInput(
                f"another run is writing to {folder}: wait for it, or choose another folder"
            ) from error
        yield
