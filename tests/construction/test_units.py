"""Units of a book: sizes, whole sentences, chapters."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.models.limits import estimate_tokens
from longproof.construction.units import units

PARAGRAPH = "那时节天色渐晚，众人都散了。王冕牵牛回家，母亲在门前等他。" * 4


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(50, 300))
def test_units_have_their_size_and_follow_each_other(sizes, least):
    text = "\n".join("他买了一本旧书来读。" * n for n in sizes)
    most = 2 * least
    cut = units(text, least, most)
    assert all(least <= unit.tokens <= most for unit in cut)
    assert all(a.end <= b.start for a, b in pairwise(cut))
    assert all(not text[a.end : b.start].strip() for a, b in pairwise(cut))
    for unit in cut:
        piece = text[unit.start : unit.end]
        assert piece == piece.strip()
        assert piece.endswith("。")
        assert abs(unit.tokens - estimate_tokens(piece)) <= piece.count("。")


def test_a_chapter_opens_a_unit_once_there_is_enough():
    text = "\n".join([PARAGRAPH] * 3 + ["第二回 王冕画荷"] + [PARAGRAPH] * 8)
    least = estimate_tokens("\n".join([PARAGRAPH] * 3)) - 20
    first, second, *_ = units(text, least, 10 * least)
    assert text[second.start :].startswith("第二回")
    assert text[first.end :].startswith("\n第二回")


def test_what_is_too_short_has_no_unit():
    assert units("他走了。") == []
    assert units("") == []


def test_bad_sizes_are_refused():
    with pytest.raises(ValueError, match="unit"):
        units("他走了。", 10, 5)
