"""Dense index of one source: its passages as vectors, searched and compared with segments of a response.

Knows: vectors lie in a FAISS index, which compares all of them; a block is as similar as its best passage.
Does not know: which model made the vectors, where they are stored.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.ranking import Ranges, best_per_range, passages_in
from longproof.retrieval.types import BadInput, Document, Hit, Progress

Embeddings = NDArray[np.float32]
"""One unit vector a row."""


class Embedder(Protocol):
    """Turns texts into vectors. `name` says which model with which content; equal names give equal vectors."""

    @property
    def name(self) -> str: ...
    def embed(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Embeddings:
        """The vectors of passages or, with `query`, of what is looked for.

        Raises BadInput for a text that the model would cut short.
        """
        ...


class Vectors:
    """The vectors of some texts, searchable. `data` is all that it holds; it does not change.

    Needs FAISS, which the extras `dense` and `bge` bring.
    """

    def __init__(self, data: bytes, embedder: Embedder) -> None:
        from faiss import deserialize_index

        self.data = data
        self._embedder = embedder
        self._index: Any = deserialize_index(np.frombuffer(data, np.uint8))

    @classmethod
    def of(cls, texts: Sequence[str], embedder: Embedder, progress: Progress | None = None) -> "Vectors":
        """Embed these passages, at least one."""
        from faiss import IndexFlatIP, serialize_index

        vectors = embedder.embed(texts, progress=progress)
        index: Any = IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        return cls(serialize_index(index).tobytes(), embedder)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def scores(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """The cosine of each query with each text. Raises BadInput where they can't be compared."""
        asked = self._embed_queries(queries)
        scores: NDArray[np.float32] = asked @ self._index.reconstruct_n(0, len(self)).T
        return scores

    def nearest(self, query: str, k: int) -> list[tuple[int, float]]:
        """The numbers and scores of the k best texts for a query, best first."""
        if k < 1:
            return []
        scores, numbers = self._index.search(self._embed_queries([query]), min(k, len(self)))
        return list(zip(numbers[0].tolist(), scores[0].tolist(), strict=True))

    def _embed_queries(self, queries: Sequence[str]) -> Embeddings:
        asked = self._embedder.embed(queries, query=True)
        if asked.shape[1] != self._index.d:
            raise BadInput(
                f"vectors of {asked.shape[1]} and of {self._index.d} numbers can't be compared: another "
                "embedder made the index; build it again"
            )
        return asked


class DenseIndex:
    """The passages of one document, half-open ranges of its text in text order, as vectors."""

    def __init__(self, document: Document, passages: Ranges, vectors: Vectors) -> None:
        self._document, self._passages, self._vectors = document, passages, vectors

    def similarity(self, segments: Sequence[str], blocks: Ranges) -> NDArray[np.float64]:
        """One row a segment, one column a block: the score of the block's best passage; 0 where it has none."""
        members = passages_in(np.array(self._passages, dtype=np.int64).reshape(-1, 2), blocks)
        if not segments:
            return np.zeros((0, len(blocks)))
        return best_per_range(self._vectors.scores(segments), members)

    def search(self, query: str, k: int) -> list[Hit]:
        """The k best passages, best first. Neighbouring passages may overlap."""
        return [
            Hit(span=self._document.span(*self._passages[number]), score=score, rank=rank)
            for rank, (number, score) in enumerate(self._vectors.nearest(query, k), start=1)
        ]
