"""English number words, and the words that are no numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.text.numbers_en import english_numbers


def read(text):
    return [(text[found.start : found.end], found.value, found.unit) for found in english_numbers(text)]


@pytest.mark.parametrize(
    ("text", "words", "value", "unit"),
    [
        ("twenty-seven men", "twenty-seven men", 27, "man"),
        ("twenty - five people", "twenty - five people", 25, "person"),
        ("a dozen eggs", "a dozen", 12, ""),
        ("half a dozen", "half a dozen", 6, ""),
        ("two hundred and five years", "two hundred and five years", 205, "year"),
        ("three hundred thousand dollars", "three hundred thousand dollars", 300000, "dollar"),
        ("a hundred people", "a hundred people", 100, "person"),
        ("nineteen forty-five", "nineteen forty-five", 1945, ""),
        ("half an hour", "half an hour", 0.5, "hour"),
        ("half of it", "half", 0.5, ""),
        ("a third of it", "a third", 1 / 3, ""),
        ("two-thirds", "two-thirds", 2 / 3, ""),
        ("three-quarters", "three-quarters", 0.75, ""),
        ("two and a half years", "two and a half years", 2.5, "year"),
        ("only one son", "one son", 1, "son"),
        ("he went twice", "twice", 2, "time"),
        ("the twenty-second of may", "twenty-second", 22, ""),
        ("the second time", "second time", 2, "time"),
        ("two million three hundred thousand", "two million three hundred thousand", 2.3e6, ""),
    ],
)
def test_number_words(text, words, value, unit):
    assert read(text) == [(words, pytest.approx(value), unit)]


@pytest.mark.parametrize(
    "text",
    ["one of them", "one day", "no one", "one another", "the one", "one's own", "first of all", "at first",
     "a second", "at second glance", "hundreds of men", "dozens", "half asleep", "behalf", "someone", "often",
     "the only one that", "a third man", "several hundred"],
)  # fmt: skip
def test_words_that_are_no_numbers(text):
    assert read(text) == []


def test_two_numbers_side_by_side_stay_two():
    assert [value for _, value, _ in read("two three-year terms")] == [2, 3]
    assert [value for _, value, _ in read("five or six")] == [5, 6]


UNDER_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
SMALL = UNDER_TWENTY.split()
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spelled(value):
    """The words of an integer below a thousand: an oracle written the other way round."""
    if value < 20:
        return SMALL[value]
    if value < 100:
        return TENS[value // 10] + (f"-{SMALL[value % 10]}" if value % 10 else "")
    return f"{SMALL[value // 100]} hundred" + (f" and {spelled(value % 100)}" if value % 100 else "")


@given(st.integers(2, 999), st.integers(0, 999))
def test_every_number_below_a_million_is_read(upper, lower):
    words = f"{spelled(upper)} thousand" + (f" {spelled(lower)}" if lower else "")
    assert read(f"{words} miles") == [(f"{words} miles", upper * 1000 + lower, "mile")]
    assert read(spelled(upper)) == [(spelled(upper), upper, "")]
