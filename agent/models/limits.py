"""Rate limits of endpoints and the budget of a run.

Knows: one rate limiter an endpoint (concurrency, requests and tokens a minute, a pause that the server asked for) and
one budget a run. The budget counts what this run pays: answers from the ledger cost nothing. Times are those of the
event loop.
Does not know: what is asked, or of whom. One instance a run and event loop.
"""

import asyncio
import math
import re
from typing import NamedTuple

from longproof.retrieval.text.tokens import CJK

_CJK_CHARACTER = re.compile(f"[{CJK}]")


class Rates(NamedTuple):
    """Limits of one endpoint. None: no limit."""

    concurrency: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class RateLimiter:
    """The limits of one endpoint: `slots` is held while a call is under way and until its answer is on disk."""

    def __init__(self, rates: Rates) -> None:
        self.slots = asyncio.Semaphore(rates.concurrency)
        self._requests = _Pace(rates.requests_per_minute)
        self._tokens = _Pace(rates.tokens_per_minute)
        self._closed_until = 0.0

    async def wait(self, tokens: int) -> None:
        """Wait until a call of about so many tokens may be sent."""
        due = max(self._requests.due(1), self._tokens.due(tokens))
        await asyncio.sleep(due - _now())
        while _now() < self._closed_until:  # noqa: ASYNC110 the server may have asked for more meanwhile
            await asyncio.sleep(self._closed_until - _now())

    def pause(self, seconds: float) -> None:
        """Send nothing for so long: the server said so."""
        self._closed_until = max(self._closed_until, _now() + seconds)

    def settle(self, more_tokens: int) -> None:
        """Count tokens that a call cost beyond (or, if negative, below) what `wait` was told."""
        self._tokens.add(more_tokens)


class Budget:
    """The calls and tokens that one run may pay. None: no limit.

    Tokens are the server's own where it sends them, else estimated. Calls under way may overshoot `max_tokens` by
    their answers; `max_calls` is never exceeded.
    """

    def __init__(self, *, max_calls: int | None = None, max_tokens: int | None = None) -> None:
        self.max_calls = math.inf if max_calls is None else max_calls
        self.max_tokens = math.inf if max_tokens is None else max_tokens
        self.calls = self.tokens = 0
        self.refused: dict[str, tuple[str, int]] = {}
        """Calls beyond what may be paid, for a dry run: purpose and tokens of the prompt, by key in the ledger."""

    def take(self, tokens: int, purpose: str, key: str) -> bool:
        """Reserve one call with a prompt of so many tokens. False where that exceeds what may be paid."""
        if self.calls + 1 > self.max_calls or self.tokens + tokens > self.max_tokens:
            self.refused[key] = (purpose, tokens)
            return False
        self.calls += 1
        self.tokens += tokens
        return True

    def refused_steps(self) -> dict[str, tuple[int, int]]:
        """Calls that were refused and tokens of their prompts, by purpose, in the order of its name."""
        steps: dict[str, tuple[int, int]] = {}
        for purpose, tokens in sorted(self.refused.values()):
            calls, before = steps.get(purpose, (0, 0))
            steps[purpose] = (calls + 1, before + tokens)
        return steps

    def give_back(self, tokens: int) -> None:
        """Undo a reservation of a call that was neither answered nor paid."""
        self.calls -= 1
        self.tokens -= tokens


class Traffic(NamedTuple):
    """The traffic of a run so far: calls paid, their tokens, calls that wait for an answer, and second askings."""

    calls: int = 0
    tokens: int = 0
    waiting: int = 0
    retries: int = 0


class Limits:
    """The rate limiters and the budget of a run, and what is under way; every endpoint has the same rates."""

    def __init__(self, rates: Rates | None = None, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.waiting = self.retries = 0
        """Calls that wait for an answer now, and how often one was asked again."""
        self._rates = rates or Rates()
        self._limiters: dict[str, RateLimiter] = {}

    @property
    def traffic(self) -> Traffic:
        """The traffic so far."""
        return Traffic(self.budget.calls, self.budget.tokens, self.waiting, self.retries)

    def of(self, endpoint: str) -> RateLimiter:
        """The one rate limiter of this endpoint."""
        return self._limiters.setdefault(endpoint, RateLimiter(self._rates))


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: one a CJK character, one for four others."""
    cjk = len(_CJK_CHARACTER.findall(text))
    return cjk + -(-(len(text) - cjk) // 4)


class _Pace:
    """Spaces units evenly over the minute; time in which nothing was asked is not saved up for a burst."""

    def __init__(self, per_minute: float | None) -> None:
        self._seconds_each = 60 / per_minute if per_minute else 0.0
        self._next = 0.0

    def due(self, units: int) -> float:
        start = max(self._next, _now())
        self._next = start + units * self._seconds_each
        return start

    def add(self, units: int) -> None:
        self._next += units * self._seconds_each


def _now() -> float:
    return asyncio.get_running_loop().time()
