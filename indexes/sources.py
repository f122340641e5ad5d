"""The index of one source: built once, named by its text, size of passages and embedder, checked when opened.

Knows: lexical indexes and those of embedders, under `sources/` in the data folder. Reuse is automatic.
Does not know: how an index searches (retrieval), what it is used for, where the text came from.
"""

from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longproof.indexes.arrays import ArraySpec, IndexManifest, open_arrays, unusable, write_arrays
from longproof.retrieval.bm25 import Arrays
from longproof.retrieval.dense import DenseIndex, Embedder, Embeddings, Multi, Sparse
from longproof.retrieval.lexical import WIDER, LexicalIndex
from longproof.retrieval.text.chunking import overlapping
from longproof.retrieval.types import Document, Progress, SourceIndex

VERSION = 3
"""Part of an index's key: what an older version wrote is not opened but built again."""

_SCALE = {
    "ranges": ArraySpec("int64", 2),
    "weights": ArraySpec("float32", 1),
    "texts": ArraySpec("int32", 1),
    "starts": ArraySpec("int64", 1),
}
_LEXICAL = {
    "words": ArraySpec("uint64", 1),
    **{f"{name}{scale}": spec for scale in range(1 + len(WIDER)) for name, spec in _SCALE.items()},
}
_DENSE = {"dense": ArraySpec("float32", 2)}
_SPARSE = {
    "tokens": ArraySpec("int32", 1),
    "token_weights": ArraySpec("float32", 1),
    "token_starts": ArraySpec("int64", 1),
}
_MULTI = {"vectors": ArraySpec("float16", 2), "vector_starts": ArraySpec("int64", 1)}


class PassageSize(NamedTuple):
    """The passages that are indexed: `size` characters, one every `step`."""

    size: int = 400
    step: int = 200


class SourceManifest(IndexManifest):
    """What the index of a source says of itself. `embedder` is its name, or `lexical`."""

    format: Literal["longproof.source"] = "longproof.source"
    version: int = VERSION
    text: str
    characters: int
    embedder: str
    size: int
    step: int


def source_index(
    document: Document,
    home: Path,
    embedder: Embedder | None = None,
    passage_size: PassageSize | None = None,
    *,
    keep: bool,
    progress: Progress | None = None,
) -> SourceIndex:
    """The index of a document: the one that the data folder has, else a new one, kept there if `keep`.

    Raises BadInput for an index that is damaged or was made by another version, and where the embedder refuses.
    """
    expected = _expected(document, embedder, passage_size or PassageSize())
    target = home / "sources" / expected.key
    if target.exists():
        return _opened(target, expected, document, embedder)
    pieces = overlapping(document.text, expected.size, expected.step)
    if embedder is None:
        lexical = LexicalIndex.build(document, pieces)
        if keep and pieces:
            write_arrays(target, expected, lexical.arrays)
        return lexical
    dense = DenseIndex.build(document, pieces, embedder, progress)
    if keep and pieces:
        write_arrays(target, expected, _arrays(dense.held))
    return dense


def _expected(document: Document, embedder: Embedder | None, passage_size: PassageSize) -> SourceManifest:
    name = embedder.name if embedder else "lexical"
    key = sha256(
        f"{VERSION}\0{document.id}\0{passage_size.size}\0{passage_size.step}\0{name}".encode()
    ).hexdigest()
    return SourceManifest(
        key=key,
        text=document.id,
        characters=len(document.text),
        embedder=name,
        size=passage_size.size,
        step=passage_size.step,
    )


def _opened(
    target: Path, expected: SourceManifest, document: Document, embedder: Embedder | None
) -> SourceIndex:
    manifest, arrays = open_arrays(target, expected, _specs(embedder))
    if manifest.model_copy(update={"files": {}}) != expected:
        raise unusable(target, "its manifest names another text, passage size or embedder")
    pieces = overlapping(document.text, expected.size, expected.step)
    if embedder is None:
        if not _lexical_fits(arrays, pieces, len(document.text)):
            raise unusable(target, "its arrays don't fit together")
        return LexicalIndex(document, arrays)
    held = _held(arrays)
    if not _dense_fits(held, len(pieces)):
        raise unusable(target, "its arrays don't fit together")
    return DenseIndex(document, pieces, held, embedder)


def _specs(embedder: Embedder | None) -> dict[str, ArraySpec]:
    if embedder is None:
        return _LEXICAL
    sparse = _SPARSE if embedder.weights.sparse else {}
    multi = _MULTI if embedder.weights.multi else {}
    return {**_DENSE, **sparse, **multi}


def _arrays(held: Embeddings) -> Arrays:
    arrays: dict[str, NDArray[Any]] = {"dense": held.dense}
    if held.sparse:
        arrays |= dict(zip(_SPARSE, held.sparse, strict=True))
    if held.multi:
        arrays |= dict(zip(_MULTI, held.multi, strict=True))
    return arrays


def _held(arrays: Arrays) -> Embeddings:
    return Embeddings(
        arrays["dense"],
        Sparse(*(arrays[name] for name in _SPARSE)) if "tokens" in arrays else None,
        Multi(*(arrays[name] for name in _MULTI)) if "vectors" in arrays else None,
    )


def _lexical_fits(arrays: Arrays, pieces: list[tuple[int, int]], characters: int) -> bool:
    """Whether every place that the arrays name is there: files can be whole and still not be ours."""
    if arrays["ranges0"].tolist() != [list(piece) for piece in pieces]:
        return False
    return all(
        _fits(arrays[f"ranges{scale}"].ravel(), characters + 1)
        and _fits(arrays[f"texts{scale}"], len(arrays[f"ranges{scale}"]))
        and len(arrays[f"weights{scale}"]) == len(arrays[f"texts{scale}"])
        and len(arrays[f"starts{scale}"]) == len(arrays["words"]) + 1
        and _parts(arrays[f"starts{scale}"], len(arrays[f"texts{scale}"]))
        for scale in range(1 + len(WIDER))
    )


def _dense_fits(held: Embeddings, pieces: int) -> bool:
    ragged: list[tuple[NDArray[np.int64], int]] = []
    if held.sparse:
        ragged.append((held.sparse.starts, len(held.sparse.tokens)))
        if len(held.sparse.weights) != len(held.sparse.tokens) or held.sparse.tokens.min(initial=0) < 0:
            return False
    if held.multi:
        ragged.append((held.multi.starts, len(held.multi.vectors)))
    return len(held.dense) == pieces and all(
        len(starts) == pieces + 1 and _parts(starts, length) for starts, length in ragged
    )


def _fits(places: NDArray[Any], end: int) -> bool:
    return not len(places) or 0 <= int(places.min()) <= int(places.max()) < end


def _parts(starts: NDArray[np.int64], length: int) -> bool:
    return bool(len(starts) and starts[0] == 0 and starts[-1] == length and (np.diff(starts) >= 0).all())
