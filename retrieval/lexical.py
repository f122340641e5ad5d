"""Lexical index of one source: search and similarity by shared words. Needs no model.

Knows: BM25 over passages and over wider ranges of them: whole blocks, full of the same names, look alike, and a
scene put into other words shares little with one passage, more with a page. Synonyms count too when a segment is
aligned. `stop_words.txt` is NLTK's; `synonyms.txt`, written for this project, has a few hundred groups of plain
English words. The weights were measured with benchmarks/alignment.py. Does not know: where the passages were cut.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.ranking import Bm25, Ranges, best_per_range, number_tokens, top_k
from longproof.retrieval.text.normalise import tokens
from longproof.retrieval.types import Document, Hit

WIDER = (3, 9, 27)  # passages side by side in a wider range: of 400 characters, 1,200, 3,600 and 10,800
SYNONYM_WEIGHT = 0.3  # what a synonym of a segment's word counts, beside that word itself
CONTEXT_WEIGHT = 0.3  # what the range around a passage counts, beside the passage, when passages are searched
CONTEXT = 9  # which range that is: so many passages side by side

_Y = re.compile(r"(?<=[a-z]{3})(?:ies|ied|y|i)$")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ings?|edly|ed|ly|ers?|es|s|e)$")


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
