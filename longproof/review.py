"""Runs that outlive their process, and may wait for a person: begun by `verify --arbiter person` or in the browser.

Knows: one SQLite file of checkpoints in the data folder, a thread a run, and what the run was begun with.
Does not know: how disputes come about, or how a person is asked.
"""

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from langgraph.types import Command, StateSnapshot
from pydantic import ValidationError

from longproof.agent.models.ledger import begun_otherwise
from longproof.agent.models.limits import Traffic
from longproof.agent.types import Report
from longproof.graphs.reporting import so_far
from longproof.graphs.run import Pool
from longproof.graphs.settings import LONGPROOF, Settings, begun_with
from longproof.graphs.state import State, VerifyInput
from longproof.graphs.verifier import Progress, Verifier, drive
from longproof.graphs.verify import VerifyGraph, method
from longproof.inputs import case_of
from longproof.retrieval.files import home, private_file, private_folder
from longproof.retrieval.types import BadInput, Document, first_fault

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

_DIGEST_BYTES = 16
EDITION = 4
"""Of the graph's state. A run that another edition began is begun anew; its answers are in the ledger."""


class WaitingRun(NamedTuple):
    """A run's report; or the disputes that it waits with, as they are put to a person, and what is known so far."""

    report: Report | None
    disputes: list[Mapping[str, Any]]
    so_far: Report | None = None


class Watcher(NamedTuple):
    """Functions that hear how a run gets on."""

    progress: Progress | None = None
    """Hears what nodes tell."""
    written: Progress | None = None
    """Hears what each node writes, as `longproof.graphs.verifier.drive` has it."""
    asking: Callable[[Callable[[], Traffic]], None] | None = None
    """Is given a function that says how much was asked so far."""


NOBODY = Watcher()


class _Digest:
    """Puts a digest before each stored value, and checks it: a "cipher" that hides nothing."""

    name = "blake2b"

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return self.name, self._of(plaintext) + plaintext

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        digest, value = ciphertext[:_DIGEST_BYTES], ciphertext[_DIGEST_BYTES:]
        if ciphername != self.name or digest != self._of(value):
            raise ValueError("a stored value was changed")
        return value

    def _of(self, value: bytes) -> bytes:
        return blake2b(value, digest_size=_DIGEST_BYTES).digest()


class OpenCheckpoints(NamedTuple):
    """A graph over the file of checkpoints."""

    graph: VerifyGraph
    pool: Pool
    saver: "AsyncSqliteSaver"
    path: Path

    async def state(self, run_id: str) -> StateSnapshot:
        """The state of a run as far as it is kept; empty for one that isn't known. Raises BadInput if damaged."""
        try:
            return await self.graph.aget_state({"configurable": {"thread_id": _thread_name(run_id)}})
        except (ValueError, TypeError, NotImplementedError) as error:
            raise BadInput(
                f"{self.path} is damaged where the run {run_id!r} stands: begin the run again under another name; "
                "its answers are kept"
            ) from error


async def begin_run(
    sources: Sequence[Document], settings: dict[str, Any], watcher: Watcher = NOBODY, **case: Any
) -> WaitingRun:
    """Begin a run, or take a known one up where it stopped. `settings` name the run in `run_id`.

    Raises BadInput for what can't be checked, and for the name of a run with another source, response or settings.
    """
    verifier = Verifier(**settings)
    chosen = verifier.settings
    given = await verifier.input_of(sources, case_of(**case))
    about = {"begun_with": begun_with(chosen, given), "settings": chosen.model_dump_json()}
    async with open_checkpoints(chosen) as checkpoints:
        state = await checkpoints.state(str(chosen.run_id))
        if state.metadata and state.metadata.get("begun_with") != about["begun_with"]:
            raise begun_otherwise(str(chosen.run_id))
        if _is_at_rest(state):
            return _waiting_run(state, str(chosen.run_id))
        return await _drive(checkpoints, None if state.metadata else given, chosen, about, watcher)


async def waiting_run(run_id: str) -> WaitingRun:
    """Look how far a run is. Raises BadInput where no run of this name was begun with a person as arbiter."""
    async with open_checkpoints(Settings()) as checkpoints:
        return _waiting_run(await _begun_state(checkpoints, run_id), run_id)


