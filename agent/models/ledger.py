"""The ledger: every paid answer, keyed by the content of its request, in one SQLite file; and recordings.

Knows: an answer is committed before anyone reads it; a process sends identical requests once, but two processes that
ask the same at the same moment may both pay. One instance an event loop; SQLite is used in one thread of its own.
A recording is an exported ledger, from which one run can be made again: gzip, JSON Lines, first what was run, then a
line a request, under its key in the ledger. A request that nobody answered fails again as it did. Prompts are not
kept, nor any text of a source beyond what answers quote. What a file holds is checked and never executed.
Does not know: what a run is, what is asked, or what an answer means. Keys to servers are never stored.
"""

import asyncio
import gzip
import json
import sqlite3
import time
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import Field

from longproof.agent.models.answers import Chat, Message, Raw, Unanswered
from longproof.agent.types import Failure
from longproof.retrieval.files import open_file, private_file, private_folder, write_whole
from longproof.retrieval.text.redact import own_address
from longproof.retrieval.types import BadInput, Frozen

T = TypeVar("T")
Send = Callable[[Message], Awaitable[Raw]]
APPLICATION = 0x4C50_4C47
VERSION = 1
TABLES = (
    "CREATE TABLE calls (key TEXT PRIMARY KEY, endpoint TEXT NOT NULL, model TEXT NOT NULL, answer TEXT NOT NULL,"
    " failure TEXT)",
    "CREATE TABLE runs (run_id TEXT PRIMARY KEY, state TEXT NOT NULL, started TEXT NOT NULL, ended TEXT,"
    " asked TEXT NOT NULL)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
GRACE_S = 5.0
"""`close` waits so long for calls under way: what is nearly paid for is kept."""
BUSY_S = 30.0
"""Another process may keep the file locked for so long."""
MOST_BYTES = 128_000_000
"""A recording that is larger when it is expanded is refused."""


class LedgerFailed(BadInput):
    """The ledger can't be read or written: whoever goes on pays and keeps nothing."""


class _Abandoned(Exception):
    """Whoever was asking stopped before there was an answer."""


_UNDER_WAY: dict[tuple[str, str], tuple["Ledger", "Future[Raw]"]] = {}
"""All that this process is paying for, in all threads, by ledger file and key, and the ledger of each answer."""


class Ledger:
    """Open with `Ledger.open`. `path` None keeps it in memory (`--no-cache`)."""

    def __init__(self, path: Path | None, *, retry_failed: bool = False) -> None:
        self._path, self._retry_failed = path, retry_failed
        self._place = str(path.resolve()) if path else f"memory {id(self)}"
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._loop = asyncio.get_running_loop()
        self._buying: set[asyncio.Task[tuple[Raw, bool]]] = set()
        self._asked_again: set[str] = set()
        self._failed: LedgerFailed | None = None
        self._db: sqlite3.Connection
        self._file: tuple[int, int] | None = None
        """Which file the open database is; None in memory."""

    @classmethod
    async def open(cls, path: Path | None, *, retry_failed: bool = False, busy_s: float = BUSY_S) -> "Ledger":
        """Open or make the ledger. With `retry_failed`, requests whose answers failed are sent once more.

        Raises BadInput where the file is none of ours, damaged or of a later version, or stays locked or read-only.
        """
        ledger = cls(path, retry_failed=retry_failed)
        ledger._db = await ledger._in_thread(_open, path, busy_s)
        ledger._file = _file_at(path)
        return ledger

    async def get(self, key: str) -> Raw | None:
        """The committed answer under this key."""
        answer, failure = await self._in_thread(self._select, key) or (None, None)
        asks_again = failure and self._retry_failed and key not in self._asked_again
        return None if answer is None or asks_again else self._raw(key, answer)

    async def answer(self, message: Message, send: Send, slots: asyncio.Semaphore) -> tuple[Raw, bool]:
        """The answer to this message, which is sent if there is none, and whether this caller paid for it.

        Other callers in this process wait for it, without a slot, and a cancelled caller does not cancel the call.
        What `send` raises reaches all who wait at this ledger; those at another ledger of this file send themselves.
        Raises LedgerFailed where the ledger failed while this call waited for its slot: then nothing is sent.
        """
        key = message.key
        if kept := await self.get(key):
            return kept, False
        while True:
            mine: Future[Raw] = Future()
            ledger, answer = _UNDER_WAY.setdefault((self._place, key), (self, mine))
            if answer is mine:
                task = asyncio.create_task(self._pay(message, send, slots))
                self._buying.add(task)
                task.add_done_callback(partial(self._settle, mine, key))
                return await asyncio.shield(task)
            try:
                raw = await asyncio.shield(asyncio.wrap_future(answer))
            except Exception as error:
                if ledger is self and not isinstance(error, _Abandoned):
                    raise
                continue
            self._asked_again.add(key)
            return raw, False

    async def fill(self, lines: Iterable["Line"]) -> None:
        """Take in the answers of a recording. They cost this ledger's runs nothing."""
        rows: list[tuple[str, str, str]] = []
        for line in lines:
            if line.answer:
                answer = json.dumps(line.answer.model_dump(exclude_none=True))
                rows.append((line.key, line.model, answer))
        taking_in = "INSERT OR IGNORE INTO calls VALUES (?, '', ?, ?, NULL)"
        await self._in_thread(self._db.executemany, taking_in, rows)

    async def mark(self, key: str, failure: Failure) -> None:
        """Note that the answer under this key was of no use: `retry_failed` asks again for it."""
        await self._in_thread(self._db.execute, "UPDATE calls SET failure = ? WHERE key = ?", (failure, key))

    async def start_run(self, run_id: str, begun_with: str) -> None:
        """Note what the run of this name was begun with. Raises BadInput where it was begun with something else."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        run = (run_id, now, json.dumps({"begun_with": begun_with}))
        await self._in_thread(self._db.execute, "INSERT OR IGNORE INTO runs VALUES (?, '', ?, NULL, ?)", run)
        # Runs of earlier editions may not say it.
        noted = "SELECT 1 FROM runs WHERE run_id = ? AND coalesce(json_extract(asked, '$.begun_with'), ?) = ?"
        known = (run_id, begun_with, begun_with)
        if not await self._in_thread(lambda: self._db.execute(noted, known).fetchone()):
            raise begun_otherwise(run_id)

    async def close(self) -> None:
        """Wait a little for calls under way, then close."""
        if self._buying:
            _, late = await asyncio.wait(self._buying, timeout=GRACE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._in_thread(self._db.close)
        self._thread.shutdown(wait=False)

    def _settle(self, mine: "Future[Raw]", key: str, task: asyncio.Task[tuple[Raw, bool]]) -> None:
        """Give the answer, or what went wrong, to all who wait for it. Called of tasks that never began, too."""
        self._buying.discard(task)
        del _UNDER_WAY[self._place, key]
        error = _Abandoned() if task.cancelled() else task.exception()
        if error is None:
            mine.set_result(task.result()[0])
        else:
            mine.set_exception(error if isinstance(error, Exception) else _Abandoned())

    async def _pay(self, message: Message, send: Send, slots: asyncio.Semaphore) -> tuple[Raw, bool]:
        failed = self._failed
        async with slots:
            if self._failed and self._failed is not failed:
                raise self._failed
            if kept := await self.get(message.key):
                return kept, False
            answer = await self._in_thread(self._commit, message, await send(message))
            return self._raw(message.key, answer), True

    async def _in_thread(self, work: Callable[..., T], *values: Any) -> T:
        try:
            return await self._loop.run_in_executor(self._thread, work, *values)
        except sqlite3.Error as error:
            self._failed = LedgerFailed(
                f"the ledger {self._path} can't be used: {error}; mend that, or move the file away, and go on"
            )
            raise self._failed from error

    def _raw(self, key: str, answer: str) -> Raw:
        try:
            return Raw.model_validate(json.loads(answer))
        except (ValueError, TypeError, RecursionError) as error:
            raise BadInput(f"the ledger {self._path} was tampered with at {key}: move it away") from error

    def _select(self, key: str) -> Any:
        return self._db.execute("SELECT answer, failure FROM calls WHERE key = ?", (key,)).fetchone()

    def _commit(self, message: Message, raw: Raw) -> str:
        """Store the answer, unless another process was faster, and return what the ledger holds."""
        if _file_at(self._path) != self._file:
            # SQLite goes on writing to a file that has no name any more.
            raise sqlite3.OperationalError("it was removed or replaced while it was open")
        key, answer = message.key, json.dumps(raw.model_dump(exclude_none=True))
        self._db.execute(
            "INSERT INTO calls VALUES (?, ?, ?, ?, NULL) ON CONFLICT (key) DO UPDATE"
            " SET answer = excluded.answer, failure = NULL WHERE failure IS NOT NULL",
            (key, message.endpoint, message.model, answer),
        )
        self._asked_again.add(key)
        kept: str = self._select(key)[0]
        return kept


def _file_at(path: Path | None) -> tuple[int, int] | None:
    """Which file lies there; None where there is none."""
    try:
        status = path.stat() if path else None
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status else None


def begun_otherwise(run_id: str) -> BadInput:
    """The refusal of a run that can't go on under this name."""
    return BadInput(
        f"the run {run_id!r} was begun with another source, response or settings: give those, or another name"
    )


def _open(path: Path | None, busy_s: float) -> sqlite3.Connection:
    """The database, as soon as no other process keeps it locked."""
    until = time.monotonic() + busy_s
    while True:
        try:
            return _connect(path, busy_s)
        except (OSError, sqlite3.Error) as error:
            # SQLite doesn't wait by itself while another process sets the file up.
            if "locked" not in str(error) or time.monotonic() >= until:
                raise BadInput(f"can't use the ledger {path}: {error}; name another file") from error
        time.sleep(0.1)


def _connect(path: Path | None, busy_s: float) -> sqlite3.Connection:
    if path is not None:
        private_folder(path.parent)
        private_file(path)
    db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=busy_s)
    try:
        _check(db, path)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        db.close()
        raise
    return db


