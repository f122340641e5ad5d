"""Vectors are made once and found again by content; damage is refused with the way out, whichever byte is wrong."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longproof.indexes import vectors
from longproof.indexes.vectors import VERSION, PassageSize, SourceIndex, read_arrays, write_arrays
from longproof.retrieval.dense import Embeddings, Sparse, Vectors
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


class Bomb:
    """Would write a file if it were ever unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def forge(path: Path, **changes: Any) -> None:
    with np.load(path) as packed:
        arrays = dict(packed)
    np.savez(path, **{name: array for name, array in (arrays | changes).items() if array is not None})


DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "one array alone": lambda path: np.save(path.open("wb"), np.zeros(3)),
    "objects": lambda path: forge(path, faiss=np.array([[Bomb(path.parent / "owned")]], dtype=object)),
    "another key": lambda path: forge(path, key=np.array("0" * 64)),
    "no key": lambda path: forge(path, key=None),
    "no vectors": lambda path: forge(path, faiss=None),
    "half of the vectors": lambda path: forge(path, faiss=np.zeros(40, np.uint8)),
    "other vectors": lambda path: forge(path, faiss=Vectors.of(["one"], Counting()).arrays["faiss"]),
    "no weights": lambda path: forge(path, weights=None),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_index_is_refused_and_can_be_rebuilt(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    expected = answers(source_index(DOCUMENT, tmp_path, Counting()))
    path = kept(tmp_path)
    damage(path)
    with pytest.raises(BadInput, match="delete this file and run again to rebuild it") as refused:
        source_index(DOCUMENT, tmp_path, Counting())
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (path.parent / "owned").exists()
    path.unlink()
    assert answers(source_index(DOCUMENT, tmp_path, Counting())) == expected


def test_whichever_byte_is_wrong_the_arrays_are_whole_or_refused(tmp_path: Path) -> None:
    path, vectors = tmp_path / "index.npz", np.arange(6, dtype=np.float32)
    write_arrays(path, "key", {"vectors": vectors})
    sound, refused = path.read_bytes(), 0
    for place in range(len(sound)):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :])
        try:
            arrays = read_arrays(path, "key")
        except BadInput:
            refused += 1
        else:
            assert all((read == vectors).all() for read in arrays.values())
    assert refused
