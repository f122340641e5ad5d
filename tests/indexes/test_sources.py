"""The index of a source: built once, found again by content, opened checked; damage is refused with the way out."""

import json
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longproof.indexes import arrays, sources
from longproof.indexes.sources import VERSION, PassageSize, source_index
from longproof.retrieval.dense import DenseIndex, Embeddings, Kind, Multi, Sparse, Weights
from longproof.retrieval.text.chunking import blocks
from longproof.retrieval.types import BadInput, Document, Progress, SourceIndex

TEXT = "".join(
    f"In chapter {n} the captain meets number {n * 7}. 第{n}回船长遇见了狐狸。\n" for n in range(40)
)
DOCUMENT = Document.of(TEXT)
SEGMENTS = ["chapter 13 and number 91", "船长遇见了狐狸", "🦊"]


@pytest.fixture(autouse=True)
def _no_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


class Counting:
    """Counts letters; makes every kind of vector, and says how often it was asked for passages."""

    def __init__(self, name: str = "counting", width: int = 16) -> None:
        self.name = name
        self.weights = Weights(dense=1, sparse=0.1, multi=0.1)
        self.passages = 0
        self._width = width

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embeddings:
        self.passages += kind == "passage"
        counts = np.array(
            [np.bincount([ord(c) % self._width for c in t], minlength=self._width) for t in texts]
        )
        dense = (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)
        rows = [np.flatnonzero(row) for row in counts]
        starts = np.cumsum([0, *map(len, rows)])
        tokens = np.concatenate(rows).astype(np.int32)
        weights = np.concatenate([row[at] for row, at in zip(dense, rows, strict=True)])
        vectors = np.eye(self._width, dtype=np.float16)[tokens]
        if progress:
            progress(len(texts), len(texts))
        return Embeddings(dense, Sparse(tokens, weights, starts), Multi(vectors, starts))


EMBEDDERS = pytest.mark.parametrize("embedder", [None, Counting()], ids=["lexical", "dense"])


def answers(index: SourceIndex) -> tuple[list[Any], list[float]]:
    matrix = index.similarity(SEGMENTS, blocks(TEXT, 500))
    return [index.search(segment, 5, [(300, 2000)]) for segment in SEGMENTS], matrix.ravel().tolist()


def kept(home: Path) -> Path:
    (folder,) = (home / "sources").iterdir()
    return folder


@EMBEDDERS
def test_a_kept_index_answers_as_the_one_that_was_built(tmp_path: Path, embedder: Counting | None) -> None:
    first = answers(source_index(DOCUMENT, tmp_path, embedder, keep=True))
    built = embedder.passages if embedder else 0
    before = {path: path.stat().st_mtime_ns for path in kept(tmp_path).iterdir()}
    assert answers(source_index(DOCUMENT, tmp_path, embedder, keep=True)) == first
    assert answers(source_index(DOCUMENT, tmp_path, embedder, keep=False)) == first
    assert {path: path.stat().st_mtime_ns for path in kept(tmp_path).iterdir()} == before
    assert (embedder.passages if embedder else 0) == built
    assert not any(path.suffix in {".pkl", ".pickle"} for path in kept(tmp_path).iterdir())


@EMBEDDERS
def test_an_index_that_is_not_kept_leaves_nothing(tmp_path: Path, embedder: Counting | None) -> None:
    source_index(DOCUMENT, tmp_path, embedder, keep=False)
    assert list(tmp_path.iterdir()) == []
    empty = source_index(Document.of(""), tmp_path, None, keep=True)
    assert empty.search("x", 3) == []
    assert list(tmp_path.iterdir()) == []


def test_another_text_cutting_or_embedder_is_another_index(tmp_path: Path) -> None:
    for document, embedder, cut in (
        (DOCUMENT, None, None),
        (Document.of(TEXT + "!"), None, None),
        (DOCUMENT, None, PassageSize(500, 500)),
        (DOCUMENT, Counting("a"), None),
        (DOCUMENT, Counting("b"), None),
    ):
        source_index(document, tmp_path, embedder, cut, keep=True)
    assert len(list((tmp_path / "sources").iterdir())) == 5


def test_an_index_of_an_older_version_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "VERSION", VERSION - 1)
    source_index(DOCUMENT, tmp_path, Counting(), keep=True)
    old = kept(tmp_path)
    monkeypatch.undo()
    found = answers(source_index(DOCUMENT, tmp_path, Counting(), keep=True))
    assert found == answers(source_index(DOCUMENT, tmp_path, Counting(), keep=False))
    assert len(list(old.parent.iterdir())) == 2


