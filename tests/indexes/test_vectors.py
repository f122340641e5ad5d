"""Vectors are made once and found again by content; damage is refused with the way out, whichever byte is wrong."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longproof.indexes import vectors
from longproof.indexes.vectors import VERSION, PassageSize, SourceIndex
from longproof.retrieval.dense import Embeddings, Sparse
from longproof.retrieval.text.chunking import blocks
from longproof.retrieval.types import BadInput, Document, Progress

pytest.importorskip("faiss", reason="the extra `dense` is not installed")

TEXT = "".join(
    f"In chapter {n} the captain meets number {n * 7}. 第{n}回船长遇见了狐狸。\n" for n in range(40)
)
DOCUMENT = Document.of(TEXT)
CUT = PassageSize()
SEGMENTS = ["chapter 13 and number 91", "船长遇见了狐狸", "🦊"]


class Counting:
    """Counts letters, with or without sparse weights, and how often it was asked for passages."""

    def __init__(self, name: str = "counting", sparse: bool = True) -> None:
        self.name = name
        self.passages = 0
        self._sparse = sparse

    def embed(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Embeddings:
        self.passages += not query
        counts = np.array([np.bincount([ord(c) % 16 for c in text], minlength=16) for text in texts])
        dense = (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)
        owners, tokens = np.nonzero(counts)
        sparse = Sparse(owners.astype(np.int32), tokens.astype(np.int32), dense[owners, tokens])
        return Embeddings(dense, sparse if self._sparse else None)


def answers(index: SourceIndex) -> tuple[list[Any], list[float]]:
    matrix = index.similarity(SEGMENTS, blocks(TEXT, 500))
    return [index.search(segment, 5) for segment in SEGMENTS], matrix.ravel().tolist()


def source_index(
    document: Document, home: Path, embedder: Counting | None = None, cut: PassageSize = CUT
) -> SourceIndex:
    return vectors.source_index(document, home, embedder, cut)


def kept(home: Path) -> Path:
    (path,) = (home / "vectors").iterdir()
    return path


@pytest.mark.parametrize("sparse", [True, False])
def test_a_kept_index_answers_as_the_one_that_was_built(tmp_path: Path, sparse: bool) -> None:
    embedder = Counting(sparse=sparse)
    first = answers(source_index(DOCUMENT, tmp_path, embedder))
    before = kept(tmp_path).stat().st_mtime_ns
    assert answers(source_index(DOCUMENT, tmp_path, embedder)) == first
    assert kept(tmp_path).stat().st_mtime_ns == before
    assert embedder.passages == 1


def test_words_are_kept_nowhere(tmp_path: Path) -> None:
    assert source_index(DOCUMENT, tmp_path).search("captain", 1)
    assert source_index(Document.of(""), tmp_path, Counting()).search("x", 3) == []
    assert list(tmp_path.iterdir()) == []


def test_another_text_cutting_embedder_or_version_is_another_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for document, embedder, cut in (
        (DOCUMENT, Counting("a"), CUT),
        (Document.of(TEXT + "!"), Counting("a"), CUT),
        (DOCUMENT, Counting("a"), PassageSize(500, 500)),
        (DOCUMENT, Counting("b"), CUT),
    ):
        source_index(document, tmp_path, embedder, cut)
    monkeypatch.setattr(vectors, "VERSION", VERSION - 1)
    source_index(DOCUMENT, tmp_path, Counting("a"))
    assert len(list((tmp_path / "vectors").iterdir())) == 5


def test_whichever_byte_is_wrong_the_vectors_are_refused_and_can_be_made_again(tmp_path: Path) -> None:
    expected = answers(source_index(DOCUMENT, tmp_path, Counting()))
    path = kept(tmp_path)
    sound = path.read_bytes()
    flipped = [sound[:n] + bytes([sound[n] ^ 1]) + sound[n + 1 :] for n in range(0, len(sound), 97)]
    damaged = [b"", sound[:40], sound + b"x", *flipped]
    source_index(DOCUMENT, tmp_path, Counting("another"))
    (other,) = set((tmp_path / "vectors").iterdir()) - {path}
    for data in [*damaged, other.read_bytes()]:
        path.write_bytes(data)
        with pytest.raises(BadInput, match="delete this file and run again") as refused:
            source_index(DOCUMENT, tmp_path, Counting())
    assert str(path) in str(refused.value)
    path.unlink()
    assert answers(source_index(DOCUMENT, tmp_path, Counting())) == expected
