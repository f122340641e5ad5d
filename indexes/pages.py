"""The index of a folder of saved web pages: built once, named by what the pages hold, opened memory-mapped.

Knows: one folder an index, with a manifest (engine, cutting, pages, hash of each file) and arrays, under `pages/`
in the data folder; the pages' texts lie in the document store. A folder appears whole or not at all.
Does not know: how pages are read, cut and ranked (retrieval), what snippets are used for.
Nothing here is pickled, and nothing is fetched. Every file is checked against its hash when an index is opened.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.indexes.place import write_whole
from longproof.retrieval.okapi import Arrays, Bm25s, Engine, Okapi, best, count
from longproof.retrieval.pages import SUFFIXES, Page, read_page
from longproof.retrieval.snippets import OVERLAP, SIZE, snippets
from longproof.retrieval.text.tokens import tokens
from longproof.retrieval.types import BadInput, Frozen, Hit, Span

VERSION = 1
PAGE_BYTES = 64_000_000
"""Larger files are left out, unread."""

_DTYPES = {
    "snippets": (np.dtype(np.int64), 2),
    "words": (np.dtype(np.uint64), 1),
    "weights": (np.dtype(np.float32), 1),
    "places": (np.dtype(np.int32), 1),
    "tokens": (np.dtype(np.int32), 1),
    "starts": (np.dtype(np.int64), 1),
}
_NAMES: dict[Engine, tuple[str, ...]] = {
    "bm25s": ("snippets", "words", "weights", "places", "starts"),
    "okapi": ("snippets", "words", "tokens", "starts"),
}

Progress = Callable[[int, int], None]
"""Called with the number of pages read and the number of all pages."""


class PageRef(Frozen):
    """A stored page: its document, with title and address; its date, `YYYY-MM-DD` or empty; the path of its file
    in the folder that was indexed.
    """

    document: DocumentRef
    date: str = ""
    path: str


class LeftOut(Frozen):
    """A file that is not in the index, and why."""

    path: str
    reason: str


class Manifest(Frozen):
    """What an index says of itself. `files` gives the SHA-256 of each array's file, `key` names the index."""

    format: Literal["longproof.pages"] = "longproof.pages"
    version: int = VERSION
    key: str
    engine: Engine
    size: int
    overlap: int
    pages: tuple[PageRef, ...]
    left_out: tuple[LeftOut, ...]
    files: dict[str, str]


