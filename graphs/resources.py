"""What a run needs open: the store, the panel, the arbiter, the decomposer, the indexed sources.

Knows: how settings become these, once per (settings, event loop). A pool belongs to one graph; there is
no module-level state.
Does not know: when any of it is used.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from langchain_core.language_models import BaseChatModel

from longproof.agent.evidence.scan import Scanner
from longproof.agent.models.addresses import place_and_key
from longproof.agent.models.clients import Chat
from longproof.agent.models.ledger import Ledger, RunState
from longproof.agent.models.limits import Budget, Limits, Rates, Traffic
from longproof.agent.models.model import Model
from longproof.agent.models.recording import Recorder, Replay
from longproof.agent.specs import ALONE, Panel, Spec, as_spec, panel_from
from longproof.agent.types import Arbiter, Decomposer, Judge, Round
from longproof.graphs.evidence.sources import Indexes, Sources
from longproof.graphs.needs import Need, unmet
from longproof.graphs.protocol import LONGPROOF, Protocol
from longproof.graphs.settings import INCOMPARABLE, PERSON, Settings
from longproof.graphs.state import Plan, StoredCase, VerifyInput
from longproof.indexes.documents import Cache, DocumentRef, DocumentStore
from longproof.indexes.pages import PageIndex, open_pages
from longproof.indexes.sources import PassageSize, source_index
from longproof.retrieval.bm25 import Engine
from longproof.retrieval.dense import Embedder
from longproof.retrieval.embedders import embedder
from longproof.retrieval.files import home
from longproof.retrieval.types import BadInput, Document, SourceIndex

SAMPLES_APART = 1000
"""How far apart two values of the setting `sample` number their answers."""
GROUPS = 32
"""At least so many claim groups are checked at the same time; twice `concurrency` keeps an endpoint busy."""


class Caches(NamedTuple):
    """What the resources of one pool share."""

    sources: Cache[Sources]
    pages: Cache[PageIndex]
    embedders: Cache[Embedder | None]


class Resources:
    """Everything open for one run's settings on one event loop."""

    def __init__(
        self,
        settings: Settings,
        protocol: Protocol,
        caches: Caches,
        panel: Panel,
        ledger: Ledger,
        limits: Limits,
        *,
        triage: bool,
        by_owner: bool = True,
    ) -> None:
        self.settings = settings
        at_once = {"rounds": ("source",), "lined": False, "proves_absence": False}
        self.protocol = protocol.model_copy(update=at_once) if triage else protocol
        self.store = DocumentStore(home(settings.home) / "documents")
        self.panel = panel
        self.ledger = ledger
        self.limits = limits
        self.budget = limits.budget
        self.triage = triage
        """Whether only the offline check looks. It reads all of the source at once."""
        self.groups = asyncio.Semaphore(max(GROUPS, 2 * settings.concurrency))
        """Places for claim groups that are being checked at the same time."""
        self._caches = caches
        self._address_and_key = partial(place_and_key, by_owner=by_owner)

    @property
    def consensus(self) -> float:
        """The settings' share, else the protocol's."""
        return self.settings.consensus or self.protocol.consensus

    def plan(self, case: StoredCase) -> Plan:
        """What these settings allow for a case."""
        person = self.settings.arbiter == PERSON
        return Plan(
            rounds=self._rounds(case.source_characters),
            consensus=self.consensus,
            sourced=bool(case.source_ids),
            proves_absence=self.protocol.proves_absence,
            consults=self.protocol.consults,
            arbiter="person" if person else "model" if self.panel.arbiter else "nobody",
            confirms=self.settings.confirm,
        )

    def _rounds(self, source_characters: int) -> tuple[Round, ...]:
        """The protocol's looks at the source, as far as the settings reach and somebody can read all of it."""
        looks = self.protocol.looks(self.settings.reach, source_characters)
        reads = self.panel.searcher or any(isinstance(judge, Scanner) for judge in self.panel.judges)
        return tuple(round_ for round_ in looks if reads or round_ != "scan")

    async def sources(self, refs: Sequence[DocumentRef]) -> Sources:
        """The indexed sources of a case, built in a thread where they aren't at hand."""
        key = " ".join([str(self.protocol.block_characters), self.settings.embedder, *(r.id for r in refs)])
        kept = self._caches.sources.at_hand(key)
        if kept is not None:
            return kept
        return await asyncio.to_thread(self._caches.sources.get, key, lambda: self._built(refs))

    def _built(self, refs: Sequence[DocumentRef]) -> Sources:
        folder, size = home(self.settings.home), self.protocol.block_characters
        model = self.embedder()
        lexical = partial(_index, folder, None)
        indexes = Indexes(lexical, partial(_index, folder, model) if model else None)
        documents = [self.store.open(ref) for ref in refs]
        return Sources(documents, size, indexes, whole_blocks=self.protocol.embeds == "blocks")

    def embedder(self) -> Embedder | None:
        """Who embeds texts, loaded where it isn't at hand; None where words alone are compared."""
        return self._caches.embedders.get(
            self.settings.embedder, lambda: embedder(self.settings.embedder, self._address_and_key)
        )

    async def pages(self, engine: Engine = "bm25") -> PageIndex | None:
        """The saved pages that may be consulted; None where none are given."""
        if self.settings.pages is None:
            return None
        folder = Path(self.settings.pages)
        return await asyncio.to_thread(
            self._caches.pages.get,
            f"{engine} {folder}",
            lambda: open_pages(folder, home(self.settings.home), engine),
        )

    async def close(self, state: RunState) -> None:
        """End the run in the ledger, then let go of ledger and connections."""
        if self.settings.run_id:
            await self.ledger.end_run(state)
        await self.ledger.close()
        await self.panel.close()


