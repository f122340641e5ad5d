"""The index of one source. By words it is counted anew in every run; by an embedder it is built once and kept.

Knows: one file an index under `sources/` in the data folder, named by text, size of passages and embedder.
Does not know: how an index searches (retrieval), what it is used for, where the text came from.
"""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from longproof.indexes.arrays import read_arrays, unusable, write_arrays
from longproof.retrieval.bm25 import Arrays
from longproof.retrieval.dense import DenseIndex, Embedder, Embeddings, Sparse
from longproof.retrieval.lexical import LexicalIndex
from longproof.retrieval.text.chunking import overlapping
from longproof.retrieval.types import Document, Progress

VERSION = 4
"""Part of an index's key: what an older version wrote is not opened but built again."""

SourceIndex = LexicalIndex | DenseIndex


class PassageSize(NamedTuple):
    """The passages that are indexed: `size` characters, one every `step`."""

    size: int = 400
    step: int = 200


def source_index(
    document: Document,
    home: Path,
    embedder: Embedder | None,
    cut: PassageSize,
    progress: Progress | None = None,
) -> SourceIndex:
    """The index of a document; that of an embedder is the one in the data folder, or a new one that is kept there.

    Raises BadInput for an index that is damaged, and where the embedder refuses.
    """
    passages = overlapping(document.text, cut.size, cut.step)
    if embedder is None or not passages:
        return LexicalIndex(document, passages)
    key = sha256(f"{VERSION}\0{document.id}\0{cut.size}\0{cut.step}\0{embedder.name}".encode()).hexdigest()
    path = home / "sources" / f"{key}.npz"
    if path.exists():
        vectors = _as_embeddings(read_arrays(path, key))
        if vectors is None or not len(vectors.dense) == len(passages):
            raise unusable(path, "its arrays don't fit together")
        return DenseIndex(document, passages, vectors, embedder)
    dense = DenseIndex.build(document, passages, embedder, progress)
    write_arrays(path, key, _as_arrays(dense.vectors))
    return dense


def _as_arrays(vectors: Embeddings) -> Arrays:
    sparse = vectors.sparse._asdict() if vectors.sparse else {}
    return {"dense": vectors.dense, **sparse}


def _as_embeddings(arrays: Arrays) -> Embeddings | None:
    """The vectors in these arrays; None where they are of another make."""
    if arrays.keys() == {"dense"}:
        return Embeddings(arrays["dense"])
    if arrays.keys() != {"dense", *Sparse._fields}:
        return None
    sparse = Sparse(*(arrays[name] for name in Sparse._fields))
    return Embeddings(arrays["dense"], sparse) if len(sparse.starts) == len(arrays["dense"]) + 1 else None
