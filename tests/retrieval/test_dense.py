"""Comparing vectors: oracles for the three kinds of scores, blocks and hits with an embedder that counts letters."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from longproof.retrieval import dense
from longproof.retrieval.dense import (
    DenseIndex,
    Embeddings,
    Multi,
    Sparse,
    Weights,
    concatenated,
    embedding_scores,
)
from longproof.retrieval.types import BadInput, Document

LETTERS = "abcdefgh "


class Letters:
    """One number a letter of LETTERS; its sparse weights and token vectors are those of the letters too."""

    name = "letters"

    def __init__(self, weights: Weights | None = None) -> None:
        self.weights = weights or Weights(dense=1, sparse=0)

    def embed(self, texts, kind, progress=None) -> Embeddings:
        counts = np.array([[text.count(c) for c in LETTERS] for text in texts], dtype=np.float32)
        counts = counts.reshape(-1, len(LETTERS))
        norms = np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)
        rows = [np.flatnonzero(row) for row in counts]
        starts = np.cumsum([0, *map(len, rows)])
        tokens = np.concatenate([*rows, []]).astype(np.int32)
        weights = np.concatenate([*(row[at] for row, at in zip(counts, rows, strict=True)), []])
        return Embeddings(
            counts / norms,
            Sparse(tokens, weights.astype(np.float32), starts),
            Multi(np.eye(len(LETTERS), dtype=np.float16)[tokens], starts),
        )


texts = st.lists(st.text(LETTERS, min_size=1, max_size=12), min_size=1, max_size=6)
weights = st.builds(Weights, dense=st.floats(0.1, 1), sparse=st.floats(0, 1), multi=st.floats(0, 1))


@given(texts, texts, weights)
@settings(max_examples=50, deadline=None)
def test_scores_are_the_weighted_sum_of_three_comparisons(asked, held, weights) -> None:
    embedder = Letters()
    scores = embedding_scores(embedder.embed(asked, "segment"), embedder.embed(held, "passage"), weights)
    for i, query in enumerate(asked):
        for j, text in enumerate(held):
            q, p = (np.array([t.count(c) for c in LETTERS], float) for t in (query, text))
            cosine = q @ p / np.linalg.norm(q) / np.linalg.norm(p)
            found = np.mean([c in text for c in set(query)])
            expected = weights.dense * cosine + weights.sparse * (q @ p) + weights.multi * found
            assert scores[i, j] == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_token_vectors_are_compared_in_chunks_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder, only_multi = Letters(), Weights(dense=0, sparse=0, multi=1)
    held = embedder.embed(["abc", "d", "efgh ab", "a", "bc"], "passage")
    whole = embedding_scores(embedder.embed(["abd", "h"], "segment"), held, only_multi)
    monkeypatch.setattr(dense, "TOKENS_AT_ONCE", 3)
    assert (embedding_scores(embedder.embed(["abd", "h"], "segment"), held, only_multi) == whole).all()


@given(texts, texts)
@settings(max_examples=30, deadline=None)
def test_parts_join_to_the_whole(some, others) -> None:
    embedder = Letters()
    whole, parts = (
        embedder.embed(some + others, "passage"),
        [embedder.embed(t, "passage") for t in (some, others)],
    )
    for one, other in zip(whole, concatenated(parts), strict=True):
        for field, same in zip(one, other, strict=True):
            assert (field == same).all()


def index(text: str, size: int, step: int, weights: Weights | None = None) -> DenseIndex:
    passages = [(start, min(start + size, len(text))) for start in range(0, len(text), step)]
    return DenseIndex.build(Document.of(text), passages, Letters(weights))


def test_a_block_is_as_similar_as_its_best_passage() -> None:
    found = index("aaaabbbbccccdddd", 4, 4).similarity(["b", "ccd"], [(0, 8), (8, 16), (4, 12)])
    assert found[0] == pytest.approx([1, 0, 1])
    assert found[1] == pytest.approx([0, 2 / 5**0.5, 2 / 5**0.5])
    assert index("", 4, 4).similarity(["b"], []).shape == (1, 0)
    assert index("abcd", 4, 4).similarity([], [(0, 4)]).shape == (0, 1)


@given(st.text(LETTERS, min_size=1, max_size=80), st.text(LETTERS, min_size=1, max_size=9), st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_hits_keep_their_laws(text: str, query: str, k: int) -> None:
    hits = index(text, 8, 4).search(query, k)
    assert len(hits) == min(k, len(range(0, len(text), 4)))
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert all(a.score >= b.score for a, b in pairwise(hits))
    assert all(text[hit.span.start : hit.span.end] == hit.span.text for hit in hits)
    assert {hit.via for hit in hits} <= {"dense"}


def test_search_keeps_within_the_ranges_given() -> None:
    found = index("aaaabbbbaaaacccc", 4, 4).search("a", 9, within=[(8, 16)])
    assert [hit.span.start for hit in found] == [8, 12]
    assert index("aaaa", 4, 4).search("a", 9, within=[]) == []


def test_what_can_not_be_compared_is_refused() -> None:
    narrow = Embeddings(np.ones((1, 3), dtype=np.float32))
    wide = Embeddings(np.ones((1, 4), dtype=np.float32))
    with pytest.raises(BadInput, match="vectors of 3 and of 4"):
        embedding_scores(narrow, wide, Weights(dense=1, sparse=0))
    with pytest.raises(BadInput, match="set it to 0"):
        embedding_scores(narrow, narrow, Weights(dense=1, sparse=0.5))
    with pytest.raises(BadInput, match="1 vectors for 2 passages"):
        DenseIndex(Document.of("ab"), [(0, 1), (1, 2)], narrow, Letters())
    with pytest.raises(ValidationError, match="above 0"):
        Weights(dense=0, sparse=0)
