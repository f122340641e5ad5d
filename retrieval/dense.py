"""Dense index of one source: its passages as embeddings, searched and compared with segments of a response.

Knows: how two of the kinds of embeddings that BGE-M3 gives (dense and sparse) are compared and weighed; that a block
is as similar as its best passage.
Does not know: which model made the embeddings, where an index is stored. Needs numpy alone.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.ranking import Ranges, best_per_range, passages_in, top_k
from longproof.retrieval.types import BadInput, Document, Hit, Progress

AT_ONCE = 64  # segments scored together
DENSE, SPARSE = 0.4, 0.2
"""How much each kind of vector counts where there are both, by BGE-M3's card. Its vectors of single tokens are not
used: they take 2 kB a token, 6 GB for a million Chinese characters in overlapping passages."""


class Sparse(NamedTuple):
    """Text i holds the tokens `tokens[starts[i]:starts[i + 1]]`, each once, with these weights."""

    tokens: NDArray[np.int32]
    weights: NDArray[np.float32]
    starts: NDArray[np.int64]


class Embeddings(NamedTuple):
    """Texts as vectors; `dense` holds one unit vector a row, `sparse` is there if the embedder makes it."""

    dense: NDArray[np.float32]
    sparse: Sparse | None = None


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


class DenseIndex:
    """The passages of one document as vectors. It does not change."""

    def __init__(self, document: Document, passages: Ranges, vectors: Embeddings, embedder: Embedder) -> None:
        self._document = document
        self._passages = np.array(passages, dtype=np.int64).reshape(-1, 2)
        self._embedder = embedder
        self.vectors = vectors

    @classmethod
    def build(
        cls, document: Document, passages: Ranges, embedder: Embedder, progress: Progress | None = None
    ) -> Self:
        """Embed these half-open ranges of the document's text, given in text order."""
        texts = [document.text[start:end] for start, end in passages]
        return cls(document, passages, embedder.embed(texts, progress=progress), embedder)

    def similarity(self, segments: Sequence[str], blocks: Ranges) -> NDArray[np.float64]:
        """One row a segment, one column a block: the score of the block's best passage; 0 where it has none."""
        members = passages_in(self._passages, blocks)
        matrix = np.zeros((len(segments), len(blocks)))
        for first in range(0, len(segments), AT_ONCE):
            scores = self._scores(segments[first : first + AT_ONCE])
            matrix[first : first + AT_ONCE] = best_per_range(scores, members)
        return matrix

    def search(self, query: str, k: int) -> list[Hit]:
        """The k best passages, best first; of equal ones the earlier. Neighbouring passages may overlap."""
        scores = self._scores([query])[0]
        return [
            Hit(span=self._document.span(*self._passages[i].tolist()), score=float(scores[i]), rank=rank)
            for rank, i in enumerate(top_k(scores, k), start=1)
        ]

    def _scores(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return embedding_scores(self._embedder.embed(texts, query=True), self.vectors)


def embedding_scores(queries: Embeddings, passages: Embeddings) -> NDArray[np.float32]:
    """The score of each query against each passage. Raises BadInput where they can't be compared."""
    if queries.dense.shape[1:] != passages.dense.shape[1:]:
        raise BadInput(
            f"vectors of {queries.dense.shape[-1]} and of {passages.dense.shape[-1]} numbers can't be compared: "
            "another embedder made the index; build it again"
        )
    scores: NDArray[np.float32] = queries.dense @ passages.dense.T
    if queries.sparse is None or passages.sparse is None:
        return scores
    shared = _shared_weight(queries.sparse, passages.sparse)
    return np.float32(DENSE) * scores + np.float32(SPARSE) * shared


def _shared_weight(queries: Sparse, passages: Sparse) -> NDArray[np.float32]:
    """For each pair of texts, the products of the weights of the tokens that both hold, added."""
    texts = len(passages.starts) - 1
    owner = np.repeat(np.arange(texts), np.diff(passages.starts))
    size = 1 + max(passages.tokens.max(initial=0), queries.tokens.max(initial=0))
    rows = []
    for start, end in zip(queries.starts[:-1], queries.starts[1:], strict=True):
        query = np.zeros(size, dtype=np.float32)
        query[queries.tokens[start:end]] = queries.weights[start:end]
        rows.append(np.bincount(owner, weights=query[passages.tokens] * passages.weights, minlength=texts))
    return np.array(rows, dtype=np.float32).reshape(len(rows), texts)


def join_embeddings(parts: Sequence[Embeddings]) -> Embeddings:
    """The texts of all parts, in order."""
    if not parts:
        return Embeddings(np.zeros((0, 0), dtype=np.float32))
    dense = np.concatenate([part.dense for part in parts])
    sparse = [part.sparse for part in parts if part.sparse is not None]
    if not sparse:
        return Embeddings(dense)
    lengths = np.concatenate([np.diff(part.starts) for part in sparse])
    return Embeddings(
        dense,
        Sparse(
            np.concatenate([part.tokens for part in sparse]),
            np.concatenate([part.weights for part in sparse]),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        ),
    )
