"""Search and similarity by shared words: BM25 over the passages of one document. Needs no weights.

Knows: which passages share which rare words with a query, whatever their endings; that a block is as similar
as its best passage and its best wider stretches (whole blocks, full of the same names, look alike; a scene that
was put into other words shares little with any one passage, more with a page); that where a segment lies is told by
akin words too, though less; that what surrounds a passage tells whether it is meant.
Does not know: where the passages were cut, what the results are used for, where an index is stored.
BM25 is Lucene's (k1 1.5, b 0.75), whose weights are never negative: in a short text a word may be everywhere and
still count. Measured in benchmarks/.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.akin import groups
from longproof.retrieval.belonging import Ranges, belonging, best_of_each, ranked
from longproof.retrieval.okapi import K1, Arrays, B, count, places
from longproof.retrieval.text.tokens import tokens
from longproof.retrieval.types import Document, Hit

WIDER = (3, 9, 27)  # passages side by side in a wider stretch: of 400 characters, 1,200, 3,600 and 10,800
AKIN = 0.3  # what a word akin to one of the segment's counts, beside that word itself
AROUND = (
    0.3  # what the wider stretch around a passage counts, beside the passage, where passages are searched
)
AROUND_SCALE = 2  # the stretch that is meant: nine passages side by side
AT_ONCE = 64  # segments scored together: all passages of each are held in memory

_Y = re.compile(r"(?<=[a-z]{3})(?:ies|ied|y|i)$")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ings?|edly|ed|ly|ers?|es|s|e)$")


def terms(text: str) -> list[str]:
    """What is counted: the text's tokens without the stop words, English ones without their endings."""
    return [term for token in tokens(text) if (term := _term(token) if token.isascii() else token)]


class Scale(NamedTuple):
    """Ranges of the text, n × 2. Word i weighs `weights[starts[i]:starts[i + 1]]` in the ranges `places[…]`."""

    ranges: NDArray[np.int64]
    weights: NDArray[np.float32]
    places: NDArray[np.int32]
    starts: NDArray[np.int64]