@EMBEDDERS
def test_two_builders_at_once_do_not_disturb_each_other(tmp_path: Path, embedder: Counting | None) -> None:
    found: list[Any] = []

    def build() -> None:
        found.append(answers(source_index(DOCUMENT, tmp_path, embedder, keep=True)))

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 4
    assert kept(tmp_path).name.isalnum()
    assert answers(source_index(DOCUMENT, tmp_path, embedder, keep=True)) == found[0]


def test_a_build_that_is_interrupted_leaves_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(arrays, "_saved", interrupted)
        with pytest.raises(KeyboardInterrupt):
            source_index(DOCUMENT, tmp_path, keep=True)
    assert list((tmp_path / "sources").iterdir()) == []
    source_index(DOCUMENT, tmp_path, keep=True)


def rewrite(index: Path, **changes: Any) -> None:
    manifest = json.loads((index / "manifest.json").read_text())
    (index / "manifest.json").write_text(json.dumps(manifest | changes))


def vouch(index: Path, file: str) -> None:
    """Let the manifest vouch for a changed file, as only who writes to the data folder can."""
    files = json.loads((index / "manifest.json").read_text())["files"]
    rewrite(index, files=files | {file.split(".")[0]: sha256((index / file).read_bytes()).hexdigest()})


def forge(index: Path, file: str, array: Any) -> None:
    np.save(index / file, array, allow_pickle=True)
    vouch(index, file)


def swap(index: Path, one: str, other: str) -> None:
    a, b = (index / one).read_bytes(), (index / other).read_bytes()
    (index / one).write_bytes(b)
    (index / other).write_bytes(a)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


