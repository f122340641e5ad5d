"""The ledger: every paid answer, keyed by the content of its request, and the runs that paid, in one SQLite file.

Knows: an answer is committed before anyone reads it; identical requests made at once are sent once, but two processes
that ask the same at the same moment may both pay. Timeouts and other calls without an answer are not kept. One
instance an event loop; SQLite is used in one thread of its own.
Does not know: what is asked, or what an answer means. Keys to servers are never stored.
"""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, contextmanager
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from longproof.agent.models.answers import Raw
from longproof.agent.models.prices import Tokens
from longproof.agent.types import Failure
from longproof.retrieval.files import private_file, private_folder
from longproof.retrieval.types import BadInput, Frozen

T = TypeVar("T")
RunState = Literal["running", "done", "interrupted", "failed", "waiting"]
"""`failed`: what it needed was refused, or nobody answered; `waiting`: for a person's decision."""

APPLICATION = 0x4C50_4C47
VERSION = 1
TABLES = """
CREATE TABLE calls (
  key TEXT PRIMARY KEY, endpoint TEXT NOT NULL, model TEXT NOT NULL, answer TEXT NOT NULL, failure TEXT
);
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY, state TEXT NOT NULL, started TEXT NOT NULL, ended TEXT, asked TEXT NOT NULL
);
CREATE TABLE purchases (
  run_id TEXT NOT NULL, key TEXT NOT NULL, prompt_tokens INTEGER, completion_tokens INTEGER, cached_tokens INTEGER
);
CREATE INDEX purchases_of_run ON purchases(run_id);
"""
GRACE_S = 5.0
"""How long `close` waits for calls under way, so that what is nearly paid for is kept."""


class LedgerFailed(BadInput):
    """The ledger can't be read or written: whoever goes on pays and keeps nothing."""


class Entry(NamedTuple):
    """A committed answer. `failure`: why it was of no use; `bought`: this caller paid for it."""

    raw: Raw
    failure: Failure | None = None
    bought: bool = False


class Run(Frozen):
    """One run and what it paid; answers that were in the ledger before cost it nothing."""

    run_id: str
    state: RunState
    started: str
    ended: str | None
    asked: dict[str, Any]
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    by_model: tuple[Tokens, ...] = ()


