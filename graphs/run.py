"""What a run needs open: ledger, limits and panel as the settings say; the case's sources, indexed; its plan.

Knows: how settings become these, once per (settings, event loop), and how every node and every edge of a graph gets
its run. A pool belongs to one graph; there is no module-level state.
Does not know: when any of it is used.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime

from longproof.agent.models.addresses import place_and_key
from longproof.agent.models.answers import Chat
from longproof.agent.models.ledger import Ledger, RecordedChat, Recorder, Replay
from longproof.agent.models.limits import Limits, Traffic, total_traffic
from longproof.agent.models.model import Model
from longproof.agent.specs import Panel, Roles, Spec, as_spec, connect, panel_from, roles_of
from longproof.agent.types import Arbiter, Case, Decomposer, Judge, Question
from longproof.agent.vote import CONSENSUS
from longproof.graphs.evidence.places import SHOWN_WHOLE, looks_within
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.policy import next_step
from longproof.graphs.settings import (
    LONGPROOF,
    PERSON,
    Protocol,
    Settings,
    begun_with,
    refuse_what_is_missing,
    refuse_what_is_not_recorded,
    settings_of,
    spec_of,
)
from longproof.graphs.state import CheckState, ClaimState, Plan, State
from longproof.indexes.documents import Cache, DocumentRef, DocumentStore
from longproof.indexes.search import PageIndex, PassageSize, SourceIndex, open_pages, source_index
from longproof.retrieval.dense import Embedder
from longproof.retrieval.embedders import embedder
from longproof.retrieval.files import home
from longproof.retrieval.ranking import Engine
from longproof.retrieval.types import BadInput, Document, Progress, Span

S = TypeVar("S", State, CheckState)
SAMPLES_APART = 1000
"""How far apart two values of the setting `sample` number their answers."""
GROUPS = 32
"""At least so many claim groups are checked at the same time; twice `concurrency` keeps an endpoint busy."""
Tell = Callable[[Mapping[str, object]], object]
_TELL: ContextVar[Tell] = ContextVar("tell", default=lambda event: None)
"""Tells the run at work in this context, or in a thread that it started, how far embedding is."""
SOURCES = 4_000_000
"""Characters of sources that stay indexed for the next case."""


class Session:
    """Everything that settings open on one event loop, for all runs with them."""

    def __init__(
        self, pool: "Pool", settings: Settings, panel: Panel, ledger: Ledger, limits: Limits
    ) -> None:
        self.settings, self.panel, self.ledger, self.limits = settings, panel, ledger, limits
        self.store = DocumentStore(home(settings.home) / "documents")
        self.triage = panel.roles.offline
        """Only the offline check looks. It reads all of the source at once."""
        self.groups = asyncio.Semaphore(max(GROUPS, 2 * settings.concurrency))
        """Places for claim groups that are being checked at the same time."""
        self._pool = pool

    async def sources(self, refs: Sequence[DocumentRef]) -> Sources:
        """The indexed sources of a case, built in a thread where they aren't at hand."""

        def index() -> Sources:
            folder, model = home(self.settings.home), self.embedder()

            def vectors(document: Document, cut: PassageSize) -> SourceIndex:
                return source_index(document, folder, model, cut, self._embedding())

            return Sources(list(map(self.store.open, refs)), embed=vectors if model else None)

        key = " ".join([self.settings.embedder, *(ref.id for ref in refs)])
        cache, in_use = self._pool.sources, self._pool.in_use
        found = cache.at_hand(key) or in_use.get(key)
        if found is None:
            found = in_use[key] = await asyncio.to_thread(cache.get, key, index)
        return found

    def embedder(self) -> Embedder | None:
        """The embedder, loaded where it isn't at hand; None where words alone are compared."""
        name, by_owner = self.settings.embedder, self._pool.by_owner
        return self._pool.embedders.get(
            name, lambda: embedder(name, partial(place_and_key, by_owner=by_owner))
        )

    async def pages(self, engine: Engine = "bm25") -> PageIndex | None:
        """The saved pages that may be consulted; None where none are given."""
        if self.settings.pages is None:
            return None
        folder, spec = Path(self.settings.pages), self.settings.embedder if engine == "bm25" else "lexical"

        def open_index() -> PageIndex:
            index = open_pages(folder, home(self.settings.home), engine)
            model = None if spec == "lexical" else self.embedder()
            if model:
                index.open_vectors(home(self.settings.home), model, self._embedding())
            return index

        return await asyncio.to_thread(self._pool.pages.get, f"{engine} {spec} {folder}", open_index)

    async def snippets(self, question: Question) -> list[Span]:
        """The texts of a question's places."""
        texts: list[Span] = []
        for page in question.pages:
            text = (await self.store.fetch(page.source_id))[page.start : page.end]
            texts.append(Span(source_id=page.source_id, start=page.start, end=page.end, text=text))
        return texts

    def _embedding(self) -> Progress:
        """Count the passages of one text that are embedded, and tell the run that embeds them, from any thread."""
        began, tell_run = time.monotonic(), _TELL.get()

        def tell(done: int, total: int) -> None:
            seconds = time.monotonic() - began
            tell_run({"node": "embed", "done": done, "passages": total, "seconds": seconds})

        return tell

    async def close(self) -> None:
        """Let go of ledger and connections."""
        await self.ledger.close()
        await self.panel.close()


