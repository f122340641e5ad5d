"""A thread-safe LRU cache; concurrent requests for one key build its value once.

Does not know: what the values are.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """The latest `kept` values, for whichever thread or event loop asks."""

    def __init__(self, kept: int = 4) -> None:
        self._kept = kept
        self._values: OrderedDict[str, T] = OrderedDict()
        self._building: dict[str, Lock] = {}
        self._lock = Lock()

    def at_hand(self, key: str) -> T | None:
        """The value of this key if it is here already. Doesn't block."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def get(self, key: str, build: Callable[[], T]) -> T:
        """The value of this key. Blocks while another thread builds the same."""
        with self._lock:
            building = self._building.setdefault(key, Lock())
        with building:
            kept = self.at_hand(key)
            if kept is None:
                kept = build()
                self._keep(key, kept)
            return kept

    def _keep(self, key: str, value: T) -> None:
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._kept:
                oldest, _ = self._values.popitem(last=False)
                self._building.pop(oldest, None)
