"""The index of pages: built once, opened checked, found again by content; damage is refused with the way out."""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pytest

from longproof.indexes import arrays
from longproof.indexes import pages as module
from longproof.indexes.documents import DocumentStore
from longproof.indexes.pages import VERSION, PageIndex, open_pages
from longproof.retrieval.bm25 import Engine
from longproof.retrieval.types import BadInput

ENGINES = pytest.mark.parametrize("engine", get_args(Engine))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "saved"
    (folder / "sub").mkdir(parents=True)
    (folder / "light.html").write_text(
        "<title>Light</title><link rel=canonical href=https://example.org/l><meta name=date content=2024-05-06>"
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


def built(home: Path) -> Path:
    (index,) = (home / "pages").iterdir()
    return index


@ENGINES
def test_hits_point_into_the_texts_of_pages(folder: Path, home: Path, engine: Engine) -> None:
    index = open_pages(folder, home, engine)
    assert (index.manifest.engine, len(index.pages), index.left_out) == (engine, 6, ())
    (hit, *_) = index.search("Who winds the clock of the lighthouse?")
    page = index.page(hit.span.source_id)
    assert (page.document.title, page.document.uri, page.date, page.path) == (
        "Light",
        "https://example.org/l",
        "2024-05-06",
        "light.html",
    )
    document = DocumentStore(home / "documents").open(page.document)
    assert document.kind == "page"
    assert document.text[hit.span.start : hit.span.end] == hit.span.text
    assert (hit.via, hit.rank) == ("page", 1)
    assert index.search("燈塔", 1)[0].span.text.startswith("渔夫")
    assert index.search("twice a day", 1)[0].span.text.endswith("🦊 fox sleeps.\n")
    assert index.search("zebra") == index.search("") == []
    assert len(index.search("the sea", 3)) == 3


def test_snippets_of_a_long_page_overlap_and_lie_in_its_text(folder: Path, home: Path) -> None:
    index = open_pages(folder, home)
    spans = sorted((hit.span.start, hit.span.end) for hit in index.search("grey stone", 99))
    length = index.page(index.search("grey stone", 1)[0].span.source_id).document.characters
    assert spans == [(0, 1600), (1400, 3000), (2800, 4400), (4200, length)]
    assert len(index) == 9


@ENGINES
def test_an_index_is_built_once_and_opened_again(folder: Path, home: Path, engine: Engine) -> None:
    told: list[tuple[int, int]] = []
    first = open_pages(folder, home, engine, lambda done, all_: told.append((done, all_)))
    assert told == [(i, 6) for i in range(1, 7)]
    before = {path: path.stat().st_mtime_ns for path in built(home).iterdir()}
    again = open_pages(folder, home, engine, lambda done, all_: pytest.fail("built a second time"))
    assert {path: path.stat().st_mtime_ns for path in built(home).iterdir()} == before
    assert again.search("the tide") == first.search("the tide")
    moved = folder.rename(folder.parent / "elsewhere")
    assert open_pages(moved, home, engine).folder == first.folder


def test_other_content_another_name_and_another_engine_are_other_indexes(folder: Path, home: Path) -> None:
    keys = {open_pages(folder, home).manifest.key, open_pages(folder, home, "okapi").manifest.key}
    (folder / "渔.txt").write_text("变了", encoding="utf-8")
    keys.add(open_pages(folder, home).manifest.key)
    (folder / "fog.htm").rename(folder / "mist.htm")
    keys.add(open_pages(folder, home).manifest.key)
    assert len(keys) == 4


@ENGINES
@pytest.mark.parametrize("texts", [["。。"], ["one lighthouse"], ["one lighthouse", "two lighthouses"]])
def test_collections_of_none_one_and_two(
    tmp_path: Path, home: Path, engine: Engine, texts: list[str]
) -> None:
    for i, text in enumerate(texts):
        (tmp_path / f"{i}.txt").write_text(text)
    index = open_pages(tmp_path, home, engine)
    assert len(index) == len(texts)
    assert [hit.span.text for hit in index.search("lighthouse")] == [
        t for t in texts if t == "one lighthouse"
    ]
    assert [hit.span.text for hit in open_pages(tmp_path, home, engine).search("two")] == texts[1:]


def test_what_cannot_be_read_is_left_out_and_said(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAGE_BYTES", 10_000)
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
    reasons = {left.path: left.reason for left in index.left_out}
    assert reasons.keys() == {"empty.html", "binary.txt", "fog.htm", "huge.html"}
    assert "no text" in reasons["empty.html"]
    assert "copy.htm" in reasons["fog.htm"]
    assert "larger" in reasons["huge.html"]
    assert index.search("advertisement secret hidden huge") == []
    assert open_pages(folder, home).left_out == index.left_out


def test_folders_without_pages_are_refused(tmp_path: Path, home: Path) -> None:
    for name, match in (
        ("nowhere", "no such folder"),
        ("bare", "no saved pages"),
        ("blank", "none of the 1"),
    ):
        if name != "nowhere":
            (tmp_path / name).mkdir()
        if name == "blank":
            (tmp_path / name / "x.html").write_text("<nav>x</nav>")
        with pytest.raises(BadInput, match=match):
            open_pages(tmp_path / name, home)
    assert not (home / "pages").exists()


def test_a_page_that_changes_while_it_is_read_is_left_out(folder: Path, home: Path) -> None:
    def meddle(done: int, _: int) -> None:
        if done == 1:
            (folder / "wreck.htm").write_text("changed")

    index = open_pages(folder, home, progress=meddle)
    assert [(left.path, "changed" in left.reason) for left in index.left_out] == [("wreck.htm", True)]


def test_of_two_builders_the_first_wins_and_nothing_is_left_over(folder: Path, home: Path) -> None:
    other: list[PageIndex] = []

    def race(done: int, _: int) -> None:
        if done == 6 and not other:
            other.append(open_pages(folder, home))

    index = open_pages(folder, home, progress=race)
    assert index.search("the sea") == other[0].search("the sea")
    assert [path.name for path in (home / "pages").iterdir()] == [index.manifest.key]


def test_a_build_that_is_interrupted_leaves_no_index(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(arrays, "_saved", interrupted)
        with pytest.raises(KeyboardInterrupt):
            open_pages(folder, home)
    assert list((home / "pages").iterdir()) == []
    assert open_pages(folder, home).search("tide")


def rewrite(index: Path, **changes: Any) -> None:
    manifest = json.loads((index / "manifest.json").read_text())
    (index / "manifest.json").write_text(json.dumps(manifest | changes))


def swap(index: Path) -> None:
    a, b = (index / "weights.npy").read_bytes(), (index / "texts.npy").read_bytes()
    (index / "weights.npy").write_bytes(b)
    (index / "texts.npy").write_bytes(a)


def flip(index: Path) -> None:
    data = bytearray((index / "weights.npy").read_bytes())
    data[-1] ^= 1
    (index / "weights.npy").write_bytes(data)


class Bomb:
    """Would write a file if it were ever unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def forge(index: Path, name: str, array: Any) -> None:
    """An array that the manifest vouches for, as only who writes to the data folder can make it."""
    np.save(index / f"{name}.npy", array, allow_pickle=True)
    files = json.loads((index / "manifest.json").read_text())["files"]
    digest = sha256((index / f"{name}.npy").read_bytes()).hexdigest()
    rewrite(index, files=files | {name: digest})


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no manifest": lambda index: (index / "manifest.json").unlink(),
    "empty manifest": lambda index: (index / "manifest.json").write_bytes(b""),
    "half a manifest": lambda index: (index / "manifest.json").write_bytes(
        (index / "manifest.json").read_bytes()[:200]
    ),
    "a manifest of brackets": lambda index: (index / "manifest.json").write_text("[" * 100_000),
    "foreign manifest": lambda index: (index / "manifest.json").write_text(
        '{"format": "someone.else", "version": 1}'
    ),
    "future version": lambda index: rewrite(index, version=VERSION + 1),
    "past version": lambda index: rewrite(index, version=0),
    "unknown field": lambda index: rewrite(index, extra=1),
    "unknown engine": lambda index: rewrite(index, engine="lucene"),
    "other engine": lambda index: rewrite(index, engine="okapi"),
    "other pages": lambda index: rewrite(index, key="0" * 64),
    "no pages": lambda index: rewrite(index, pages=[]),
    "files outside": lambda index: rewrite(index, files={"../../evil": "0" * 64}),
    "no array": lambda index: (index / "weights.npy").unlink(),
    "empty array": lambda index: (index / "words.npy").write_bytes(b""),
    "truncated array": lambda index: (index / "starts.npy").write_bytes(
        (index / "starts.npy").read_bytes()[:-8]
    ),
    "longer array": lambda index: (index / "starts.npy").open("ab").write(b"12345678"),
    "swapped arrays": swap,
    "one bit": flip,
    "objects": lambda index: forge(index, "words", np.array([Bomb(index / "owned")], dtype=object)),
    "another type": lambda index: forge(index, "weights", np.zeros(3, dtype=np.float64)),
    "another shape": lambda index: forge(index, "snippets", np.zeros((3, 2), dtype=np.int64)),
    "pages that are not": lambda index: forge(index, "snippets", np.full((3, 3), 99, dtype=np.int64)),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_index_is_refused_and_can_be_rebuilt(
    folder: Path, home: Path, damage: Callable[[Path], object]
) -> None:
    expected = open_pages(folder, home).search("the sea")
    index = built(home)
    damage(index)
    with pytest.raises(BadInput, match="delete this folder and run again") as refused:
        open_pages(folder, home)
    assert str(index) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (index / "owned").exists()
    shutil.rmtree(index)
    assert open_pages(folder, home).search("the sea") == expected


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_a_page_text_that_is_gone_says_how_to_get_it_back(
    folder: Path, home: Path, damage: Literal["gone", "changed"]
) -> None:
    open_pages(folder, home)
    for file in (home / "documents").rglob("*.txt"):
        file.unlink() if damage == "gone" else file.write_text("x")
    index = open_pages(folder, home)
    with pytest.raises(BadInput, match="delete this folder"):
        index.search("the sea")
    shutil.rmtree(index.folder)
    assert open_pages(folder, home).search("the sea")


def test_a_data_folder_that_cannot_be_written_is_said(folder: Path, home: Path) -> None:
    home.mkdir()
    (home / "pages").write_text("in the way")
    with pytest.raises(BadInput, match="LONGPROOF_HOME"):
        open_pages(folder, home)
