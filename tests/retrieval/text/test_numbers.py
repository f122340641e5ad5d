import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.text.normalise import fold
from longproof.retrieval.text.numbers import Number, folded_numbers


def numbers(text: str) -> list[Number]:
    return list(folded_numbers(fold(text)))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("twenty-seven men and two hundred and five horses", [27, 205]),
        ("1.8 billion, 350k, 1,234.5 and 1900s", [1.8e9, 350_000, 1234.5, 1900]),
        ("两千三百人，3.5亿元，廿三日，１２次", [2300, 3.5e8, 23, 12]),
        ("第一百二十回", [120]),
        ("百、亿", []),
        ("no number", []),
    ],
)
def test_numbers_in_both_languages(text, values):
    assert [number.value for number in numbers(text)] == values


def test_a_percentage_and_an_ordinal_say_so():
    [percent], [share], [ordinal] = numbers("5%"), numbers("百分之五"), numbers("第三")
    assert percent.percent
    assert share.percent
    assert percent.value == share.value == 5
    assert ordinal.ordinal


@given(st.text(alphabet="0123456789,.% 一二十百千万亿第约ofiveandthirty-ﬁ½１", max_size=60))
def test_numbers_stand_where_they_say(text):
    folded = fold(text)
    for number in folded_numbers(folded):
        assert next(folded_numbers(folded[number.start : number.end])).value == number.value
