"""An embedder that counts letters."""

import numpy as np

from longproof.retrieval.dense import Embeddings, Sparse

LETTERS = "abcdefgh "


class Letters:
    """One number a letter of LETTERS, with `sparse` as sparse weights too; counts how often passages came."""

    def __init__(self, name: str = "letters", sparse: bool = False) -> None:
        self.name, self._sparse = name, sparse
        self.passages = 0

    def embed(self, texts, *, query=False, progress=None) -> Embeddings:
        self.passages += not query
        counts = np.array([[text.count(c) for c in LETTERS] for text in texts], dtype=np.float32)
        dense = counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)
        owners, tokens = np.nonzero(counts)
        sparse = Sparse(owners.astype(np.int32), tokens.astype(np.int32), counts[owners, tokens])
        return Embeddings(dense, sparse if self._sparse else None)
