"""The checks that the browser lists: those under way in this process, and all of them in the data folder.

Knows: a folder a run with what it was begun with, its report and a person's marks; that a run goes on from its
checkpoints and pays nothing twice; that what stopped with its process is `stopped`; that checks of the command line
are kept, too. Does not know: HTTP, pages.
"""

import asyncio
import contextlib
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from longproof.agent.models.limits import Traffic
from longproof.agent.report import distinct, usage
from longproof.agent.types import Case, Report
from longproof.examples import demo_settings, demo_summary, example
from longproof.graphs.reporting import SoFar, grow, so_far
from longproof.graphs.settings import INCOMPARABLE, Settings, settings_of
from longproof.graphs.state import State
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.report.html import index_line
from longproof.report.saved import open_report
from longproof.retrieval.files import home, read_whole, write_whole
from longproof.retrieval.types import BadInput, Document
from longproof.review import Watcher, begin_run, forget_run, resume_run, saved_run
from longproof.serve.kept import Begun, RunState, forget_decisions, new_run, read_marks
from longproof.serve.offer import Chosen, Offer
from longproof.verifier import Verifier

LONGEST_NAME = 200
NAME = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
STEPS = ("read", "align", "check", "search", "scan", "confirm")
"""The steps that a run is told to be at, by the words `at_…`."""


class Watched:
    """A run in this process: its task, what its nodes wrote, where it is, and how much was asked."""

    task: asyncio.Task[None]

    def __init__(self, values: State) -> None:
        self.values = values
        self.at: dict[str, int | str] = {"node": "check" if values.get("claims") else "read"}
        """The node that works, and the number of its claims."""
        self.news = 0
        """Grows with all that a page could show, but for what is asked."""
        self.traffic: Callable[[], Traffic] = Traffic
        self._before = self._most = self._paid()

    def hear(self, event: Mapping[str, Any]) -> None:
        """Keep which node works, and for how many claims."""
        node = "check" if event["node"] == "checked" else event["node"]
        at = {"node": node, "open": event.get("claims", 0)}
        if node in STEPS and at != self.at:
            self.at = at
            self.news += 1

    def write(self, written: Mapping[str, Any]) -> None:
        """Take in what nodes wrote to the graph's channels."""
        for one in written.values():
            if isinstance(one, dict):
                self.values = grow(self.values, cast("State", one))
                self.news += 1

    def watch(self, traffic: Callable[[], Traffic]) -> None:
        """Ask this, from now on, how much was asked."""
        self.traffic = traffic

    def counts(self) -> dict[str, int]:
        """Calls and tokens so far, those of an answer as soon as it is there, and how many answers are waited for."""
        now, (calls, tokens) = self.traffic(), self._paid()
        # What was stopped has closed its connections, and no traffic any more.
        most_calls = max(self._most[0], calls, self._before[0] + now.calls)
        self._most = most_calls, max(self._most[1], tokens, self._before[1] + now.tokens)
        return {"calls": self._most[0], "tokens": self._most[1], "waiting": now.waiting}

    def _paid(self) -> tuple[int, int]:
        """The calls that the nodes told of, and their tokens."""
        used = usage(distinct(self.values.get("calls", [])))
        return used.calls, used.prompt_tokens + used.completion_tokens


