"""The vectors of texts, made once by an embedder and kept under `vectors/` in the data folder.

Knows: one file for the vectors of one text, written whole or not at all, and opened only if it is what was written
for the same texts, cut and embedded alike. By words a source is counted anew in every run.
Does not know: how an index searches (retrieval), what it is used for, where the texts came from.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from longproof.retrieval.dense import DenseIndex, Embedder, Vectors
from longproof.retrieval.files import write_whole
from longproof.retrieval.lexical import LexicalIndex
from longproof.retrieval.text.chunking import overlapping
from longproof.retrieval.types import BadInput, Document, Progress

VERSION = 7
"""Part of the key of vectors: what an older version wrote is not opened but made again."""

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
    """The index of a document by words or, with an embedder, by vectors. Raises BadInput as `open_vectors` does."""
    passages = overlapping(document.text, cut.size, cut.step)
    if embedder is None or not passages:
        return LexicalIndex(document, passages)
    texts = [document.text[start:end] for start, end in passages]
    made_of = f"{document.id}\0{cut.size}\0{cut.step}"
    return DenseIndex(document, passages, open_vectors(home, made_of, texts, embedder, progress))


def open_vectors(
    home: Path, made_of: str, texts: Sequence[str], embedder: Embedder, progress: Progress | None = None
) -> Vectors:
    """The vectors of texts, which `made_of` names: those in the data folder, or new ones that are kept there.

    Raises BadInput for a file that is damaged, and where the embedder refuses.
    """
    key = sha256(f"{VERSION}\0{made_of}\0{embedder.name}".encode())
    path = home / "vectors" / f"{key.hexdigest()}.vectors"
    if not path.exists():
        vectors = Vectors.of(texts, embedder, progress)
        write_whole(path, sha256(key.digest() + vectors.data).digest() + vectors.data)
        return vectors
    try:
        stored = path.read_bytes()
    except OSError as error:
        raise BadInput(
            f"can't read the vectors {path}: {error.strerror}; delete this and run again"
        ) from error
    checksum, data = stored[:32], stored[32:]
    if checksum != sha256(key.digest() + data).digest():
        raise BadInput(f"the vectors {path} are damaged: delete this file and run again to make them anew")
    return Vectors(data, embedder)
