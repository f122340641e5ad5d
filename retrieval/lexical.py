"""Search and similarity by shared words: BM25 over the passages of one document. Needs no weights.

Knows: which passages share which rare words with a query, whatever their endings; that a block is as similar
as its best passage and its best wider stretches (whole blocks, full of the same names, look alike; a scene that
was put into other words shares little with any one passage, more with a page).
Does not know: where the passages were cut, what the results are used for, how an index is stored.
BM25 is bm25s's `lucene` variant (k1 1.5, b 0.75), whose scores are never negative; measured in benchmarks/.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.text.tokens import tokens
from longproof.retrieval.types import Document, Hit, Span

Ranges = Sequence[tuple[int, int]]

_Y = re.compile(r"(?<=[a-z]{3})(?:ies|ied|y|i)$")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ings?|edly|ed|ly|ers?|es|s|e)$")

WIDER = (4, 16)  # passages side by side in a wider stretch: of 400 characters, 1,600 and 6,400


def terms(text: str) -> list[str]:
    """What is counted: the text's tokens without the stop words, English ones without their endings."""
    return [term for token in tokens(text) if (term := _term(token))]


@lru_cache(maxsize=1 << 16)
def _term(token: str) -> str:
    if token in _stop_words():
        return ""
    word = token.removesuffix("'s")
    bare = _Y.sub("i", word)
    return bare if bare != word else _ENDING.sub("", word)


@cache
def _stop_words() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return frozenset(STOPWORDS_EN_PLUS)


class Scale(NamedTuple):
    """Ranges of the text, n × 2, and the BM25 weight of each term in each."""

    ranges: NDArray[np.int64]
    bm25: Any


class LexicalIndex:
    """The passages of one document, weighed alone and joined. It does not change."""

    def __init__(self, document: Document, scales: Sequence[Scale]) -> None:
        self._document = document
        self._scales = tuple(scales)

    @classmethod
    def build(cls, document: Document, passages: Ranges) -> Self:
        """Index these half-open ranges of the document's text, given in text order."""
        vocabulary: dict[str, int] = {"": 0}
        numbers = [
            [vocabulary.setdefault(term, len(vocabulary)) for term in terms(document.text[start:end])]
            for start, end in passages
        ]
        beside = _side_by_side(passages)
        scales = [_weigh(passages, numbers, vocabulary)]
        for width in WIDER:
            stretches = [beside[start : start + width] for start in _starts(len(beside), width)]
            ranges = [(passages[stretch[0]][0], passages[stretch[-1]][1]) for stretch in stretches]
            joined = [[number for i in stretch for number in numbers[i]] for stretch in stretches]
            scales.append(_weigh(ranges, joined, vocabulary))
        return cls(document, scales)

    def similarity(self, segments: Sequence[str], blocks: Ranges) -> NDArray[np.float64]:
        """One row a segment, one column a block: the scores of its best passage and best wider stretches, added.

        Unbounded, never negative; 0 where nothing is shared. A passage belongs to each block that holds half
        of it (or of which it holds half, where the block is shorter).
        """
        matrix = np.zeros((len(segments), len(blocks)))
        for scale in self._scales:
            belonging = _belonging(scale.ranges, blocks)
            filled = [column for column, members in enumerate(belonging) if len(members)]
            if filled:
                members = np.concatenate(belonging)
                starts = np.cumsum([0, *(len(belonging[column]) for column in filled[:-1])])
                for row, segment in zip(matrix, segments, strict=True):
                    row[filled] += np.maximum.reduceat(_scores(scale, segment)[members], starts)
        return matrix

    def search(self, query: str, k: int, within: Ranges | None = None) -> list[Hit]:
        """The k best passages, best first; fewer where fewer share a word with the query.

        With `within`, only passages that belong to one of these ranges, as passages do to blocks. Of equal
        scores the earlier passage counts first. Neighbouring passages may overlap.
        """
        passages = self._scales[0]
        scores = _scores(passages, query)
        if within is not None:
            allowed = np.zeros(len(scores), dtype=bool)
            for members in _belonging(passages.ranges, within):
                allowed[members] = True
            scores = np.where(allowed, scores, 0.0)
        order = np.argsort(-scores, kind="stable")[:k]
        found = [int(i) for i in order if scores[i] > 0]
        return [
            Hit(span=self._span(*passages.ranges[i]), score=float(scores[i]), rank=rank, via="lexical")
            for rank, i in enumerate(found, start=1)
        ]

    def _span(self, start: np.int64, end: np.int64) -> Span:
        return self._document.span(int(start), int(end))


def _side_by_side(passages: Ranges) -> list[int]:
    """As few of the passages as cover all of the text that they cover together."""
    chosen, covered = [], -1
    for i, (_, end) in enumerate(passages):
        following = passages[i + 1][0] if i + 1 < len(passages) else end
        if end > covered and following > covered:
            chosen.append(i)
            covered = end
    return chosen


def _starts(count: int, width: int) -> range:
    """Where stretches of `width` begin among `count` things, each in the middle of the one before."""
    return range(0, max(1, count - width // 2), width // 2) if count else range(0)


def _weigh(ranges: Ranges, numbers: list[list[int]], vocabulary: dict[str, int]) -> Scale:
    """Weigh the terms of each range, given as numbers; numpy alone, so that all installations score alike."""
    from bm25s import BM25

    bm25 = BM25(method="lucene", k1=1.5, b=0.75, backend="numpy", csc_backend="numpy")
    counted = numbers if any(numbers) else [*numbers, [0]]
    bm25.index((counted, vocabulary), create_empty_token=False, show_progress=False)
    return Scale(np.array(ranges, dtype=np.int64).reshape(-1, 2), bm25)


def _scores(scale: Scale, query: str) -> NDArray[np.float32]:
    """The score of each range. A term counts once, however often the query repeats it."""
    known = scale.bm25.vocab_dict
    asked = dict.fromkeys(known[term] for term in terms(query) if term in known)
    scores: NDArray[np.float32] = scale.bm25.get_scores_from_ids(list(asked))
    return scores


def _belonging(passages: NDArray[np.int64], ranges: Ranges) -> list[NDArray[np.int64]]:
    """For each range, the passages that belong to it."""
    belonging = []
    for start, end in ranges:
        first = int(np.searchsorted(passages[:, 1], start, side="right"))
        near = passages[first : int(np.searchsorted(passages[:, 0], end, side="left"))]
        shared = np.minimum(near[:, 1], end) - np.maximum(near[:, 0], start)
        half = np.minimum(near[:, 1] - near[:, 0], end - start) / 2
        belonging.append(first + np.flatnonzero((shared > 0) & (shared >= half)))
    return belonging
