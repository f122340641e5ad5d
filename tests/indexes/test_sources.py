"""The index of one source: vectors are built once and found again by content; damage is refused with the way out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longproof.indexes import sources
from longproof.indexes.sources import VERSION, PassageSize, SourceIndex
from longproof.retrieval.dense import Embeddings, Sparse
from longproof.retrieval.text.chunking import blocks
from longproof.retrieval.types import BadInput, Document, Progress

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
        rows = [np.flatnonzero(row) for row in counts]
        tokens = np.concatenate(rows).astype(np.int32)
        weights = np.concatenate([row[at] for row, at in zip(dense, rows, strict=True)])
        sparse = Sparse(tokens, weights, np.cumsum([0, *map(len, rows)]))
        return Embeddings(dense, sparse if self._sparse else None)


def answers(index: SourceIndex) -> tuple[list[Any], list[float]]:
    matrix = index.similarity(SEGMENTS, blocks(TEXT, 500))
    return [index.search(segment, 5) for segment in SEGMENTS], matrix.ravel().tolist()


def source_index(
    document: Document, home: Path, embedder: Counting | None = None, cut: PassageSize = CUT
) -> SourceIndex:
    return sources.source_index(document, home, embedder, cut)


def kept(home: Path) -> Path:
    (path,) = (home / "sources").iterdir()
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
    monkeypatch.setattr(sources, "VERSION", VERSION - 1)
    source_index(DOCUMENT, tmp_path, Counting("a"))
    assert len(list((tmp_path / "sources").iterdir())) == 5


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
    "objects": lambda path: forge(path, dense=np.array([[Bomb(path.parent / "owned")]], dtype=object)),
    "another key": lambda path: forge(path, key=np.array("0" * 64)),
    "no key": lambda path: forge(path, key=None),
    "no vectors": lambda path: forge(path, dense=None),
    "fewer vectors than passages": lambda path: forge(path, dense=np.zeros((2, 16), np.float32)),
    "other starts": lambda path: forge(path, starts=np.arange(3)),
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
