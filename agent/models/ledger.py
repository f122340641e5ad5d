"""The ledger: every paid answer, keyed by the content of its request, in one SQLite file; and the names of runs.

Knows: an answer is committed before anyone reads it; a process sends identical requests once, but two processes that
ask the same at the same moment may both pay. One instance an event loop; SQLite is used in one thread of its own.
Does not know: what is asked, or what an answer means. Keys to servers are never stored.
"""

import asyncio
import json
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from longproof.agent.models.answers import Raw
from longproof.agent.types import Failure
from longproof.retrieval.files import private_file, private_folder
from longproof.retrieval.types import BadInput

T = TypeVar("T")
Ask = Callable[[], Awaitable[Raw]]
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

    @classmethod
    async def open(cls, path: Path | None, *, retry_failed: bool = False, busy_s: float = BUSY_S) -> "Ledger":
        """Open or make the ledger. With `retry_failed`, requests whose answers failed are sent once more.

        Raises BadInput where the file is none of ours, damaged or of a later version, or stays locked or read-only.
        """
        ledger = cls(path, retry_failed=retry_failed)
        ledger._db = await ledger._in_thread(_open, path, busy_s)
        return ledger

    async def get(self, key: str) -> Raw | None:
        """The committed answer under this key."""
        answer, failure = await self._in_thread(self._select, key) or (None, None)
        asks_again = failure and self._retry_failed and key not in self._asked_again
        return None if answer is None or asks_again else self._raw(key, answer)

    async def buy(
        self, key: str, ask: Ask, slots: asyncio.Semaphore, endpoint: str, model: str
    ) -> tuple[Raw, bool]:
        """The answer under this key, asked for if it is not there, and whether this caller paid for it.

        Other callers in this process wait for it, without a slot, and a cancelled caller does not cancel the call.
        What `ask` raises reaches all who wait at this ledger; those at another ledger of this file ask themselves.
        Raises LedgerFailed where the ledger failed while this call waited for its slot: then nothing is asked.
        """
        while True:
            mine: Future[Raw] = Future()
            ledger, answer = _UNDER_WAY.setdefault((self._place, key), (self, mine))
            if answer is mine:
                task = asyncio.create_task(self._pay(key, ask, slots, endpoint, model))
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

    async def fill(self, answers: Iterable[tuple[str, str, Raw]]) -> None:
        """Take in answers that were given elsewhere: key, model, answer. They cost this ledger's runs nothing."""
        rows = [(key, model, json.dumps(raw.model_dump(exclude_none=True))) for key, model, raw in answers]
        taking_in = "INSERT OR IGNORE INTO calls VALUES (?, '', ?, ?, NULL)"
        await self._in_thread(self._db.executemany, taking_in, rows)

    async def mark(self, key: str, failure: Failure) -> None:
        """Note that the answer under this key was of no use: `retry_failed` asks again for it."""
        await self._in_thread(self._db.execute, "UPDATE calls SET failure = ? WHERE key = ?", (failure, key))

    async def start_run(self, run_id: str, begun_with: str) -> None:
        """Note what the run of this name was begun with. Raises BadInput where it was begun with something else."""
        if await self._in_thread(self._note_run, run_id, begun_with) != begun_with:
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

    async def _pay(
        self, key: str, ask: Ask, slots: asyncio.Semaphore, endpoint: str, model: str
    ) -> tuple[Raw, bool]:
        failed = self._failed
        async with slots:
            if self._failed and self._failed is not failed:
                raise self._failed
            kept = await self.get(key)
            if kept is not None:
                return kept, False
            answer = await self._in_thread(self._commit, key, endpoint, model, await ask())
            return self._raw(key, answer), True

    async def _in_thread(self, work: Callable[..., T], *values: Any) -> T:
        try:
            return await self._loop.run_in_executor(self._thread, work, *values)
        except sqlite3.Error as error:
            self._failed = LedgerFailed(
                f"the ledger {self._path} can't be used: {error}; free space, or move it away"
            )
            raise self._failed from error

    def _raw(self, key: str, answer: str) -> Raw:
        try:
            return Raw.model_validate(json.loads(answer))
        except (ValueError, TypeError, RecursionError) as error:
            raise BadInput(f"the ledger {self._path} was tampered with at {key}: move it away") from error

    def _select(self, key: str) -> Any:
        return self._db.execute("SELECT answer, failure FROM calls WHERE key = ?", (key,)).fetchone()

    def _note_run(self, run_id: str, begun_with: str) -> str:
        """Note the run, unless its name is known, and return what the run of this name was begun with."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        run = (run_id, now, json.dumps({"begun_with": begun_with}))
        self._db.execute("INSERT OR IGNORE INTO runs VALUES (?, '', ?, NULL, ?)", run)
        # Runs of earlier editions may not say it.
        noted = "SELECT coalesce(json_extract(asked, '$.begun_with'), ?) FROM runs WHERE run_id = ?"
        return str(self._db.execute(noted, (begun_with, run_id)).fetchone()[0])

    def _commit(self, key: str, endpoint: str, model: str, raw: Raw) -> str:
        """Store the answer, unless another process was faster, and return what the ledger holds."""
        self._db.execute(
            "INSERT INTO calls VALUES (?, ?, ?, ?, NULL) ON CONFLICT (key) DO UPDATE"
            " SET answer = excluded.answer, failure = NULL WHERE failure IS NOT NULL",
            (key, endpoint, model, json.dumps(raw.model_dump(exclude_none=True))),
        )
        self._asked_again.add(key)
        kept: str = self._select(key)[0]
        return kept


def begun_otherwise(run_id: str) -> BadInput:
    """The refusal of a run that can't go on under this name."""
    return BadInput(
        f"the run {run_id!r} was begun with another source, response or settings: give those, or another name"
    )


def content_key(asked: Mapping[str, Any]) -> str:
    """The key of a call: the hash of all that shapes its answer."""
    return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


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
