"""The price of a run's first round, before anybody is asked.

Knows: a dry run builds every prompt of the first round and is refused each call; one verifier made all the dry runs,
and its budget keeps what it refused, so the last report tells the refusals of all.
Does not know: prices, how long answers are, or what is asked after the first round.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from longproof.agent.types import Report


class Paid(NamedTuple):
    """Calls, and the tokens of their prompts as we count them."""

    calls: int = 0
    tokens: int = 0


class Estimate(NamedTuple):
    """The first round of a run that pays, by purpose; of answers that are kept already, none."""

    first: Mapping[str, Paid]

    @property
    def first_round(self) -> Paid:
        """The first round of all purposes together."""
        calls = sum(paid.calls for paid in self.first.values())
        return Paid(calls, sum(paid.tokens for paid in self.first.values()))


def estimate(dry: Sequence[Report]) -> Estimate:
    """Estimate what the cases of these dry runs would pay together."""
    return Estimate(
        {purpose: Paid(*paid) for purpose, paid in dry[-1].stamp["refused"].items()} if dry else {}
    )


def estimate_lines(told: Estimate, money: tuple[str, str] | None = None) -> Iterator[str]:
    """The estimate in words; `money` is what reading the first round costs, by the cheapest model and the dearest."""
    if not told.first:
        yield "nothing would be paid"
        return
    steps = ", ".join(f"{purpose} {paid.calls:,}" for purpose, paid in told.first.items())
    calls, tokens = told.first_round
    yield f"first round: {calls:,} calls ({steps}), {tokens:,} tokens to read"
    if money:
        yield f"what the first round reads costs {money[0]} to {money[1]}, by the prices given"
    yield "what is asked after it depends on the answers. Cap it with --max-calls."