@dataclass(frozen=True)
class Run:
    """One case being checked: all that a node needs beside the state."""

    session: Session
    panel: Panel
    case: Case
    sources: Sources
    plan: Plan
    say: Callable[[Mapping[str, object]], None]
    """Tells whoever watches what a node is doing."""

    def due(self, claims: Iterable[ClaimState], do: str) -> list[ClaimState]:
        """The claims whose next step is this one."""
        return [one for one in claims if next_step(one, self.plan).do == do]

    async def show(self, question: Question) -> Question:
        """The question with the texts that it shows. The offline check reads documents, others read lines."""
        if self.session.triage:
            shown = [document.span(0, len(document.text)) for document in self.sources.documents]
        else:
            shown = [self.sources.line(number).span for number in chain.from_iterable(question.lines)]
        return question.model_copy(update={"shown": (*shown, *await self.session.snippets(question))})


@dataclass(eq=False)
class Pool:
    """Opens a session once per (settings, event loop), and gives each node its run; `close` ends this loop's.

    Judges, arbiter and decomposer that are given as objects take the place of those that the settings name.
    """

    judges: Sequence[Judge | BaseChatModel] = ()
    arbiter: Arbiter | BaseChatModel | None = None
    decomposer: Decomposer | BaseChatModel | None = None
    make: Callable[[Chat], Model] | None = None
    """Who asks the models, in the place of a `Model` over the run's own ledger and limits."""
    by_owner: bool = True
    """Whoever makes the settings owns the keys, too. A server's clients don't."""
    recording: Recorder | Replay | None = None
    """Keeps what models answer, or answers in their place."""
    protocol: Protocol = LONGPROOF

    def __post_init__(self) -> None:
        self.sources: Cache[Sources] = Cache(SOURCES, lambda sources: sources.characters)
        self.in_use: WeakValueDictionary[str, Sources] = WeakValueDictionary()
        """Sources that some run holds, whatever the cache let go."""
        self.pages: Cache[PageIndex] = Cache()
        self.embedders: Cache[Embedder | None] = Cache()
        self._open: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Task[Session]] = {}
        """By event loop and settings."""
        self._ended = Traffic()

    def bind(self, step: Callable[[S, Run], object]) -> Any:
        """The step as a node of a graph, or the route as a conditional edge: the one place that finds the run."""

        async def run_step(state: S, runtime: Runtime[Settings]) -> object:
            session = await self.session(settings_of(runtime.context))
            case, refs = state["case"], state["sources"]
            if not case.response:
                # A claim group travels without the response: its claims say under which id it is stored.
                text = await session.store.fetch(state["claims"][0].claim.origin.source_id)
                case = case.model_copy(update={"response": text})
            sources = await session.sources(refs)
            plan, say = plan_of(session.settings, session.panel.roles, refs), runtime.stream_writer
            loop = asyncio.get_running_loop()
            _TELL.set(lambda event: loop.call_soon_threadsafe(say, event))
            done = step(state, Run(session, session.panel, case, sources, plan, say))
            return await done if isawaitable(done) else done

        run_step.__name__ = step.__name__
        return run_step

    async def session(self, settings: Settings, begun: str | None = None) -> Session:
        """Open what these settings name, once. The first call says what the run was begun with, if it has one case.

        Raises BadInput for a judge that isn't there, and for the name of another run; Refused where a model's server
        answers nothing. An opening that failed is tried again.
        """
        key = (asyncio.get_running_loop(), settings.model_dump_json())
        if key not in self._open:
            self._open[key] = asyncio.create_task(open_session(self, settings, begun))
        task = self._open[key]
        try:
            session = task.result() if task.done() else await asyncio.shield(task)
        except BaseException:
            if task.done() and self._open.get(key) is task:
                del self._open[key]
            raise
        for model in session.panel.models:
            model.refuse()
        return session

    def traffic(self) -> Traffic:
        """The traffic of everything that was opened here."""
        tasks = [task for task in list(self._open.values()) if task.done() and not task.cancelled()]
        each = [task.result().limits.traffic for task in tasks if not task.exception()]
        return total_traffic([self._ended, *each])

    async def close(self) -> None:
        """Let go of what is open on this event loop: it holds the loop, and would keep it alive."""
        here = asyncio.get_running_loop()
        # Taken out all at once: another close may run while this one waits.
        for task in [self._open.pop(key) for key in list(self._open) if key[0] is here]:
            await asyncio.wait([task])
            if not task.cancelled() and task.exception() is None:
                session = task.result()
                await session.close()
                self._ended = total_traffic([self._ended, session.limits.traffic])


