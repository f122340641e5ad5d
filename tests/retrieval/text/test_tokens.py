"""Tokens are words, numbers, and characters and pairs of CJK."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.text.tokens import cjk_share, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop", ["don't", "stop"]),
        ("他来了。好", ["他", "来", "了", "他来", "来了", "好"]),
        ("林黛玉's U.S. e-mail", ["林", "黛", "玉", "林黛", "黛玉", "s", "u", "s", "e", "mail"]),
        ("paid 3,500.5 in 1990s", ["paid", "3500.5", "in", "1990s"]),
        ("  …！ ", []),
        ("_emphasis_", ["emphasis"]),
        ("", []),
    ],
)
def test_tokens(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "share"), [("", 0), ("123 …", 0), ("hello", 0), ("你好", 1), ("你好ab", 0.5), ("你好12", 1)]
)
def test_the_share_of_cjk_is_among_letters(text, share):
    assert cjk_share(text) == share


@given(st.text())
def test_tokens_are_never_empty_and_the_share_is_a_share(text):
    assert all(tokens(text))
    assert 0 <= cjk_share(text) <= 1


@given(st.text(st.sampled_from("甲乙丙丁"), min_size=1))
def test_a_run_of_n_characters_gives_its_characters_and_n_less_one_pairs(run):
    assert tokens(run) == [*run, *map("".join, pairwise(run))]
