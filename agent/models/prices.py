"""The cost of models' tokens, by a price list that the user gives.

Knows: the `[prices]` table of a TOML file, by model: `input`, `cached` and `output` for a million tokens, and their
`currency`, one for all. Does not know: any price of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from longproof.agent.types import Call
from longproof.retrieval.files import read_toml
from longproof.retrieval.types import BadInput, Frozen, first_fault

MILLION = 1_000_000
DOLLARS = "USD"
"""The currency of prices that name none."""


class ModelPrice(Frozen):
    """The price of a million tokens; `cached`: of the prompt, where the server had it cached (None: as `input`)."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    currency: str = Field(default=DOLLARS, pattern="^[A-Z]{3}$")


def refuse_two_currencies(prices: dict[str, ModelPrice]) -> dict[str, ModelPrice]:
    """The prices, if one currency holds for all. Raises ValueError otherwise: there would be no sum."""
    if len({price.currency for price in prices.values()}) > 1:
        raise ValueError('prices are in one currency, as in currency = "EUR" for each model')
    return prices


Prices = Mapping[str, ModelPrice]
PriceList = Annotated[dict[str, ModelPrice], AfterValidator(refuse_two_currencies)]


def read_prices(path: Path) -> dict[str, ModelPrice]:
    """The `[prices]` table of a TOML file; empty where it has none. Raises BadInput for anything else in it."""
    try:
        return TypeAdapter(PriceList).validate_python(read_toml(path).get("prices", {}))
    except ValidationError as error:
        place, why = first_fault(error)
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
