"""Pauses hold everyone, budgets are kept to the call."""

import asyncio

import pytest
from clock import seconds
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.models.limits import Limiter, Limits, estimate_tokens


def test_a_pause_holds_everyone_even_when_it_grows() -> None:
    async def work() -> None:
        limiter = Limiter(1)
        limiter.pause(0.1)
        waiting = [asyncio.create_task(limiter.wait()) for _ in range(3)]
        await asyncio.sleep(0.05)
        limiter.pause(0.3)
        await asyncio.gather(*waiting)

    assert seconds(work) == pytest.approx(0.35)


@given(st.integers(0, 20), st.lists(st.integers(0, 50), max_size=40), st.integers(0, 500))
def test_a_budget_is_never_exceeded_by_reservations(
    max_calls: int, asked: list[int], max_tokens: int
) -> None:
    limits = Limits(max_calls=max_calls, max_tokens=max_tokens)
    taken = [tokens for n, tokens in enumerate(asked) if limits.take(tokens, "judge", f"call {n}")]
    calls, refused = limits.refused_steps().get("judge", (0, 0))
    assert limits.calls == len(taken) <= max_calls
    assert limits.tokens == sum(taken) <= max_tokens
    assert calls + limits.calls == len(asked)
    assert refused + limits.tokens == sum(asked)


def test_a_budget_of_nothing_counts_what_a_run_would_ask() -> None:
    limits = Limits(max_calls=0)
    asked = [(10, "judge", "a"), (20, "judge", "b"), (5, "decompose", "c"), (20, "judge", "b")]
    assert not any(limits.take(*call) for call in asked)
    assert list(limits.refused_steps().items()) == [("decompose", (1, 5)), ("judge", (2, 30))]


def test_estimates_are_near_what_tokenizers_count() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("The old captain walked along the harbour.") == 11
    assert estimate_tokens("老船长沿着港口走。") == 9
