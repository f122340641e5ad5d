"""Search and similarity by shared words: BM25 over the passages of one document. Needs no weights.

Knows: which passages share which rare tokens with a query; that a block is as similar as its best passage
(short passages tell blocks apart where whole blocks, full of the same names, don't).
Does not know: where the passages were cut, what the results are used for, how an index is stored.
BM25 is bm25s's `lucene` variant (k1 1.5, b 0.75), whose scores are never negative; measured in benchmarks/.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from longproof.retrieval.text.tokens import tokens
from longproof.retrieval.types import Document, Hit, Span
from numpy.typing import NDArray

Ranges = Sequence[tuple[int, int]]


class LexicalIndex:
    """The passages of one document, with the BM25 weight of each token in each. It does not change."""

    def __init__(self, document: Document, passages: Ranges, bm25: Any) -> None:
        self._document = document
        self._passages = np.array(passages, dtype=np.int64).reshape(-1, 2)
        self._bm25 = bm25

    @classmethod
    def build(cls, document: Document, passages: Ranges) -> Self:
        """Index these half-open ranges of the document's text, given in text order."""
        vocabulary: dict[str, int] = {"": 0}
        numbers = [
            [vocabulary.setdefault(token, len(vocabulary)) for token in tokens(document.text[start:end])]
            for start, end in passages
        ]
        return cls(document, passages, _weigh(numbers, vocabulary))

    def similarity(self, segments: Sequence[str], blocks: Ranges) -> NDArray[np.float64]:
        """One row a segment, one column a block: the score of the block's best passage.

        Unbounded, never negative; 0 where nothing is shared. A passage belongs to each block that holds half
        of it (or of which it holds half, where the block is shorter).
        """
        belonging = _belonging(self._passages, blocks)
        filled = [column for column, members in enumerate(belonging) if len(members)]
        matrix = np.zeros((len(segments), len(blocks)))
        if filled:
            members = np.concatenate(belonging)
            starts = np.cumsum([0, *(len(belonging[column]) for column in filled[:-1])])
            for row, segment in zip(matrix, segments, strict=True):
                row[filled] = np.maximum.reduceat(self._scores(segment)[members], starts)
        return matrix

    def search(self, query: str, k: int, within: Ranges | None = None) -> list[Hit]:
        """The k best passages, best first; fewer where fewer share a token with the query.

        With `within`, only passages that belong to one of these ranges, as passages do to blocks. Of equal
        scores the earlier passage counts first. Neighbouring passages may overlap.
        """
        scores = self._scores(query)
        if within is not None:
            allowed = np.zeros(len(scores), dtype=bool)
            for members in _belonging(self._passages, within):
                allowed[members] = True
            scores = np.where(allowed, scores, 0.0)
        order = np.argsort(-scores, kind="stable")[:k]
        found = [int(i) for i in order if scores[i] > 0]
        return [
            Hit(span=self._span(i), score=float(scores[i]), rank=rank, via="lexical")
            for rank, i in enumerate(found, start=1)
        ]

    def _span(self, passage: int) -> Span:
        start, end = self._passages[passage]
        return self._document.span(int(start), int(end))

    def _scores(self, query: str) -> NDArray[np.float32]:
        known = self._bm25.vocab_dict
        scores: NDArray[np.float32] = self._bm25.get_scores_from_ids(
            [known[token] for token in tokens(query) if token in known]
        )
        return scores


def _weigh(numbers: list[list[int]], vocabulary: dict[str, int]) -> Any:
    """The BM25 of passages given as token numbers; numpy alone, so that every installation scores alike."""
    from bm25s import BM25

    bm25 = BM25(method="lucene", k1=1.5, b=0.75, backend="numpy", csc_backend="numpy")
    if not any(numbers):
        numbers = [*numbers, [0]]
    bm25.index((numbers, vocabulary), create_empty_token=False, show_progress=False)
    return bm25


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
