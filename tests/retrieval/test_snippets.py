"""Snippets cover the page, overlap as said, and end where the text ends."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.snippets import OVERLAP, SIZE, snippets


def test_sizes_are_those_of_verigray() -> None:
    assert (SIZE, OVERLAP) == (1600, 200)
    assert snippets("x" * 4000) == [(0, 1600), (1400, 3000), (2800, 4000)]


@pytest.mark.parametrize(("length", "number"), [(0, 0), (1, 1), (1600, 1), (1601, 2), (3000, 2), (3001, 3)])
def test_a_text_that_fits_is_one_snippet(length: int, number: int) -> None:
    assert len(snippets("字" * length)) == number


@given(st.integers(0, 500), st.integers(1, 60), st.data())
def test_snippets_cover_the_text_and_share_what_is_said(length: int, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    cut = snippets("🦊" * length, size, overlap)
    assert (cut[0][0], cut[-1][1]) == (0, length) if length else cut == []
    assert all(0 < end - start <= size for start, end in cut)
    assert all(before[1] - after[0] == overlap for before, after in pairwise(cut))
    assert all(end - start == size for start, end in cut[:-1])


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1), (-5, 2)])
def test_snippets_without_a_step_forward_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="can't share"):
        snippets("text", size, overlap)
