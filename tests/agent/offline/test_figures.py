import pytest

from longproof.agent.offline.figures import same
from longproof.retrieval.text.numbers import numbers


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("1.8 billion", "1,798 million"),
        ("30%", "0.3"),
        ("三十余次", "三十六次"),
        ("about 20 men", "21 men"),
        ("5", "5.0"),
    ],
)
def test_numbers_that_may_be_the_same(said: str, there: str):
    assert same(numbers(said)[0], numbers(there)[0])


@pytest.mark.parametrize(
    ("said", "there"),
    [("1.8 billion", "1,500 million"), ("32 men", "31 men"), ("三十余次", "二十余次"), ("1.04", "1.03")],
)
def test_numbers_that_are_not(said: str, there: str):
    assert not same(numbers(said)[0], numbers(there)[0])
