"""Chinese numerals, and the numerals that are no numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.text.numbers_zh import chinese_numbers


def read(text):
    return [(found.value, found.unit) for found in chinese_numbers(text)]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("二十四两银子", 24, "两"), ("一百二十人", 120, "人"), ("两千三百", 2300, ""), ("两千三", 2300, ""),
        ("一万零五", 10005, ""), ("三万五", 35000, ""), ("廿三岁", 23, "岁"), ("十二回", 12, "回"),
        ("百二十回", 120, "回"), ("一百单八将", 108, "将"), ("二〇二六年", 2026, "年"), ("一九四九年", 1949, "年"),
        ("百分之三十", 30, "%"), ("百分之三点五", 3.5, "%"), ("三分之二", 2 / 3, ""), ("三点五倍", 3.5, "倍"),
        ("半个月", 0.5, "月"), ("一半", 0.5, ""), ("三年半", 3.5, "年"), ("两个半月", 2.5, "月"),
        ("一斤半", 1.5, "斤"), ("壹佰贰拾元", 120, "元"), ("一百余万", 1e6, ""),
        ("十万余骑", 1e5, "骑"), ("一万两千两", 12000, "两"),
        ("星期二", 2, "星期"), ("八月初三", 3, "日"), ("十八", 18, ""), ("一亿三千万元", 1.3e8, "元"),
        ("三五个", 4, "个"), ("十七八岁", 17.5, "岁"), ("二三十里", 25, "里"), ("一两日", 1.5, "日"),
        ("三个月", 3, "月"),
    ],
)  # fmt: skip
def test_numerals(text, value, unit):
    assert read(text)[-1] == (pytest.approx(value), unit)


def test_measures_in_a_row_are_several_numbers():
    assert read("三钱二分") == [(3, "钱"), (2, "分")]
    assert read("十两三钱") == [(10, "两"), (3, "钱")]


@pytest.mark.parametrize(
    "text",
    ["一时间", "一齐", "十分喜欢", "一般", "万一", "千万别", "三国", "张三", "李四",
     "第二天", "七上八下", "乱七八糟", "三三两两", "半天", "半夜", "大半个", "统一", "一点",
     "一些", "这一天", "有一年", "几十人", "数百名", "上百个", "好几千", "万岁", "说一不二",
     "接二连三", "一五一十", "四海", "百般", "一身", "之一"],
)  # fmt: skip
def test_fixed_words_are_no_numbers(text):
    assert read(text) == []


def test_a_name_may_end_in_a_numeral():
    assert read("给了贺老四六十块钱") == [(60, "元")]


def test_a_run_that_no_one_would_write_is_no_number():
    assert read("一" * 1000) == read("万" * 1000 + "个") == []


def spelled(value):
    """The numeral of an integer below ten thousand, as schools teach it: an oracle written the other way round."""
    digits, places = "零一二三四五六七八九", ["", "十", "百", "千"]
    parts, zero = "", False
    for place in (3, 2, 1, 0):
        digit = value // 10**place % 10
        if digit:
            parts += ("零" if zero and parts else "") + digits[digit] + places[place]
        zero = digit == 0
    return parts


@given(st.integers(1, 9999), st.integers(0, 9999))
def test_every_numeral_below_a_hundred_million_is_read(upper, lower):
    text = spelled(upper) + "万" + (("零" if lower < 1000 else "") + spelled(lower) if lower else "") + "个"
    assert read(text) == [(upper * 10000 + lower, "个")]
    assert read(spelled(upper) + "个") == [(upper, "个")] or spelled(upper) == "一"