class Ledger:
    """Open with `Ledger.open`. `path` None keeps it in memory (`--no-cache`)."""

    def __init__(self, path: Path | None, *, retry_failed: bool = False) -> None:
        self._path, self._retry_failed = path, retry_failed
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._loop = asyncio.get_running_loop()
        self._under_way: dict[str, asyncio.Task[Entry]] = {}
        self._run_id = ""
        self._asked_again: set[str] = set()
        self._failed: LedgerFailed | None = None
        self._db: sqlite3.Connection

    @classmethod
    async def open(cls, path: Path | None, *, retry_failed: bool = False) -> "Ledger":
        """Open or make the ledger. With `retry_failed`, requests whose answers failed are sent once more.

        Raises BadInput where the file is another database, damaged, of a later version, or can't be written.
        """
        ledger = cls(path, retry_failed=retry_failed)
        try:
            ledger._db = await ledger._in_thread(_opened, path)
        except BadInput:
            ledger._thread.shutdown(wait=False)
            raise
        return ledger

    async def get(self, key: str) -> Entry | None:
        """The committed answer under this key."""
        row = await self._in_thread(self._select, key)
        if row is None:
            return None
        answer, failure = row
        if failure and self._retry_failed and key not in self._asked_again:
            return None
        return Entry(self._raw(key, answer), failure)

    async def buy(
        self,
        key: str,
        asked: Callable[[], Awaitable[Raw]],
        slots: AbstractAsyncContextManager[Any],
        *,
        endpoint: str,
        model: str,
    ) -> Entry:
        """The answer under this key, asked for if it is not there; a second caller waits for the first one's answer.

        Holds a slot until the answer is on disk. A cancelled caller does not cancel the call. What `asked`
        raises reaches every waiting caller, and nothing is stored. Raises LedgerFailed where the ledger failed while
        this call waited for its slot: then nothing is asked.
        """
        task = self._under_way.get(key)
        first = task is None
        if task is None:
            task = asyncio.create_task(self._bought(key, asked, slots, endpoint, model))
            self._under_way[key] = task
            task.add_done_callback(partial(self._landed, key))
        entry = await asyncio.shield(task)
        return entry if first else entry._replace(bought=False)

    async def fill(self, answers: Iterable[tuple[str, str, Raw]]) -> None:
        """Take in answers that were given elsewhere: key, model, answer. They cost this ledger's runs nothing."""
        await self._in_thread(self._take_in, list(answers))

    async def mark(self, key: str, failure: Failure) -> None:
        """Note that the answer under this key was of no use: `retry_failed` asks again for it."""
        await self._in_thread(self._write, "UPDATE calls SET failure = ? WHERE key = ?", (failure, key))

    async def start_run(self, run_id: str, asked: Mapping[str, Any], begun_with: str) -> None:
        """Record a run that starts or is resumed. Purchases from now on are booked to it.

        Raises BadInput where the name is of a run that was begun with something else; that one stays as it is.
        """
        await self._in_thread(
            self._start, run_id, json.dumps({**asked, "begun_with": begun_with}, sort_keys=True)
        )
        self._run_id = run_id

    async def end_run(self, state: RunState) -> None:
        """Record how the run ended."""
        await self._in_thread(
            self._write,
            "UPDATE runs SET state = ?, ended = ? WHERE run_id = ?",
            (state, _now(), self._run_id),
        )

    async def runs(self) -> list[Run]:
        """All runs, the latest first."""
        return await self._in_thread(self._runs)

    async def close(self) -> None:
        """Wait a little for calls under way, then close."""
        if self._under_way:
            _, late = await asyncio.wait(list(self._under_way.values()), timeout=GRACE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._in_thread(self._db.close)
        self._thread.shutdown(wait=False)

    async def _bought(
        self,
        key: str,
        asked: Callable[[], Awaitable[Raw]],
        slots: AbstractAsyncContextManager[Any],
        endpoint: str,
        model: str,
    ) -> Entry:
        failed = self._failed
        async with slots:
            if self._failed and self._failed is not failed:
                raise self._failed
            kept = await self.get(key)
            if kept is not None:
                return kept
            answer = await self._in_thread(self._commit, key, endpoint, model, await asked())
            return Entry(self._raw(key, answer), bought=True)

    def _landed(self, key: str, task: asyncio.Task[Entry]) -> None:
        del self._under_way[key]
        if not task.cancelled():
            task.exception()

    async def _in_thread(self, work: Callable[..., T], *values: Any) -> T:
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("a ledger belongs to the event loop that opened it")
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

    def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        self._db.execute(statement, values)

    def _start(self, run_id: str, asked: str) -> None:
        found = self._db.execute(
            "INSERT INTO runs VALUES (?, 'running', ?, NULL, ?) ON CONFLICT (run_id)"
            " DO UPDATE SET state = 'running', ended = NULL"
            " WHERE coalesce(json_extract(asked, '$.begun_with') = json_extract(excluded.asked, '$.begun_with'), 1)"
            " RETURNING run_id",
            (run_id, _now(), asked),
        )
        if not found.fetchall():
            raise begun_otherwise(run_id)

    def _commit(self, key: str, endpoint: str, model: str, raw: Raw) -> str:
        """Store the answer, unless another process was faster, and return what the ledger holds."""
        answer = json.dumps(raw.model_dump(exclude_none=True))
        bought = (self._run_id, key, raw.prompt_tokens, raw.completion_tokens, raw.cached_tokens)
        with _transaction(self._db):
            self._db.execute(
                "INSERT INTO calls VALUES (?, ?, ?, ?, NULL) ON CONFLICT (key) DO UPDATE"
                " SET answer = excluded.answer, failure = NULL WHERE failure IS NOT NULL",
                (key, endpoint, model, answer),
            )
            self._db.execute("INSERT INTO purchases VALUES (?, ?, ?, ?, ?)", bought)
        self._asked_again.add(key)
        kept: str = self._select(key)[0]
        return kept

    def _take_in(self, answers: Sequence[tuple[str, str, Raw]]) -> None:
        rows = [(key, model, json.dumps(raw.model_dump(exclude_none=True))) for key, model, raw in answers]
        with _transaction(self._db):
            self._db.executemany("INSERT OR IGNORE INTO calls VALUES (?, '', ?, ?, NULL)", rows)

    def _runs(self) -> list[Run]:
        rows = self._db.execute(
            "SELECT r.run_id, state, started, ended, asked, count(p.key), coalesce(sum(prompt_tokens), 0),"
            " coalesce(sum(completion_tokens), 0), coalesce(sum(cached_tokens), 0)"
            " FROM runs r LEFT JOIN purchases p ON p.run_id = r.run_id GROUP BY r.run_id ORDER BY started DESC"
        ).fetchall()
        spent: dict[str, list[Tokens]] = {}
        for run_id, *tokens in self._db.execute(
            "SELECT p.run_id, c.model, coalesce(sum(p.prompt_tokens), 0), coalesce(sum(p.completion_tokens), 0),"
            " coalesce(sum(p.cached_tokens), 0) FROM purchases p JOIN calls c ON c.key = p.key"
            " GROUP BY p.run_id, c.model ORDER BY c.model"
        ):
            spent.setdefault(run_id, []).append(Tokens(*tokens))
        try:
            return [
                Run(
                    **dict(zip(Run.model_fields, [*row[:4], json.loads(row[4]), *row[5:]], strict=False)),
                    by_model=tuple(spent.get(row[0], ())),
                )
                for row in rows
            ]
        except (ValueError, TypeError, RecursionError) as error:
            raise BadInput(f"the runs in the ledger {self._path} were tampered with: move it away") from error


def begun_otherwise(run_id: str) -> BadInput:
    """Why a run can't go on under this name."""
    return BadInput(
        f"the run {run_id!r} was begun with another source, response or settings: give those, or another name"
    )


def content_key(asked: Mapping[str, Any]) -> str:
    """The key of a call: the hash of all that shapes its answer."""
    return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _opened(path: Path | None) -> sqlite3.Connection:
    try:
        if path is not None:
            private_folder(path.parent)
            private_file(path)
        db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=30)
        _check(db, path)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
    except (OSError, sqlite3.Error) as error:
        raise BadInput(f"can't use the ledger {path}: {error}; name another file") from error
    return db


def _check(db: sqlite3.Connection, path: Path | None) -> None:
    """Check that the database is ours and undamaged; create the tables in an empty one."""
    with _transaction(db):
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if application == 0 and not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            _lay_out(db)
        elif application != APPLICATION:
            raise BadInput(f"{path} is a database of something else: name another file for the ledger")
        elif version != VERSION:
            raise BadInput(
                f"the ledger {path} has layout {version}, this version knows {VERSION}: name another file"
            )
    sound = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if sound != "ok":
        raise BadInput(f"the ledger {path} is damaged ({sound}): move it away")


def _lay_out(db: sqlite3.Connection) -> None:
    for statement in filter(str.strip, TABLES.split(";")):
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
