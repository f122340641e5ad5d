"""Search and similarity by shared words: an oracle for the scores, and the laws of hits and rows."""

from collections import Counter
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from longproof.retrieval.lexical import LexicalIndex
from longproof.retrieval.text.tokens import tokens
from longproof.retrieval.types import Document

TEXT = (
    "The captain hid the brass key under the third stair. "
    "Nobody at the inn noticed the storm until dawn came.  "
    "船长把铜钥匙藏在第三级台阶下面，谁也没有看见。"
    "Years later the widow found a letter and burnt it. "
)
PASSAGES = [(0, 53), (40, 107), (107, 130), (130, 181)]
words = st.lists(st.sampled_from(["fox", "sea", "tea", "王冕", "荷花", "。", "\n", "🦊"]), max_size=60).map(
    " ".join
)


@pytest.fixture
def index() -> LexicalIndex:
    return LexicalIndex.build(Document.of(TEXT), PASSAGES)


def bm25(query: str, texts: list[str]) -> list[float]:
    """BM25 as Lucene counts it, written from the formula."""
    bags = [Counter(tokens(text)) for text in texts]
    mean = sum(sum(bag.values()) for bag in bags) / len(bags)
    scores = []
    for bag in bags:
        score = 0.0
        for token in tokens(query):
            holding = sum(token in other for other in bags)
            rarity = log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
            length = 1.5 * (0.25 + 0.75 * sum(bag.values()) / mean)
            score += rarity * bag[token] / (bag[token] + length)
        scores.append(score)
    return scores


def test_scores_are_those_of_the_formula(index: LexicalIndex) -> None:
    query = "The captain's key, the brass key! 船长的钥匙"
    hits = index.search(query, 10)
    expected = bm25(query, [TEXT[start:end] for start, end in PASSAGES])
    for hit in hits:
        assert hit.score == pytest.approx(expected[PASSAGES.index((hit.span.start, hit.span.end))], rel=1e-5)
    assert len(hits) == sum(score > 0 for score in expected)


def test_a_block_is_as_similar_as_its_best_passage(index: LexicalIndex) -> None:
    query = "the brass key; a letter"
    scores = bm25(query, [TEXT[start:end] for start, end in PASSAGES])
    matrix = index.similarity([query, "zebra"], [(0, 80), (80, 181), (0, 181), (104, 107)])
    assert matrix[0] == pytest.approx([max(scores[:2]), max(scores[2:]), max(scores), scores[1]], rel=1e-5)
    assert not matrix[1].any()


def test_a_passage_belongs_to_every_block_that_holds_half_of_it(index: LexicalIndex) -> None:
    only_second = "noticed the storm"
    row = index.similarity([only_second], [(0, 70), (70, 181), (0, 80)])[0]
    assert (row > 0.5).tolist() == [False, True, True]
    in_the_middle = index.similarity([only_second], [(0, 75), (73, 181)])[0]
    assert (in_the_middle > 0.5).tolist() == [True, True]


def test_search_keeps_within_the_ranges_given(index: LexicalIndex) -> None:
    assert [(h.span.start, h.span.end) for h in index.search("the", 9, within=[(100, 181)])] == [(130, 181)]
    assert index.search("captain", 9, within=[(100, 181)]) == []
    assert index.search("captain", 9, within=[]) == []


def test_simplified_and_traditional_find_each_other(index: LexicalIndex) -> None:
    assert index.search("船長的銅鑰匙", 1)[0].span.text == TEXT[107:130]


def test_equal_scores_rank_in_text_order() -> None:
    index = LexicalIndex.build(Document.of("fox fox fox fox "), [(0, 4), (4, 8), (8, 12), (12, 16)])
    assert [hit.span.start for hit in index.search("fox", 3)] == [0, 4, 8]


@given(words, st.lists(words, max_size=3), st.integers(0, 8))
@settings(max_examples=40, deadline=None)
def test_hits_and_rows_keep_their_laws(text: str, queries: list[str], k: int) -> None:
    document = Document.of(text)
    passages = [(start, min(start + 20, len(text))) for start in range(0, len(text), 10)]
    blocks = [(start, min(start + 35, len(text))) for start in range(0, len(text), 35)]
    index = LexicalIndex.build(document, passages)
    matrix = index.similarity(queries, blocks)
    assert matrix.shape == (len(queries), len(blocks))
    assert np.isfinite(matrix).all()
    assert (matrix >= 0).all()
    for query, row in zip(queries, matrix, strict=True):
        hits = index.search(query, k)
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        assert len(hits) <= k
        assert all(a.score >= b.score > 0 for a, b in pairwise(hits))
        assert all(text[hit.span.start : hit.span.end] == hit.span.text for hit in hits)
        best = index.search(query, 1)
        assert row.max(initial=0.0) == pytest.approx(best[0].score if best else 0.0)


@pytest.mark.parametrize("text", ["", "。。。", "\n\n"])
def test_a_text_without_words_has_nothing_to_find(text: str) -> None:
    passages = [(0, len(text))] if text else []
    index = LexicalIndex.build(Document.of(text), passages)
    assert index.search("anything", 3) == []
    assert not index.similarity(["anything", ""], passages).any()
