"""Numbers of running text: what they say, what they count, and what is no number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.text.numbers import numbers


def read(text):
    return [(n.text, n.value, n.unit) for n in numbers(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$94.8 million or $0.91 a share", [("$94.8 million", 94.8e6, "dollar"), ("$0.91", 0.91, "dollar")]),
        ("US$5bn, £30, 50元", [("US$5bn", 5e9, "dollar"), ("£30", 30, "pound"), ("50元", 50, "元")]),
        ("up 20.9%, 30 per cent", [("20.9%", 20.9, "%"), ("30 per cent", 30, "%")]),
        ("1,234,567 votes; 3,500.5 km", [("1,234,567 votes", 1234567, "vote"), ("3,500.5 km", 3500.5, "kilometer")]),
        ("1,2 and 12,34", [("1", 1, ""), ("2", 2, ""), ("12", 12, ""), ("34", 34, "")]),
        ("2015年4月3日", [("2015年", 2015, "年"), ("4月", 4, "月"), ("3日", 3, "日")]),
        ("3万人, 1.2亿元, 94.8万", [("3万人", 30000, "人"), ("1.2亿元", 1.2e8, "元"), ("94.8万", 948000, "")]),
        ("３½ cups, ½", [("３½", 3.5, ""), ("½", 0.5, "")]),
        ("−5 °C, 10-15, 112-105", [("−5", -5, ""), ("10", 10, ""), ("15", 15, ""),
         ("112", 112, ""), ("105", 105, "")]),
        ("a 25-year-old in the 1990s", [("25-year", 25, "year"), ("1990s", 1990, "decade")]),
        ("B12, 3D, v1.2.3, H1N1, _7", []),
        ("9" * 19, []),
    ],
)  # fmt: skip
def test_digits(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("第15届", 15, ""),
        ("the 19th century", 19, "century"),
        ("第三回", 3, "回"),
        ("the third chapter", 3, "chapter"),
    ],
)
def test_ordinals_say_so(text, value, unit):
    (number,) = numbers(text)
    assert (number.value, number.unit, number.ordinal) == (value, unit, True)
    assert not numbers("三回")[0].ordinal


@pytest.mark.parametrize(
    "text",
    [
        "100多人",
        "约三百斤",
        "about twenty",
        "20余岁",
        "三五个",
        "十几岁",
        "一百多人",
        "5 or so people",
        "100+",
        "三年多",
    ],
)
def test_approximate_numbers_say_so(text):
    (number,) = numbers(text)
    assert number.approximate


def test_places_are_those_of_the_text_before_folding():
    text = "ﬁne ﬁsh ＝ ２６歲, 二十四兩"
    assert [text[n.start : n.end] for n in numbers(text)] == ["２６歲", "二十四兩"]
    assert [n.unit for n in numbers(text)] == ["岁", "两"]


def test_both_scripts_read_alike():
    assert (
        [n.value for n in numbers("兩萬三千個，一億")]
        == [n.value for n in numbers("两万三千个，一亿")]
        == [23000, 1e8]
    )


MIXED = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *"一二三两十百千万亿零半第初年月个多余几点分之0123456789.,%$-½ \n",
                "two ",
                "a half",
                "hundred",
                "ß",
            ]
        ),
        st.characters(exclude_categories=["Cs"]),
    )
).map("".join)


@given(MIXED)
def test_numbers_come_in_order_inside_the_text_and_are_finite(text):
    end = 0
    for number in numbers(text):
        assert end <= number.start < number.end <= len(text)
        assert text[number.start : number.end] == number.text
        assert abs(number.value) < 1e40
        end = number.end


@given(st.integers(0, 10**15))
def test_digits_are_read_as_they_are_written(value):
    assert [n.value for n in numbers(f"there were {value:,} of")] == [value]
