"""BM25, which passages belong to which ranges by the plain words of the rule, and the laws of fusion."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longproof.retrieval.ranking import Bm25, Okapi, best_per_range, fuse, number_tokens, top_k
from longproof.retrieval.types import Document, Hit

Range = tuple[int, int]


starts, sizes = st.integers(0, 70), st.integers(1, 30)
ranges = st.lists(st.builds(lambda start, size: (start, start + size), starts, sizes), max_size=8)


def in_text_order(found: list[Range]) -> list[Range]:
    """Passages that may overlap or leave gaps; neither their starts nor their ends ever go back."""
    return list(zip(sorted(start for start, _ in found), sorted(end for _, end in found), strict=True))


def belongs(passage: Range, to: Range) -> bool:
    shared = min(passage[1], to[1]) - max(passage[0], to[0])
    return shared > 0 and 2 * shared >= min(passage[1] - passage[0], to[1] - to[0])


@given(ranges.map(in_text_order), ranges, st.data())
def test_the_best_score_of_each_range_is_that_of_a_passage_half_in_it(passages, ranges, data):
    row = st.lists(st.integers(0, 9), min_size=len(passages), max_size=len(passages))
    rows = data.draw(st.lists(row, max_size=3))
    scores = np.array(rows, dtype=float).reshape(len(rows), len(passages))
    found = best_per_range(scores, np.array(passages, dtype=np.int64).reshape(-1, 2), ranges)
    assert found.tolist() == [
        [max((row[i] for i, p in enumerate(passages) if belongs(p, one)), default=0) for one in ranges]
        for row in rows
    ]


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(0, 15))
def test_the_best_come_first_and_of_equal_ones_the_earlier(scores, k):
    assert top_k(np.array(scores), k) == sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]


DOCUMENT = Document.of("abcdefgh")
PLACES = {letter: (n, n + 1) for n, letter in enumerate("abcdefgh")} | {"0": (0, 4), "4": (4, 8), "x": (3, 5)}


def ranking(names: str) -> list[Hit]:
    """Hits in this order: a letter is a narrow one, `0` and `4` hold four letters each."""
    return [Hit(DOCUMENT.span(*PLACES[name]), -rank) for rank, name in enumerate(names)]


words = st.lists(st.sampled_from("abcdefgh"), unique=True).map("".join)
meaning = st.sampled_from(["", "0", "4", "04", "40"])


def test_the_best_hit_of_words_in_a_wider_passage_counts_its_rank_and_one_without_stands_for_itself() -> None:
    assert [hit.span.text for hit in fuse(ranking("ab"), ranking("40"), 9)] == ["a", "efgh", "b"]
    fused = fuse(ranking("aebf"), ranking("40"), 10)
    assert [hit.span.text for hit in fused] == ["a", "e", "b", "f"]
    sums = [1 + 1 / 61 + 1 / 62, 1 / 62 + 1 / 61, 1 / 63, 1 / 64]
    assert [hit.score for hit in fused] == pytest.approx(sums)
    fused = fuse(ranking("x"), ranking("04"), 10)
    assert [hit.span.text for hit in fused] == ["de", "abcd"], "the middle is e's start"


@given(words, meaning, st.integers(0, 9))
def test_hits_keep_their_laws(by_words: str, by_meaning: str, k: int) -> None:
    fused = fuse(ranking(by_words), ranking(by_meaning), k)
    assert len({hit.span for hit in fused}) == len(fused) <= k
    assert all(a.score >= b.score for a, b in pairwise(fused))
    assert [hit.span.text for hit in fused[:1]] == list(by_words[:1])[:k] or not by_words
    assert set(by_words) <= {hit.span.text for hit in fuse(ranking(by_words), ranking(by_meaning), 99)}
    assert "".join(hit.span.text for hit in fuse(ranking(by_words), [], k)) == by_words[:k]


small = st.lists(st.text("abcdefgh", max_size=6), max_size=8)


def best(engine: type[Bm25], snippets: Sequence[str], query: str, k: int) -> list[tuple[int, float]]:
    """Texts of one-letter words that one engine weighs, searched by words."""
    return engine(*number_tokens(snippets)).best(query, k)


@given(small, st.text("abcdefgh", min_size=1, max_size=5))
def test_both_engines_weigh_words_of_less_than_half_of_the_texts_alike(snippets, query):
    rare = "".join(w for w in query if 2 * sum(w in snippet for snippet in snippets) < len(snippets))
    ours, theirs = (dict(best(engine, snippets, rare, 9)) for engine in (Bm25, Okapi))
    assert ours == pytest.approx({text: score / 2.5 for text, score in theirs.items()}, rel=1e-5)


def test_among_few_snippets_okapi_falls_below_zero_and_ours_lets_shared_words_decide() -> None:
    assert best(Okapi, ["ab", "acd"], "a", 3)[0][1] < 0
    assert [score for _, score in best(Bm25, ["ab", "acd"], "a", 3)] == [0, 0]
    assert [snippet for snippet, _ in best(Bm25, ["a", "abc", "ab"], "ab", 3)] == [1, 2, 0]


@pytest.mark.parametrize("engine", [Bm25, Okapi])
@given(snippets=small, query=st.text("abcdxyz", max_size=5), k=st.integers(0, 8))
@settings(max_examples=100)
def test_the_laws_of_the_best_texts(engine: type[Bm25], snippets: list[str], query: str, k: int) -> None:
    found = best(engine, snippets, query, k)
    sharing = {i for i, snippet in enumerate(snippets) if set(snippet) & set(query)}
    assert len(found) == min(k, len(sharing)) == len(dict(found))
    assert set(dict(found)) <= sharing
    assert all(a >= b for (_, a), (_, b) in pairwise(found))
    assert all(np.isfinite(score) for _, score in found)
