"""The index of pages: hits point into pages' texts; what can't be read is left out and said."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from longproof.indexes.documents import DocumentStore
from longproof.indexes.pages import open_pages
from longproof.retrieval import loaders
from longproof.retrieval.dense import Embeddings
from longproof.retrieval.ranking import Engine
from longproof.retrieval.types import BadInput, Progress

ENGINES = pytest.mark.parametrize("engine", get_args(Engine))


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


@ENGINES
def test_hits_point_into_the_texts_of_pages(folder: Path, home: Path, engine: Engine) -> None:
    index = open_pages(folder, home, engine)
    assert (index.engine, len(index.pages), index.left_out) == (engine, 6, {})
    (hit, *_) = index.search("Who winds the clock of the lighthouse?")
    page = index.pages[hit.span.source_id]
    assert (page.title, page.uri) == ("Light", "https://example.org/l")
    document = DocumentStore(home / "documents").open(page)
    assert document.kind == "page"
    assert document.text[hit.span.start : hit.span.end] == hit.span.text
    assert index.search("燈塔", 1)[0].span.text.startswith("渔夫")
    assert index.search("twice a day", 1)[0].span.text.endswith("🦊 fox sleeps.\n")
    assert index.search("zebra") == index.search("") == []
    assert len(index.search("the sea", 3)) == 3


def test_snippets_of_a_long_page_overlap_and_lie_in_its_text(folder: Path, home: Path) -> None:
    index = open_pages(folder, home)
    spans = sorted((hit.span.start, hit.span.end) for hit in index.search("grey stone", 99))
    length = index.pages[index.search("grey stone", 1)[0].span.source_id].characters
    assert spans == [(0, 1600), (1400, 3000), (2800, 4400), (4200, length)]
    assert len(index) == 9


class Topics:
    """An embedder for which a beacon is a lighthouse; counts the passages that it was given."""

    name = "topics"

    def __init__(self) -> None:
        self.passages = 0

    def embed(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Embeddings:
        self.passages += 0 if query else len(texts)
        lit = [any(word in text for word in ("lighthouse", "灯塔", "beacon")) for text in texts]
        return Embeddings(np.array([[float(one), float(not one)] for one in lit], dtype=np.float32))


def test_with_an_embedder_pages_are_found_by_meaning_too(folder: Path, home: Path) -> None:
    pytest.importorskip("faiss", reason="the extra `dense` is not installed")
    topics = Topics()
    index = open_pages(folder, home)
    index.open_vectors(home, topics)
    assert (
        "lighthouse" in index.search("beacon", 2)[0].span.text
        or "灯塔" in index.search("beacon")[0].span.text
    )
    assert index.search("twice a day", 1)[0].span.text.endswith("🦊 fox sleeps.\n")
    open_pages(folder, home).open_vectors(home, topics)
    assert topics.passages == len(index)


def test_what_cannot_be_read_is_left_out_and_said(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaders, "FILE_BYTES", 10_000)
    (folder / "empty.html").write_text("<nav>menu</nav>")
    (folder / "binary.txt").write_bytes(bytes(range(256)) * 8)
    (folder / "copy.htm").write_text((folder / "fog.htm").read_text())
    (folder / "huge.html").write_text("<p>huge " * 5_000)
    (folder / "light_files").mkdir()
    (folder / "light_files" / "frame.html").write_text("advertisement")
    (folder / ".hidden.md").write_text("hidden")
    (folder.parent / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    index = open_pages(folder, home)
    reasons = index.left_out
    assert reasons.keys() == {"empty.html", "binary.txt", "fog.htm", "huge.html"}
    assert "no text" in reasons["empty.html"]
    assert "copy.htm" in reasons["fog.htm"]
    assert "larger" in reasons["huge.html"]
    assert index.search("advertisement secret hidden huge") == []


def test_folders_without_pages_are_refused(tmp_path: Path, home: Path) -> None:
    with pytest.raises(BadInput, match="no such folder"):
        open_pages(tmp_path / "nowhere", home)
    with pytest.raises(BadInput, match="no saved pages"):
        open_pages(tmp_path, home)
    (tmp_path / "x.html").write_text("<nav>x</nav>")
    with pytest.raises(BadInput, match="none of the 1"):
        open_pages(tmp_path, home)
