"""Runs that outlive their process, and may wait for a person: begun by `verify --arbiter person` or in the browser.

Knows: one SQLite file of checkpoints in the data folder, a thread a run, and what the run was begun with.
Does not know: how disputes come about, or how a person is asked.
"""

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateSnapshot
from pydantic import ValidationError

from longproof.agent.models.ledger import RunState, begun_otherwise
from longproof.agent.models.limits import Traffic
from longproof.agent.report import judges_failures, unanswered
from longproof.agent.types import Report
from longproof.graphs.protocol import LONGPROOF
from longproof.graphs.protocols import method
from longproof.graphs.resources import Pool, begun_with
from longproof.graphs.settings import Settings
from longproof.graphs.state import State
from longproof.graphs.verifier import Progress, Verifier, driven
from longproof.graphs.verify import VerifyGraph
from longproof.retrieval.files import home, private_file, private_folder
from longproof.retrieval.types import BadInput, Document

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

EDITION = 3
"""Of the graph's state. A run that another edition began can't go on; its answers are in the ledger."""
ABOUT = ("begun_with", "settings", "edition")
"""What each checkpoint of a run says of the run."""


class WaitingRun(NamedTuple):
    """How far a run is: its report, or the disputes that it waits with, as they are put to a person."""

    report: Report | None
    disputes: list[Mapping[str, Any]]


class OpenCheckpoints(NamedTuple):
    """A graph over the file of checkpoints."""

    graph: VerifyGraph
    pool: Pool
    saver: "AsyncSqliteSaver"


async def begin_run(
    sources: Sequence[Document],
    settings: dict[str, Any],
    progress: Progress | None = None,
    written: Progress | None = None,
    asking: Callable[[Callable[[], Traffic]], None] | None = None,
    **case: str,
) -> WaitingRun:
    """Begin a run, or take a known one up where it stopped.

    `settings` name the run in `run_id`; `written` as `longproof.graphs.verifier.driven` has it; `asking` is given a
    function that says how much was asked so far. Raises BadInput for what can't be checked, and where the name is of
    a run with another source, response or settings, or of another edition.
    """
    verifier = Verifier(**settings)
    given = await verifier.input_of(sources, **case)
    thread = str(verifier.settings.run_id)
    about = {
        "begun_with": begun_with(verifier.settings, given),
        "settings": verifier.settings.model_dump_json(),
        "edition": EDITION,
    }
    async with open_checkpoints(verifier.settings) as checkpoints:
        known = await checkpoints.graph.aget_state(_thread(thread))
        goes_on = bool(known.metadata)
        if goes_on:
            _refuse_other_edition(known, thread)
        if goes_on and (known.metadata or {}).get("begun_with") != about["begun_with"]:
            raise begun_otherwise(thread)
        if goes_on and (known.interrupts or not known.next):
            return _state_of(known)
        await checkpoints.pool.get(verifier.settings, str(about["begun_with"]))
        if asking:
            asking(checkpoints.pool.traffic)
        start = None if goes_on else given
        await driven(
            checkpoints.graph,
            start,
            verifier.settings,
            progress=progress,
            thread=thread,
            about=about,
            written=written,
        )
        return _state_of(await _known(checkpoints, thread))


async def waiting_run(run_id: str) -> WaitingRun:
    """How far a run is. Raises BadInput where no run of this name was begun with a person as arbiter."""
    async with open_checkpoints(Settings()) as checkpoints:
        return _state_of(await _known(checkpoints, run_id))


async def resume_run(
    run_id: str,
    review: Mapping[str, Any],
    progress: Progress | None = None,
    written: Progress | None = None,
    asking: Callable[[Callable[[], Traffic]], None] | None = None,
) -> WaitingRun:
    """Go on with a person's review (see `longproof.graphs.review.Review`).

    Raises BadInput where nothing waits, or where the review does not fit what was asked; then nothing is lost.
    """
    async with open_checkpoints(Settings()) as checkpoints:
        known = await _known(checkpoints, run_id)
        if not known.interrupts:
            raise BadInput(f"the run {run_id!r} waits for nobody: see `longproof review {run_id}`")
        about = {name: (known.metadata or {})[name] for name in ABOUT}  # type: ignore[literal-required]
    settings = Settings.model_validate_json(about["settings"])
    async with open_checkpoints(settings) as checkpoints:
        await checkpoints.pool.get(settings, about["begun_with"])
        if asking:
            asking(checkpoints.pool.traffic)
        try:
            await driven(
                checkpoints.graph,
                Command(resume=review),
                settings,
                progress=progress,
                thread=run_id,
                about=about,
                written=written,
            )
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the review"
            raise BadInput(f"{place}: {first['msg'].removeprefix('Value error, ')}") from error
        return _state_of(await _known(checkpoints, run_id))


@asynccontextmanager
async def open_checkpoints(settings: Settings) -> AsyncIterator[OpenCheckpoints]:
    """The graph with its checkpoints; closes what the run opened, and says in the ledger how it stands.

    Raises BadInput where the checkpoints can't be used.
    """
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    path = home(settings.home) / "checkpoints.sqlite"
    private_folder(path.parent)
    chosen = method(settings.protocol or LONGPROOF.name)
    pool = Pool(protocol=chosen.protocol)
    try:
        private_file(path)
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            await saver.setup()
            graph = chosen.graph(pool, saver)
            state: RunState = "interrupted"
            try:
                yield OpenCheckpoints(graph, pool, saver)
                state = "done"
            except BadInput:
                state = "failed"
                raise
            finally:
                ended: RunState = "interrupted"
                try:
                    ended = _ended(await graph.aget_state(_thread(settings.run_id or "")), state)
                finally:
                    await pool.close(ended)
    except (OSError, sqlite3.Error) as error:
        raise BadInput(f"can't use {path}: {error}; free space, or move it away") from error


async def _known(checkpoints: OpenCheckpoints, run_id: str) -> StateSnapshot:
    state = await checkpoints.graph.aget_state(_thread(run_id))
    if "settings" not in (state.metadata or {}):
        raise BadInput(f"there is no run {run_id!r} that a person decides: begin one with --arbiter person")
    _refuse_other_edition(state, run_id)
    if state.next and not state.interrupts:
        raise BadInput(f"the run {run_id!r} is not finished: give its `longproof verify` command again")
    return state


def _refuse_other_edition(state: StateSnapshot, run_id: str) -> None:
    """Raises BadInput where another edition of Longproof began the run: its state can't be read."""
    if (state.metadata or {}).get("edition") != EDITION:
        raise BadInput(
            f"another edition began the run {run_id!r}: give its `longproof verify` command again with another "
            "--run-id; no answer is paid for twice"
        )


def _ended(here: StateSnapshot, state: RunState) -> RunState:
    """How a run stands: a review that doesn't fit leaves it waiting, and without any answer it is not done."""
    if here.interrupts:
        return "waiting"
    report = here.values.get("report") if state == "done" else None
    silent = report and unanswered(judges_failures(Report.model_validate(report)))
    return "failed" if silent else state


def _state_of(state: StateSnapshot) -> WaitingRun:
    if state.interrupts:
        return WaitingRun(None, list(state.interrupts[0].value))
    return WaitingRun(Report.model_validate(state.values["report"]), [])


async def values_of(checkpoints: OpenCheckpoints, run_id: str) -> State:
    """The values of a run's channels as far as they are kept; none where it hasn't begun."""
    return cast("State", (await checkpoints.graph.aget_state(_thread(run_id))).values)


def _thread(run_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": run_id}}
