"""BM25 over snippets: two engines of one formula (Okapi BM25 as in ATIRE, k1 1.5, b 0.75).

Knows: `okapi` is rank-bm25's BM25Okapi, what VeriGray's protocol names; `bm25s` weighs beforehand and answers a
million snippets in milliseconds. They agree but for words in more than half of the snippets: `bm25s` gives them no
weight (Robertson's idf, not below 0), `okapi` a quarter of the average idf, which can outweigh rarer words and, in
very small collections, is negative. Each is left as it is; the caller names the engine, size never changes it.
Does not know: what a snippet is, where an index lies.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Engine = Literal["bm25s", "okapi"]
Arrays = Mapping[str, NDArray[Any]]

K1 = 1.5
B = 0.75


class Counted(NamedTuple):
    """Snippets as numbers. `words` are the sorted 64-bit hashes of the vocabulary; `tokens` holds, snippet after
    snippet, each token's place in `words`; snippet i is `tokens[starts[i]:starts[i + 1]]`.
    """

    words: NDArray[np.uint64]
    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]


def count(snippets: Iterable[Sequence[str]]) -> Counted:
    """Number the tokens of snippets. Keeps 4 bytes a token, besides the vocabulary."""
    numbers: dict[str, int] = {}
    found, starts = array("i"), array("q", [0])
    for tokens in snippets:
        found.extend([numbers.setdefault(token, len(numbers)) for token in tokens])
        starts.append(len(found))
    hashes = np.fromiter(map(_hash, numbers), dtype=np.uint64, count=len(numbers))
    words, place = np.unique(hashes, return_inverse=True)
    tokens_ = place.astype(np.int32)[np.asarray(found, dtype=np.int32)]
    return Counted(words, tokens_, np.asarray(starts, dtype=np.int64))


class Bm25s:
    """The weight of each word in each snippet, worked out beforehand; may lie in memory-mapped arrays.

    Word i of `words` weighs `weights[starts[i]:starts[i + 1]]` in the snippets `places[starts[i]:starts[i + 1]]`.
    """

    def __init__(self, arrays: Arrays, snippets: int) -> None:
        from bm25s import BM25

        self.arrays = arrays
        self._snippets = snippets
        self._starts = np.asarray(arrays["starts"])
        self._bm25: Any = BM25(method="atire", idf_method="robertson", k1=K1, b=B, dtype="float32")
        self._bm25.nonoccurrence_array = None
        self._bm25.scores = {
            "data": arrays["weights"],
            "indices": arrays["places"],
            "indptr": self._starts,
            "num_docs": snippets,
        }

    @classmethod
    def of(cls, counted: Counted) -> "Bm25s":
        """Weigh counted snippets. Takes about 40 bytes a different word of a snippet while it works."""
        from bm25s import BM25

        if not len(counted.tokens):
            scores: dict[str, Any] = {"data": [], "indices": [], "indptr": [0]}
        else:
            view = np.ascontiguousarray(counted.tokens).data
            scores = BM25(method="atire", idf_method="robertson", k1=K1, b=B).build_index_from_ids(
                range(len(counted.words)),
                [view[start:end] for start, end in pairwise(counted.starts.tolist())],
                show_progress=False,
            )
        arrays: dict[str, NDArray[Any]] = {
            "words": counted.words,
            "weights": np.asarray(scores["data"], dtype=np.float32),
            "places": np.asarray(scores["indices"], dtype=np.int32),
            "starts": np.asarray(scores["indptr"], dtype=np.int64),
        }
        return cls(arrays, len(counted.starts) - 1)

    def scores(self, words: Sequence[int]) -> NDArray[np.float32]:
        """The score of every snippet, never negative. Words in half of the snippets or more weigh nothing."""
        weighing = [
            word for word in words if 2 * (self._starts[word + 1] - self._starts[word]) < self._snippets
        ]
        scores: NDArray[np.float32] = self._bm25.get_scores_from_ids(weighing)
        return scores

    def shared(self, words: Sequence[int]) -> NDArray[np.int32]:
        """How many of the different words each snippet holds."""
        held = np.zeros(self._snippets, dtype=np.int32)
        for word in set(words):
            held[self.arrays["places"][self._starts[word] : self._starts[word + 1]]] += 1
        return held


class Okapi:
    """rank-bm25's BM25Okapi. It keeps a dictionary a snippet: meant for some thousands of them."""

    def __init__(self, arrays: Arrays) -> None:
        from rank_bm25 import BM25Okapi

        self.arrays = arrays
        snippets = [
            arrays["tokens"][start:end].tolist() for start, end in pairwise(arrays["starts"].tolist())
        ]
        self._bm25: Any = BM25Okapi(snippets, k1=K1, b=B) if len(arrays["tokens"]) else None

    @classmethod
    def of(cls, counted: Counted) -> "Okapi":
        """Count again what was counted."""
        return cls({"words": counted.words, "tokens": counted.tokens, "starts": counted.starts})

    def scores(self, words: Sequence[int]) -> NDArray[np.float64]:
        """The score of every snippet, of either sign: among a few snippets a shared word may count against one."""
        scores: NDArray[np.float64] = self._bm25.get_scores(words)
        return scores

    def shared(self, words: Sequence[int]) -> NDArray[np.int32]:
        """How many of the different words each snippet holds."""
        different = set(words)
        return np.array([len(different & held.keys()) for held in self._bm25.doc_freqs], dtype=np.int32)


def best(engine: Bm25s | Okapi, query: Sequence[str], k: int) -> list[tuple[int, float]]:
    """The k best snippets for the query's tokens, best first, as (number of the snippet, score).

    Only snippets that share a word with the query are found, whatever the sign of their score; none in an empty
    collection. Of equal scores that are above 0 the earlier snippet comes first; where fewer than k are above 0, of
    the others with equal scores the one that shares more words.
    """
    words = places(engine.arrays["words"], query)
    if not words or k < 1:
        return []
    scores = engine.scores(words)
    found = np.flatnonzero(scores > 0)
    if len(found) >= k:
        least = np.partition(scores[found], len(found) - k)[len(found) - k]
        found = found[scores[found] >= least]
        order = np.lexsort((found, -scores[found]))
    else:
        shared = engine.shared(words)
        found = np.flatnonzero(shared)
        order = np.lexsort((found, -shared[found], -scores[found]))
    return [(int(snippet), float(scores[snippet])) for snippet in found[order][:k]]


def places(words: NDArray[np.uint64], query: Sequence[str]) -> list[int]:
    """The places in the vocabulary of the query's tokens; unknown ones are left out, repeated ones stay."""
    hashes = np.fromiter(map(_hash, query), dtype=np.uint64, count=len(query))
    at = np.searchsorted(words, hashes)
    known = [i for i, place in enumerate(at) if place < len(words) and words[place] == hashes[i]]
    return [int(at[i]) for i in known]


def _hash(token: str) -> int:
    """64 bits of the token. Two of ten million words share one with a chance of about 3 in a million."""
    return int.from_bytes(blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
