"""What a run needs open: the store, the panel, the arbiter, the decomposer, the indexed sources.

Knows: how settings become these, once per (settings, event loop). A pool belongs to one graph; there is
no module-level state.
Does not know: when any of it is used.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from longproof.agent.types import Arbiter, Decomposer, Judge
from longproof.graphs.protocols import Protocol, protocol
from longproof.graphs.settings import Settings
from longproof.graphs.sources import Sources
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.indexes.place import home
from longproof.retrieval.types import BadInput

SOURCES_KEPT = 4


class Resources:
    """Everything open for one run's settings on one event loop."""

    def __init__(
        self,
        settings: Settings,
        *,
        judges: Sequence[Judge],
        arbiter: Arbiter,
        decomposer: Decomposer,
    ) -> None:
        self.settings = settings
        self.protocol: Protocol = protocol(settings.protocol)
        self.store = DocumentStore(home(settings.home) / "documents")
        self.judges = list(judges)
        self.arbiter = arbiter
        self.decomposer = decomposer
        self._sources: OrderedDict[tuple[str, ...], asyncio.Task[Sources]] = OrderedDict()

    @property
    def consensus(self) -> float:
        """The settings' share, else the protocol's."""
        return self.settings.consensus or self.protocol.consensus

    async def sources(self, refs: Sequence[DocumentRef]) -> Sources:
        """The indexed sources of a case: built once, in a thread, kept for the next stretch or case."""
        key = tuple(ref.id for ref in refs)
        task = self._sources.get(key)
        if task is None:
            task = asyncio.create_task(asyncio.to_thread(self._build, list(refs)))
            self._sources[key] = task
            while len(self._sources) > SOURCES_KEPT:
                self._sources.popitem(last=False)
        self._sources.move_to_end(key)
        return await asyncio.shield(task)

    def _build(self, refs: Sequence[DocumentRef]) -> Sources:
        return Sources([self.store.open(ref) for ref in refs], self.protocol.block_characters)


class Pool:
    """Opens resources once per (settings, event loop).

    Judges, arbiter and decomposer given here stand in for what the settings name.
    """

    def __init__(
        self,
        judges: Sequence[Judge] | None = None,
        arbiter: Arbiter | None = None,
        decomposer: Decomposer | None = None,
    ) -> None:
        self._judges = judges
        self._arbiter = arbiter
        self._decomposer = decomposer
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Resources]] = WeakKeyDictionary()

    def get(self, settings: Settings) -> Resources:
        """The resources of these settings. Raises BadInput for a judge or protocol that isn't there."""
        here = self._open.setdefault(asyncio.get_running_loop(), {})
        key = settings.model_dump_json()
        if key not in here:
            here[key] = self._make(settings)
        return here[key]

    def _make(self, settings: Settings) -> Resources:
        from longproof.agent.offline import OfflineDecomposer, offline_arbiter, offline_panel

        unknown = [spec for spec in [*settings.judges, settings.arbiter or "offline"] if spec != "offline"]
        if unknown and self._judges is None:
            raise BadInput(f"there is no judge {unknown[0]!r}: use `offline`")
        return Resources(
            settings,
            judges=self._judges or offline_panel(),
            arbiter=self._arbiter or offline_arbiter(),
            decomposer=self._decomposer or OfflineDecomposer(),
        )
