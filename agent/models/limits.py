"""The limits of a run: calls at once at each endpoint, and the calls and tokens that it may pay.

Knows: answers from the ledger cost nothing. Does not know: what is asked, or of whom.
"""

import asyncio
import math
import re
from typing import NamedTuple

from longproof.retrieval.text.normalise import CJK

_CJK_CHARACTER = re.compile(f"[{CJK}]")


class Limiter:
    """One endpoint: `slots` is held while a call is under way and until its answer is on disk."""

    def __init__(self, concurrency: int) -> None:
        self.slots = asyncio.Semaphore(concurrency)
        self._closed_until = 0.0

    async def wait(self) -> None:
        """Wait until the server's pause is over, which may be lengthened meanwhile."""
        now = asyncio.get_running_loop().time
        while now() < self._closed_until:  # noqa: ASYNC110 a pause has no event
            await asyncio.sleep(self._closed_until - now())

    def pause(self, seconds: float) -> None:
        """Send nothing for so long: the server said so."""
        self._closed_until = max(self._closed_until, asyncio.get_running_loop().time() + seconds)


class Traffic(NamedTuple):
    """The traffic of a run so far: calls paid, their tokens, calls that wait for an answer, and second askings."""

    calls: int = 0
    tokens: int = 0
    waiting: int = 0
    retries: int = 0


class Limits:
    """The limits of one run on one event loop, and what it paid so far. None: no limit.

    Tokens are the server's own where it sends them, else estimated. Calls under way may overshoot `max_tokens` by
    their answers; `max_calls` is never exceeded. `concurrency`: calls at once at each endpoint.
    """

    def __init__(
        self, *, max_calls: int | None = None, max_tokens: int | None = None, concurrency: int = 16
    ) -> None:
        self.max_calls = math.inf if max_calls is None else max_calls
        self.max_tokens = math.inf if max_tokens is None else max_tokens
        self.calls = self.tokens = self.waiting = self.retries = 0
        self.refused: dict[str, tuple[str, int]] = {}
        """Calls beyond what may be paid, for a dry run: purpose and tokens of the prompt, by key in the ledger."""
        self._concurrency = concurrency
        self._limiters: dict[str, Limiter] = {}

    @property
    def traffic(self) -> Traffic:
        """The traffic so far."""
        return Traffic(self.calls, self.tokens, self.waiting, self.retries)

    def of(self, endpoint: str) -> Limiter:
        """The one limiter of this endpoint."""
        return self._limiters.setdefault(endpoint, Limiter(self._concurrency))

    def take(self, tokens: int, purpose: str, key: str) -> bool:
        """Reserve one call with a prompt of so many tokens. False where that exceeds what may be paid."""
        if self.calls + 1 > self.max_calls or self.tokens + tokens > self.max_tokens:
            self.refused[key] = (purpose, tokens)
            return False
        self.calls += 1
        self.tokens += tokens
        return True

    def give_back(self, tokens: int) -> None:
        """Undo a reservation of a call that was neither answered nor paid."""
        self.calls -= 1
        self.tokens -= tokens

    def refused_steps(self) -> dict[str, tuple[int, int]]:
        """Calls that were refused and tokens of their prompts, by purpose, in the order of its name."""
        steps: dict[str, tuple[int, int]] = {}
        for purpose, tokens in sorted(self.refused.values()):
            calls, before = steps.get(purpose, (0, 0))
            steps[purpose] = (calls + 1, before + tokens)
        return steps


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: one a CJK character, one for four others."""
    cjk = len(_CJK_CHARACTER.findall(text))
    return cjk + -(-(len(text) - cjk) // 4)