class Given(NamedTuple):
    """Judges, arbiter and decomposer given as objects, in the place of those that the settings name.

    `by_owner`: whether whoever makes the settings owns the keys, too. A server's clients don't.
    """

    judges: Sequence[Judge | BaseChatModel] = ()
    arbiter: Arbiter | BaseChatModel | None = None
    decomposer: Decomposer | BaseChatModel | None = None
    make: Callable[[Chat], Model] | None = None
    """Who asks the models, in the place of a `Model` over the run's own ledger and limits."""
    by_owner: bool = True
    recording: Recorder | Replay | None = None
    """Keeps what models answer, or answers in their place."""


class Pool:
    """Opens resources once per (settings, event loop), for one protocol; `close` lets those of this loop go."""

    def __init__(self, given: Given | None = None, protocol: Protocol = LONGPROOF) -> None:
        self.given, self._protocol = given or Given(), protocol
        self._caches = Caches(Cache(), Cache(), Cache())
        self._open: dict[asyncio.AbstractEventLoop, dict[str, asyncio.Task[Resources]]] = {}
        self._last: tuple[Settings | None, str] = (None, "")

    async def get(self, settings: Settings, begun: str | None = None) -> Resources:
        """The resources of these settings; the first call says what the run was begun with if it has but one case.

        Every node comes here. Raises BadInput for a judge or protocol that isn't there, and for the name of another
        run; Refused where a model's server answers nothing.
        """
        here = self._open.setdefault(asyncio.get_running_loop(), {})
        key = self._key(settings)
        if key not in here:
            here[key] = asyncio.create_task(
                open_resources(settings, self._protocol, self.given, self._caches, begun)
            )
        try:
            found = here[key].result() if here[key].done() else await asyncio.shield(here[key])
        except BadInput:
            here.pop(key, None)
            raise
        for model in found.panel.models:
            model.refuse()
        return found

    def traffic(self) -> Traffic:
        """What everything that is open has asked so far."""
        opened = [task for tasks in [*self._open.values()] for task in [*tasks.values()]]
        each = [
            t.result().limits.traffic for t in opened if t.done() and not t.cancelled() and not t.exception()
        ]
        return Traffic(*map(sum, zip(*each, strict=True))) if each else Traffic()

    def _key(self, settings: Settings) -> str:
        """The settings' content. Every node of every claim group asks, mostly with the same object."""
        if settings is not self._last[0]:
            self._last = (settings, settings.model_dump_json())
        return self._last[1]

    async def close(self, state: RunState = "done") -> None:
        """Let go of what is open on this event loop: it holds the loop, and would keep it alive."""
        for task in self._open.pop(asyncio.get_running_loop(), {}).values():
            await asyncio.wait([task])
            if not task.cancelled() and task.exception() is None:
                await task.result().close(state)


async def open_resources(
    settings: Settings, protocol: Protocol, given: Given, caches: Caches, begun: str | None = None
) -> Resources:
    """Ledger, limits and panel as the settings say. Raises BadInput where one can't be had."""
    if settings.protocol is None:
        settings = settings.model_copy(update={"protocol": protocol.name})
    if settings.protocol != protocol.name:
        raise BadInput(
            f"this graph runs the protocol {protocol.name}, not {settings.protocol}: choose its own graph"
        )
    if given.recording:
        _refuse_what_is_not_recorded(settings)
    replay = given.recording if isinstance(given.recording, Replay) else None
    path = home(settings.home) / "ledger.sqlite" if settings.cache and not replay else None
    ledger = await Ledger.open(path, retry_failed=settings.retry_failed)
    limits = Limits(rates(settings), Budget(max_calls=settings.max_calls, max_tokens=settings.max_tokens))
    try:
        if replay:
            await ledger.fill(replay.answers())
        panel = panel_of(settings, given, _asking(settings, ledger, limits, caches, given.recording))
        _refuse_what_is_missing(settings, protocol, given, panel)
        await start_run(ledger, settings, begun)
    except BaseException:
        await ledger.close()
        raise
    triage = _is_offline(panel.judges[0])
    return Resources(
        settings,
        protocol,
        caches,
        panel,
        ledger,
        limits,
        triage=triage,
        by_owner=given.by_owner,
    )


async def start_run(ledger: Ledger, settings: Settings, begun: str | None = None) -> None:
    """Start or resume in the ledger the run that the settings name. Raises BadInput where that is another run."""
    if settings.run_id:
        asked = settings.model_dump(mode="json", exclude={"home"})
        await ledger.start_run(settings.run_id, asked, begun or begun_with(settings))