async def open_session(pool: Pool, settings: Settings, begun: str | None = None) -> Session:
    """Open ledger, limits and panel as the settings say, with those who were given as objects in their places.

    Raises BadInput where one can't be had.
    """
    if settings.protocol is None:
        settings = settings.model_copy(update={"protocol": pool.protocol.name})
    if settings.protocol != pool.protocol.name:
        raise BadInput(
            f"this graph runs the protocol {pool.protocol.name}, not {settings.protocol}: choose its own graph"
        )
    if pool.recording:
        refuse_what_is_not_recorded(settings)
    replay = pool.recording if isinstance(pool.recording, Replay) else None
    recorder = pool.recording if isinstance(pool.recording, Recorder) else None
    path = home(settings.home) / "ledger.sqlite" if settings.cache and not replay else None
    async with AsyncExitStack() as opened:
        ledger = await Ledger.open(path, retry_failed=settings.retry_failed)
        opened.push_async_callback(ledger.close)
        limits = Limits(
            max_calls=settings.max_calls, max_tokens=settings.max_tokens, concurrency=settings.concurrency
        )
        if replay:
            await ledger.fill(replay.lines.values())

        def open_model(chosen: Spec | BaseChatModel) -> Model:
            if replay and isinstance(chosen, Spec):
                chat: Chat = RecordedChat(replay, chosen.model, chosen.endpoint)
            else:
                needs_key = settings.max_calls != 0
                chat = connect(chosen, stream=settings.stream, by_owner=pool.by_owner, needs_key=needs_key)
            if pool.make:
                return pool.make(chat)
            return Model(
                chat,
                ledger,
                limits,
                timeout_s=settings.timeout_s,
                first_sample=settings.sample * SAMPLES_APART,
                recorder=recorder,
            )

        panel = panel_from(
            pool.judges or [as_spec(judge) for judge in settings.judges],
            open_model,
            arbiter=pool.arbiter or (None if settings.arbiter == PERSON else spec_of(settings.arbiter)),
            decomposer=pool.decomposer or spec_of(settings.decomposer),
            searcher=spec_of(settings.searcher),
        )
        opened.push_async_callback(panel.close)
        refuse_what_is_missing(settings, pool.protocol, panel, objects=bool(pool.judges))
        if settings.run_id:
            await ledger.start_run(settings.run_id, begun or begun_with(settings))
        opened.pop_all()
    return Session(pool, settings, panel, ledger, limits)


def plan_of(settings: Settings, roles: Roles, sources: Sequence[DocumentRef]) -> Plan:
    """Work out what settings allow a panel of these abilities for a case."""
    characters = sum(ref.characters for ref in sources)
    looks = looks_within(settings.reach, characters)
    if not roles.reads:
        looks = tuple(look for look in looks if look != "scan")
    confirm = settings.confirm if roles.confirms and settings.confirm != "off" else "nothing"
    # Judges of a source that is shown whole saw all that could clear a claim.
    if confirm == "contradictions" and characters <= SHOWN_WHOLE:
        confirm = "nothing"
    arbiter = "person" if settings.arbiter == PERSON else "model" if roles.arbitrates else "nobody"
    return Plan(
        looks=("source",) if roles.offline else looks,
        consensus=settings.consensus or CONSENSUS,
        sourced=bool(sources),
        arbiter=arbiter,
        decompose=settings.decompose if roles.decomposes else "nothing",
        cascade=settings.cascade and roles.seats > 1,
        confirms=confirm,
    )


def roles_named(settings: Settings) -> Roles:
    """The abilities of the panel that these settings name."""
    return roles_of(
        [as_spec(judge) for judge in settings.judges],
        arbiter=None if settings.arbiter == PERSON else spec_of(settings.arbiter),
        decomposer=spec_of(settings.decomposer),
        searcher=spec_of(settings.searcher),
    )
