import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.text.normalise import fold
from longproof.retrieval.text.numbers import Number, differ, folded_numbers


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


def test_approximate_numbers():
    for text in ("约300人", "三百多人", "十余人", "三五个", "about 300", "300 or so", "over $300"):
        assert [number.exact for number in numbers(text)] == [False], text


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        ("12", "13", True), ("10", "12", True), ("2.80", "2.79", True), ("5%", "6%", True),
        ("1.8 billion", "1,823,000,000", False), ("1.8 billion", "1,923,000,000", True),
        ("twelve", "十二", False), ("5%", "百分之五", False), ("5%", "0.05", False),
        ("2007", "07", False), ("约300", "320", False), ("第三", "四", False),
    ],
)  # fmt: skip
def test_when_two_numbers_differ(one, other, differs):
    [first], [second] = numbers(one), numbers(other)
    assert differ(first, second) is differ(second, first) is differs


@given(st.text(alphabet="0123456789,.% 一二十百千万亿第约ofiveandthirty-ﬁ½１", max_size=60))
def test_numbers_stand_where_they_say(text):
    folded = fold(text)
    for number in folded_numbers(folded):
        assert folded[number.start : number.end] == number.text