class LexicalIndex:
    """The passages of one document, weighed alone and joined to wider stretches. It does not change.

    `arrays` is all that it holds besides the document: `words`, the hashes of the vocabulary, and for each scale
    its fields with the scale's number behind. They may be memory-mapped.
    """

    def __init__(self, document: Document, arrays: Arrays) -> None:
        self._document = document
        self.arrays = arrays
        self._scales = [
            Scale(*(arrays[f"{name}{number}"] for name in Scale._fields)) for number in range(1 + len(WIDER))
        ]

    @classmethod
    def build(cls, document: Document, passages: Ranges) -> Self:
        """Index these half-open ranges of the document's text, given in text order."""
        counted = count(terms(document.text[start:end]) for start, end in passages)
        numbers = np.split(counted.tokens, counted.starts[1:-1]) if len(passages) else []
        scales = [_weighed(passages, numbers, len(counted.words))]
        beside = _side_by_side(passages)
        for width in WIDER:
            stretches = [beside[start : start + width] for start in _starts(len(beside), width)]
            ranges = [(passages[stretch[0]][0], passages[stretch[-1]][1]) for stretch in stretches]
            joined = [np.concatenate([numbers[i] for i in stretch]) for stretch in stretches]
            scales.append(_weighed(ranges, joined, len(counted.words)))
        arrays: dict[str, NDArray[Any]] = {"words": counted.words}
        for number, scale in enumerate(scales):
            arrays |= {f"{name}{number}": array for name, array in scale._asdict().items()}
        return cls(document, arrays)

    def similarity(self, segments: Sequence[str], blocks: Ranges) -> NDArray[np.float64]:
        """One row a segment, one column a block: the scores of its best passage and best wider stretches, added.

        Unbounded, never negative; 0 where nothing is shared.
        """
        matrix = np.zeros((len(segments), len(blocks)))
        asked = [self._weighed_words(segment) for segment in segments]
        for scale in self._scales:
            members = belonging(scale.ranges, blocks)
            for first in range(0, len(asked), AT_ONCE):
                scores = np.array([_scores(scale, words) for words in asked[first : first + AT_ONCE]])
                matrix[first : first + AT_ONCE] += best_of_each(scores, members)
        return matrix

    def search(self, query: str, k: int, within: Ranges | None = None) -> list[Hit]:
        """The k best passages, best first; fewer where fewer share a word with the query.

        What answers a query often shares less with it than what stands beside it: the wider stretch around a passage
        adds to its score. With `within`, only passages that belong to one of these ranges. Of equal scores the
        earlier passage counts first. Neighbouring passages may overlap.
        """
        passages = self._scales[0]
        words = dict.fromkeys(self._words(query), 1.0)
        own = _scores(passages, words)
        scores = np.where(own > 0, own + AROUND * self._around(words), 0.0)
        found = [i for i in ranked(scores, k, passages.ranges, within) if own[i] > 0]
        return [
            Hit(
                span=self._document.span(*passages.ranges[i].tolist()),
                score=float(scores[i]),
                rank=rank,
                via="lexical",
            )
            for rank, i in enumerate(found, start=1)
        ]

    def _around(self, words: Mapping[int, float]) -> NDArray[np.float32]:
        """For each passage, the best score of the stretches that hold it; 0 where none does."""
        scores = _scores(self._scales[AROUND_SCALE], words)
        first, last = self._holding
        best = np.zeros(len(first), dtype=np.float32)
        for step in range(int((last - first).max(initial=-1)) + 1):
            inside = np.flatnonzero(first + step <= last)
            best[inside] = np.maximum(best[inside], scores[first[inside] + step])
        return best

    @cached_property
    def _holding(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each passage, the first and the last of the stretches around that hold it; none where last < first."""
        (starts, ends), (around, until) = (self._scales[n].ranges.reshape(-1, 2).T for n in (0, AROUND_SCALE))
        return np.searchsorted(until, ends), np.searchsorted(around, starts, side="right") - 1

    def _words(self, query: str) -> list[int]:
        """The query's words, those that the document has. A word counts once, however often it is repeated."""
        return list(dict.fromkeys(places(self.arrays["words"], terms(query))))

    def _weighed_words(self, segment: str) -> dict[int, float]:
        """The segment's words at 1, and the words akin to them at AKIN, those that the document has."""
        near = [word for term in terms(segment) for word in _kindred().get(term, ())]
        return dict.fromkeys(places(self.arrays["words"], near), AKIN) | dict.fromkeys(
            self._words(segment), 1.0
        )


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
    """Where stretches of `width` begin among `count` things, each in the middle of the one before or earlier."""
    return range(0, max(1, count - width + width // 2), width // 2) if count else range(0)


def _weighed(ranges: Ranges, numbers: Sequence[NDArray[np.int32]], words: int) -> Scale:
    """Weigh the words of each range, given as numbers: BM25 as Lucene has it, without its constant factor.

    bm25s gives the same weights, more slowly: it counts word by word, this sorts.
    """
    count, lengths = len(numbers), np.array([len(row) for row in numbers], dtype=np.int64)
    pairs = np.concatenate([*numbers, np.zeros(0, np.int32)]).astype(np.int64) * count
    pairs += np.repeat(np.arange(count), lengths)
    pairs.sort()
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    often = np.diff(first, append=len(pairs))
    word, place = np.divmod(pairs[first], max(count, 1))
    held = np.bincount(word, minlength=words)
    rarity = np.log1p((count - held + 0.5) / (held + 0.5))
    longer = K1 * (1 - B + B * lengths / max(1.0, lengths.mean() if count else 1.0))
    return Scale(
        np.array(ranges, dtype=np.int64).reshape(-1, 2),
        (rarity[word] * often / (often + longer[place])).astype(np.float32),
        place.astype(np.int32),
        np.concatenate([[0], np.cumsum(held)]),
    )


def _scores(scale: Scale, words: Mapping[int, float]) -> NDArray[np.float32]:
    """The score of every range for words, each with what it counts."""
    scores = np.zeros(len(scale.ranges), dtype=np.float32)
    for word, counts in words.items():
        held = slice(scale.starts[word], scale.starts[word + 1])
        scores[scale.places[held]] += np.float32(counts) * scale.weights[held]
    return scores


@lru_cache(maxsize=1 << 16)
def _term(token: str) -> str:
    if token in _stop_words():
        return ""
    word = token.removesuffix("'s")
    bare = _Y.sub("i", word)
    return bare if bare != word else _ENDING.sub("", word)


@cache
def _kindred() -> dict[str, tuple[str, ...]]:
    """For each term of the groups, the terms akin to it."""
    near: dict[str, dict[str, None]] = {}
    for group in groups():
        counted = terms(" ".join(group))
        for term in counted:
            near.setdefault(term, {}).update(dict.fromkeys(other for other in counted if other != term))
    return {term: tuple(others) for term, others in near.items()}


@cache
def _stop_words() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return frozenset(STOPWORDS_EN_PLUS)