def begun_with(settings: Settings, case: VerifyInput | None = None) -> str:
    """What a run is begun with, hashed: the settings that shape its reports, and its case if it has but one.

    What is left unset or off doesn't count: a run goes on though settings were added to the program since.
    """
    shaping = settings.model_dump(mode="json", exclude=INCOMPARABLE)
    named = {name: value for name, value in shaping.items() if value}
    texts = case and {**case.model_dump(mode="json"), "sources": [ref.id for ref in case.sources]}
    what = [{**named, "protocol": settings.protocol or LONGPROOF.name}, texts]
    return sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def _index(folder: Path, model: Embedder | None, document: Document, cut: PassageSize) -> SourceIndex:
    """The index of a document; vectors are kept for the next run, words are counted anew."""
    return source_index(document, folder, model, cut)


def rates(settings: Settings) -> Rates:
    """The limits of each endpoint."""
    return Rates(settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute)


def _asking(
    settings: Settings,
    ledger: Ledger,
    limits: Limits,
    caches: Caches,
    recording: Recorder | Replay | None = None,
) -> Callable[[Chat], Model]:
    """How the models of a run are asked: over its ledger, within its limits, with what is known of them."""

    def make(chat: Chat) -> Model:
        return Model(
            chat,
            ledger,
            limits,
            timeout_s=settings.timeout_s,
            first_sample=settings.sample * SAMPLES_APART,
            recorder=recording if isinstance(recording, Recorder) else None,
        )

    return make


def panel_of(settings: Settings, given: Given, make: Callable[[Chat], Model]) -> Panel:
    """The panel that the settings name, with those who were given as objects in their places."""
    models = [judge for judge in given.judges if isinstance(judge, BaseChatModel)]
    objects = [judge for judge in given.judges if not isinstance(judge, BaseChatModel)]
    named = [] if given.judges else [as_spec(judge) for judge in settings.judges]
    replay = given.recording if isinstance(given.recording, Replay) else None
    panel = panel_from(
        [*models, *named],
        given.make or make,
        arbiter=_asked(given.arbiter, settings.arbiter),
        decomposer=_asked(given.decomposer, settings.decomposer),
        searcher=_asked(None, settings.searcher),
        stream=settings.stream,
        by_owner=given.by_owner,
        chat=(lambda spec: replay.chat(spec.model, spec.address)) if replay else None,
        needs_key=settings.max_calls != 0,
    )
    decomposer = given.decomposer if isinstance(given.decomposer, Decomposer) else panel.decomposer
    return panel._replace(
        judges=[*objects, *panel.judges],
        arbiter=given.arbiter if isinstance(given.arbiter, Arbiter) else panel.arbiter,
        decomposer=decomposer,
        confirmer=panel.confirmer or (objects[-1] if objects else None),
    )


def _refuse_what_is_missing(settings: Settings, protocol: Protocol, given: Given, panel: Panel) -> None:
    """Raises BadInput where the protocol or a setting needs models or pages that aren't there."""
    if settings.pages and not Path(settings.pages).is_dir():
        raise BadInput(f"there is no folder {settings.pages}: --pages names a folder of saved web pages")
    has: set[Need] = {"pages"} if settings.pages else set()
    offline = [judge for judge in panel.judges if _is_offline(judge)]
    if offline and len(panel.judges) > 1:
        raise BadInput(ALONE)
    if offline and protocol.name != "longproof":
        raise BadInput(f"the protocol {protocol.name} needs judges that read: give --judge openai:MODEL")
    models = (bool(given.judges) and not offline) or all(
        as_spec(judge).kind == "openai" for judge in settings.judges
    )
    if models:
        has.add("models")
    if why := unmet(protocol.name, protocol.needs, has, among=("models", "pages")):
        raise BadInput(why)
    if settings.confirm and (panel.confirmer is None or protocol.name != LONGPROOF.name):
        raise BadInput("--confirm needs a language model, and the protocol longproof")
    if protocol.name != LONGPROOF.name and (settings.arbiter == PERSON or settings.cascade):
        raise BadInput(
            f"the protocol {protocol.name} asks a whole panel and no person: leave out --arbiter person and --cascade"
        )


def _refuse_what_is_not_recorded(settings: Settings) -> None:
    """Raises BadInput for what a recording doesn't hold: a replay loads no model and sends no text."""
    roles = [*settings.judges, settings.arbiter, settings.decomposer, settings.searcher]
    named = [as_spec(one) for one in roles if one and one != PERSON]
    if settings.embedder != "lexical" or any(one.kind == "nli" for one in named):
        raise BadInput("recordings hold the answers of language models: leave out nli judges and embedders")


def _is_offline(judge: Judge) -> bool:
    """Whether this is the offline check, named or given."""
    from longproof.agent.offline import OfflineJudge

    return isinstance(judge, OfflineJudge)


def _asked(given: object, named: str | Spec | None) -> Spec | BaseChatModel | None:
    if isinstance(given, BaseChatModel):
        return given
    return as_spec(named) if named and named != PERSON else None
