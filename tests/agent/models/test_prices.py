"""What tokens cost: by the list given, cached ones apart, and nothing where a model has no price."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.models.limits import MILLION, ModelPrice, amount_text, money, read_prices, reading_cost
from longproof.agent.types import Call
from longproof.retrieval.types import BadInput

COUNT = st.integers(0, 10**9)


def tokens(model: str, prompt: int, completion: int, cached: int = 0) -> Call:
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "cached_tokens": cached}
    return Call(id="", purpose="", endpoint="", model=model, prompt_hash="", prompt_characters=0, **counts)


@given(COUNT, COUNT, COUNT)
def test_cached_tokens_have_a_price_and_are_among_the_prompts(prompt: int, done: int, cached: int) -> None:
    price = {"m": ModelPrice(input=2, output=8, cached=0.5)}
    expected = (2 * max(0, prompt - cached) + 0.5 * cached + 8 * done) / MILLION
    assert money([tokens("m", prompt, done, cached)], price) == pytest.approx(expected)


def test_a_model_without_a_price_leaves_the_sum_unknown_and_cached_tokens_cost_what_others_do() -> None:
    price = {"m": ModelPrice(input=2, output=8)}
    assert money([tokens("m", 10, 10), tokens("other", 1, 1)], price) is None
    assert money([tokens("m", 10, 10)], {}) is None
    assert [money([], price), money([tokens("m", MILLION, 0, MILLION)], price)] == [0, 2]


def test_a_price_list_is_read_from_its_table_and_has_one_currency(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('[prices]\n"gpt-4.1" = { input = 2.0, cached = 0.5, output = 8.0 }\n', "utf-8")
    assert read_prices(path) == {"gpt-4.1": ModelPrice(input=2, cached=0.5, output=8)}
    euros = '"a" = { input = 1.0, output = 2.0, currency = "EUR" }'
    path.write_text(f"[prices]\n{euros}\n", "utf-8")
    assert reading_cost(["a"], MILLION, read_prices(path)) == ("1.00 EUR", "1.00 EUR")
    path.write_text(f'[prices]\n{euros}\n"b" = {{ input = 1.0, output = 2.0 }}\n', "utf-8")
    with pytest.raises(BadInput, match="one currency"):
        read_prices(path)


@pytest.mark.parametrize(
    "text",
    ["[prices]\nm = 3\n", "[prices]\nm = { input = -1, output = 1 }\n", "prices = 3\n", "[prices\n",
     "[prices]\nm = { input = nan, output = 1 }\n", "[prices]\nm = { input = 1, output = 1, key = 2 }\n",
     f"[prices]\nm = {'[' * 100_000}", f"[prices]\nm = {{ input = {'9' * 5000}, output = 1 }}\n",
     f"[prices]\nm = {{ input = {'9' * 4000}, output = 1 }}\n"],
)  # fmt: skip
def test_what_is_no_price_list_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(BadInput) as refused:
        read_prices(path)
    assert "\n" not in str(refused.value)


def test_amounts_have_as_many_digits_as_say_something() -> None:
    shown = [amount_text(amount) for amount in (0.00123, 1.005, 1234.5, 0)]
    assert shown == ["0.0012 USD", "1.00 USD", "1,234.50 USD", "0.0000 USD"]
