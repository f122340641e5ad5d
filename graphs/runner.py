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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, Self, TypeVar

from pydantic import ValidationError

from longproof.agent.models.ledger import LedgerFailed
from longproof.agent.models.limits import Traffic
from longproof.agent.models.model import UNANSWERED, Refused
from longproof.agent.report import judges_failures, total_usage
from longproof.agent.types import Case, Outcome, Report, Usage
from longproof.graphs.cases import REPORTS, digest, report_path
from longproof.graphs.joined import MOST_CASES, SOURCE_CHARACTERS
from longproof.graphs.verifier import Verifier, run
from longproof.retrieval.files import (
    clear_parts,
    open_file,
    private_file,
    private_folder,
    read_whole,
    write_lines,
    write_whole,
)
from longproof.retrieval.types import BadInput, Document, Frozen

RUN, RESULTS, LOCK = "run.json", "results.jsonl", "lock"
EDITION = 3
"""Of the folder's form. A folder of another edition is refused."""
EndState = Literal["done", "unfinished", "failed"]
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
    """The state of a run. What was paid, failed and `checked` is this run's own; `done` is with those before it.

    `seconds_left` is known after the first case; `failures` counts why judgements failed, under None those that did
    not. `traffic` tells of calls as they are answered, where they are asked in this process.
    """

    done: int
    total: int
    failures: Counter[str | None]
    failed: int = 0
    paid: Usage = Usage()
    checked: int = 0
    seconds_left: float | None = None
    traffic: Callable[[], Traffic] | None = None

    def after(self, result: Report | str, seconds: float) -> Self:
        """The state once one more case came to an end, so many seconds after the beginning."""
        done, checked = self.done + 1, self.checked + 1
        at = self._replace(done=done, checked=checked, seconds_left=seconds / checked * (self.total - done))
        if isinstance(result, str):
            return at._replace(failed=self.failed + 1)
        paid = total_usage([self.paid, Usage.model_validate(result.stamp.get("paid") or {})])
        return at._replace(paid=paid, failures=self.failures + judges_failures(result))


class Ended(Frozen):
    """The line of a case that came to an end."""

    name: str
    """Of this line alone."""
    key: str
    """A digest of all that shaped its check."""
    state: EndState
    verdict: Outcome = "undecided"
    failure: str | None = None
    """Why there is no report."""


L = TypeVar("L", bound=Ended)


def read_lines(folder: Path, kind: type[L]) -> list[L]:
    """All lines of a run's folder, or of its list. Raises BadInput where there is none, or a line is not ours."""
    path = folder / RESULTS if folder.is_dir() else folder
    if not path.is_file():
        raise BadInput(f"{folder} holds no {RESULTS}: give the folder that a run wrote")
    lines: list[L] = []
    with open_file(path) as file:
        for number, data in enumerate(file, start=1):
            try:
                lines.append(kind.model_validate_json(data))
            except ValidationError as error:
                raise BadInput(f"{path.name} line {number} is not a result of this version") from error
    return lines


def state_of(result: Report | str) -> EndState:
    """`unfinished` where a claim is undecided because calls were not answered: another run may decide it."""
    if isinstance(result, str):
        return "failed"
    for claim in result.claims:
        failures = {claim.failure}
        if claim.failure == "panel_incomplete":
            failures.update(judgement.failure for judgement in claim.judgements)
        if failures & UNANSWERED - {None}:
            return "unfinished"
    return "done"


