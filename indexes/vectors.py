"""Indexes as single `.npz` files: written whole or not at all, and opened only by the key that names them.

Knows: arrays by name, and the key of what they were made of; the vectors of texts, made once by an embedder and kept
under `vectors/` in the data folder. Nothing is pickled; objects are refused, not loaded. By words a source is counted
anew in every run.
Does not know: how an index searches (retrieval), what it is used for, where the texts came from.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.bm25 import Arrays
from longproof.retrieval.contents import BROKEN
from longproof.retrieval.dense import DenseIndex, Embedder, Vectors
from longproof.retrieval.files import write_whole
from longproof.retrieval.lexical import LexicalIndex
from longproof.retrieval.text.chunking import overlapping
from longproof.retrieval.types import BadInput, Document, Progress

VERSION = 5
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
    """The index of a document by words or, with an embedder, by its vectors.

    Raises BadInput for an index that is damaged, and where the embedder refuses.
    """
    passages = overlapping(document.text, cut.size, cut.step)
    if embedder is None or not passages:
        return LexicalIndex(document, passages)

    def texts() -> list[str]:
        return [document.text[start:end] for start, end in passages]

    made_of = f"{document.id}\0{cut.size}\0{cut.step}"
    return DenseIndex(
        document, passages, open_vectors(home, made_of, len(passages), texts, embedder, progress)
    )


def open_vectors(
    home: Path,
    made_of: str,
    count: int,
    texts: Callable[[], Sequence[str]],
    embedder: Embedder,
    progress: Progress | None = None,
) -> Vectors:
    """The vectors of `count` texts, which `made_of` names: those in the data folder, or new ones that are kept there.

    Raises BadInput for a file that is damaged, and where the embedder refuses.
    """
    key = sha256(f"{VERSION}\0{made_of}\0{embedder.name}".encode()).hexdigest()
    path = home / "vectors" / f"{key}.npz"
    if not path.exists():
        vectors = Vectors.of(texts(), embedder, progress)
        write_arrays(path, key, vectors.arrays)
        return vectors
    try:
        vectors = Vectors(read_arrays(path, key), embedder)
    except (LookupError, RuntimeError, TypeError, AssertionError) as error:
        raise unusable(path, "its arrays don't fit together") from error
    if len(vectors) != count:
        raise unusable(path, "its arrays don't fit together")
    return vectors


def write_arrays(path: Path, key: str, arrays: Arrays) -> None:
    """Write an index. Raises BadInput where the folder can't be written to."""
    packed = BytesIO()
    named: dict[str, Any] = {**arrays, "key": np.array(key)}
    np.savez(packed, **named)
    write_whole(path, packed.getvalue())


def read_arrays(path: Path, key: str) -> dict[str, NDArray[Any]]:
    """The arrays of an index. Raises BadInput, saying how to rebuild it, where it is damaged or of another key."""
    try:
        with np.load(path, allow_pickle=False) as packed:
            arrays = {name: packed[name] for name in packed.files}
        own = str(arrays.pop("key"))
    except BROKEN as error:
        raise unusable(path, "it is damaged") from error
    if own != key:
        raise unusable(path, "it is the index of something else")
    return arrays


def unusable(path: Path, why: str) -> BadInput:
    """That this index can't be used, why, and how to rebuild it."""
    return BadInput(f"the index {path} can't be used: {why}; delete this file and run again to rebuild it")
