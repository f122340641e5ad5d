"""Comparing vectors: an oracle for the scores, blocks and hits with an embedder that counts letters."""

from itertools import pairwise
from threading import Lock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from letters import LETTERS, Letters

from longproof.retrieval.dense import DENSE, SPARSE, DenseIndex, Embedder, Embeddings, Vectors
from longproof.retrieval.types import BadInput, Document

pytest.importorskip("faiss", reason="the extra `dense` is not installed")


texts = st.lists(st.text(LETTERS, min_size=1, max_size=12), min_size=1, max_size=6)


@given(texts, texts, st.booleans())
@settings(max_examples=50, deadline=None)
def test_scores_are_the_cosine_or_the_weighted_sum_of_both_comparisons(queries, passages, sparse) -> None:
    vectors = Vectors.of(passages, Letters(sparse=sparse))
    scores = vectors.scores(queries)
    for query, row in zip(queries, scores, strict=True):
        assert [score for _, score in vectors.nearest(query, 9)] == pytest.approx(sorted(row)[::-1], abs=1e-5)
    for i, query in enumerate(queries):
        for j, text in enumerate(passages):
            q, p = (np.array([t.count(c) for c in LETTERS], float) for t in (query, text))
            cosine = q @ p / np.linalg.norm(q) / np.linalg.norm(p)
            expected = DENSE * cosine + SPARSE * (q @ p) if sparse else cosine
            assert scores[i, j] == pytest.approx(expected, rel=1e-4, abs=1e-5)


def index(text: str, size: int, step: int) -> DenseIndex:
    passages = [(start, min(start + size, len(text))) for start in range(0, len(text), step)]
    vectors = Vectors.of([text[start:end] for start, end in passages], Letters())
    return DenseIndex(Document.of(text), passages, vectors)


def test_a_block_is_as_similar_as_its_best_passage() -> None:
    found = index("aaaabbbbccccdddd", 4, 4).similarity(["b", "ccd"], [(0, 8), (8, 16), (4, 12)])
    assert found[0] == pytest.approx([1, 0, 1])
    assert found[1] == pytest.approx([0, 2 / 5**0.5, 2 / 5**0.5])
    assert index("abcd", 4, 4).similarity(["b"], []).shape == (1, 0)
    assert index("abcd", 4, 4).similarity([], [(0, 4)]).shape == (0, 1)


@given(st.text(LETTERS, min_size=1, max_size=80), st.text(LETTERS, min_size=1, max_size=9), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_hits_keep_their_laws(text: str, query: str, k: int) -> None:
    hits = index(text, 8, 4).search(query, k)
    assert len(hits) == min(k, len(range(0, len(text), 4)))
    assert all(a.score >= b.score for a, b in pairwise(hits))
    assert all(text[hit.span.start : hit.span.end] == hit.span.text for hit in hits)


class Wider(Letters):
    """Another embedder, whose queries are longer than the passages that are held."""

    def embed(self, texts, *, query=False, progress=None) -> Embeddings:
        dense = super().embed(texts).dense
        return Embeddings(np.hstack([dense, dense]) if query else dense)


def test_a_model_embeds_one_batch_at_a_time_and_vectors_have_length_one() -> None:
    lock = Lock()
    ours = Embedder("m", lambda batch, query: (np.full((len(batch), 4), lock.locked()), []), 2, lock)
    assert ours.embed(["a", "b", "c"]).dense == pytest.approx(np.full((3, 4), 0.5))


def test_what_can_not_be_compared_is_refused() -> None:
    for ask in (lambda made: made.scores(["a"]), lambda made: made.nearest("a", 1)):
        with pytest.raises(BadInput, match="vectors of 18 and of 9"):
            ask(Vectors.of(["a"], Wider()))