class Runs:
    """All runs of the data folder. Used on one event loop."""

    def __init__(self, folder: str | None = None) -> None:
        self.folder = home(folder) / "serve"
        self.store = DocumentStore(home(folder) / "documents")
        self.watched: dict[str, Watched] = {}
        """Those under way in this process."""

    def all(self) -> list[Begun]:
        """Every run, the latest first."""
        runs = []
        for path in sorted(self.folder.glob("*/run.json"), reverse=True):
            with contextlib.suppress(BadInput):
                runs.append(self.get(path.parent.name))
        return runs

    def get(self, id_: str) -> Begun:
        """The run of this name. Raises BadInput where there is none; one whose folder is gone is stopped."""
        path = self.file(id_, "run.json")
        try:
            begun = Begun.model_validate_json(read_whole(path))
        except OSError as error:
            self.stop(id_)
            raise BadInput(f"there is no run {id_!r}") from error
        except ValidationError as error:
            raise BadInput(
                f"{path.parent} is of an earlier edition, or damaged: delete it by hand"
            ) from error
        if begun.state == "running" and id_ not in self.watched:
            return begun.model_copy(update={"state": "stopped"})
        return begun

    def begin(self, choice: Chosen, settings: Settings) -> str:
        """Start a new run; its name. Raises BadInput for texts that aren't in the store."""
        for ref in (*choice.sources, choice.response):
            self.store.open(ref)
        title = choice.response.title[:LONGEST_NAME] or "case"
        texts = {"sources": choice.sources, "response": choice.response}
        return self._start(new_run(settings, title=title, **texts), {})

    def check_again(self, id_: str, response: DocumentRef, offer: Offer) -> str:
        """Check an edited text as the one of this run was checked, within the offer; the new run's name.

        What was asked of sentences that stay is answered from the ledger. Raises BadInput for the recorded example,
        and for what isn't offered.
        """
        before = self.get(id_)
        if before.recorded:
            raise BadInput("the example is answered from a recording: check a text of your own")
        about = before.model_dump(include={"title", "sources", "task", "context", "name"})
        return self._start(new_run(offer.limit(before.settings), response=response, **about), {})

    def rename(self, id_: str, name: str) -> None:
        """Call a run so; without a name, by its text's title again. Raises BadInput for one that is too long."""
        if len(name) > LONGEST_NAME:
            raise BadInput(f"give a name of at most {LONGEST_NAME} characters")
        self._keep(self.get(id_), name=" ".join(name.split()))

    async def delete(self, id_: str) -> None:
        """Stop a run, and delete its folder and its checkpoints. Texts and answers stay: others may rest on them."""
        begun = self.get(id_)
        await asyncio.gather(*self.stop(id_), return_exceptions=True)
        await asyncio.to_thread(shutil.rmtree, self.file(id_, "run.json").parent)
        await forget_run(str(begun.settings.run_id))

    def keep_made(
        self,
        report: Report,
        settings: Settings,
        documents: Sequence[Document],
        *,
        recorded: bool = False,
        waiting: bool = False,
    ) -> str:
        """Keep a check that was made elsewhere, without its report where it waits for a person; its name.

        The last document is the response. An earlier check of the same texts with the same settings gives way; what a
        person said of it stays, and its name.
        """
        *sources, response = map(self.store.put, documents)
        case = report.case
        comparable = settings.model_dump_json(exclude=INCOMPARABLE)
        about = ([ref.id for ref in (*sources, response)], case.task, case.context, comparable)
        digest = sha256(repr(about).encode()).hexdigest()[:8]
        texts = {"sources": sources, "response": response, "task": case.task, "context": case.context}
        begun = new_run(settings, title=case.id, recorded=recorded, **texts)
        id_, name = begun.id[:-8] + digest, ""
        for earlier in self.folder.glob(f"*-{digest}"):
            id_ = earlier.name
            with contextlib.suppress(BadInput):
                name = self.get(id_).name
        line = {} if waiting else self._keep_report(id_, report)
        state = "waiting" if waiting else "done"
        self._keep(begun, id=id_, name=name, settings=settings, state=state, line=line)
        return id_

    async def keep_example(self, language: str) -> str:
        """Check the bundled example with its recorded answers, and keep it as a run that is done; its name."""
        story, summary = example(language)[0], demo_summary(language)
        verifier = Verifier(**demo_settings(language))
        response = Document.of(summary, title=f"example ({language})")
        try:
            report = await verifier.averify(story, response, id=response.title)
        finally:
            await verifier.close()
        return self.keep_made(report, verifier.settings, [story, response], recorded=True)

    async def go_on(self, id_: str, name: str) -> None:
        """Take up a run that stopped, or one that waits: with what a person of this name decided, as the marks keep
        it, or where it was decided in the terminal. Any other stays as it is.

        Raises BadInput where decisions have no name.
        """
        values, asked = await saved_run(self.get(id_).settings)
        disputes, begun = {one["claim_id"] for one in asked}, self.get(id_)
        if begun.state == "waiting" and disputes:
            if not name.strip() or len(name) > 80:
                raise BadInput("say who decides: a name of at most 80 characters, which stands in the report")
            decisions = []
            for claim, mark in read_marks(self.file(id_, "marks.json")).items():
                if mark.decision.label and claim in disputes:
                    decisions.append({"claim_id": claim, **mark.decision.model_dump(exclude_defaults=True)})
            self._start(begun, values, {"name": name, "decisions": decisions})
        elif begun.state in ("stopped", "failed", "waiting"):
            self._start(begun, values)

    def stop(self, *ids: str) -> list[asyncio.Task[None]]:
        """Stop these runs; what was answered is kept. The tasks that end."""
        tasks = [self.watched[id_].task for id_ in ids if id_ in self.watched]
        for task in tasks:
            task.cancel()
        return tasks

    async def latest_report(self, begun: Begun) -> SoFar:
        """The report of a run, as far as it is known."""
        if begun.state == "done":
            return SoFar(self.report(begun.id))
        watched = self.watched.get(begun.id)
        values = watched.values if watched else (await saved_run(begun.settings))[0]
        response = await asyncio.to_thread(self.store.open, begun.response)
        case = Case(
            id=begun.title,
            task=begun.task,
            context=begun.context,
            response=response.raw or response.text,
            source_ids=tuple(ref.id for ref in begun.sources),
        )
        unread: State = {"case": case, "sources": list(begun.sources)}
        return await asyncio.to_thread(so_far, cast("State", {**unread, **values}), begun.settings)

    def report(self, id_: str) -> Report:
        """The report of a run that is done. Raises BadInput where there is none."""
        return open_report(self.file(id_, "report.json"))

    def texts(self, begun: Begun, report: Report) -> dict[str, str]:
        """The texts of a report's documents that are in the store, by id."""
        texts = {}
        for id_ in {ref.id for ref in begun.sources} | {document.id for document in report.documents}:
            with contextlib.suppress(BadInput):
                texts[id_] = self.store.text(id_)
        return texts

    def file(self, id_: str, name: str) -> Path:
        """A file of a run: `run.json`, `report.json`, `marks.json`. Raises BadInput for what can't be a run."""
        if not NAME.fullmatch(id_):
            raise BadInput(f"there is no run {id_[:80]!r}")
        return self.folder / id_ / name

    def _keep(self, begun: Begun, **changed: Any) -> None:
        run = begun.model_copy(update=changed)
        write_whole(self.file(run.id, "run.json"), run.model_dump_json(indent=1).encode())

    def _keep_report(self, id_: str, report: Report) -> dict[str, Any]:
        """Write a run's report; the run's line in the list."""
        write_whole(self.file(id_, "report.json"), (report.model_dump_json(indent=2) + "\n").encode())
        return index_line(f"runs/{id_}", report)

    def _start(self, begun: Begun, values: State, review: Mapping[str, Any] | None = None) -> str:
        """Begin a run or take it up, with a person's review where it waits for one; its name."""
        self._keep(begun, state="running", why="")
        watched = self.watched[begun.id] = Watched(values)
        watched.task = asyncio.create_task(self._run(begun, watched, review))
        return begun.id

    async def _run(self, begun: Begun, watched: Watched, review: Mapping[str, Any] | None) -> None:
        """Run it and keep how it ends, whatever that is, where its folder is still there: nothing that goes wrong in
        it ends the server."""
        was_waiting = begun.state == "waiting"
        state: RunState = "stopped"
        why, line = "", begun.line
        kept = self.file(begun.id, "run.json")
        try:
            watcher = Watcher(watched.hear, watched.write, watched.watch)
            if review is None:
                sources = list(map(self.store.open, begun.sources))
                response = self.store.open(begun.response)
                case = {"task": begun.task, "context": begun.context, "id": begun.title}
                done = await begin_run(sources, dict(begun.settings), watcher, response=response, **case)
            else:
                done = await resume_run(str(begun.settings.run_id), review, watcher)
            if was_waiting:
                forget_decisions(self.file(begun.id, "marks.json"))
            state = "done" if done.report else "waiting"
            if done.report and kept.exists():
                line = self._keep_report(begun.id, done.report)
        except BadInput as error:
            state, why = "waiting" if was_waiting else "failed", str(error)
        except asyncio.CancelledError:
            state = "stopped"
        except Exception as error:
            state, why = "failed", f"unforeseen {type(error).__name__}: {error}"
        finally:
            counts = self.watched.pop(begun.id).counts()
            if state != "done":
                line = {key: counts[key] for key in ("calls", "tokens")}
            if kept.exists():
                self._keep(self.get(begun.id), state=state, why=why, line=line)


def list_check(
    report: Report, settings: dict[str, Any], documents: Sequence[Document], *, waiting: bool = False
) -> None:
    """Put a check of the command line into the browser's list, where the data folder takes it. The last document is
    the response."""
    chosen = settings_of(settings)
    with contextlib.suppress(BadInput):
        Runs(chosen.home).keep_made(report, chosen, documents, waiting=waiting)