def plan_groups(cases: Sequence[Planned]) -> list[list[Planned]]:
    """The cases in the groups that are checked together, those with the same sources behind each other. The key of a
    case tells its group, too: in another group its report is made anew.

    Two cases of one pair are never in one group: which goes first is drawn from the pair's name, so that no group
    gets all first members (in many a data set, the true ones).
    """
    first: dict[str, int] = {}
    seen, sizes = Counter[tuple[str, str]](), Counter[tuple[str, int]]()
    groups: dict[tuple[str | int, ...], list[Planned]] = {}
    for number, case in enumerate(cases):
        first.setdefault(case.sources, number)
        group: tuple[str | int, ...] = (number,)
        if case.joined:
            turn = 0
            if case.pair is not None:
                drawn = sha256(case.pair.encode("utf-8", "backslashreplace")).digest()[0] & 1
                turn = seen[case.joined, case.pair] ^ drawn
                seen[case.joined, case.pair] += 1
            group = (case.joined, turn, sizes[case.joined, turn] // MOST_CASES)
            sizes[case.joined, turn] += 1
        groups.setdefault(group, []).append(case)
    named: list[list[Planned]] = []
    for members in sorted(groups.values(), key=lambda group: first[group[0].sources]):
        if len(members) > 1:
            together = digest([case.key for case in members])
            members = [case._replace(key=digest([case.key, together])) for case in members]
        named.append(members)
    return named


def check_left(
    folder: Path,
    run: Mapping[str, object],
    planned: Sequence[Planned],
    engine: Engine,
    kind: type[L],
    line_of: Callable[[Planned, Report | str], L],
    *,
    again: bool,
    anew: bool = False,
    reports: bool = True,
    progress: Callable[[RunProgress], None] | None = None,
    traffic: Callable[[], Traffic] | None = None,
) -> tuple[list[L], RunProgress]:
    """Check what is left of a run; all lines in order, and how it went.

    `line_of` makes the line of a case that ended; `reports` says that whole reports are kept. What nobody could
    decide is left, too, where it is asked `again`; `anew` drops what was done. With a case that is left, all of its
    group are checked. Raises BadInput where the folder can't be made, is in use, or holds another run.
    """
    private_folder(folder)
    with _lock(folder):
        path = _open_list(folder, run, anew)
        lines = {line.name: line for line in read_lines(path, kind)}

        def is_left(one: Planned) -> bool:
            line = lines.get(one.name)
            if not line or line.key != one.key or line.state != "done":
                return True
            lost = reports and not report_path(folder, one.name).exists()
            return lost or (again and line.verdict == "undecided")

        due, left = set[str](), list[list[Planned]]()
        for group in plan_groups(planned):
            new = [one.name for one in group if is_left(one)]
            due.update(new)
            if new:
                left.append(group)
        at = RunProgress(len(planned) - len(due), len(planned), Counter(), traffic=traffic)
        began = time.monotonic()

        def finish(one: Planned, result: Report | str) -> None:
            nonlocal at
            if one.name not in due:
                return
            if reports and isinstance(result, Report):
                made = f"{result.model_dump_json(indent=2)}\n".encode()
                write_whole(report_path(folder, one.name), made)
            try:
                lines[one.name] = line_of(one, result)
            except Exception as error:
                result = _defect(error)
                lines[one.name] = line_of(one, result)
            _append(path, lines[one.name])
            at = at.after(result, time.monotonic() - began)
            if progress:
                progress(at)

        if progress:
            progress(at)
        if left:
            engine(left, finish)
        kept = [lines[one.name] for one in planned if one.name in lines]
        write_lines(path, (line.model_dump_json() + "\n" for line in kept))
    return kept, at


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
    try:
        sources = await asyncio.to_thread(cases.sources, group[0])
        if len(group) == 1:
            return [await checker.check(sources, cases.case(group[0]))]
        if sum(len(source.text) for source in sources) > SOURCE_CHARACTERS:
            return [*await checker.check_group(sources, list(map(cases.case, group)))]
    except (LedgerFailed, Refused):
        raise
    except Exception as error:
        if len(group) == 1:
            return [str(error) if isinstance(error, BadInput) else _defect(error)]
    # Alone, one that fails doesn't cost the others: it says by itself what is wrong with it.
    results: list[Report | str] = []
    for one in group:
        results += await check_planned(checker, cases, [one])
    return results


def _defect(error: Exception) -> str:
    """Name a defect that one case in ten thousand met, in the line of that case: it must not cost the others."""
    return f"{type(error).__name__}: {error}"


def _open_list(folder: Path, run: Mapping[str, object], anew: bool) -> Path:
    """The list of a run, without what a killed writer left of a line. Raises BadInput for the folder of another run,
    or of an earlier edition."""
    path, wanted = folder / RESULTS, {"edition": EDITION, **json.loads(json.dumps(run))}
    if not (folder / RUN).exists() and not path.exists():
        text = json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
        write_whole(folder / RUN, text.encode("utf-8"))
    known = None
    try:
        known = json.loads(read_whole(folder / RUN))
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            raise BadInput(f"can't read {folder / RUN}: {error.strerror}; choose another folder") from error
    except ValueError:
        pass  # not what a run wrote
    if known != wanted:
        raise BadInput(
            f"{folder} holds another run, or one with other settings or of an earlier edition of Longproof: "
            f"choose another folder, or the same settings (see {RUN})"
        )
    clear_parts(folder)
    clear_parts(folder / REPORTS)
    if anew:
        path.unlink(missing_ok=True)
    try:
        private_file(path)
        data = read_whole(path)
    except OSError as error:
        raise BadInput(f"can't read and write {path} ({error.strerror}): choose another folder") from error
    if data and not data.endswith(b"\n"):
        write_whole(path, data[: data.rfind(b"\n") + 1])
    return path


def _append(path: Path, line: Ended) -> None:
    """Add a line to a list, and have it on the disk before going on."""
    with path.open("ab") as file:
        file.write(line.model_dump_json().encode("utf-8") + b"\n")
        file.flush()
        os.fsync(file.fileno())


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