class PageIndex:
    """The snippets of a folder's pages, searchable. It does not change."""

    def __init__(self, folder: Path, manifest: Manifest, arrays: Arrays, store: DocumentStore) -> None:
        self.folder = folder
        self.manifest = manifest
        self._snippets: NDArray[np.int64] = arrays["snippets"]
        self._engine = Okapi(arrays) if manifest.engine == "okapi" else Bm25s(arrays, len(self._snippets))
        self._pages = {page.document.id: page for page in manifest.pages}
        self._store = store

    def __len__(self) -> int:
        """The number of snippets."""
        return len(self._snippets)

    def search(self, query: str, k: int = 3) -> list[Hit]:
        """The k best snippets, best first; only such as share a token with the query.

        Raises BadInput where the text of a page is gone from the document store.
        """
        return [
            Hit(span=self._span(snippet), score=score, rank=rank, via="page")
            for rank, (snippet, score) in enumerate(best(self._engine, tokens(query), k), start=1)
        ]

    def page(self, source_id: str) -> PageRef:
        """Title, address, date and path of the page that a hit's span points into. Raises KeyError for no page."""
        return self._pages[source_id]

    @property
    def pages(self) -> tuple[PageRef, ...]:
        """All pages, in the order of their paths."""
        return self.manifest.pages

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The files that are not in the index, and why."""
        return self.manifest.left_out

    def _span(self, snippet: int) -> Span:
        number, start, end = self._snippets[snippet].tolist()
        page = self.manifest.pages[number]
        try:
            text = self._store.text(page.document.id)
        except BadInput as error:
            raise _unusable(self.folder, f"the text of {page.path} is gone or damaged") from error
        return Span(source_id=page.document.id, start=start, end=end, text=text[start:end])


class _File(NamedTuple):
    path: Path
    shown: str
    digest: str


def open_pages(
    folder: Path, home: Path, engine: Engine = "bm25s", progress: Progress | None = None
) -> PageIndex:
    """The index of the saved pages (.html .htm .md .txt) in `folder` and below; built if the data folder has none.

    It is named by the files' content and paths, the engine and the cutting: a changed page makes a new index. Files
    that can't be read or hold no text are left out and listed. Folders that browsers save beside a page
    (`NAME_files`), hidden ones and links that lead out of the folder are not entered. Raises BadInput for a folder
    without a readable page and for an index that is damaged or was made by another version.
    """
    files = _files(folder)
    key = _key(files, engine)
    target, store = home / "pages" / key, DocumentStore(home / "documents")
    if not target.exists():
        _build(files, key, engine, target, store, progress)
    manifest, arrays = _opened(target, key)
    return PageIndex(target, manifest, arrays, store)


def _files(folder: Path) -> list[_File]:
    """The files of pages in the order of their paths, with the hash of their bytes; empty for what can't be read."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder; give one with saved pages")
    root = folder.resolve()
    files = [
        _File(path, os.fsencode(path.relative_to(folder)).decode("utf-8", "replace"), _digest(path))
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in SUFFIXES
        and not any(_skipped(part) for part in path.relative_to(folder).parts)
        and path.is_file()
        and path.resolve().is_relative_to(root)
    ]
    if not files:
        raise BadInput(
            f"{folder}: there are no saved pages in it; give a folder with {' '.join(SUFFIXES)} files"
        )
    return files


def _skipped(part: str) -> bool:
    return part.startswith(".") or part.endswith(("_files", ".files"))


def _digest(path: Path) -> str:
    try:
        if path.stat().st_size > PAGE_BYTES:
            return ""
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _key(files: list[_File], engine: Engine) -> str:
    named = "".join(f"{file.shown}\0{file.digest}\0" for file in files)
    return sha256(f"{VERSION} {engine} {SIZE} {OVERLAP}\0{named}".encode()).hexdigest()


class _Reading:
    """What reading the files has given so far: pages, files left out, and snippets as (page, start, end)."""

    def __init__(self, store: DocumentStore) -> None:
        self.pages: list[PageRef] = []
        self.left_out: list[LeftOut] = []
        self.snippets: list[tuple[int, int, int]] = []
        self._store = store
        self._paths: dict[str, str] = {}

    def tokens(self, files: list[_File], progress: Progress | None) -> Iterator[list[str]]:
        """The tokens of each snippet of each page, in order. One page is held at a time."""
        for done, file in enumerate(files, start=1):
            try:
                page = read_page(_bytes(file), file.shown)
                text = self._kept(page, file.shown)
                cut = snippets(text)
                self.snippets += [(len(self.pages) - 1, start, end) for start, end in cut]
                yield from (tokens(text[start:end]) for start, end in cut)
            except BadInput as error:
                self.left_out.append(LeftOut(path=file.shown, reason=str(error)))
            if progress:
                progress(done, len(files))

    def _kept(self, page: Page, path: str) -> str:
        document = page.document
        if document.id in self._paths:
            raise BadInput(f"{path}: the same text as {self._paths[document.id]}")
        self._paths[document.id] = path
        ref = self._store.put(document)
        self.pages.append(PageRef(document=ref, date=page.date, path=path))
        return document.text


def _bytes(file: _File) -> bytes:
    if not file.digest:
        raise BadInput(
            f"{file.shown}: larger than {PAGE_BYTES // 1_000_000} MB, or not readable; save its text"
        )
    try:
        data = file.path.read_bytes()
    except OSError as error:
        raise BadInput(f"{file.shown}: can't be read: {error.strerror}") from error
    if sha256(data).hexdigest() != file.digest:
        raise BadInput(f"{file.shown}: changed while the pages were being read; run again")
    return data


