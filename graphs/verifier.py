"""The core's verifier: settings opened once, documents and a case in, a report out.

Knows: how the graph is driven, with a person or without one, and from synchronous code.
Does not know: what a user may give as a source, or how the graph works inside.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Literal, TypedDict, TypeVar, Unpack, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from longproof.agent.models.answers import Chat
from longproof.agent.models.ledger import Recorder, Replay
from longproof.agent.models.limits import ModelPrice, Traffic
from longproof.agent.models.model import Model
from longproof.agent.specs import Spec
from longproof.agent.types import Arbiter, Case, Decomposer, Judge, Report
from longproof.graphs.joined import join, split
from longproof.graphs.run import Pool
from longproof.graphs.settings import LONGPROOF, PERSON, Reach, Settings, settings_of
from longproof.graphs.state import VerifyInput
from longproof.graphs.verify import VerifyGraph, method
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.retrieval.files import home
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput, Document

T = TypeVar("T")
Values = Mapping[str, Any]
"""The values of a graph's channels."""
Event = Mapping[str, object]
"""What a node tells while it works: its name under `node`, and what it is doing. Of `align`, `cut`, `search`, `scan`,
`confirm` and `checked`, `claims` is their number; `decompose` takes so many `claims` apart into so many `parts`."""
Progress = Callable[[Event], None]
Decide = Callable[[list[Event]], Awaitable[Mapping[str, object]]]
"""Gets disputes as `longproof.graphs.review.describe_dispute` words them."""
AnyJudge = str | Spec | Judge | BaseChatModel


class MoreSettings(TypedDict, total=False):
    """The settings beside judges, arbiter and decomposer; `longproof.graphs.settings.Settings` says what they do."""

    protocol: str | None
    searcher: str | Spec | None
    cascade: bool
    consensus: float | None
    confirm: Literal["contradictions", "all", "off"]
    decompose: Literal["doubted", "all"]
    reach: Reach | None
    pages: str | None
    embedder: str
    max_calls: int | None
    max_tokens: int | None
    prices: dict[str, ModelPrice]
    concurrency: int
    timeout_s: float
    stream: bool
    cache: bool
    retry_failed: bool
    may_state_no_fact: bool
    run_id: str | None
    sample: int
    home: str | None


