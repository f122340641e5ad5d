"""What a run needs open: the store, the panel, the arbiter, the decomposer, the indexed sources.

Knows: how settings become these, once per (settings, event loop). A pool belongs to one graph; there is
no module-level state.
Does not know: when any of it is used.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock

from longproof.agent.types import Arbiter, Decomposer, Judge
from longproof.graphs.protocols import Protocol, protocol
from longproof.graphs.settings import Settings
from longproof.graphs.sources import Sources
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.indexes.place import home
from longproof.retrieval.types import BadInput

SOURCES_KEPT = 4


class Shelf:
    """Indexed sources, the latest few, built once whichever thread or event loop asks first."""

    def __init__(self) -> None:
        self._built: OrderedDict[tuple[str, ...], Sources] = OrderedDict()
        self._building: dict[tuple[str, ...], Lock] = {}
        self._lock = Lock()

    def get(self, key: tuple[str, ...], build: Callable[[], Sources]) -> Sources:
        """The sources of this key. Blocks while another thread builds the same."""
        with self._lock:
            building = self._building.setdefault(key, Lock())
        with building:
            if key not in self._built:
                self._keep(key, build())
            return self._built[key]

    def _keep(self, key: tuple[str, ...], sources: Sources) -> None:
        with self._lock:
            self._built[key] = sources
            while len(self._built) > SOURCES_KEPT:
                oldest, _ = self._built.popitem(last=False)
                self._building.pop(oldest, None)


class Resources:
    """Everything open for one run's settings on one event loop."""

    def __init__(
        self,
        settings: Settings,
        shelf: Shelf,
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
        self._shelf = shelf

    @property
    def consensus(self) -> float:
        """The settings' share, else the protocol's."""
        return self.settings.consensus or self.protocol.consensus

    async def sources(self, refs: Sequence[DocumentRef]) -> Sources:
        """The indexed sources of a case, built in a thread where they aren't yet."""
        size = self.protocol.block_characters
        key = (str(size), *(ref.id for ref in refs))
        return await asyncio.to_thread(
            self._shelf.get, key, lambda: Sources([self.store.open(ref) for ref in refs], size)
        )


class Pool:
    """Opens resources once per (settings, event loop); `close` lets those of this loop go.

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
        self._shelf = Shelf()
        self._open: dict[asyncio.AbstractEventLoop, dict[str, Resources]] = {}

    def get(self, settings: Settings) -> Resources:
        """The resources of these settings. Raises BadInput for a judge or protocol that isn't there."""
        here = self._open.setdefault(asyncio.get_running_loop(), {})
        key = settings.model_dump_json()
        if key not in here:
            here[key] = self._make(settings)
        return here[key]

    def close(self) -> None:
        """Let go of what is open on this event loop: it holds the loop, and would keep it alive."""
        self._open.pop(asyncio.get_running_loop(), None)

    def _make(self, settings: Settings) -> Resources:
        from longproof.agent.offline import OfflineDecomposer, offline_arbiter, offline_panel

        unknown = [spec for spec in [*settings.judges, settings.arbiter or "offline"] if spec != "offline"]
        if unknown and self._judges is None:
            raise BadInput(f"there is no judge {unknown[0]!r}: use `offline`")
        return Resources(
            settings,
            self._shelf,
            judges=self._judges or offline_panel(),
            arbiter=self._arbiter or offline_arbiter(),
            decomposer=self._decomposer or OfflineDecomposer(),
        )
