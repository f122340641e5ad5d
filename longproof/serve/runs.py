"""The checks that were begun in the browser: those under way in this process, and all of them in the data folder.

Knows: a folder a run with what it was begun with, its report and a person's marks; that a run goes on from its
checkpoints and pays nothing twice; that what stopped with its process is `stopped`. Does not know: HTTP, pages.
"""

import asyncio
import contextlib
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal, cast

from pydantic import Field, ValidationError

from longproof.agent.models.limits import Traffic
from longproof.agent.report import distinct, usage
from longproof.agent.types import Case, Report, Task
from longproof.graphs.reporting import SoFar, grow, so_far
from longproof.graphs.settings import Settings
from longproof.graphs.state import State
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.report.html import index_line
from longproof.report.saved import open_report
from longproof.retrieval.files import home, write_whole
from longproof.retrieval.types import BadInput, Document, Frozen
from longproof.review import (
    WaitingRun,
    Watcher,
    begin_run,
    open_checkpoints,
    resume_run,
    values_of,
    waiting_run,
)
from longproof.serve.marks import forget_decisions, read_marks

NAME = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
STEPS = ("read", "decompose", "align", "check", "search", "scan", "confirm")
"""What a run is told to be at, by the words `at_…`."""
RunState = Literal["running", "stopped", "waiting", "failed", "done"]


class Begun(Frozen):
    """A run: how it was begun, and how it stands. Its line in the list is that of an index page."""

    id: str
    title: str
    created: str
    settings: Settings
    sources: tuple[DocumentRef, ...]
    response: DocumentRef
    task: Task = "summary"
    state: RunState = "stopped"
    why: str = ""
    line: dict[str, Any] = Field(default={})


def _paid(values: State) -> tuple[int, int]:
    """The calls that the nodes told of, and their tokens."""
    used = usage(distinct(values.get("calls", [])))
    return used.calls, used.prompt_tokens + used.completion_tokens


def _given(begun: Begun, response: Document) -> State:
    """The channels as they are before a run has read anything."""
    case = Case(
        id=begun.title,
        task=begun.task,
        response=response.raw or response.text,
        source_ids=tuple(ref.id for ref in begun.sources),
    )
    return {"case": case, "sources": list(begun.sources)}


class Watched:
    """A run in this process: its task, what its nodes wrote, what they told last, and how much was asked."""

    def __init__(self, values: State) -> None:
        self.values = values
        self.news = 0
        """Grows with all that a page could show, but for what is asked."""
        self._before = _paid(values)
        self._traffic: Callable[[], Traffic] = Traffic
        self.told: dict[str, int | str] = {"node": "check" if values.get("claims") else "read"}
        self.task: asyncio.Task[None]

    def as_watcher(self) -> Watcher:
        """The watcher that the run tells."""
        return Watcher(self.hear, self.write, self.watch)

    def hear(self, event: Mapping[str, Any]) -> None:
        """Keep which node works, and for how many claims."""
        node = {"checked": "check"}.get(event["node"], event["node"])
        told = {"node": node, "open": event.get("claims", 0)}
        if node in STEPS and told != self.told:
            self.told = told
            self.news += 1

    def watch(self, traffic: Callable[[], Traffic]) -> None:
        """Ask this, from now on, how much was asked."""
        self._traffic = traffic

    def asked(self) -> dict[str, int]:
        """Calls and tokens so far, those of an answer as soon as it is there, and how many answers are waited for."""
        now = self._traffic()
        came = (self._before[0] + now.calls - now.waiting, self._before[1] + now.tokens)
        calls, tokens = map(max, zip(came, _paid(self.values), strict=True))
        return {"calls": calls, "tokens": tokens, "waiting": now.waiting}

    def write(self, written: Mapping[str, Any]) -> None:
        """Take in what nodes wrote to the graph's channels."""
        for one in written.values():
            if isinstance(one, dict):
                self.values = grow(self.values, cast("State", one))
                self.news += 1


