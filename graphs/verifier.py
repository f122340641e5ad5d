"""The front door for Python: texts in, a report out.

Knows: what may be given as a source, and how to drive the graph from synchronous code.
Does not know: how the graph works inside.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import ValidationError

from longproof.agent.models.clients import Chat
from longproof.agent.models.ledger import RunState
from longproof.agent.models.limits import Traffic
from longproof.agent.models.model import Model
from longproof.agent.models.recording import Recorder, Replay
from longproof.agent.report import judges_failures, unanswered
from longproof.agent.specs import Spec
from longproof.agent.types import Arbiter, Case, Decomposer, Judge, Report
from longproof.graphs.joined import join, split
from longproof.graphs.opening import Given, begun_with
from longproof.graphs.protocol import LONGPROOF
from longproof.graphs.protocols import method
from longproof.graphs.run import Pool
from longproof.graphs.settings import PERSON, Settings, settings_of
from longproof.graphs.state import VerifyInput
from longproof.graphs.verify import VerifyGraph
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.retrieval.files import home
from longproof.retrieval.json_text import record
from longproof.retrieval.loaders import KINDS, READERS, read_source
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput, Document

T = TypeVar("T")
Source = Any
"""A text, the path of a file, a document (ours, LangChain's or LlamaIndex's), or a JSON record; or a list of them."""
Response = str | Path | Document
TITLES, ADDRESSES = ("title", "file_name"), ("source", "url", "file_path")
_SUFFIXES = "|".join(suffix[1:] for suffix in (".txt", *KINDS, *READERS))
_NAME = re.compile(
    rf"\s*(https?://\S+|(/|~|\.\.?[/\\]|\w:\\)[^\n]*\.({_SUFFIXES})|\S+\.({_SUFFIXES}))\s*", re.I
)
"""An address, a path with a suffix that we read, or one word with one."""
Values = Mapping[str, Any]
"""The values of a graph's channels."""
Event = Mapping[str, object]
"""What a node tells while it works: its name under `node`, and what it is doing."""
Progress = Callable[[Event], None]
Decide = Callable[[list[Event]], Awaitable[Mapping[str, object]]]
"""Gets disputes as `longproof.graphs.review.describe_dispute` words them."""


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
        judges: Sequence[str | Spec | Judge | BaseChatModel] | None = None,
        arbiter: str | Spec | Arbiter | BaseChatModel | None = None,
        decomposer: str | Spec | Decomposer | BaseChatModel | None = None,
        make: Callable[[Chat], Model] | None = None,
        recording: Recorder | Replay | None = None,
        **settings: Any,
    ) -> None:
        _refuse_roles(judges, arbiter, decomposer)
        objects = [judge for judge in judges or [] if not isinstance(judge, str | Spec)]
        specs = [judge for judge in judges or [] if isinstance(judge, str | Spec)]
        if objects and specs:
            raise BadInput("judges are all SPECs, or all objects: write a model as one or the other")
        named = {"judges": specs or None, "arbiter": arbiter, "decomposer": decomposer}
        self.settings: Settings = settings_of(
            {**settings, **{k: v for k, v in named.items() if isinstance(v, str | Spec | list)}}
        )
        given = Given(
            judges=objects,
            arbiter=None if isinstance(arbiter, str | Spec) else arbiter,
            decomposer=None if isinstance(decomposer, str | Spec) else decomposer,
            make=make,
            recording=recording,
        )
        self._method = method(self.settings.protocol or LONGPROOF.name)
        self._pool = Pool(given, self._method.protocol)
        self.graph: VerifyGraph = self._method.graph(self._pool, None)

    def verify(self, source: Source, response: Response, **options: Any) -> Report:
        """The report on one response; see `averify`. Works inside a running event loop too.

        A run that the settings name (`run_id`) is this case's alone. Raises BadInput where it is another's.
        """
        return run(self._once(source, response, **options))

    async def _once(
        self,
        source: Source,
        response: Response,
        *,
        progress: Progress | None = None,
        decide: Decide | None = None,
        **case: Any,
    ) -> Report:
        try:
            given = await self.input_of(source, response, **case)
            await self._pool.session(self.settings, begun_with(self.settings, given))
            report = await self._check(given, progress, decide)
        except BaseException as error:
            await self.close("failed" if isinstance(error, BadInput) else "interrupted")
            raise
        await self.close("failed" if unanswered(judges_failures(report)) else "done")
        return report

    async def open(self) -> None:
        """Open on this event loop what the settings name, as the first check would; `close` lets it go.

        Raises BadInput for a judge, a protocol or a folder that can't be had.
        """
        await self._pool.session(self.settings)

    def traffic(self) -> Traffic:
        """The traffic of the runs under way; another thread may look, too."""
        return self._pool.traffic()

    async def close(self, state: RunState = "done") -> None:
        """Close what `averify` opened on this event loop: connections, the ledger, the run's record."""
        await self._pool.close(state)

    async def averify(
        self,
        source: Source,
        response: Response,
        *,
        task: str = "summary",
        context: str = "",
        case_id: str = "case",
        reference: str | None = None,
        labels: Sequence[str] | None = None,
        progress: Progress | None = None,
        decide: Decide | None = None,
    ) -> Report:
        """The report on one response.

        `source` is one source or several (a list of dictionaries is one JSON record); a file, here and as the
        response, is a `Path`. `progress` hears of every node passed. `reference` (the right text) and `labels` (one
        for each sentence) are for the protocols that need them. With `arbiter="person"`, `decide` gets all disputes
        and returns what a `longproof.graphs.review.Review` holds; without it they stay undecided.
        Raises BadInput for what can't be checked.
        """
        given = await self.input_of(
            source,
            response,
            task=task,
            context=context,
            case_id=case_id,
            reference=reference,
            labels=None if labels is None else list(labels),
        )
        return await self._check(given, progress, decide)

    async def averify_group(self, source: Source, cases: Sequence[Case]) -> list[Report]:
        """The reports on several responses to one source, in their order, checked together as one response.

        The source is searched and read once for all of them; the first report tells what that took. The cases
        must be `joinable` and have one task (`longproof.graphs.joined`); their source ids don't count. One alone is
        checked as `averify` does.
        Raises BadInput for what can't be checked.
        """
        documents = documents_of(source)
        cases = [case.model_copy(update={"response": without_surrogates(case.response)}) for case in cases]
        if len(cases) < 2:
            return [await self.averify(documents, case.response, **_case_options(case)) for case in cases]
        joined = join(cases)
        given = await self.input_of(
            documents, joined.response, task=joined.task, case_id=joined.id, parts=list(joined.parts)
        )
        report = await self._check(given)
        await asyncio.to_thread(self._store, [Document.of(case.response) for case in cases])
        return split(report, cases)

    async def input_of(self, source: Source, response: Response, **case: Any) -> VerifyInput:
        """The graph's input: the sources in the store, the response's text. Raises BadInput for labels
        that don't exist, and for a file's name in the place of a text: only the answer to a question may be one."""
        if isinstance(response, Path):
            response = await asyncio.to_thread(read_source, response)
        if isinstance(response, Document):
            case["notes"], response = response.notes, response.raw or response.text
        if not isinstance(response, str):
            raise BadInput(f"a response is a text or a path, not {response!r:.40}")
        if not case.get("context"):
            _refuse_name(response)
        stored = await asyncio.to_thread(self._store, documents_of(source))
        try:
            return VerifyInput(response=without_surrogates(response), sources=stored, **case)
        except ValidationError as error:
            first = error.errors()[0]
            raise BadInput(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error

    async def _check(
        self, given: VerifyInput, progress: Progress | None = None, decide: Decide | None = None
    ) -> Report:
        if self.settings.arbiter == PERSON:
            return await self._with_a_person(given, decide or _nobody, progress)
        ended = await drive(self.graph, given, self.settings, progress=progress)
        return Report.model_validate(ended["report"])

    async def _with_a_person(self, given: VerifyInput, decide: Decide, progress: Progress | None) -> Report:
        graph = self._method.graph(self._pool, InMemorySaver())
        ended = await drive(graph, given, self.settings, progress=progress, thread="run")
        while asked := ended.get("__interrupt__"):
            answer: Command[Any] = Command(resume=await decide(asked[0].value))
            ended = await drive(graph, answer, self.settings, progress=progress, thread="run")
        return Report.model_validate(ended["report"])

    def _store(self, documents: Sequence[Document]) -> list[DocumentRef]:
        for document in documents:
            document.refuse_wordless()
        store = DocumentStore(home(self.settings.home) / "documents")
        return [store.put(document) for document in documents]


def _case_options(case: Case) -> dict[str, Any]:
    """What `averify` is told of a case beside its response."""
    return {"case_id": case.id} | {k: getattr(case, k) for k in ("task", "context", "reference", "labels")}


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

    `thread` and `about` name the run and describe it to the graph's checkpointer. Inside a host's node our own
    values come with the host's namespace, so they are those with the shortest. `written` hears by node of
    what each writes to the graph's channels, as soon as it is done; what it wrote before the run stopped, too.
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
    own: int | None = None
    async for namespace, mode, part in cast(AsyncIterator[tuple[tuple[str, ...], str, Values]], stream):
        if mode == "custom" and progress:
            progress(part)
        elif mode == "updates" and written and not namespace:
            written(part)
        elif mode == "values" and (own is None or len(namespace) <= own):
            own, values = len(namespace), part
    return values


def _refuse_roles(judges: object, arbiter: object, decomposer: object) -> None:
    """Raises BadInput for what can't judge, arbitrate or decompose."""
    if judges is not None and not isinstance(judges, list | tuple):
        raise BadInput(f"judges are a list, not {judges!r:.40}: write [{judges!r:.40}]")
    fits: list[tuple[object, str, type]] = [
        (judge, "judge", Judge) for judge in cast("list[object]", judges or [])
    ]
    fits += [(arbiter, "arbiter", Arbiter), (decomposer, "decomposer", Decomposer)]
    for one, role, kind in fits:
        if one is not None and not isinstance(one, str | Spec | BaseChatModel | kind):
            raise BadInput(
                f"{one!r:.40} can't be the {role}: give a SPEC, a chat model, or an object that can"
            )


async def _nobody(disputes: list[Event]) -> Event:
    return {"name": "nobody", "decisions": []}


def documents_of(source: Source) -> list[Document]:
    """The documents that a source stands for. Raises BadInput for files that can't be read."""
    if isinstance(source, Document | Path):
        return [read_source(source) if isinstance(source, Path) else source]
    if isinstance(source, str):
        _refuse_name(source)
        return [Document.of(without_surrogates(source))] if source.strip() else []
    if hasattr(source, "page_content"):
        return [_document_of(source.page_content, source.metadata)]
    if hasattr(source, "get_content"):
        return [_document_of(source.get_content(), source.metadata)]
    if not isinstance(source, dict | list | tuple):
        raise BadInput(
            f"a source is a text, a path, a document or a record, or a list of them, not {source!r:.40}"
        )
    if isinstance(source, dict) or any(isinstance(item, dict | list) for item in source):
        return [record(json.dumps(source, ensure_ascii=False))]
    return [document for item in source for document in documents_of(item)]


def _refuse_name(text: str) -> None:
    """Raises BadInput for a text that is only the name of a file, or an address: nothing is opened for a name."""
    if len(text) < 1000 and _NAME.fullmatch(text):
        raise BadInput(
            f"this looks like a file's name or an address: {text.strip()!r:.80}; give the text, or a pathlib.Path"
        )


def _document_of(text: str, metadata: dict[str, Any]) -> Document:
    """A document of another library, with the title and address that its metadata name."""
    title = next((str(metadata[key]) for key in TITLES if metadata.get(key)), "")
    uri = next((str(metadata[key]) for key in ADDRESSES if metadata.get(key)), "")
    return Document.of(without_surrogates(text), title=title, uri=uri)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on an event loop of its own, in a thread where one is already running here.

    `asyncio.run` writes out its task, and with it what the task returns, twice as it ends: the task returns nothing.
    """
    results: list[T] = []

    async def working() -> None:
        results.append(await work)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(working())
    else:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(copy_context().run, asyncio.run, working()).result()
    return results[0]
