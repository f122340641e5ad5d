"""The limits of a run: calls at once at each endpoint, the calls and tokens that it may pay, and what they cost.

Knows: answers from the ledger cost nothing; the `[prices]` table of a TOML file, by model: `input`, `cached` and
`output` for a million tokens, and their `currency`, one for all.
Does not know: what is asked, or of whom, or any price of its own.
"""

import asyncio
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from longproof.agent.types import Call
from longproof.retrieval.files import read_toml
from longproof.retrieval.text.normalise import CJK
from longproof.retrieval.types import BadInput, Frozen, first_fault, nearest

MILLION = 1_000_000
DOLLARS = "USD"
"""The currency of prices that name none."""
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
    """The traffic of a run so far: calls that ended, the tokens of these and of those that wait for an answer, how
    many wait, and second askings."""

    calls: int = 0
    tokens: int = 0
    waiting: int = 0
    retries: int = 0


def total_traffic(each: Iterable[Traffic]) -> Traffic:
    """The traffic of several runs together."""
    return Traffic(*map(sum, zip(Traffic(), *each, strict=True)))


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
        return Traffic(self.calls - self.waiting, self.tokens, self.waiting, self.retries)

    def of(self, endpoint: str) -> Limiter:
        """The one limiter of this endpoint."""
        return self._limiters.setdefault(endpoint, Limiter(self._concurrency))

    def hold(self, calls: int, tokens: int) -> bool:
        """True if calls with so many tokens together may still be paid."""
        return self.calls + calls <= self.max_calls and self.tokens + tokens <= self.max_tokens

    def take(self, tokens: int, purpose: str, key: str) -> bool:
        """Reserve one call with a prompt of so many tokens. False where that exceeds what may be paid."""
        if not self.hold(1, tokens):
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


class ModelPrice(Frozen):
    """The price of a million tokens; `cached`: of the prompt, where the server had it cached (None: as `input`)."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    currency: str = Field(default=DOLLARS, pattern="^[A-Z]{3}$")


def _in_one_currency(prices: dict[str, ModelPrice]) -> dict[str, ModelPrice]:
    """The prices, if one currency holds for all. Raises ValueError otherwise: there would be no sum."""
    if len({price.currency for price in prices.values()}) > 1:
        raise ValueError('prices are in one currency, as in currency = "EUR" for each model')
    return prices


Prices = Mapping[str, ModelPrice]
PriceList = Annotated[dict[str, ModelPrice], AfterValidator(_in_one_currency)]


def read_prices(path: Path) -> dict[str, ModelPrice]:
    """The `[prices]` table of a TOML file; empty where it has none. Raises BadInput for anything else in it."""
    try:
        return TypeAdapter(PriceList).validate_python(read_toml(path).get("prices", {}))
    except ValidationError as error:
        place, why = first_fault(error)
        why += nearest(place.rpartition(".")[2], ModelPrice.model_fields)
        wanted = 'write "MODEL" = { input = 1.0, output = 4.0 }'
        raise BadInput(f"{path}: [prices] {place}: {why}; {wanted}") from error


def money(calls: Iterable[Call], prices: Prices) -> float | None:
    """The cost of these calls, as far as servers told their tokens; None where a model has no price, or none has."""
    total = 0.0
    for call in calls:
        price = prices.get(call.model)
        if price is None:
            return None
        cached = call.cached_tokens or 0
        fresh = max(0, (call.prompt_tokens or 0) - cached)
        total += fresh * price.input + (call.completion_tokens or 0) * price.output
        total += cached * (price.input if price.cached is None else price.cached)
    return total / MILLION if prices else None


def reading_cost(models: Sequence[str], tokens: int, prices: Prices) -> tuple[str, str] | None:
    """The cost of reading so many tokens by the cheapest model and by the dearest; None where one has no price."""
    rates = [prices[model].input for model in models if model in prices]
    if not rates or len(rates) < len(models):
        return None
    currency = next(iter(prices.values())).currency
    least, most = (amount_text(rate * tokens / MILLION, currency) for rate in (min(rates), max(rates)))
    return least, most


def amount_text(amount: float, currency: str = DOLLARS) -> str:
    """An amount with as many digits as say something, and its currency."""
    return f"{amount:,.2f} {currency}" if amount >= 1 else f"{amount:.4f} {currency}"
