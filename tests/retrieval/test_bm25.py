"""Two engines of BM25: rank-bm25 is the oracle, and their one difference is held where it is documented."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from longproof.retrieval.ranking import K1, Bm25, Okapi, best_texts, number_tokens

ENGINES = pytest.mark.parametrize("engine", [Bm25, Okapi])
small = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), max_size=6)


def synthetic(number: int, seed: int = 0) -> list[list[str]]:
    """Snippets of 40 to 200 words, frequent ones first, as in running text."""
    draw = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 5001)
    lengths = draw.integers(40, 200, number)
    words = draw.choice(5000, size=int(lengths.sum()), p=shares / shares.sum())
    ends = np.cumsum(lengths)
    return [[f"w{word}" for word in words[end - size : end]] for end, size in zip(ends, lengths, strict=True)]


@pytest.fixture(scope="module")
def snippets() -> list[list[str]]:
    return synthetic(3000)


class Searched:
    """Texts that one engine weighs, searched by words."""

    def __init__(self, engine: type[Bm25 | Okapi], snippets: list[list[str]]) -> None:
        texts, self.vocabulary = number_tokens(snippets)
        self.engine = engine(texts, len(self.vocabulary))

    def best(self, query: list[str], k: int) -> list[tuple[int, float]]:
        return best_texts(self.engine, [self.vocabulary[w] for w in query if w in self.vocabulary], k)


@pytest.fixture(scope="module")
def engines(snippets: list[list[str]]) -> tuple[Searched, Searched]:
    return Searched(Bm25, snippets), Searched(Okapi, snippets)


def queries(snippets: list[list[str]], rare: bool) -> list[list[str]]:
    """Words of 20 snippets and one unknown word; with `rare`, without the words of more than half of the snippets."""
    held = [set(snippet) for snippet in snippets]
    frequent = {word for word in held[0] | held[1] | held[2] if sum(word in h for h in held) > len(held) / 2}
    assert frequent
    return [
        [word for word in snippet[:25] if not (rare and word in frequent)] + ["unknown"]
        for snippet in snippets[::150]
    ]


def test_okapi_is_rank_bm25(snippets: list[list[str]], engines: tuple[Searched, Searched]) -> None:
    oracle = BM25Okapi(snippets)
    for query in queries(snippets, rare=False)[:5]:
        scores = oracle.get_scores(query)
        found = engines[1].best(query, 20)
        assert [score for _, score in found] == pytest.approx(sorted(scores)[:-21:-1], rel=1e-12)
        assert all(score == pytest.approx(scores[snippet], rel=1e-12) for snippet, score in found)


def test_the_engines_agree_on_order_and_scores(
    snippets: list[list[str]], engines: tuple[Searched, Searched]
) -> None:
    for query in queries(snippets, rare=True):
        everything = engines[1].best(query, 3000)
        ours, theirs, exact = engines[0].best(query, 100), everything[:100], dict(everything)
        assert [score for _, score in ours] == pytest.approx(
            [score / (K1 + 1) for _, score in theirs], rel=2e-6
        )
        assert all(exact[a] >= exact[b] * (1 - 2e-6) for (a, _), (b, _) in pairwise(ours))
        assert [snippet for snippet, _ in ours[:10]] == [snippet for snippet, _ in theirs[:10]]


def test_among_two_snippets_okapi_scores_fall_below_zero_and_ours_do_not() -> None:
    counted = [["a", "b"], ["a", "c", "d"]]
    assert Searched(Okapi, counted).best(["a"], 3)[0][1] < 0
    assert [score for _, score in Searched(Bm25, counted).best(["a"], 3)] == [0, 0]


def test_where_no_word_weighs_more_shared_words_come_first() -> None:
    counted = [["a"], ["a", "b", "c"], ["a", "b"]]
    assert [snippet for snippet, _ in Searched(Bm25, counted).best(["a", "b"], 3)] == [1, 2, 0]


@ENGINES
@given(snippets=small, query=st.lists(st.sampled_from("abcdxyz"), max_size=5), k=st.integers(0, 8))
@settings(max_examples=100)
def test_the_laws_of_hits(
    engine: type[Bm25 | Okapi], snippets: list[list[str]], query: list[str], k: int
) -> None:
    found = Searched(engine, snippets).best(query, k)
    sharing = {i for i, snippet in enumerate(snippets) if set(snippet) & set(query)}
    assert len(found) == min(k, len(sharing)) == len(dict(found))
    assert set(dict(found)) <= sharing
    assert all(a >= b for (_, a), (_, b) in pairwise(found))
    assert all(np.isfinite(score) for _, score in found)