def _check(db: sqlite3.Connection, path: Path | None) -> None:
    """Check that the database is ours and undamaged; create the tables in an empty one."""
    with db:
        db.execute("BEGIN IMMEDIATE")
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if application == 0 and not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            for statement in TABLES:
                db.execute(statement)
        elif application != APPLICATION:
            raise BadInput(f"{path} is a database of something else: name another file for the ledger")
        elif version != VERSION:
            known = f"this version knows {VERSION}: name another file"
            raise BadInput(f"the ledger {path} has layout {version}, {known}")
    sound = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if sound != "ok":
        raise BadInput(f"the ledger {path} is damaged ({sound}): move it away")


class Header(Frozen):
    """A recording's first line: what was run, in its owner's words, and the address of models named without one."""

    format: Literal["longproof.recording"] = "longproof.recording"
    version: Literal[1] = 1
    made: str
    address: str
    run: dict[str, Any]


class Line(Frozen):
    """One request of a recording: its answer, or the failures that it ended in; the last one counts."""

    key: str = Field(pattern="^[0-9a-f]{64}$")
    purpose: str = Field(max_length=100)
    model: str = Field(max_length=1000)
    lost: tuple[Failure, ...] = ()
    answer: Raw | None = None


class Recorder:
    """Keeps what a run's models answer, whether it was paid now or lay in the ledger."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}

    def note(self, message: Message, answer: Raw | None = None, failure: Failure | None = None) -> None:
        """Note the answer to this request, or why nobody gave one: what comes last counts."""
        about = {"key": message.key, "purpose": message.purpose, "model": message.model}
        self._lines[message.key] = Line(**about, lost=(failure,) if failure else (), answer=answer)

    def write(self, path: Path, run: Mapping[str, Any]) -> None:
        """Write the file. Raises BadInput where nothing was asked."""
        if not self._lines:
            raise BadInput(f"no language model was asked: there is nothing to keep in {path}")
        header = Header(made=f"{datetime.now(UTC):%Y-%m-%d}", address=own_address(), run=dict(run))
        lines = [line.model_dump(exclude_defaults=True) for _, line in sorted(self._lines.items())]
        # Half a character, as servers send it where an answer is cut, is escaped: it has no bytes of its own.
        text = "".join(
            json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
            for line in (header.model_dump(), *lines)
        )
        write_whole(path, gzip.compress(text.encode("utf-8", "backslashreplace"), mtime=0))


class Replay(NamedTuple):
    """A recording opened: its requests by key, and those that were asked for and are not in it, by purpose."""

    path: Path
    header: Header
    lines: dict[str, Line]
    missing: Counter[str]

    @classmethod
    def open(cls, path: Path) -> "Replay":
        """Open and check a file. Raises BadInput where it is no recording, or too large."""
        try:
            with open_file(path) as packed, gzip.open(packed) as file:
                text = file.read(MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise BadInput(f"can't read the recording {path}: {error}") from error
        if len(text) > MOST_BYTES:
            raise BadInput(f"{path} is too large for a recording: it is not read")
        try:
            first, *rest = text.decode().removesuffix("\n").split("\n")
            header = Header.model_validate(json.loads(first))
            lines = [Line.model_validate(json.loads(line)) for line in rest]
            if not all(line.answer or line.lost for line in lines):
                raise ValueError("a request has neither an answer nor failures")
        except (ValueError, TypeError, RecursionError) as error:
            raise BadInput(f"{path} is no recording of this version: record it again") from error
        return cls(path, header, {line.key: line for line in lines}, Counter())

    def refuse_missing(self) -> None:
        """Raises BadInput where requests were not in the recording."""
        if self.missing:
            counted = ", ".join(f"{purpose} {n}" for purpose, n in self.missing.most_common())
            raise BadInput(
                f"{self.missing.total()} answers are not in {self.path} ({counted}): prompts, or how texts are cut, "
                "changed since it was made; record it again (CONTRIBUTING says how)"
            )


class RecordedChat(Chat):
    """A model that is not there any more, asked for what a ledger with its answers lacks: lost is lost again."""

    has_schema = True

    def __init__(self, replay: Replay, model: str, address: str | None) -> None:
        self._replay, self.model = replay, model
        self.endpoint = (address or replay.header.address).rstrip("/")

    async def send(self, message: Message) -> Raw:
        """Raises Unanswered: as it was recorded, or since it wasn't. A schema that wasn't recorded is refused."""
        line = self._replay.lines.get(message.key)
        if line and line.lost:
            raise Unanswered("so it was recorded", failure=line.lost[-1], status=410)
        if message.schema is None:
            self._replay.missing[message.purpose] += 1
        raise Unanswered("not in the recording", status=410 if message.schema is None else 501)
