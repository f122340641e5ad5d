"""A clock that jumps: seconds pass only where everybody waits, so that no test of waiting waits."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any


class _Selector(selectors.SelectSelector):
    """Waits for nothing but other threads; `now` moves on by what would have been waited."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(None if timeout is None else 0)
        if not ready and timeout:
            self.now += timeout
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def seconds(work: Callable[[], Coroutine[Any, Any, object]]) -> float:
    """How long this work takes on an event loop of its own whose clock jumps."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        runner.run(work())
        return runner.get_loop().time()
