"""Ranking by words: BM25, the index of one source by shared words, and one order by words and by meaning.

Knows: BM25 with three ways of weighing a word. `lucene` and `robertson` are bm25s's; `okapi` is rank-bm25's
BM25Okapi, which VeriGray's protocol names. They differ in words of more than half of the texts: to `lucene` they
still count a little, to `robertson` nothing, to `okapi` a quarter of the average, which in very small collections
is negative. Whole blocks, full of the same names, look alike, and a scene put into other words shares little with one
passage, more with a page: a source is weighed in passages and in wider ranges of them, and where a segment is aligned
synonyms count too. `stop_words.txt` is NLTK's; `synonyms.txt`, written for this project, has a few hundred groups of
plain English words. The weights were measured with benchmarks/alignment.py. Reciprocal rank fusion (Cormack, Clarke
and Büttcher, SIGIR 2009) looks at ranks alone.
Does not know: where the passages were cut, or how meaning is compared.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.text.normalise import tokens
from longproof.retrieval.types import Document, Hit

Engine = Literal["bm25", "okapi"]  # how saved pages are searched: `bm25` is `robertson`
Ranges = Sequence[tuple[int, int]]
Numbers = list[int]  # a text as the numbers of its tokens

K1 = 1.5
B = 0.75
FUSION_K = 60  # of reciprocal rank fusion, how little the first ranks stand out: rank r counts 1 / (K + r)
AMONG = 120  # so many hits are ranked by words and by meaning before the best by both are taken
WIDER = (3, 9, 27)  # passages side by side in a wider range: of 400 characters, 1,200, 3,600 and 10,800
SYNONYM_WEIGHT = 0.3  # what a synonym of a segment's word counts, beside that word itself
CONTEXT_WEIGHT = 0.3  # what the range around a passage counts, beside the passage, when passages are searched
CONTEXT = 9  # which range that is: so many passages side by side

_Y = re.compile(r"(?<=[a-z]{3})(?:ies|ied|y|i)$")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ings?|edly|ed|ly|ers?|es|s|e)$")


def number_tokens(texts: Iterable[Sequence[str]]) -> tuple[list[Numbers], dict[str, int]]:
    """The texts as numbers of their tokens, and the number of each token, from 0 on, in the order of first use."""
    vocabulary: dict[str, int] = {}
    numbers = [[vocabulary.setdefault(token, len(vocabulary)) for token in text] for text in texts]
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

    def best(self, words: Sequence[str], k: int) -> list[tuple[int, float]]:
        """The k best texts for the words of a query, best first, as (number of the text, score).

        Only texts that share a word with it are found. Of equal scores the text that shares more words comes first.
        """
        scores, shared = self.scores(words), np.zeros(self._texts, dtype=np.int32)
        for number in set(self._engine.get_tokens_ids(words)):
            start, end = self._engine.scores["indptr"][number : number + 2]
            shared[self._engine.scores["indices"][start:end]] += 1
        found = np.flatnonzero(shared)
        order = np.lexsort((found, -shared[found], -scores[found]))
        return [(int(text), float(scores[text])) for text in found[order][:k]]

    def _weigh(self, numbers: Numbers) -> Any:
        return self._engine.get_scores_from_ids(numbers)


class Okapi(Bm25):
    """The same by rank-bm25's BM25Okapi, beside it. It keeps a dictionary a text: meant for some thousands of them.

    A score may be negative: among a few texts a shared word may count against one.
    """

    def __init__(self, texts: Sequence[Numbers], vocabulary: Mapping[str, int]) -> None:
        from rank_bm25 import BM25Okapi

        super().__init__(texts, vocabulary)
        self._okapi: Any = BM25Okapi(texts, k1=K1, b=B) if vocabulary else None

    def _weigh(self, numbers: Numbers) -> Any:
        return self._okapi.get_scores(numbers)


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


def terms(text: str) -> list[str]:
    """The tokens of a text that are counted: no stop words, and English words without their endings."""
    return [term for token in tokens(text) if (term := _term(token) if token.isascii() else token)]


class LexicalIndex:
    """The passages of one document, half-open ranges in text order, weighed alone and joined to wider ranges.

    Who only searches needs no `wider` ranges but those of CONTEXT passages.
    """

    def __init__(self, document: Document, passages: Ranges, wider: Sequence[int] = WIDER) -> None:
        self._document = document
        numbers, vocabulary = number_tokens(terms(document.text[start:end]) for start, end in passages)
        self._scales: dict[int, tuple[NDArray[np.int64], Bm25]] = {}
        """By the number of passages side by side: ranges of the text, n × 2, and the weights of their words."""
        for width, joined in _join_passages(passages, wider):
            ranges = [(passages[some[0]][0], passages[some[-1]][1]) for some in joined]
            texts = [[word for i in some for word in numbers[i]] for some in joined]
            weights = Bm25(texts, vocabulary, "lucene")
            self._scales[width] = np.array(ranges, dtype=np.int64).reshape(-1, 2), weights

    def similarity(self, segments: Sequence[str], blocks: Ranges) -> NDArray[np.float64]:
        """One row a segment, one column a block: the scores of its best passage and wider ranges, added."""
        matrix = np.zeros((len(segments), len(blocks)))
        # Each word counts once, however often it is repeated.
        asked: list[tuple[list[str], list[str]]] = []
        for segment in segments:
            words = dict.fromkeys(terms(segment))
            near = dict.fromkeys(chain.from_iterable(_synonym_table().get(word, ()) for word in words))
            asked.append((list(words), [word for word in near if word not in words]))
        for ranges, weights in self._scales.values():
            rows = (weights.scores(words) + SYNONYM_WEIGHT * weights.scores(near) for words, near in asked)
            matrix += best_per_range(rows, ranges, blocks)
        return matrix

    def search(self, query: str, k: int) -> list[Hit]:
        """The k best passages, best first, of equal ones the earlier; fewer where fewer share a word with the query.

        What answers a query often shares less with it than what stands beside it: the wider range around a passage
        adds to its score.
        """
        (passages, weights), (wider, wider_weights) = self._scales[1], self._scales[CONTEXT]
        words = dict.fromkeys(terms(query))
        own, scores = weights.scores(words), wider_weights.scores(words)
        # Of the wider ranges that hold a passage whole the best one counts.
        (starts, ends), (begins, until) = passages.T, wider.T
        first, last = np.searchsorted(until, ends), np.searchsorted(begins, starts, side="right") - 1
        around = np.zeros(len(first), dtype=np.float32)
        for step in range(int((last - first).max(initial=-1)) + 1):
            inside = np.flatnonzero(first + step <= last)
            around[inside] = np.maximum(around[inside], scores[first[inside] + step])
        fit = np.where(own > 0, own + CONTEXT_WEIGHT * around, 0.0)
        best = [i for i in top_k(fit, k) if own[i] > 0]
        return [Hit(self._document.span(*passages[i].tolist()), float(fit[i])) for i in best]


def _join_passages(passages: Ranges, widths: Sequence[int]) -> Iterator[tuple[int, list[Sequence[int]]]]:
    """For each width, the passages that each of its ranges joins: first one each, then so many side by side."""
    yield 1, [[i] for i in range(len(passages))]
    # As few of the passages as cover all of the text that they cover together.
    beside: list[int] = []
    covered = -1
    for i, (_, end) in enumerate(passages):
        following = passages[i + 1][0] if i + 1 < len(passages) else end
        if end > covered and following > covered:
            beside.append(i)
            covered = end
    for width in widths:
        # Each range begins in the middle of the one before.
        starts = range(0, max(1, len(beside) - width + width // 2), width // 2) if beside else ()
        yield width, [beside[start : start + width] for start in starts]


@lru_cache(maxsize=1 << 16)
def _term(token: str) -> str:
    if token in _stop_words():
        return ""
    word = token.removesuffix("'s")
    bare = _Y.sub("i", word)
    return bare if bare != word else _ENDING.sub("", word)


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(_read("stop_words.txt").split())


@cache
def _synonym_table() -> dict[str, tuple[str, ...]]:
    """For each term of the groups of synonyms, the others of its groups."""
    near: dict[str, dict[str, None]] = {}
    for group in _read("synonyms.txt").splitlines():
        counted = terms(group)
        for term in counted:
            near.setdefault(term, {}).update(dict.fromkeys(other for other in counted if other != term))
    return {term: tuple(others) for term, others in near.items()}


def _read(name: str) -> str:
    return files("longproof.retrieval").joinpath(name).read_text(encoding="utf-8")


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
