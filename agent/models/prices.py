"""The cost of models' tokens, by a price list that the user gives.

Knows: the `[prices]` table of a TOML file, by model: `input`, `cached` and `output` for a million tokens, in whatever
currency; and what calls come to by it. Does not know: any price of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError

from longproof.agent.types import Call
from longproof.retrieval.files import read_toml
from longproof.retrieval.types import BadInput, Frozen

MILLION = 1_000_000


class ModelPrice(Frozen):
    """The price of a million tokens; `cached`: of the prompt, where the server had it cached (None: as `input`)."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)


Prices = Mapping[str, ModelPrice]


def read_prices(path: Path) -> dict[str, ModelPrice]:
    """The `[prices]` table of a TOML file; empty where it has none. Raises BadInput for anything else in it."""
    try:
        return TypeAdapter(dict[str, ModelPrice]).validate_python(read_toml(path).get("prices", {}))
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(
            f"{path}: [prices] {'.'.join(map(str, first['loc']))}: {first['msg']}; "
            'write "MODEL" = { input = 1.0, output = 4.0 }'
        ) from error


def money(calls: Iterable[Call], prices: Prices) -> float | None:
    """The cost of these calls, as far as servers told their tokens; None where a model that was asked has no price,
    or nothing has one."""
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
    """The cost of having so many tokens read, by the cheapest of these models and by the dearest; None where one
    of them has no price."""
    rates = [prices[model].input for model in models if model in prices]
    if not rates or len(rates) < len(models):
        return None
    return amount_in_digits(min(rates) * tokens / MILLION), amount_in_digits(max(rates) * tokens / MILLION)


def amount_in_digits(amount: float) -> str:
    """An amount with as many digits as say something."""
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.4f}"
