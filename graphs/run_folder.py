"""The folder of a run over many cases: what is run, and one list to go on from, a line a case.

Knows: `run.json` says what is run; `results.jsonl` gets a line as each case ends, and is put in order at the end. One
process writes to a folder at a time: the lock is SQLite's, which works on every system, and the death of its holder
frees it. In memory stands the line of each case. Does not know: how a case is checked, or what else a line holds.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Generic, Literal, TypeVar

from pydantic import ValidationError

from longproof.agent.models.model import UNANSWERED
from longproof.agent.types import Outcome, Report
from longproof.retrieval.files import private_file, private_folder, write_lines, write_whole
from longproof.retrieval.types import BadInput, Frozen

RUN, RESULTS, LOCK = "run.json", "results.jsonl", "lock"
EDITION = 3
"""Of the folder's form. A folder of another edition is refused."""
State = Literal["done", "unfinished", "failed"]
"""`unfinished`: there is a report, but some calls were never answered; `failed`: there is none."""


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
        self._path, self._kind = path, kind
        self._lines = {line.name: data for line, data in _lines(path, kind)}

    def append(self, line: L) -> None:
        """Add the line of a case, and have it on the disk before going on."""
        data = line.model_dump_json().encode("utf-8") + b"\n"
        with self._path.open("ab") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._lines[line.name] = data

    def lines(self, names: Iterable[str]) -> Iterator[L]:
        """The lines of these cases, those that there are, in this order."""
        for data in filter(None, map(self._lines.get, names)):
            yield self._kind.model_validate_json(data)

    def keep(self, names: Sequence[str]) -> None:
        """Keep the lines of these cases alone, in this order."""
        self._lines = {name: self._lines[name] for name in names if name in self._lines}
        write_lines(self._path, (data.decode("utf-8") for data in self._lines.values()))

    def is_left(self, name: str, key: str, *, again: bool) -> bool:
        """True for a case without a line of its own; `again`: and for one that nobody could decide."""
        for line in self.lines([name]):
            if line.key == key and line.state == "done":
                return again and line.verdict == "undecided"
        return True


def read_lines(folder: Path, kind: type[L]) -> list[L]:
    """All lines of a run's folder, or of its list. Raises BadInput where there is none, or a line is not ours."""
    path = folder / RESULTS if folder.is_dir() else folder
    if not path.is_file():
        raise BadInput(f"{folder} holds no {RESULTS}: give the folder that a run wrote")
    return [line for line, _ in _lines(path, kind)]


@contextmanager
def open_run(
    folder: Path, run: Mapping[str, object], kind: type[L], *, anew: bool = False
) -> Iterator[RunList[L]]:
    """The list of a run in this folder, for this process alone; both are made where there are none.

    `anew` drops what was done. Raises BadInput where the folder can't be made, another run holds it, or it holds what
    another run or an earlier edition left.
    """
    private_folder(folder)
    with _lock(folder):
        _refuse_other_run(folder, run)
        path = folder / RESULTS
        if anew:
            path.unlink(missing_ok=True)
        private_file(path)
        _cut_broken_line(path)
        yield RunList(path, kind)


def state_of(report: Report) -> State:
    """`unfinished` where a claim is undecided because nobody answered: another run may decide it."""
    left = any(claim.label is None and claim.failure in UNANSWERED for claim in report.claims)
    return "unfinished" if left else "done"


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


def _refuse_other_run(folder: Path, run: Mapping[str, object]) -> None:
    """See that the folder is this run's; a new one becomes so."""
    path, wanted = folder / RUN, {"edition": EDITION, **json.loads(json.dumps(run))}
    if not path.exists() and not (folder / RESULTS).exists():
        write_whole(path, (json.dumps(wanted, indent=2, ensure_ascii=False) + "\n").encode("utf-8"))
        return
    try:
        known = json.loads(path.read_bytes())
    except (OSError, ValueError):
        known = None
    if known != wanted:
        raise BadInput(
            f"{folder} holds another run, or one with other settings or of an earlier edition of Longproof: choose "
            f"another folder, or the same settings (see {RUN})"
        )


def _lines(path: Path, kind: type[L]) -> Iterator[tuple[L, bytes]]:
    """Each line, read and as it stands there, with its line end."""
    with path.open("rb") as file:
        for number, data in enumerate(file, start=1):
            try:
                yield kind.model_validate_json(data), data.rstrip(b"\n") + b"\n"
            except ValidationError as error:
                raise BadInput(f"{path.name} line {number} is not a result of this version") from error


def _cut_broken_line(path: Path) -> None:
    """Cut off a last line that was not written whole: a killed run leaves at most one."""
    data = path.read_bytes()
    if data and not data.endswith(b"\n"):
        write_whole(path, data[: data.rfind(b"\n") + 1])