class Bomb:
    """Would write a file if it were ever unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def claim_rows(index: Path, rows: int) -> None:
    """Rewrite the shape in the head of the file of vectors, and let the manifest vouch for it."""
    path = index / "dense.npy"
    shape = np.load(path).shape
    data = path.read_bytes()
    path.write_bytes(data.replace(f"{shape}".encode(), f"({rows}, {shape[1]})".encode(), 1))
    vouch(index, "dense.npy")


Damage = dict[str, Callable[[Path], object]]
BOTH: Damage = {
    "no manifest": lambda index: (index / "manifest.json").unlink(),
    "empty manifest": lambda index: (index / "manifest.json").write_bytes(b""),
    "binary manifest": lambda index: (index / "manifest.json").write_bytes(bytes(range(256))),
    "half a manifest": lambda index: (index / "manifest.json").write_text(
        '{"format": "longproof.source", "ver'
    ),
    "a manifest of brackets": lambda index: (index / "manifest.json").write_text("[" * 100_000),
    "foreign manifest": lambda index: rewrite(index, format="longproof.pages"),
    "future version": lambda index: rewrite(index, version=VERSION + 1),
    "past version": lambda index: rewrite(index, version=0),
    "unknown field": lambda index: rewrite(index, extra=1),
    "another key": lambda index: rewrite(index, key="0" * 64),
    "another text": lambda index: rewrite(index, text="sha256:" + "0" * 64),
    "another embedder": lambda index: rewrite(index, embedder="someone else's"),
    "another cutting": lambda index: rewrite(index, step=100),
    "files outside": lambda index: rewrite(index, files={"../../evil": "0" * 64}),
    "no files": lambda index: rewrite(index, files={}),
}
LEXICAL: Damage = {
    "no array": lambda index: (index / "weights0.npy").unlink(),
    "empty array": lambda index: (index / "words.npy").write_bytes(b""),
    "truncated array": lambda index: (index / "starts1.npy").write_bytes(
        (index / "starts1.npy").read_bytes()[:-8]
    ),
    "longer array": lambda index: (index / "starts1.npy").open("ab").write(b"12345678"),
    "swapped arrays": lambda index: swap(index, "weights0.npy", "texts0.npy"),
    "one bit": lambda index: flip(index / "weights2.npy"),
    "objects": lambda index: forge(index, "words.npy", np.array([Bomb(index / "owned")], dtype=object)),
    "another type": lambda index: forge(index, "weights0.npy", np.zeros(3)),
    "texts beyond the ranges": lambda index: forge(index, "texts0.npy", np.full(9, 10**6, dtype=np.int32)),
    "ranges beyond the text": lambda index: forge(index, "ranges1.npy", np.full((3, 2), 10**6)),
    "other passages": lambda index: forge(index, "ranges0.npy", np.array([[0, 9]])),
    "starts that go back": lambda index: forge(index, "starts0.npy", np.arange(9)[::-1].copy()),
}
DENSE: Damage = {
    "no vectors": lambda index: (index / "dense.npy").unlink(),
    "truncated vectors": lambda index: (index / "dense.npy").write_bytes(
        (index / "dense.npy").read_bytes()[:99]
    ),
    "one bit of a vector": lambda index: flip(index / "dense.npy"),
    "no array of vectors": lambda index: (
        (index / "dense.npy").write_bytes(b"x" * 500) and vouch(index, "dense.npy")
    ),
    "a ZIP archive for vectors": lambda index: (
        np.savez((index / "dense.npy").open("wb"), a=np.zeros(3)) or vouch(index, "dense.npy")
    ),
    "an empty file of vectors": lambda index: (
        (index / "dense.npy").write_bytes(b"") or vouch(index, "dense.npy")
    ),
    "vectors of objects": lambda index: forge(
        index, "dense.npy", np.array([[Bomb(index / "owned")]], dtype=object)
    ),
    "fewer vectors than passages": lambda index: forge(index, "dense.npy", np.zeros((2, 16), np.float32)),
    "vectors of another type": lambda index: forge(index, "dense.npy", np.zeros((9, 16))),
    "more vectors than there are bytes": lambda index: claim_rows(index, 10**12),
    "a negative number of vectors": lambda index: claim_rows(index, -1),
    "other starts": lambda index: forge(index, "token_starts.npy", np.arange(3)),
    "negative tokens": lambda index: forge(
        index, "tokens.npy", -np.ones(np.load(index / "tokens.npy").shape, dtype=np.int32)
    ),
    "token vectors of objects": lambda index: forge(
        index, "vectors.npy", np.array([Bomb(index / "owned")], dtype=object)
    ),
    "swapped token arrays": lambda index: swap(index, "token_starts.npy", "vectors.npy"),
}
CASES = [
    *((None, name, damage) for name, damage in (BOTH | LEXICAL).items()),
    *((Counting(), name, damage) for name, damage in (BOTH | DENSE).items()),
]


@pytest.mark.parametrize(
    ("embedder", "damage"),
    [(embedder, damage) for embedder, _, damage in CASES],
    ids=[f"{'dense' if embedder else 'lexical'}: {name}" for embedder, name, _ in CASES],
)
def test_a_damaged_index_is_refused_and_can_be_rebuilt(
    tmp_path: Path, embedder: Counting | None, damage: Callable[[Path], object]
) -> None:
    expected = answers(source_index(DOCUMENT, tmp_path, embedder, keep=True))
    index = kept(tmp_path)
    damage(index)
    with pytest.raises(BadInput, match="delete this folder and run again to rebuild it") as refused:
        source_index(DOCUMENT, tmp_path, embedder, keep=True)
    assert str(index) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (index / "owned").exists()
    shutil.rmtree(index)
    assert answers(source_index(DOCUMENT, tmp_path, embedder, keep=True)) == expected


def test_an_index_moved_under_another_name_is_refused(tmp_path: Path) -> None:
    source_index(Document.of(TEXT + "!"), tmp_path, keep=True)
    other = kept(tmp_path)
    source_index(DOCUMENT, tmp_path, keep=True)
    (mine,) = set((tmp_path / "sources").iterdir()) - {other}
    shutil.rmtree(mine)
    other.rename(mine)
    with pytest.raises(BadInput, match="something else"):
        source_index(DOCUMENT, tmp_path, keep=True)


def test_a_data_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "sources").write_text("in the way")
    with pytest.raises(BadInput, match="LONGPROOF_HOME"):
        source_index(DOCUMENT, tmp_path, keep=True)


def test_vectors_are_mapped_not_read(tmp_path: Path) -> None:
    source_index(DOCUMENT, tmp_path, Counting(), keep=True)
    opened = source_index(DOCUMENT, tmp_path, Counting(), keep=True)
    assert isinstance(opened, DenseIndex)
    assert isinstance(opened.held.dense, np.memmap)
    assert not opened.held.dense.flags.writeable
