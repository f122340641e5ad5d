"""Units behind a number, under one name each."""

import pytest

from longproof.retrieval.text.units import english_unit, unit_after


@pytest.mark.parametrize(
    ("text", "unit", "length"),
    [
        ("两银子", "两", 3), ("个月", "月", 2), ("个小时", "小时", 3), ("周岁", "岁", 2),
        ("号", "日", 1), ("千克", "公斤", 2),
        (" percent", "%", 8), ("%", "%", 1), (" years old", "year", 6),
        ("-year-old", "year", 5), (" feet", "foot", 5),
        ("kg", "kilogram", 2), (" centuries", "century", 10), ("国", "", 0), (" old men", "", 0), ("", "", 0),
    ],
)  # fmt: skip
def test_the_unit_behind_a_number(text, unit, length):
    assert unit_after("7" + text, 1) == (unit, 1 + length)


def test_all_forms_of_a_unit_have_one_name():
    assert {english_unit(word) for word in ("mile", "miles", "mi")} == {"mile"}
    assert english_unit("happiness") == english_unit("s") == ""
