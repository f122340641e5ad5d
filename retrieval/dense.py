"""Dense index of one source: its passages as embeddings, searched and compared with segments of a response.

Knows: how the three kinds of embeddings that BGE-M3 gives (dense, sparse, multi-vector) are compared and weighed;
that a block is as similar as its best passage.
Does not know: which model made the embeddings, where an index is stored. Needs numpy alone.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from longproof.retrieval.ranking import Ranges, best_per_range, passages_in, top_k
from longproof.retrieval.types import BadInput, Document, Frozen, Hit, Progress

TOKENS_AT_ONCE = 200_000  # token vectors of passages compared at once: 0.8 MB for each token of a segment
AT_ONCE = 64  # segments scored together

Kind = Literal["passage", "segment"]


class Weights(Frozen):
    """How much each kind of vector counts; their weighted scores are added.

    BGE-M3's card weighs them 0.4, 0.2 and 0.4. Token vectors are left out unless asked for: in float16 they take
    2 kB a token, 6 GB for a million Chinese characters in overlapping passages.
    """

    dense: float = Field(default=0.4, ge=0)
    sparse: float = Field(default=0.2, ge=0)
    multi: float = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if not self.dense + self.sparse + self.multi > 0:
            raise ValueError("one of the weights must be above 0")
        return self


class Sparse(NamedTuple):
    """Text i holds the tokens `tokens[starts[i]:starts[i + 1]]`, each once, with these weights."""

    tokens: NDArray[np.int32]
    weights: NDArray[np.float32]
    starts: NDArray[np.int64]


class Multi(NamedTuple):
    """Text i's tokens have the unit vectors `vectors[starts[i]:starts[i + 1]]`."""

    vectors: NDArray[np.float16]
    starts: NDArray[np.int64]


class Embeddings(NamedTuple):
    """Texts as vectors; `dense` holds one unit vector a row. The other kinds where the embedder makes them."""

    dense: NDArray[np.float32]
    sparse: Sparse | None = None
    multi: Multi | None = None


class Embedder(Protocol):
    """Turns texts into vectors. `name` says which model with which content; equal names give equal vectors."""

    @property
    def name(self) -> str: ...
    @property
    def weights(self) -> Weights: ...
    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embeddings:
        """The vectors of these texts. Raises BadInput for a text that the model would cut short."""
        ...