async def resume_run(run_id: str, review: Mapping[str, Any], watcher: Watcher = NOBODY) -> WaitingRun:
    """Go on with a person's review (see `longproof.graphs.review.Review`).

    Raises BadInput where nothing waits, or where the review does not fit what was asked; then nothing is lost.
    """
    async with open_checkpoints(Settings()) as checkpoints:
        state = await _begun_state(checkpoints, run_id)
        if not _is_waiting(state):
            raise BadInput(f"the run {run_id!r} waits for nobody: see `longproof review {run_id}`")
    about = cast("Mapping[str, str]", state.metadata)
    about = {name: about[name] for name in ("begun_with", "settings")}
    settings = _settings_in(about, run_id)
    async with open_checkpoints(settings) as checkpoints:
        try:
            return await _drive(checkpoints, Command(resume=review), settings, about, watcher)
        except ValidationError as error:
            place, why = first_fault(error)
            raise BadInput(f"{place or 'the review'}: {why}") from error


async def _drive(
    checkpoints: OpenCheckpoints,
    start: VerifyInput | Command[Any] | None,
    settings: Settings,
    about: Mapping[str, str],
    watcher: Watcher,
) -> WaitingRun:
    """Run the graph until it ends or waits."""
    await checkpoints.pool.session(settings, about["begun_with"])
    if watcher.asking:
        watcher.asking(checkpoints.pool.traffic)
    run_id = str(settings.run_id)
    heard: Any = {"progress": watcher.progress, "written": watcher.written}
    await drive(checkpoints.graph, start, settings, thread=_thread_name(run_id), about=about, **heard)
    return _waiting_run(await _begun_state(checkpoints, run_id), run_id)


@asynccontextmanager
async def open_checkpoints(settings: Settings) -> AsyncIterator[OpenCheckpoints]:
    """The graph with its checkpoints; closes what the run opened. Raises BadInput where they can't be used."""
    from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    path = home(settings.home) / "checkpoints.sqlite"
    private_folder(path.parent)
    chosen = method(settings.protocol or LONGPROOF.name)
    pool = Pool(protocol=chosen.protocol)
    try:
        private_file(path)
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            saver.serde = EncryptedSerializer(_Digest(), saver.serde)
            await saver.setup()
            graph = chosen.graph(pool, saver)
            try:
                yield OpenCheckpoints(graph, pool, saver, path)
            finally:
                await pool.close()
    except (OSError, sqlite3.Error) as error:
        raise BadInput(f"can't use {path}: {error}; free space, or move it away") from error


async def _begun_state(checkpoints: OpenCheckpoints, run_id: str) -> StateSnapshot:
    state = await checkpoints.state(run_id)
    if "settings" not in (state.metadata or {}):
        raise BadInput(f"there is no run {run_id!r} that a person decides: begin one with --arbiter person")
    if not _is_at_rest(state):
        raise BadInput(f"the run {run_id!r} is not finished: give its `longproof verify` command again")
    return state


def _settings_in(metadata: Mapping[str, str], run_id: str) -> Settings:
    """The settings that a run was begun with. Raises BadInput for damaged ones."""
    try:
        return Settings.model_validate_json(metadata["settings"])
    except ValidationError as error:
        raise BadInput(
            f"the settings of the run {run_id!r} are damaged: begin it again under another name"
        ) from error


def _is_waiting(state: StateSnapshot) -> bool:
    """True if a node asks a person, and nobody answered yet: an answer is kept before the step that it ends."""
    return any(task.interrupts and task.result is None for task in state.tasks)


def _is_at_rest(state: StateSnapshot) -> bool:
    """True if it waits, or a report is there. A run that was killed after its last node wrote, but before that was
    added to the checkpoint, has no next node and no report: it goes on."""
    return _is_waiting(state) or "report" in state.values


def _waiting_run(state: StateSnapshot, run_id: str) -> WaitingRun:
    if not _is_waiting(state):
        return WaitingRun(Report.model_validate(state.values["report"]), [])
    settings = _settings_in(cast("Mapping[str, str]", state.metadata), run_id)
    return WaitingRun(None, _disputes(state), so_far(cast("State", state.values), settings).report)


async def forget_run(run_id: str) -> None:
    """Delete the checkpoints of this run, if there are any."""
    async with open_checkpoints(Settings()) as checkpoints:
        await checkpoints.saver.adelete_thread(_thread_name(run_id))


async def saved_run(settings: Settings) -> tuple[State, list[Mapping[str, Any]]]:
    """The values of the channels of the run that the settings name, as far as they are kept; what is asked."""
    async with open_checkpoints(settings) as checkpoints:
        state = await checkpoints.state(str(settings.run_id))
    return cast("State", state.values), _disputes(state)


def _disputes(state: StateSnapshot) -> list[Mapping[str, Any]]:
    asked = [interrupt.value for task in state.tasks for interrupt in task.interrupts]
    return list(asked[0]) if _is_waiting(state) else []


def _thread_name(run_id: str) -> str:
    """The name of a run's checkpoints; another edition finds none under it."""
    return f"{EDITION} {run_id}"
