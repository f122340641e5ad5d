"""BM25 (k1 1.5, b 0.75): which texts share rare words with a query.

Knows: three ways of weighing a word, all by how often it stands in a text and how long that is. `lucene` and
`robertson` are bm25s's, and weigh every word beforehand; `okapi` is rank-bm25's BM25Okapi, which VeriGray's protocol
names. They differ in words of more than half of the texts: to `lucene` they still count a little, to `robertson`
nothing, to `okapi` a quarter of the average, which can outweigh rarer words and, in very small collections, is
negative. The caller names the way; size never changes it.
Does not know: what a text is cut from.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Engine = Literal["bm25", "okapi"]
"""How saved pages are searched: `bm25` is `robertson`."""

K1 = 1.5
B = 0.75


class Numbered(NamedTuple):
    """Texts as the numbers of their tokens."""

    texts: list[list[int]]
    vocabulary: dict[str, int]
    """The number of each token, from 0 on."""


def number_tokens(texts: Iterable[Sequence[str]]) -> Numbered:
    """Number the tokens of texts in the order in which they come."""
    vocabulary: dict[str, int] = {}
    numbers = [[vocabulary.setdefault(token, len(vocabulary)) for token in tokens] for tokens in texts]
    return Numbered(numbers, vocabulary)


class Bm25:
    """The weights of the words of texts, by bm25s."""

    def __init__(self, numbered: Numbered, idf: Literal["lucene", "robertson"] = "robertson") -> None:
        from bm25s import BM25

        self._texts = len(numbered.texts)
        self._engine: Any = BM25(k1=K1, b=B, method=idf)
        words = range(len(numbered.vocabulary))
        if words:
            weights = self._engine.build_index_from_ids(words, numbered.texts, show_progress=False)
            self._engine.scores = {**weights, "num_docs": self._texts}
            self._engine.nonoccurrence_array = None

    def scores(self, words: Sequence[int]) -> NDArray[np.float32]:
        """The score of every text for these words, never negative. A word that is repeated counts again."""
        if not len(words):
            return np.zeros(self._texts, dtype=np.float32)
        scores: NDArray[np.float32] = self._engine.get_scores_from_ids(words)
        return scores

    def count_shared(self, words: Iterable[int]) -> NDArray[np.int32]:
        """The number of the different words that each text holds."""
        shared = np.zeros(self._texts, dtype=np.int32)
        for word in set(words):
            start, end = self._engine.scores["indptr"][word : word + 2]
            shared[self._engine.scores["indices"][start:end]] += 1
        return shared


class Okapi:
    """rank-bm25's BM25Okapi. It keeps a dictionary a text: meant for some thousands of them."""

    def __init__(self, numbered: Numbered) -> None:
        from rank_bm25 import BM25Okapi

        self._engine: Any = BM25Okapi(numbered.texts, k1=K1, b=B) if numbered.vocabulary else None

    def scores(self, words: Sequence[int]) -> NDArray[np.float64]:
        """The score of every text, of either sign: among a few texts a shared word may count against one."""
        scores: NDArray[np.float64] = self._engine.get_scores(words)
        return scores

    def count_shared(self, words: Iterable[int]) -> NDArray[np.int32]:
        """The number of the different words that each text holds."""
        different = set(words)
        return np.array([len(different & held.keys()) for held in self._engine.doc_freqs], dtype=np.int32)


def best_texts(engine: Bm25 | Okapi, words: Sequence[int], k: int) -> list[tuple[int, float]]:
    """The k best texts for the numbers of a query's words, best first, as (number of the text, score).

    Only texts that share a word with the query are found, whatever the sign of their score. Of equal scores that are
    above 0 the earlier text comes first; where fewer than k are above 0, of the others with equal scores the one that
    shares more words.
    """
    if not len(words) or k < 1:
        return []
    scores = engine.scores(words)
    found = np.flatnonzero(scores > 0)
    if len(found) >= k:
        least = np.partition(scores[found], len(found) - k)[len(found) - k]
        found = found[scores[found] >= least]
        order = np.lexsort((found, -scores[found]))
    else:
        shared = engine.count_shared(words)
        found = np.flatnonzero(shared)
        order = np.lexsort((found, -shared[found], -scores[found]))
    return [(int(text), float(scores[text])) for text in found[order][:k]]
