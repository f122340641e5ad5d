"""Reciprocal rank fusion: a worked example and its laws."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.fuse import fuse
from longproof.retrieval.types import Document, Hit

DOCUMENT = Document.of("abcdefgh")


def ranking(letters: str) -> list[Hit]:
    places = [DOCUMENT.text.index(letter) for letter in letters]
    return [
        Hit(span=DOCUMENT.span(place, place + 1), score=10 - rank, rank=rank, via="lexical")
        for rank, place in enumerate(places, start=1)
    ]


rankings = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True).map("".join).map(ranking), max_size=4)


def test_ranks_count_the_less_the_further_down() -> None:
    fused = fuse([ranking("abc"), ranking("cad")], 10)
    assert [hit.span.text for hit in fused] == ["a", "c", "b", "d"]
    assert [hit.score for hit in fused] == pytest.approx([1 / 61 + 1 / 62, 1 / 63 + 1 / 61, 1 / 62, 1 / 63])
    assert {hit.via for hit in fused} == {"fused"}


def test_of_equals_the_first_ranking_decides() -> None:
    assert [hit.span.text for hit in fuse([ranking("ab"), ranking("dc")], 3)] == ["a", "d", "b"]


@given(rankings, st.integers(0, 9))
def test_hits_keep_their_laws(given_: list[list[Hit]], k: int) -> None:
    fused = fuse(given_, k)
    spans = {hit.span for hits in given_ for hit in hits}
    assert len(fused) == min(k, len(spans)) == len({hit.span for hit in fused})
    assert [hit.rank for hit in fused] == list(range(1, len(fused) + 1))
    assert all(a.score >= b.score for a, b in pairwise(fused))


@given(st.lists(st.sampled_from("abcdefgh"), unique=True).map("".join), st.integers(1, 3))
def test_agreeing_rankings_keep_their_order(letters: str, times: int) -> None:
    assert "".join(hit.span.text for hit in fuse([ranking(letters)] * times, 9)) == letters