def _build(
    files: list[_File],
    key: str,
    engine: Engine,
    target: Path,
    store: DocumentStore,
    progress: Progress | None,
) -> None:
    reading = _Reading(store)
    counted = count(reading.tokens(files, progress))
    if not reading.pages:
        first = reading.left_out[0].reason
        raise BadInput(f"none of the {len(files)} saved pages can be read; the first: {first}")
    weighed = Okapi.of(counted) if engine == "okapi" else Bm25s.of(counted)
    arrays = {"snippets": np.array(reading.snippets, dtype=np.int64).reshape(-1, 3), **weighed.arrays}
    manifest = Manifest(
        key=key,
        engine=engine,
        size=SIZE,
        overlap=OVERLAP,
        pages=tuple(reading.pages),
        left_out=tuple(reading.left_out),
        files={},
    )
    _write(target, manifest, arrays)


def _write(target: Path, manifest: Manifest, arrays: Arrays) -> None:
    """Write the index beside its place and move it there whole; another process may have been first."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=target.parent, prefix=".part-"))
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        files = {name: _saved(part / f"{name}.npy", array) for name, array in arrays.items()}
        whole = manifest.model_copy(update={"files": files})
        write_whole(part / "manifest.json", whole.model_dump_json(indent=1).encode())
        os.replace(part, target)
    except OSError as error:
        if not target.exists():
            raise _unwritable(target, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _saved(path: Path, array: NDArray[Any]) -> str:
    with path.open("wb+") as file:
        np.save(file, array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
        file.seek(0)
        return file_digest(file, "sha256").hexdigest()


def _opened(folder: Path, key: str) -> tuple[Manifest, Arrays]:
    manifest = _manifest(folder)
    if manifest.key != key:
        raise _unusable(folder, "it is the index of other pages")
    names = _NAMES[manifest.engine]
    if set(manifest.files) != set(names):
        raise _unusable(folder, "its manifest does not name the files of its engine")
    arrays = {name: _array(folder, name, manifest.files[name]) for name in names}
    rows = arrays["snippets"]
    if rows.shape[1:] != (3,) or (
        len(rows) and not 0 <= rows[:, 0].min() <= rows[:, 0].max() < len(manifest.pages)
    ):
        raise _unusable(folder, "its snippets belong to no page")
    return manifest, arrays


def _manifest(folder: Path) -> Manifest:
    try:
        data = (folder / "manifest.json").read_bytes()
        head = _Head.model_validate_json(data)
        if head.format != "longproof.pages":
            raise _unusable(folder, "this is not an index of pages")
        if head.version != VERSION:
            raise _unusable(folder, f"it has version {head.version}, and this Longproof reads {VERSION}")
        return Manifest.model_validate_json(data)
    except (OSError, ValidationError) as error:
        raise _unusable(folder, "its manifest is gone or damaged") from error


class _Head(BaseModel):
    format: str
    version: int


def _array(folder: Path, name: str, digest: str) -> NDArray[Any]:
    """The array in a file with this hash, memory-mapped; objects are refused, not loaded."""
    path = folder / f"{name}.npy"
    dtype, dimensions = _DTYPES[name]
    try:
        with path.open("rb") as file:
            whole = file_digest(file, "sha256").hexdigest() == digest
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _unusable(folder, f"{path.name} is gone or damaged") from error
    if not whole:
        raise _unusable(folder, f"{path.name} is damaged")
    if array.dtype != dtype or array.ndim != dimensions:
        raise _unusable(folder, f"{path.name} holds something else")
    return array


def _unusable(folder: Path, why: str) -> BadInput:
    return BadInput(
        f"the index of pages in {folder} can't be used: {why}; delete this folder and run again to rebuild it"
    )


def _unwritable(target: Path, error: OSError) -> BadInput:
    return BadInput(f"can't write {target}: {error.strerror}; make the folder writable or set LONGPROOF_HOME")
