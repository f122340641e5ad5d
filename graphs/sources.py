"""The sources of one case, seen as one row of blocks.

Knows: blocks across several documents, passages found inside some of them or in all, windows as places.
Does not know: claims, judges, rounds.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longproof.agent.types import SourcePlace
from longproof.indexes.sources import PassageSize
from longproof.retrieval.lexical import LexicalIndex
from longproof.retrieval.ranking import fuse
from longproof.retrieval.text.chunking import blocks, overlapping
from longproof.retrieval.types import Document, Hit, SourceIndex, Span, Window

Place = tuple[int, int, int]
"""Document number, start, end."""
Index = Callable[[Document, PassageSize], SourceIndex]

SHOWN = PassageSize(200, 100)
"""The passages that are shown: small ones, so that many claims find theirs in one question."""

MARGIN = 500
"""Characters shown before and behind a window: blocks are cut anywhere, what a segment tells of is not."""


class Indexes(NamedTuple):
    """How a document is indexed: by words, and by an embedder where there is one."""

    lexical: Index
    dense: Index | None = None


def in_memory(document: Document, cut: PassageSize) -> SourceIndex:
    """The lexical index of a document, made anew."""
    return LexicalIndex.build(document, overlapping(document.text, cut.size, cut.step))


class Sources:
    """Documents cut into blocks of `block_characters`, each indexed by its passages.

    Where there is an embedder it aligns, by passages or, with `whole_blocks`, by blocks; words always search, and
    all of a source is searched by both, fused by reciprocal rank. Whole blocks are shown without a margin, as cut.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        block_characters: int,
        indexes: Indexes | None = None,
        *,
        whole_blocks: bool = False,
    ) -> None:
        lexical, dense = indexes or Indexes(in_memory)
        self.documents = list(documents)
        cut = PassageSize(block_characters, block_characters) if whole_blocks and dense else PassageSize()
        self._margin = 0 if whole_blocks else MARGIN
        self._aligning = [(dense or lexical)(document, cut) for document in documents]
        self._searching = [lexical(document, SHOWN) for document in documents]
        self._dense = [dense(document, SHOWN) for document in documents] if dense else []
        self.blocks: list[Place] = [
            (number, start, end)
            for number, document in enumerate(documents)
            for start, end in blocks(document.text, block_characters)
        ]

    @property
    def characters(self) -> int:
        """Of all sources together."""
        return sum(len(document.text) for document in self.documents)

    def similarity(self, segments: Sequence[str]) -> NDArray[np.float64]:
        """Segments by blocks of all documents, in order."""
        parts = [
            index.similarity(segments, [(start, end) for n, start, end in self.blocks if n == number])
            for number, index in enumerate(self._aligning)
        ]
        return np.hstack(parts) if parts else np.zeros((len(segments), 0))

    def places(self, window: Window) -> list[Place]:
        """The window's blocks, joined where they follow each other in one document, with a margin at both ends."""
        joined: list[Place] = []
        for number, start, end in self.blocks[window.first : window.last + 1]:
            if joined and joined[-1][0] == number:
                joined[-1] = (number, joined[-1][1], end)
            else:
                joined.append((number, start, end))
        return [
            (n, max(0, start - self._margin), min(end + self._margin, len(self.documents[n].text)))
            for n, start, end in joined
        ]

    def span(self, place: Place) -> Span:
        """The text of a place."""
        number, start, end = place
        return self.documents[number].span(start, end)

    def named(self, place: Place) -> SourcePlace:
        """A place by its document's id."""
        number, start, end = place
        return SourcePlace(source_id=self.documents[number].id, start=start, end=end)

    def numbered(self, places: Sequence[SourcePlace]) -> list[Place]:
        """Places by the number of their document."""
        number = {document.id: n for n, document in reversed(list(enumerate(self.documents)))}
        return [(number[place.source_id], place.start, place.end) for place in places]

    def search(self, query: str, k: int, within: Sequence[Place] | None = None) -> list[Hit]:
        """The k best passages for a query, inside `within` or anywhere, the best first."""
        if within is None and self._dense:
            return fuse([_best(self._searching, query, k, None), _best(self._dense, query, k, None)], k)
        return _best(self._searching, query, k, within)


def _best(indexes: Sequence[SourceIndex], query: str, k: int, within: Sequence[Place] | None) -> list[Hit]:
    """The best hits of several documents' indexes, by score."""
    hits: list[Hit] = []
    for number, index in enumerate(indexes):
        ranges = None if within is None else [(start, end) for n, start, end in within if n == number]
        if ranges is None or ranges:
            hits.extend(index.search(query, k, ranges))
    hits.sort(key=lambda hit: -hit.score)
    return [hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(hits[:k], 1)]
