"""BM25 (k1 1.5, b 0.75): which texts share rare words with a query.

Knows: two engines for searching snippets. `bm25` weighs every word beforehand and answers a million snippets in
milliseconds; `okapi` is rank-bm25's BM25Okapi, which VeriGray's protocol names. They agree but for words in more than
half of the snippets: `bm25` gives them no weight (Robertson's idf, not below 0), `okapi` a quarter of the average
idf, which can outweigh rarer words and, in very small collections, is negative. The caller names the engine; size
never changes it.
Does not know: what a text is cut from, where an index lies.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Engine = Literal["bm25", "okapi"]
Arrays = Mapping[str, NDArray[Any]]
Idf = Callable[[NDArray[np.int64], int], NDArray[np.float64]]
"""From the number of texts that hold each word, and of all texts, to how rare the word is."""

K1 = 1.5
B = 0.75


class TokenIds(NamedTuple):
    """Texts as numbers. `words` are the sorted 64-bit hashes of the vocabulary, `tokens` the place in `words` of each
    token, text after text; text i is `tokens[starts[i]:starts[i + 1]]`.
    """

    words: NDArray[np.uint64]
    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]


class Postings(NamedTuple):
    """Word i weighs `weights[starts[i]:starts[i + 1]]` in the texts `texts[starts[i]:starts[i + 1]]`."""

    weights: NDArray[np.float32]
    texts: NDArray[np.int32]
    starts: NDArray[np.int64]

    def scores(self, words: Iterable[tuple[int, float]], texts: int) -> NDArray[np.float32]:
        """The score of each of that many texts for words, each with how much it counts."""
        scores = np.zeros(texts, dtype=np.float32)
        for word, counts in words:
            held = slice(self.starts[word], self.starts[word + 1])
            scores[self.texts[held]] += np.float32(counts) * self.weights[held]
        return scores


def index_tokens(texts: Iterable[Sequence[str]]) -> TokenIds:
    """Number the tokens of texts. Keeps 4 bytes a token, besides the vocabulary."""
    numbers: dict[str, int] = {}
    found, starts = array("i"), array("q", [0])
    for tokens in texts:
        found.extend([numbers.setdefault(token, len(numbers)) for token in tokens])
        starts.append(len(found))
    hashes = np.fromiter(map(_hash, numbers), dtype=np.uint64, count=len(numbers))
    words, place = np.unique(hashes, return_inverse=True)
    ids = place.astype(np.int32)[np.asarray(found, dtype=np.int32)]
    return TokenIds(words, ids, np.asarray(starts, dtype=np.int64))


def look_up(words: NDArray[np.uint64], tokens: Sequence[str]) -> list[int]:
    """The places in the vocabulary of these tokens; unknown ones are left out, repeated ones stay."""
    hashes = np.fromiter(map(_hash, tokens), dtype=np.uint64, count=len(tokens))
    at = np.searchsorted(words, hashes)
    known = [i for i, place in enumerate(at) if place < len(words) and words[place] == hashes[i]]
    return [int(at[i]) for i in known]


def lucene_idf(held: NDArray[np.int64], texts: int) -> NDArray[np.float64]:
    """Lucene's, which is never negative: in a short text a word may be everywhere and still count."""
    return np.log1p((texts - held + 0.5) / (held + 0.5))


def robertson_idf(held: NDArray[np.int64], texts: int) -> NDArray[np.float64]:
    """Robertson's, not below 0: a word in half of the texts or more weighs nothing."""
    return np.log(np.maximum((texts - held + 0.5) / (held + 0.5), 1.0))


def build_postings(tokens: NDArray[np.int32], starts: NDArray[np.int64], words: int, idf: Idf) -> Postings:
    """The BM25 weight of each word in each text, without BM25's constant factor k1 + 1.

    `tokens` and `starts` are those of `TokenIds`, `words` is the size of the vocabulary.
    """
    texts, lengths = len(starts) - 1, np.diff(starts)
    pairs = tokens.astype(np.int64) * texts
    pairs += np.repeat(np.arange(texts), lengths)
    pairs.sort()
    first = np.flatnonzero(np.concatenate([pairs[:1] >= 0, pairs[1:] != pairs[:-1]]))
    often = np.diff(first, append=len(pairs)).astype(np.int32)
    word, text = (part.astype(np.int32) for part in np.divmod(pairs[first], max(texts, 1)))
    del pairs, first
    held = np.bincount(word, minlength=words)
    longer = K1 * (1 - B + B * lengths / max(1.0, lengths.mean() if texts else 1.0))
    return Postings(
        (idf(held, texts)[word] * often / (often + longer[text])).astype(np.float32),
        text,
        np.concatenate([[0], np.cumsum(held)]),
    )


class Bm25:
    """Snippets with the weights of their words; `arrays` is all that it holds and may be memory-mapped."""

    def __init__(self, arrays: Arrays, snippets: int) -> None:
        self.arrays = arrays
        self._snippets = snippets
        self._postings = Postings(*(arrays[name] for name in Postings._fields))

    @classmethod
    def of(cls, ids: TokenIds) -> "Bm25":
        """Weigh snippets."""
        postings = build_postings(ids.tokens, ids.starts, len(ids.words), robertson_idf)
        return cls({"words": ids.words, **postings._asdict()}, len(ids.starts) - 1)

    def scores(self, words: Sequence[int]) -> NDArray[np.float32]:
        """The score of every snippet, never negative. Words in half of the snippets or more weigh nothing."""
        starts = self._postings.starts
        weighing = [word for word in words if 2 * (starts[word + 1] - starts[word]) < self._snippets]
        return self._postings.scores(((word, K1 + 1) for word in weighing), self._snippets)

    def shared(self, words: Sequence[int]) -> NDArray[np.int32]:
        """How many of the different words each snippet holds."""
        held = np.zeros(self._snippets, dtype=np.int32)
        for word in set(words):
            held[self._postings.texts[self._postings.starts[word] : self._postings.starts[word + 1]]] += 1
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
    def of(cls, ids: TokenIds) -> "Okapi":
        """Hand the snippets to rank-bm25."""
        return cls(ids._asdict())

    def scores(self, words: Sequence[int]) -> NDArray[np.float64]:
        """The score of every snippet, of either sign: among a few snippets a shared word may count against one."""
        scores: NDArray[np.float64] = self._bm25.get_scores(words)
        return scores

    def shared(self, words: Sequence[int]) -> NDArray[np.int32]:
        """How many of the different words each snippet holds."""
        different = set(words)
        return np.array([len(different & held.keys()) for held in self._bm25.doc_freqs], dtype=np.int32)


def top_snippets(engine: Bm25 | Okapi, query: Sequence[str], k: int) -> list[tuple[int, float]]:
    """The k best snippets for the query's tokens, best first, as (number of the snippet, score).

    Only snippets that share a word with the query are found, whatever the sign of their score; none in an empty
    collection. Of equal scores that are above 0 the earlier snippet comes first; where fewer than k are above 0, of
    the others with equal scores the one that shares more words.
    """
    words = look_up(engine.arrays["words"], query)
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


def _hash(token: str) -> int:
    """64 bits of the token. Two of ten million words share one with a chance of about 3 in a million."""
    return int.from_bytes(blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