class Verifier:
    """Checks responses against sources, always with the same settings.

    `judges` are SPECs (`offline`, `openai:MODEL@BASE_URL`, …), LangChain chat models, or objects with a `judge`
    method; further settings by name, see `longproof.graphs.settings.Settings`. A budget (`max_calls`,
    `max_tokens`) is for all that is asked on one event loop. `make` gives who asks each model, in the place of a
    `Model` over this process's ledger and limits. `recording` keeps what models answer (`Recorder`), or answers in
    their place (`Replay`). Raises BadInput for settings that don't exist.
    """

    def __init__(
        self,
        judges: Sequence[AnyJudge] | None = None,
        arbiter: str | Spec | Arbiter | BaseChatModel | None = None,
        decomposer: str | Spec | Decomposer | BaseChatModel | None = None,
        make: Callable[[Chat], Model] | None = None,
        recording: Recorder | Replay | None = None,
        **more: Unpack[MoreSettings],
    ) -> None:
        if judges is not None and not isinstance(judges, list | tuple):
            raise BadInput(f"judges are a list, not {judges!r:.40}: write [{judges!r:.40}]")
        settings: dict[str, Any] = {**more}
        specs = [judge for judge in judges or [] if isinstance(judge, str | Spec)]
        objects: list[Any] = [judge for judge in judges or [] if not isinstance(judge, str | Spec)]
        if objects and specs:
            raise BadInput("judges are all SPECs, or all objects: write a model as one or the other")
        if specs:
            settings["judges"] = specs
        roles: dict[str, Any] = {}
        for role, chosen, kind in (("arbiter", arbiter, Arbiter), ("decomposer", decomposer, Decomposer)):
            if isinstance(chosen, str | Spec):
                settings[role] = chosen
            elif chosen is not None:
                roles[role] = _refuse_other(chosen, role, kind)
        roles["judges"] = [_refuse_other(judge, "judge", Judge) for judge in objects]
        self.settings: Settings = settings_of(settings)
        self._method = method(self.settings.protocol or LONGPROOF.name)
        self._pool = Pool(**roles, make=make, recording=recording, protocol=self._method.protocol)
        self.graph: VerifyGraph = self._method.graph(self._pool, None)

    def try_out(self) -> None:
        """Open and close what the settings name. Raises BadInput for what can't be had: a judge, a folder."""

        async def open_once() -> None:
            try:
                await self._pool.session(self.settings)
            finally:
                await self.close()

        run(open_once())

    def traffic(self) -> Traffic:
        """The traffic of the runs under way; another thread may look, too."""
        return self._pool.traffic()

    async def close(self) -> None:
        """Close what was opened on this event loop: connections, and the ledger."""
        await self._pool.close()

    async def check(self, documents: Sequence[Document], case: Case) -> Report:
        """The report on one case; its source ids don't count. Raises BadInput for what can't be checked."""
        return await self.report_on(await self.input_of(documents, case))

    async def check_group(self, documents: Sequence[Document], cases: Sequence[Case]) -> list[Report]:
        """The reports on several responses to one source, in their order, checked together as one response.

        The source is searched and read once for all of them; the first report tells what that took. The cases
        must be `joinable` and have one task (`longproof.graphs.joined`). Raises BadInput for what can't be checked.
        """
        cases = [case.model_copy(update={"response": without_surrogates(case.response)}) for case in cases]
        report = await self.check(documents, join(cases))
        await asyncio.to_thread(self._store, [Document.of(case.response) for case in cases])
        return split(report, cases)

    async def input_of(self, documents: Sequence[Document], case: Case) -> VerifyInput:
        """The graph's input: the sources in the store, the rest as it is. Raises BadInput for a source without
        words."""
        return VerifyInput(
            response=without_surrogates(case.response),
            task=case.task,
            context=case.context,
            reference=case.reference,
            labels=None if case.labels is None else list(case.labels),
            case_id=case.id,
            parts=list(case.parts),
            sources=await asyncio.to_thread(self._store, documents),
            notes=case.notes,
        )

    async def report_on(
        self, given: VerifyInput, progress: Progress | None = None, decide: Decide | None = None
    ) -> Report:
        """The report on a graph's input. `progress` hears of every node passed; with `arbiter="person"`, `decide`
        gets all disputes, and without it they stay undecided."""
        graph, thread, work = self.graph, None, cast("VerifyInput | Command[Any]", given)
        if self.settings.arbiter == PERSON:
            graph, thread = self._method.graph(self._pool, InMemorySaver()), "run"
        while True:
            ended = await drive(graph, work, self.settings, progress=progress, thread=thread)
            if not ended.get("__interrupt__"):
                return Report.model_validate(ended["report"])
            disputes = ended["__interrupt__"][0].value
            work = Command(resume=await decide(disputes) if decide else {"name": "nobody", "decisions": []})

    def _store(self, documents: Sequence[Document]) -> list[DocumentRef]:
        for document in documents:
            document.refuse_wordless()
        store = DocumentStore(home(self.settings.home) / "documents")
        return [store.put(document) for document in documents]


async def drive(
    graph: VerifyGraph,
    given: VerifyInput | Command[Any] | None,
    settings: Settings,
    *,
    progress: Progress | None = None,
    thread: str | None = None,
    about: Mapping[str, object] | None = None,
    written: Progress | None = None,
) -> Values:
    """Run a graph until it ends or waits: its last values, with `report` or `__interrupt__` among them.

    `thread` and `about` name the run and describe it to the graph's checkpointer. `written` hears by node of what
    each writes to the graph's channels, as soon as it is done; what it wrote before the run stopped, too. The very
    last values are the graph's own: those of its inner graphs come before.
    """
    config: RunnableConfig = {"recursion_limit": 1000, "metadata": dict(about or {})}
    if thread is not None:
        config["configurable"] = {"thread_id": thread}
    stream = graph.astream(
        given,
        config,
        context=settings,
        stream_mode=["custom", "values", "updates"],
        subgraphs=True,
    )
    values: Values = {}
    async for namespace, mode, part in cast(AsyncIterator[tuple[tuple[str, ...], str, Values]], stream):
        if mode == "custom" and progress:
            progress(part)
        elif mode == "updates" and written and not namespace:
            written(part)
        elif mode == "values":
            values = part
    return values


def _refuse_other(given: T, role: str, kind: type) -> T:
    """Return what was given for a role. Raises BadInput for an object that can't fill it."""
    if not isinstance(given, BaseChatModel | kind):
        raise BadInput(f"{given!r:.40} can't be the {role}: give a SPEC, a chat model, or an object that can")
    return given


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on an event loop of its own, in a thread where one is already running here."""
    results: list[T] = []

    async def working() -> None:
        # `asyncio.run` writes out its task with what it returns, twice as it ends: so it returns nothing.
        results.append(await work)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(working())
    else:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(copy_context().run, asyncio.run, working()).result()
    return results[0]
