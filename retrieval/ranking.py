"""Ranking: how well texts fit a query by BM25, the best of ranges, and one order by words and by meaning.

Knows: BM25 with three ways of weighing a word. `lucene` and `robertson` are bm25s's; `okapi` is rank-bm25's
BM25Okapi, which VeriGray's protocol names. They differ in words of more than half of the texts: to `lucene` they
still count a little, to `robertson` nothing, to `okapi` a quarter of the average, which in very small collections
is negative. Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009) looks at ranks alone.
Does not know: what the texts and ranges hold, or which indexes there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.types import Hit

Engine = Literal["bm25", "okapi"]  # how saved pages are searched: `bm25` is `robertson`
Ranges = Sequence[tuple[int, int]]
Numbers = list[int]  # a text as the numbers of its tokens

K1 = 1.5
B = 0.75
FUSION_K = 60  # of reciprocal rank fusion, how little the first ranks stand out: rank r counts 1 / (K + r)
AMONG = 120  # so many hits are ranked by words and by meaning before the best by both are taken


def number_tokens(texts: Iterable[Sequence[str]]) -> tuple[list[Numbers], dict[str, int]]:
    """The texts as numbers of their tokens, and the number of each token, from 0 on, in the order of first use."""
    vocabulary: dict[str, int] = {}
    numbers = [[vocabulary.setdefault(token, len(vocabulary)) for token in tokens] for tokens in texts]
    return numbers, vocabulary


class Bm25:
    """The weights of the words of texts, by bm25s. Words that stand in none of the texts count nothing."""

    def __init__(
        self,
        texts: Sequence[Numbers],
        vocabulary: Mapping[str, int],
        idf: Literal["lucene", "robertson"] = "robertson",
    ) -> None:
        from bm25s import BM25

        self._texts = len(texts)
        self._engine: Any = BM25(k1=K1, b=B, method=idf)
        self._engine.vocab_dict = vocabulary
        if vocabulary:
            words = range(len(vocabulary))
            self._engine.scores = self._engine.build_index_from_ids(words, texts, show_progress=False)

    def scores(self, words: Iterable[str]) -> NDArray[Any]:
        """The score of every text for these words, never negative. A word that is repeated counts again."""
        numbers = self._engine.get_tokens_ids(words)
        return self._weigh(numbers) if numbers else np.zeros(self._texts, dtype=np.float32)

    def count_common(self, words: Iterable[str]) -> NDArray[np.int32]:
        """The number of the different words that each text holds."""
        shared = np.zeros(self._texts, dtype=np.int32)
        for number in set(self._engine.get_tokens_ids(words)):
            start, end = self._engine.scores["indptr"][number : number + 2]
            shared[self._engine.scores["indices"][start:end]] += 1
        return shared

    def _weigh(self, numbers: Numbers) -> Any:
        return self._engine.get_scores_from_ids(numbers)


class Okapi(Bm25):
    """The same by rank-bm25's BM25Okapi. It keeps a dictionary a text: meant for some thousands of them.

    A score may be negative: among a few texts a shared word may count against one.
    """

    def __init__(self, texts: Sequence[Numbers], vocabulary: Mapping[str, int]) -> None:
        from rank_bm25 import BM25Okapi

        super().__init__(texts, vocabulary)
        self._okapi: Any = BM25Okapi(texts, k1=K1, b=B) if vocabulary else None

    def _weigh(self, numbers: Numbers) -> Any:
        return self._okapi.get_scores(numbers)


def best_texts(engine: Bm25, words: Sequence[str], k: int) -> list[tuple[int, float]]:
    """The k best texts for the words of a query, best first, as (number of the text, score).

    Only texts that share a word with it are found. Of equal scores the text that shares more words comes first.
    """
    scores, shared = engine.scores(words), engine.count_common(words)
    found = np.flatnonzero(shared)
    order = np.lexsort((found, -shared[found], -scores[found]))
    return [(int(text), float(scores[text])) for text in found[order][:k]]


def best_per_range(
    rows: Iterable[NDArray[Any]], passages: NDArray[np.int64], ranges: Ranges
) -> NDArray[np.float64]:
    """The best of each range's scores, a row for each row of scores of passages; 0 where none belongs to it.

    A passage (of n × 2, in text order) belongs to each range that holds half of it, or of which it holds half.
    """
    begins, ends = np.ascontiguousarray(passages.T)
    start, end = np.array(ranges, dtype=np.int64).reshape(-1, 2).T
    first = np.searchsorted(ends, start, side="right")
    near = np.maximum(np.searchsorted(begins, end, side="left") - first, 0)
    of = np.repeat(np.arange(len(near)), near)
    numbers = np.arange(len(of)) + np.repeat(first - np.cumsum(near) + near, near)
    shared = np.minimum(ends[numbers], end[of]) - np.maximum(begins[numbers], start[of])
    half = np.minimum(ends[numbers] - begins[numbers], end[of] - start[of]) / 2
    held = (shared > 0) & (shared >= half)
    counts = np.bincount(of[held], minlength=len(near))
    filled = np.flatnonzero(counts)
    firsts = (np.cumsum(counts) - counts)[filled]
    best = []
    for scores in rows:
        best.append(np.zeros(len(ranges)))
        if len(filled):
            best[-1][filled] = np.maximum.reduceat(scores[numbers[held]], firsts)
    return np.array(best).reshape(len(best), len(ranges))


def top_k(scores: NDArray[Any], k: int) -> list[int]:
    """The numbers of the k best scores, best first; of equal ones the earlier comes first."""
    order: list[int] = np.argsort(-scores, kind="stable")[:k].tolist()
    return order


def fuse(words: Sequence[Hit], meaning: Sequence[Hit], k: int) -> list[Hit]:
    """The k hits that rank best by words and by meaning together, each with the sum of what its ranks count.

    Passages that are compared by meaning are wider: the best hit of words whose middle one of them holds counts its
    rank, too, and one that holds no hit of words stands for itself. The best hit of words stays first: where a
    sentence is close to its source, meaning must not displace it (docs/retrieval.md).
    """
    fused: list[Hit] = []
    alone = {rank: hit.span for rank, hit in enumerate(meaning, start=1)}
    for rank, (span, _) in enumerate(words, start=1):
        score = 1 / (FUSION_K + rank) + (1.0 if rank == 1 else 0.0)
        middle = (span.start + span.end) / 2
        for other, wide in alone.items():
            if wide.source_id == span.source_id and wide.start <= middle < wide.end:
                del alone[other]
                score += 1 / (FUSION_K + other)
                break
        fused.append(Hit(span, score))
    fused.extend(Hit(span, 1 / (FUSION_K + rank)) for rank, span in alone.items())
    fused.sort(key=lambda hit: -hit.score)
    return fused[:k]