class DenseIndex:
    """The passages of one document as vectors. It does not change. `held` may lie in memory-mapped arrays."""

    def __init__(self, document: Document, passages: Ranges, held: Embeddings, embedder: Embedder) -> None:
        if len(held.dense) != len(passages):
            raise BadInput(f"{len(held.dense)} vectors for {len(passages)} passages: build the index again")
        self._document = document
        self._passages = np.array(passages, dtype=np.int64).reshape(-1, 2)
        self._embedder = embedder
        self.held = held

    @classmethod
    def build(
        cls, document: Document, passages: Ranges, embedder: Embedder, progress: Progress | None = None
    ) -> Self:
        """Embed these half-open ranges of the document's text, given in text order."""
        texts = [document.text[start:end] for start, end in passages]
        return cls(document, passages, embedder.embed(texts, "passage", progress), embedder)

    def similarity(self, segments: Sequence[str], blocks: Ranges) -> NDArray[np.float64]:
        """One row a segment, one column a block: the score of the block's best passage; 0 where it has none."""
        members = passages_in(self._passages, blocks)
        matrix = np.zeros((len(segments), len(blocks)))
        if len(self._passages):
            for first in range(0, len(segments), AT_ONCE):
                scores = self._scores(segments[first : first + AT_ONCE])
                matrix[first : first + AT_ONCE] = best_per_range(scores, members)
        return matrix

    def search(self, query: str, k: int, within: Ranges | None = None) -> list[Hit]:
        """The k best passages, best first; with `within`, of those that belong to one of these ranges.

        Of equal scores the earlier passage counts first. Neighbouring passages may overlap.
        """
        if k < 1 or not len(self._passages):
            return []
        scores = self._scores([query])[0]
        return [
            Hit(
                span=self._document.span(*self._passages[i].tolist()),
                score=float(scores[i]),
                rank=rank,
                via="dense",
            )
            for rank, i in enumerate(top_k(scores, k, self._passages, within), start=1)
        ]

    def _scores(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return embedding_scores(self._embedder.embed(texts, "segment"), self.held, self._embedder.weights)


def embedding_scores(asked: Embeddings, held: Embeddings, weights: Weights) -> NDArray[np.float32]:
    """The score of each asked text against each held one. Raises BadInput where they can't be compared."""
    if asked.dense.shape[1:] != held.dense.shape[1:]:
        raise BadInput(
            f"vectors of {asked.dense.shape[-1]} and of {held.dense.shape[-1]} numbers can't be compared: "
            "another embedder made the index; build it again"
        )
    scores = np.float32(weights.dense) * (asked.dense @ held.dense.T)
    if weights.sparse:
        scores += np.float32(weights.sparse) * _shared_weight(_required(asked.sparse), _required(held.sparse))
    if weights.multi:
        scores += np.float32(weights.multi) * _best_tokens(_required(asked.multi), _required(held.multi))
    return np.asarray(scores, dtype=np.float32)


Part = TypeVar("Part", Sparse, Multi)


def _required(part: Part | None) -> Part:
    if part is None:
        raise BadInput("a weight is set for vectors that the embedder doesn't make: set it to 0")
    return part


def _shared_weight(asked: Sparse, held: Sparse) -> NDArray[np.float32]:
    """For each pair of texts, the products of the weights of the tokens that both hold, added."""
    texts = len(held.starts) - 1
    owner = np.repeat(np.arange(texts), np.diff(held.starts))
    size = 1 + max(held.tokens.max(initial=0), asked.tokens.max(initial=0))
    rows = []
    for start, end in zip(asked.starts[:-1], asked.starts[1:], strict=True):
        query = np.zeros(size, dtype=np.float32)
        query[asked.tokens[start:end]] = asked.weights[start:end]
        rows.append(np.bincount(owner, weights=query[held.tokens] * held.weights, minlength=texts))
    return np.array(rows, dtype=np.float32).reshape(len(rows), texts)


def _best_tokens(asked: Multi, held: Multi) -> NDArray[np.float32]:
    """For each pair, the mean over the asked text's tokens of their best product with the held text's tokens."""
    scores = np.zeros((len(asked.starts) - 1, len(held.starts) - 1), dtype=np.float32)
    for first, last in _chunks(held.starts):
        vectors = held.vectors[held.starts[first] : held.starts[last]].astype(np.float32).T
        starts = held.starts[first:last] - held.starts[first]
        for row, (start, end) in enumerate(zip(asked.starts[:-1], asked.starts[1:], strict=True)):
            products = asked.vectors[start:end].astype(np.float32) @ vectors
            scores[row, first:last] = np.maximum.reduceat(products, starts, axis=1).mean(axis=0)
    return scores


def _chunks(starts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Neighbouring texts together, up to TOKENS_AT_ONCE tokens or one text."""
    chunks, first = [], 0
    while first < len(starts) - 1:
        last = int(np.searchsorted(starts, starts[first] + TOKENS_AT_ONCE, side="right")) - 1
        chunks.append((first, max(last, first + 1)))
        first = chunks[-1][1]
    return chunks


def concatenated(parts: Sequence[Embeddings]) -> Embeddings:
    """The texts of all parts, in order."""
    sparse = [part.sparse for part in parts if part.sparse is not None]
    multi = [part.multi for part in parts if part.multi is not None]
    return Embeddings(
        np.concatenate([part.dense for part in parts]) if parts else np.zeros((0, 0), dtype=np.float32),
        Sparse(
            np.concatenate([part.tokens for part in sparse]),
            np.concatenate([part.weights for part in sparse]),
            _starts(sparse),
        )
        if sparse
        else None,
        Multi(np.concatenate([part.vectors for part in multi]), _starts(multi)) if multi else None,
    )


def _starts(parts: Sequence[Any]) -> NDArray[np.int64]:
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
