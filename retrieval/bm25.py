"""BM25 (k1 1.5, b 0.75): which texts share rare words with a query.

Knows: three ways of weighing a word, all by how often it stands in a text and how long that is. `lucene` and
`robertson` are bm25s's, and weigh every word beforehand; `okapi` is rank-bm25's BM25Okapi, which VeriGray's protocol
names. They differ in words of more than half of the texts: to `lucene` they still count a little, to `robertson`
nothing, to `okapi` a quarter of the average, which can outweigh rarer words and, in very small collections, is
negative. The caller names the way; size never changes it.
Does not know: what a text is cut from, where an index lies.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Engine = Literal["bm25", "okapi"]
"""How saved pages are searched: `bm25` is `robertson`."""
Arrays = Mapping[str, NDArray[Any]]

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
    """The weights of the words of texts, by bm25s. `arrays` is all that it holds, one column a word."""

    def __init__(self, arrays: Arrays) -> None:
        from bm25s import BM25

        self.arrays = arrays
        self._texts = int(arrays["texts"])
        self._engine: Any = BM25()
        self._engine.scores = {**arrays, "num_docs": self._texts}
        self._engine.nonoccurrence_array = None

    @classmethod
    def of(cls, numbered: Numbered, idf: Literal["lucene", "robertson"] = "robertson") -> "Bm25":
        """Weigh the words of these texts."""
        from bm25s import BM25

        engine: Any = BM25(k1=K1, b=B, method=idf)
        words = range(len(numbered.vocabulary))
        none = {
            "data": np.zeros(0, np.float32),
            "indices": np.zeros(0, np.int32),
            "indptr": np.zeros(1, np.int64),
        }
        held = engine.build_index_from_ids(words, numbered.texts, show_progress=False) if words else none
        return cls({name: held[name] for name in none} | {"texts": np.array(len(numbered.texts))})

    def scores(self, words: Sequence[int]) -> NDArray[np.float32]:
        """The score of every text for these words, never negative. A word that is repeated counts again."""
        if not len(words):
            return np.zeros(self._texts, dtype=np.float32)
        scores: NDArray[np.float32] = self._engine.get_scores_from_ids(words)
        return scores

    def count_shared(self, words: Iterable[int]) -> NDArray[np.int32]:
        """The number of the different words that each text holds."""
        shared = np.zeros(self._texts, dtype=np.int32)
        starts = self.arrays["indptr"]
        for word in set(words):
            shared[self.arrays["indices"][starts[word] : starts[word + 1]]] += 1
        return shared


class Okapi:
    """rank-bm25's BM25Okapi. It keeps a dictionary a text: meant for some thousands of them."""

    def __init__(self, arrays: Arrays) -> None:
        from rank_bm25 import BM25Okapi

        self.arrays = arrays
        texts = [arrays["tokens"][start:end].tolist() for start, end in pairwise(arrays["starts"].tolist())]
        self._engine: Any = BM25Okapi(texts, k1=K1, b=B) if len(arrays["tokens"]) else None

    @classmethod
    def of(cls, numbered: Numbered) -> "Okapi":
        """Hand the texts to rank-bm25."""
        tokens = np.array([token for text in numbered.texts for token in text], dtype=np.int32)
        return cls({"tokens": tokens, "starts": np.cumsum([0, *map(len, numbered.texts)])})

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
