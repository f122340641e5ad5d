"""Vectors are made once and found again by content, and refused if damaged; hits point into the texts of pages."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from letters import Letters

from longproof.indexes import search
from longproof.indexes.documents import DocumentStore
from longproof.indexes.search import VERSION, PassageSize, SourceIndex, open_pages
from longproof.retrieval import loaders
from longproof.retrieval.dense import Embeddings
from longproof.retrieval.ranking import Engine
from longproof.retrieval.text.chunking import blocks
from longproof.retrieval.types import BadInput, Document

NEEDS_FAISS = pytest.mark.skipif(find_spec("faiss") is None, reason="the extra `dense` is not installed")
TEXT = "".join(
    f"In chapter {n} the captain meets number {n * 7}. 第{n}回船长遇见了狐狸。\n" for n in range(40)
)
CUT = PassageSize()
SEGMENTS = ["chapter 13 and number 91", "船长遇见了狐狸", "🦊"]


def source_index(home, embedder=None, text=TEXT, cut=CUT) -> SourceIndex:
    return search.source_index(Document.of(text), home, embedder, cut)


def answers(home: Path, embedder: Letters) -> tuple[list[Any], list[float]]:
    index = source_index(home, embedder)
    matrix = index.similarity(SEGMENTS, blocks(TEXT, 500))
    return [index.search(segment, 5) for segment in SEGMENTS], matrix.ravel().tolist()


@NEEDS_FAISS
@pytest.mark.parametrize("sparse", [True, False])
def test_a_kept_index_answers_as_the_one_that_was_built(tmp_path: Path, sparse: bool) -> None:
    embedder = Letters(sparse=sparse)
    first = answers(tmp_path, embedder)
    (path,) = (tmp_path / "vectors").iterdir()
    before = path.stat().st_mtime_ns
    assert answers(tmp_path, embedder) == first
    assert (path.stat().st_mtime_ns, embedder.passages) == (before, 1)


@NEEDS_FAISS
def test_words_are_kept_nowhere(tmp_path: Path) -> None:
    assert source_index(tmp_path).search("captain", 1)
    assert source_index(tmp_path, Letters(), "").search("x", 3) == []
    assert list(tmp_path.iterdir()) == []


@NEEDS_FAISS
def test_another_text_cutting_embedder_or_version_is_another_index(tmp_path, monkeypatch):
    source_index(tmp_path, Letters("a"))
    source_index(tmp_path, Letters("a"), TEXT + "!")
    source_index(tmp_path, Letters("a"), cut=PassageSize(500, 500))
    source_index(tmp_path, Letters("b"))
    monkeypatch.setattr(search, "VERSION", VERSION - 1)
    source_index(tmp_path, Letters("a"))
    assert len(list((tmp_path / "vectors").iterdir())) == 5


@NEEDS_FAISS
def test_whichever_byte_is_wrong_the_vectors_are_refused_and_can_be_made_again(tmp_path: Path) -> None:
    embedder = Letters(sparse=True)
    expected = answers(tmp_path, embedder)
    (path,) = (tmp_path / "vectors").iterdir()
    sound = path.read_bytes()
    flipped = [sound[:n] + bytes([sound[n] ^ 1]) + sound[n + 1 :] for n in range(0, len(sound), 97)]
    source_index(tmp_path, Letters("another"))
    (other,) = set((tmp_path / "vectors").iterdir()) - {path}
    for data in [b"", sound[:40], sound + b"x", *flipped, other.read_bytes()]:
        path.write_bytes(data)
        with pytest.raises(BadInput, match="delete this file and run again") as refused:
            source_index(tmp_path, embedder)
    assert str(path) in str(refused.value)
    path.unlink()
    assert answers(tmp_path, embedder) == expected


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "saved"
    (folder / "sub").mkdir(parents=True)
    (folder / "light.html").write_text(
        "<title>Light</title><link rel=canonical href=https://example.org/l>"
        "<p>The lighthouse keeper winds the clock each evening. " + "<p>Grey stone and salt. " * 200,
    )
    (folder / "sub" / "tide.md").write_text("# Tides\n\nThe tide turns twice a day and the 🦊 fox sleeps.\n")
    (folder / "渔.txt").write_text("渔夫把船拖上沙滩，灯塔的光照着他。", encoding="utf-8")
    for name in ("gull", "wreck", "fog"):
        (folder / f"{name}.htm").write_text(f"<p>A {name} by the sea, nothing else.")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.mark.parametrize("engine", get_args(Engine))
def test_hits_point_into_the_texts_of_pages(folder: Path, home: Path, engine: Engine) -> None:
    index = open_pages(folder, home, engine)
    assert (index.engine, len(index.pages), index.left_out) == (engine, 6, {})
    (hit, *_) = index.search("Who winds the clock of the lighthouse?")
    page = index.pages[hit.span.source_id]
    assert (page.title, page.uri) == ("Light", "https://example.org/l")
    document, span = DocumentStore(home / "documents").open(page), hit.span
    assert (document.kind, document.text[span.start : span.end]) == ("page", span.text)
    assert index.search("燈塔", 1)[0].span.text.startswith("渔夫")
    assert index.search("twice a day", 1)[0].span.text.endswith("🦊 fox sleeps.\n")
    assert index.search("zebra") == index.search("") == []
    snippets = sorted((hit.span.start, hit.span.end) for hit in index.search("grey stone", 99))
    assert snippets == [(0, 1600), (1400, 3000), (2800, 4400), (4200, page.characters)]
    assert len(index) == 9
    assert len(index.search("the sea", 3)) == 3


def test_each_engine_scores_in_its_own_way(folder: Path, home: Path) -> None:
    scores = [open_pages(folder, home, engine).search("grey stone")[0].score for engine in get_args(Engine)]
    assert len(set(scores)) == len(scores)


class Topics(Letters):
    """An embedder for which a beacon is a lighthouse."""

    def embed(self, texts, *, query=False, progress=None) -> Embeddings:
        self.passages += 0 if query else len(texts)
        lit = [any(word in text for word in ("lighthouse", "灯塔", "beacon")) for text in texts]
        return Embeddings(np.array([[float(one), float(not one)] for one in lit], dtype=np.float32))


@NEEDS_FAISS
def test_with_an_embedder_pages_are_found_by_meaning_too(folder: Path, home: Path) -> None:
    topics = Topics()
    index = open_pages(folder, home)
    index.open_vectors(home, topics)
    best = index.search("beacon")[0].span.text
    assert "lighthouse" in best or "灯塔" in best
    assert index.search("twice a day", 1)[0].span.text.endswith("🦊 fox sleeps.\n")
    open_pages(folder, home).open_vectors(home, topics)
    assert topics.passages == len(index)
    (folder / "fog.htm").write_text("<p>A dog by the sea, nothing else.")
    open_pages(folder, home).open_vectors(home, topics)
    assert topics.passages == 2 * len(index), "other pages have other vectors"


def test_what_cannot_be_read_is_left_out_and_said(folder, home, monkeypatch):
    monkeypatch.setattr(loaders, "FILE_BYTES", 10_000)
    (folder / "light_files").mkdir()
    for name, text in {
        "empty.html": "<nav>menu</nav>", "copy.htm": (folder / "fog.htm").read_text(), ".hidden.md": "hidden",
        "huge.html": "<p>huge " * 5_000, "light_files/frame.html": "advertisement",
    }.items():  # fmt: skip
        (folder / name).write_text(text)
    (folder / "binary.txt").write_bytes(bytes(range(256)) * 8)
    (folder.parent / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    index = open_pages(folder, home)
    assert index.left_out.keys() == {"empty.html", "binary.txt", "fog.htm", "huge.html"}
    for name, why in {"empty.html": "no text", "fog.htm": "copy.htm", "huge.html": "larger"}.items():
        assert why in index.left_out[name]
    assert index.search("advertisement secret hidden huge") == []


def test_folders_without_pages_are_refused(tmp_path: Path, home: Path) -> None:
    for folder, why in ((tmp_path / "nowhere", "no such folder"), (tmp_path, "no saved pages")):
        with pytest.raises(BadInput, match=why):
            open_pages(folder, home)
    (tmp_path / "x.html").write_text("<nav>x</nav>")
    with pytest.raises(BadInput, match="none of the 1"):
        open_pages(tmp_path, home)
