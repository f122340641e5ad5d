"""Secrets are hidden in foreign text, however they are written, and so is each longer part of one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.text.redact import RUN, one_line, without

KEY = "sk-proj-AbCdEf123456789xyz"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"a {KEY} b", "a … b"),
        (KEY.upper(), "…"),
        ("Incorrect key: sk-proj-AbCd***9xyz.", "Incorrect key: …***9xyz."),
        ("it ends in 123456789xyz", "it ends in …"),
        ("f12345 6", "f12345 6"),
        ("f12345 67", "…"),
        (r"\u0041bCd\\u0045f1234", "…"),
        ("%41bCdEf%3123", "…"),
        ("AbCd\\nEf123", "…"),
        ("a\u200bbCd\nEf123", "…"),
        ("nothing of it", "nothing of it"),
    ],
)
def test_a_secret_and_its_longer_parts_are_hidden(text: str, shown: str) -> None:
    assert without(KEY, text) == shown


@given(st.text(), st.integers(0, len(KEY) - RUN), st.integers(RUN, len(KEY)), st.text())
def test_no_longer_part_stays(before: str, start: int, length: int, behind: str) -> None:
    part = KEY[start : start + length]
    assert part not in without(KEY, before + part + behind)


@pytest.mark.parametrize(("key", "shown"), [("EMPTY", "the … box"), ("key", "the empty box")])
def test_a_short_secret_is_hidden_whole_and_a_stand_in_not_at_all(key: str, shown: str) -> None:
    assert without(key, "the empty box") == shown
    assert one_line("the\nempty \x1bbox", key) == shown
