"""Two engines of BM25: rank-bm25 is the oracle, and their one difference is held where it is documented."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from longproof.retrieval.bm25 import Bm25, Okapi, index_tokens, top_snippets

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


@pytest.fixture(scope="module")
def engines(snippets: list[list[str]]) -> tuple[Bm25, Okapi]:
    counted = index_tokens(snippets)
    return Bm25.of(counted), Okapi.of(counted)


def queries(snippets: list[list[str]], rare: bool) -> list[list[str]]:
    """Words of 20 snippets and one unknown word; with `rare`, without the words of more than half of the snippets."""
    held = [set(snippet) for snippet in snippets]
    frequent = {word for word in held[0] | held[1] | held[2] if sum(word in h for h in held) > len(held) / 2}
    assert frequent
    return [
        [word for word in snippet[:25] if not (rare and word in frequent)] + ["unknown"]
        for snippet in snippets[::150]
    ]


def test_okapi_is_rank_bm25(snippets: list[list[str]], engines: tuple[Bm25, Okapi]) -> None:
    oracle = BM25Okapi(snippets)
    for query in queries(snippets, rare=False)[:5]:
        scores = oracle.get_scores(query)
        found = top_snippets(engines[1], query, 20)
        assert [score for _, score in found] == pytest.approx(sorted(scores)[:-21:-1], rel=1e-12)
        assert all(score == pytest.approx(scores[snippet], rel=1e-12) for snippet, score in found)


def test_the_engines_agree_on_order_and_scores(
    snippets: list[list[str]], engines: tuple[Bm25, Okapi]
) -> None:
    for query in queries(snippets, rare=True):
        everything = top_snippets(engines[1], query, 3000)
        ours, theirs, exact = top_snippets(engines[0], query, 100), everything[:100], dict(everything)
        assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], rel=2e-6)
        assert all(exact[a] >= exact[b] * (1 - 2e-6) for (a, _), (b, _) in pairwise(ours))
        assert [snippet for snippet, _ in ours[:10]] == [snippet for snippet, _ in theirs[:10]]


def test_words_in_more_than_half_of_the_snippets_weigh_only_in_okapi(
    snippets: list[list[str]], engines: tuple[Bm25, Okapi]
) -> None:
    holding = sum("w0" in snippet for snippet in snippets)
    assert holding > len(snippets) / 2
    oracle = BM25Okapi(snippets)
    assert oracle.idf["w0"] == pytest.approx(0.25 * oracle.average_idf)
    assert any(0 < idf < oracle.idf["w0"] for idf in oracle.idf.values())
    assert all(score > 0 for _, score in top_snippets(engines[1], ["w0"], 5))
    assert all(score == 0 for _, score in top_snippets(engines[0], ["w0"], 5))
    rare = top_snippets(engines[0], ["w900"], 5)
    assert top_snippets(engines[0], ["w0", "w900", "w0"], 5) == rare


@ENGINES
def test_no_snippets_find_nothing(engine: type[Bm25 | Okapi]) -> None:
    for empty in ([], [[]], [[], []]):
        index = engine.of(index_tokens(empty))
        assert top_snippets(index, ["a"], 3) == []
        assert top_snippets(index, [], 3) == []


@ENGINES
def test_one_and_two_snippets_are_found_whatever_the_sign_of_their_score(engine: type[Bm25 | Okapi]) -> None:
    one = engine.of(index_tokens([["a", "b"]]))
    assert [snippet for snippet, _ in top_snippets(one, ["a"], 3)] == [0]
    assert top_snippets(one, ["c"], 3) == []
    two = engine.of(index_tokens([["a", "b"], ["a", "c", "d"]]))
    assert {snippet for snippet, _ in top_snippets(two, ["a"], 3)} == {0, 1}
    assert [snippet for snippet, _ in top_snippets(two, ["d"], 3)] == [1]


def test_among_two_snippets_okapi_scores_fall_below_zero_and_ours_do_not() -> None:
    counted = index_tokens([["a", "b"], ["a", "c", "d"]])
    assert top_snippets(Okapi.of(counted), ["a"], 3)[0][1] < 0
    assert [score for _, score in top_snippets(Bm25.of(counted), ["a"], 3)] == [0, 0]


def test_where_no_word_weighs_more_shared_words_come_first() -> None:
    counted = index_tokens([["a"], ["a", "b", "c"], ["a", "b"]])
    assert [snippet for snippet, _ in top_snippets(Bm25.of(counted), ["a", "b"], 3)] == [1, 2, 0]


def test_equal_scores_keep_the_order_of_the_snippets() -> None:
    index = Bm25.of(index_tokens([["x"], ["a", "b"], ["y"], ["a", "b"], ["z"], ["a", "b"], ["u"], ["v"]]))
    assert [snippet for snippet, _ in top_snippets(index, ["a"], 2)] == [1, 3]


@ENGINES
@given(snippets=small, query=st.lists(st.sampled_from("abcdxyz"), max_size=5), k=st.integers(0, 8))
@settings(max_examples=100)
def test_the_laws_of_hits(
    engine: type[Bm25 | Okapi], snippets: list[list[str]], query: list[str], k: int
) -> None:
    found = top_snippets(engine.of(index_tokens(snippets)), query, k)
    sharing = {i for i, snippet in enumerate(snippets) if set(snippet) & set(query)}
    assert len(found) == min(k, len(sharing)) == len(dict(found))
    assert set(dict(found)) <= sharing
    assert all(a >= b for (_, a), (_, b) in pairwise(found))
    assert all(np.isfinite(score) for _, score in found)


def test_counting_numbers_every_token_once() -> None:
    counted = index_tokens([["b", "a", "b"], [], ["c"]])
    assert counted.starts.tolist() == [0, 3, 3, 4]
    assert len(counted.words) == 3
    assert counted.words.tolist() == sorted(counted.words.tolist())
    b, a, again, c = counted.tokens.tolist()
    assert b == again
    assert len({a, b, c}) == 3
