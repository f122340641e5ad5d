"""A JSON record told as one fact a line; what is no JSON is refused in one line."""

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.loaders import record
from longproof.retrieval.types import BadInput


def test_one_fact_a_line_with_its_path():
    raw = """{"team": {"home": {"name": "Suns", "won": true}}, "players": [{"name": "Booker", "points": 12}, {}],
        "coach": null, "notes": [], "nick": "", "Release date": "2015\\nMay", "a.b": {"c:d": 1}}"""
    document = record(raw, title="game", uri="game.json")
    assert document.text.split("\n") == [
        "team.home.name: Suns", "team.home.won: true", "players[0].name: Booker", "players[0].points: 12",
        "players[1]: {}", "coach: null", "notes: []", 'nick: ""', "Release date: 2015 May", '"a.b"."c:d": 1',
    ]  # fmt: skip
    assert (document.kind, document.raw, document.title, document.uri) == ("record", raw, "game", "game.json")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("12", "12"),
        ('"so"', "so"),
        ("[]", "[]"),
        ("[[1],[2]]", "[0][0]: 1\n[1][0]: 2"),
        ('{"p": 1.50, "q": 1e400, "r": -0.0}', "p: 1.50\nq: 1e400\nr: -0.0"),
        ("9" * 5000, "9" * 5000),
        ('\ufeff{"a": 1}', "a: 1"),
        ('{"名": "紅樓夢", "一.": 1}', '名: 紅樓夢\n"一.": 1'),
        (r'{"a": "x\u0000\u2028\ty"}', "a: x y"),
        (r'{"a": "\ud800x"}', "a: \ufffdx"),
    ],
)
def test_scalars_stand_as_they_were_written(raw, text):
    assert record(raw).text == text


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ('{"a":\n  }', "line 2, column 3"),
        ("[1, 2", "line 1, column 6"),
        ("", "no JSON in it"),
        ("  \n", "no JSON in it"),
        ('{"a": NaN}', "NaN"),
        ("[-Infinity]", "-Infinity"),
        ('{"a": {"b": 1, "b": 2}}', 'the key "b" stands twice'),
        ("[" * 100_000, "levels deep"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "levels deep"),
        ('"' + '\\"' * 100_000, "Unterminated string"),
        ('{"' + "k" * 100 + '":' + "[" * 150 + ",".join("0" * 50_000) + "]" * 150 + "}", "too long"),
        ("[" + "1," * 600_000 + "1]", "more than 500,000 values"),
    ],
)
def test_what_is_no_usable_json_is_refused_in_one_line(raw, message):
    with pytest.raises(BadInput, match=message) as refusal:
        record(raw, uri="data.json")
    assert re.fullmatch(r"data\.json: .{,180}", str(refusal.value))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=15,
)


def leaves(value):
    if isinstance(value, dict | list) and value:
        return sum(map(leaves, value.values() if isinstance(value, dict) else value))
    return 1


@given(JSON)
def test_every_leaf_is_one_line_and_no_half_character_is_left(value):
    document = record(json.dumps(value))
    assert len(document.text.split("\n")) == leaves(value)
    assert not any("\ud800" <= character <= "\udfff" for character in document.text)


@given(st.text())
def test_any_text_is_a_record_or_bad_input(text):
    with suppress(BadInput):
        assert record(text).raw == text.removeprefix("\ufeff")