class Runs:
    """All runs of the data folder. Made, and used, on one event loop."""

    def __init__(self) -> None:
        self.folder = home() / "serve"
        self.store = DocumentStore(home() / "documents")
        self._watched: dict[str, Watched] = {}

    def all(self) -> list[Begun]:
        """Every run, the latest first; one whose file is damaged is left out."""
        found = []
        for path in sorted(self.folder.glob("*/run.json"), reverse=True):
            with contextlib.suppress(BadInput):
                found.append(self.get(path.parent.name))
        return found

    def get(self, id_: str) -> Begun:
        """The run of this name. Raises BadInput where there is none."""
        try:
            begun = Begun.model_validate_json((self._of(id_) / "run.json").read_bytes())
        except (OSError, ValidationError) as error:
            raise BadInput(f"there is no run {id_!r}") from error
        if begun.state == "running" and id_ not in self._watched:
            return begun.model_copy(update={"state": "stopped"})
        return begun

    def find(self, id_: str) -> Begun | None:
        """The run of this name. One whose folder is gone has nowhere to be kept: it is stopped."""
        try:
            return self.get(id_)
        except BadInput:
            self.stop(id_)
            return None

    def begin(
        self, title: str, settings: Settings, sources: list[DocumentRef], response: DocumentRef, task: Task
    ) -> str:
        """Start a new run; its name. Raises BadInput for texts that aren't in the store."""
        for ref in [*sources, response]:
            self.store.open(ref)
        now = datetime.now(UTC)
        id_ = f"{now:%Y%m%d-%H%M%S}-{token_hex(4)}"
        begun = Begun(
            id=id_,
            title=title,
            created=now.isoformat(timespec="seconds"),
            settings=settings.model_copy(update={"run_id": id_}),
            sources=tuple(sources),
            response=response,
            task=task,
        )
        self._start(begun, {})
        return id_

    async def go_on(self, id_: str) -> None:
        """Take up a run that stopped; one that is under way, waits or is done stays as it is."""
        values = await self._saved_values(self.get(id_))
        begun = self.get(id_)
        if begun.state in ("stopped", "failed"):
            self._start(begun, values)

    async def decide(self, id_: str, name: str) -> None:
        """Go on with what a person decided, as the marks keep it, or where it was decided in the terminal.

        Raises BadInput without a name.
        """
        values = await self._saved_values(self.get(id_))
        disputes = {one["claim_id"] for one in await self.disputes(self.get(id_))}
        begun = self.get(id_)
        if begun.state != "waiting":
            raise BadInput("nothing waits for a decision")
        if not disputes:
            self._start(begun, values)
            return
        if not name.strip() or len(name) > 80:
            raise BadInput("say who decides: a name of at most 80 characters, which stands in the report")
        decisions = [
            {"claim_id": claim, **{key: text for key, text in one.decision.model_dump().items() if text}}
            for claim, one in read_marks(self.marks(id_)).items()
            if one.decision.label and claim in disputes
        ]
        self._start(begun, values, {"name": name, "decisions": decisions})

    def stop(self, id_: str) -> None:
        """Stop a run; what was answered is kept."""
        if id_ in self._watched:
            self._watched[id_].task.cancel()

    async def stop_all(self) -> None:
        """Stop what is under way, and wait until it is kept."""
        tasks = [watched.task for watched in self._watched.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def watching(self, id_: str) -> Watched | None:
        """A run that is under way in this process."""
        return self._watched.get(id_)

    async def so_far(self, begun: Begun) -> SoFar:
        """The report so far of a run that isn't done."""
        watched = self.watching(begun.id)
        values = watched.values if watched else await self._saved_values(begun)
        response = await asyncio.to_thread(self.store.open, begun.response)
        values = cast("State", {**_given(begun, response), **values})
        return await asyncio.to_thread(so_far, values, begun.settings)

    def report(self, id_: str) -> Report:
        """The report of a run that is done. Raises BadInput where there is none."""
        return open_report(self._of(id_) / "report.json")

    async def disputes(self, begun: Begun) -> list[Mapping[str, Any]]:
        """The disputes that a person is asked about."""
        return (await waiting_run(begun.id)).disputes if begun.state == "waiting" else []

    def texts(self, begun: Begun, report: Report) -> dict[str, str]:
        """The texts of a report's documents that are in the store, by id."""
        texts = {}
        for id_ in {ref.id for ref in begun.sources} | {document.id for document in report.documents}:
            with contextlib.suppress(BadInput):
                texts[id_] = self.store.text(id_)
        return texts

    def marks(self, id_: str) -> Path:
        """The file of a person's marks."""
        return self._of(id_) / "marks.json"

    def _of(self, id_: str) -> Path:
        if not NAME.fullmatch(id_):
            raise BadInput(f"there is no run {id_[:80]!r}")
        return self.folder / id_

    def _keep(self, begun: Begun, **changed: Any) -> None:
        kept = begun.model_copy(update=changed)
        write_whole(self._of(begun.id) / "run.json", kept.model_dump_json(indent=1).encode())

    def _start(self, begun: Begun, values: State, review: Mapping[str, Any] | None = None) -> None:
        """Begin a run or take it up, with a person's review where it waits for one."""
        self._keep(begun, state="running", why="")
        watched = Watched(values)
        watched.task = asyncio.create_task(self._run(begun, watched.as_watcher(), review))
        self._watched[begun.id] = watched

    async def _saved_values(self, begun: Begun) -> State:
        """The values that the checkpoints hold of a run."""
        async with open_checkpoints(begun.settings) as checkpoints:
            return await values_of(checkpoints, begun.id)

    async def _run(self, begun: Begun, watcher: Watcher, review: Mapping[str, Any] | None) -> None:
        """Run it and keep how it ends, whatever that is, where its folder is still there: nothing that goes wrong in
        it ends the server."""
        was_waiting = begun.state == "waiting"
        state: RunState = "stopped"
        why, line = "", begun.line
        folder = self._of(begun.id)
        try:
            if review is None:
                done = await self._check(begun, watcher)
            else:
                done = await resume_run(begun.id, review, watcher)
            if was_waiting:
                forget_decisions(self.marks(begun.id))
            state = "done" if done.report else "waiting"
            if done.report and folder.exists():
                text = done.report.model_dump_json(indent=2) + "\n"
                write_whole(folder / "report.json", text.encode())
                line = index_line(f"runs/{begun.id}", done.report)
        except BadInput as error:
            state, why = "waiting" if was_waiting else "failed", str(error)
        except asyncio.CancelledError:
            state = "stopped"
        except Exception as error:
            state, why = "failed", f"unforeseen {type(error).__name__}: {error}"
        finally:
            asked = self._watched.pop(begun.id).asked()
            if state != "done":
                line = {key: asked[key] for key in ("calls", "tokens")}
            if (folder / "run.json").exists():
                self._keep(begun, state=state, why=why, line=line)

    async def _check(self, begun: Begun, watcher: Watcher) -> WaitingRun:
        response = self.store.open(begun.response)
        return await begin_run(
            [self.store.open(ref) for ref in begun.sources],
            {name: getattr(begun.settings, name) for name in Settings.model_fields},
            watcher,
            response=response,
            task=begun.task,
            case_id=begun.title,
        )
