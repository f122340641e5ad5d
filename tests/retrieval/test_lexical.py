"""Search and similarity by shared words: an oracle for the scores, and the laws of hits and rows."""

from collections import Counter
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longproof.retrieval import ranking
from longproof.retrieval.ranking import CONTEXT, LexicalIndex, terms
from longproof.retrieval.types import Document

TEXT = (
    "The captain hid the brass key under the third stair. "
    "Nobody at the inn noticed the storm until dawn came.  "
    "船长把铜钥匙藏在第三级台阶下面，谁也没有看见。"
    "Years later the widow found a letter and burnt it. "
)
PASSAGES = [(0, 53), (40, 107), (107, 130), (130, 181)]
PIECES = [TEXT[start:end] for start, end in PASSAGES]
INDEX = LexicalIndex(Document.of(TEXT), PASSAGES)
words = st.lists(st.sampled_from(["fox", "sea", "王冕", "荷花", "。", "🦊"]), max_size=60).map(" ".join)


def bm25(query: str, texts: list[str]) -> list[float]:
    """BM25 as Lucene counts it, written from the formula."""
    bags = [Counter(terms(text)) for text in texts]
    mean = sum(sum(bag.values()) for bag in bags) / len(bags)
    scores = []
    for bag in bags:
        score = 0.0
        for term in set(terms(query)):
            holding = sum(term in other for other in bags)
            rarity = log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
            length = 1.5 * (0.25 + 0.75 * sum(bag.values()) / mean)
            score += rarity * bag[term] / (bag[term] + length)
        scores.append(score)
    return scores


def test_scores_are_those_of_the_formula() -> None:
    query = "The captain's key, the brass key! 船长的钥匙"
    hits = INDEX.search(query, 10)
    around = bm25(query, [" ".join(PIECES)])[0]  # nine passages side by side would be the whole text
    expected = [score and score + ranking.CONTEXT_WEIGHT * around for score in bm25(query, PIECES)]
    for hit in hits:
        assert hit.score == pytest.approx(expected[PASSAGES.index((hit.span.start, hit.span.end))], rel=1e-5)
    assert len(hits) == sum(score > 0 for score in expected)


def test_a_block_is_as_similar_as_its_best_passage_and_wider_ranges() -> None:
    query = "the brass key; a letter"
    scores = bm25(query, PIECES)
    # So few passages that the widest ranges are the whole text.
    whole = 2 * bm25(query, [" ".join(PIECES)])[0]
    first, second = bm25(query, [" ".join(PIECES[:3]), " ".join(PIECES[1:])])
    matrix = INDEX.similarity([query, "zebra"], [(0, 95), (95, 181), (0, 181), (104, 107)])
    passage = [max(scores[:2]), max(scores[2:]), max(scores), scores[1]]
    wider = [max(first, second), second, max(first, second), max(first, second)]
    assert matrix[0] == pytest.approx(np.add(passage, wider) + whole, rel=1e-5)
    assert not matrix[1].any()


def test_of_two_equal_passages_the_one_among_others_of_the_kind_is_found_first() -> None:
    scene = ["storm", "wreck", "sailor", "island", "rescue", "signal", "beacon", "harbour", "captain"]
    filler = [f"other{number}" for number in range(40)]
    words = [*filler[:20], "letter", *filler[20:], *scene[:5], "letter", *scene[5:]]
    starts = [len(" ".join([*words[:n], ""])) for n in range(len(words))]
    passages = [(start, start + len(word)) for start, word in zip(starts, words, strict=True)]
    index = LexicalIndex(Document.of(" ".join(words)), passages)
    first = index.search("a letter about the storm, the wreck and the rescue", 60)
    assert [hit.span.start for hit in first if hit.span.text == "letter"] == [starts[46], starts[20]]


def test_words_find_each_other_whatever_their_endings() -> None:
    assert terms("Ladies' and the lady's; he burned burning, the burns") == ["ladi"] * 2 + ["burn"] * 3
    assert terms("Was it not? red bed sings 3,500 做了") == ["red", "bed", "sing", "3500", "做", "了", "做了"]
    assert INDEX.search("captains", 9)[0].span.text == TEXT[0:53]
    assert INDEX.search("the", 9) == []


def test_synonyms_tell_where_a_segment_lies_but_less_than_its_own_words() -> None:
    text = "The physician came at noon. The lawyer came at noon. Nobody else came at noon."
    blocks = [(0, 27), (28, 52), (53, 78)]
    index = LexicalIndex(Document.of(text), blocks)
    doctor, physician, nobody = index.similarity(["a doctor", "a physician", "a plumber"], blocks)
    assert doctor[0] == pytest.approx(ranking.SYNONYM_WEIGHT * physician[0])
    assert doctor[0] > doctor[1]
    (both,) = index.similarity(["a physician, the doctor: that physician"], blocks)
    assert both[0] == pytest.approx(physician[0]), "each word counts once, and none as its own synonym"
    assert not nobody.any()
    assert index.search("a doctor", 3) == []


@given(words, st.lists(words, max_size=3), st.integers(0, 8))
@settings(max_examples=40, deadline=None)
def test_hits_and_rows_keep_their_laws(text: str, queries: list[str], k: int) -> None:
    document = Document.of(text)
    passages = [(start, min(start + 20, len(text))) for start in range(0, len(text), 10)]
    blocks = [(start, min(start + 35, len(text))) for start in range(0, len(text), 35)]
    index, only_searched = LexicalIndex(document, passages), LexicalIndex(document, passages, [CONTEXT])
    matrix = index.similarity(queries, blocks)
    assert matrix.shape == (len(queries), len(blocks))
    assert (np.isfinite(matrix) & (matrix >= 0)).all()
    for query, row in zip(queries, matrix, strict=True):
        hits = index.search(query, k)
        assert len(hits) <= k
        assert only_searched.search(query, k) == hits
        assert all(a.score >= b.score > 0 for a, b in pairwise(hits))
        assert all(text[hit.span.start : hit.span.end] == hit.span.text for hit in hits)
        best = index.search(query, 1)
        assert row.max(initial=0.0) >= (best[0].score if best else 0.0)
