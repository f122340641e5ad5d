"""Dense index of one source: its passages as vectors, searched and compared with segments of a response.

Knows: vectors lie in a FAISS index; BGE-M3's sparse weights of tokens count beside them; a block is as similar as
its best passage. Does not know: which model made the vectors, where they are stored.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.ranking import Ranges, best_per_range, top_k
from longproof.retrieval.types import BadInput, Document, Hit, Progress

DENSE, SPARSE = 0.4, 0.2
"""How much each kind of vector counts where there are both, by BGE-M3's card. Its vectors of single tokens are not
used: they take 2 kB a token, 6 GB for a million Chinese characters in overlapping passages."""


class Sparse(NamedTuple):
    """Weights of tokens, one row each: the number of the text, the token (once a text), its weight."""

    texts: NDArray[np.int32]
    tokens: NDArray[np.int32]
    weights: NDArray[np.float32]


class Embeddings(NamedTuple):
    """Texts as vectors; `dense` holds one unit vector a row, `sparse` is there if the embedder makes it."""

    dense: NDArray[np.float32]
    sparse: Sparse | None = None


Encoded = tuple[NDArray[np.float32], Sequence[Mapping[str, float]]]
"""The vectors of a batch of texts, one a row, and their weights of tokens if the model makes them."""


@dataclass(frozen=True)
class Embedder:
    """Turns texts into vectors: hands them to a model, `size` at a time. Equal names give equal vectors."""

    name: str  # which model with which content
    encode: Callable[[list[str], bool], Encoded]  # embeds a batch of passages or, with True, of queries
    size: int
    lock: AbstractContextManager[Any]  # held while a batch is embedded
    query: str = ""  # put before each query, as `passage` is before each passage
    passage: str = ""

    def embed(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Embeddings:
        """The vectors of passages or, with `query`, of queries. Raises BadInput for a text too long for the model."""
        prefix = self.query if query else self.passage
        dense: list[NDArray[np.float32]] = []
        weights: list[Mapping[str, float]] = []
        for first in range(0, len(texts), self.size):
            batch = [prefix + text for text in texts[first : first + self.size]]
            with self.lock:
                vectors, tokens = self.encode(batch, query)
            dense.append(vectors)
            weights.extend(tokens)
            if progress:
                progress(first + len(batch), len(texts))
        together = np.concatenate(dense) if dense else np.zeros((0, 0))
        norms = np.linalg.norm(together, axis=1, keepdims=True)
        unit = np.asarray(together / np.maximum(norms, 1e-12), dtype=np.float32)
        if not weights:
            return Embeddings(unit)
        owners = np.repeat(np.arange(len(weights), dtype=np.int32), [len(row) for row in weights])
        numbers = np.array([int(token) for row in weights for token in row], np.int32)
        values = np.array([float(weight) for row in weights for weight in row.values()], np.float32)
        return Embeddings(unit, Sparse(owners, numbers, values))


class Vectors:
    """The vectors of some texts, searchable by FAISS. `data` is all that it holds, as one `.npz` file."""

    def __init__(self, data: bytes, embedder: Embedder) -> None:
        from faiss import deserialize_index

        self.data = data
        self._embedder = embedder
        with np.load(BytesIO(data), allow_pickle=False) as arrays:
            self._index: Any = deserialize_index(arrays["faiss"])
            sparse = "tokens" in arrays
            self._sparse = Sparse(*(arrays[name] for name in Sparse._fields)) if sparse else None

    @classmethod
    def of(cls, texts: Sequence[str], embedder: Embedder, progress: Progress | None = None) -> "Vectors":
        """Embed these passages, at least one."""
        from faiss import IndexFlatIP, serialize_index

        dense, sparse = embedder.embed(texts, progress=progress)
        index: Any = IndexFlatIP(dense.shape[1])
        index.add(dense)
        packed = BytesIO()
        weights: dict[str, Any] = sparse._asdict() if sparse else {}
        np.savez(packed, faiss=serialize_index(index), **weights)
        return cls(packed.getvalue(), embedder)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def scores(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """The score of each query against each text. Raises BadInput where they can't be compared."""
        asked = self._embed_queries(queries)
        scores: NDArray[np.float32] = asked.dense @ self._index.reconstruct_n(0, len(self)).T
        held, sought = self._sparse, asked.sparse
        if held is None or sought is None:
            return scores
        # For each text, the products of the weights of the tokens that it shares with a query, added.
        shared = np.zeros_like(scores)
        for number in range(len(queries)):
            own = sought.texts == number
            weights = np.zeros(
                1 + max(held.tokens.max(initial=0), sought.tokens.max(initial=0)), dtype=np.float32
            )
            weights[sought.tokens[own]] = sought.weights[own]
            products = weights[held.tokens] * held.weights
            shared[number] = np.bincount(held.texts, weights=products, minlength=len(self))
        return np.float32(DENSE) * scores + np.float32(SPARSE) * shared

    def nearest(self, query: str, k: int) -> list[tuple[int, float]]:
        """The numbers and scores of the k best texts for a query, best first."""
        if self._sparse is not None:
            scores = self.scores([query])[0]
            return [(i, float(scores[i])) for i in top_k(scores, k)]
        scores, numbers = self._index.search(self._embed_queries([query]).dense, min(k, len(self)))
        return list(zip(numbers[0].tolist(), scores[0].tolist(), strict=True))

    def _embed_queries(self, queries: Sequence[str]) -> Embeddings:
        asked = self._embedder.embed(queries, query=True)
        if asked.dense.shape[1] != self._index.d:
            raise BadInput(
                f"vectors of {asked.dense.shape[1]} and of {self._index.d} numbers can't be compared: another "
                "embedder made the index; build it again"
            )
        return asked


class DenseIndex:
    """The passages of one document, half-open ranges of its text in text order, as vectors."""

    def __init__(self, document: Document, passages: Ranges, vectors: Vectors) -> None:
        self._document, self._passages, self._vectors = document, passages, vectors

    def similarity(self, segments: Sequence[str], blocks: Ranges) -> NDArray[np.float64]:
        """One row a segment, one column a block: the score of the block's best passage; 0 where it has none."""
        if not segments:
            return np.zeros((0, len(blocks)))
        return best_per_range(self._vectors.scores(segments), np.array(self._passages), blocks)

    def search(self, query: str, k: int) -> list[Hit]:
        """The k best passages, best first. Neighbouring passages may overlap."""
        nearest = self._vectors.nearest(query, k)
        return [Hit(self._document.span(*self._passages[number]), score) for number, score in nearest]
