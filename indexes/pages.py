"""The index of a folder of saved web pages: built once, named by what the pages hold, opened memory-mapped.

Knows: one folder an index, with a manifest (engine, size of snippets, pages, hash of each file) and arrays, under
`pages/` in the data folder; the pages' texts lie in the document store. A folder appears whole or not at all.
Does not know: how pages are read, cut and ranked (retrieval), what snippets are used for.
Nothing here is pickled, and nothing is fetched. Every file is checked against its hash when an index is opened.
"""

import os
from collections.abc import Iterator
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longproof.indexes.arrays import ArraySpec, IndexManifest, open_arrays, unusable, write_arrays
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.retrieval.bm25 import Arrays, Bm25, Engine, Okapi, index_tokens, top_snippets
from longproof.retrieval.text.chunking import OVERLAP, SNIPPET, overlapping
from longproof.retrieval.text.tokens import tokens
from longproof.retrieval.types import BadInput, Frozen, Hit, Progress, Span
from longproof.retrieval.web_pages import SUFFIXES, Page, read_page

VERSION = 2
"""Part of an index's key: what an older version wrote is not opened but built again."""
PAGE_BYTES = 64_000_000
"""Larger files are left out, unread."""

_SPECS: dict[Engine, dict[str, ArraySpec]] = {
    "bm25": {
        "snippets": ArraySpec("int64", 2),
        "words": ArraySpec("uint64", 1),
        "weights": ArraySpec("float32", 1),
        "texts": ArraySpec("int32", 1),
        "starts": ArraySpec("int64", 1),
    },
    "okapi": {
        "snippets": ArraySpec("int64", 2),
        "words": ArraySpec("uint64", 1),
        "tokens": ArraySpec("int32", 1),
        "starts": ArraySpec("int64", 1),
    },
}


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


class PagesManifest(IndexManifest):
    """What an index of pages says of itself."""

    format: Literal["longproof.pages"] = "longproof.pages"
    version: int = VERSION
    engine: Engine
    size: int
    overlap: int
    pages: tuple[PageRef, ...]
    left_out: tuple[LeftOut, ...]


class PageIndex:
    """The snippets of a folder's pages, searchable. It does not change."""

    def __init__(self, folder: Path, manifest: PagesManifest, arrays: Arrays, store: DocumentStore) -> None:
        self.folder = folder
        self.manifest = manifest
        self._snippets: NDArray[np.int64] = arrays["snippets"]
        self._engine = Okapi(arrays) if manifest.engine == "okapi" else Bm25(arrays, len(self._snippets))
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
            for rank, (snippet, score) in enumerate(top_snippets(self._engine, tokens(query), k), start=1)
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
            raise unusable(self.folder, f"the text of {page.path} is gone or damaged") from error
        return Span(source_id=page.document.id, start=start, end=end, text=text[start:end])


class _File(NamedTuple):
    path: Path
    shown: str
    digest: str


def open_pages(
    folder: Path, home: Path, engine: Engine = "bm25", progress: Progress | None = None
) -> PageIndex:
    """The index of the saved pages (.html .htm .md .txt) in `folder` and below; built if the data folder has none.

    It is named by the files' content and paths, the engine and the size of snippets: a changed page makes a new
    index. Files that can't be read or hold no text are left out and listed. Folders that browsers save beside a page
    (`NAME_files`), hidden ones and links that lead out of the folder are not entered. Raises BadInput for a folder
    without a readable page and for an index that is damaged or was made by another version.
    """
    files = _files(folder)
    key = _key(files, engine)
    target, store = home / "pages" / key, DocumentStore(home / "documents")
    if not target.exists():
        _build(files, key, engine, target, store, progress)
    manifest, arrays = _opened(target, key, engine)
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
    return sha256(f"{VERSION} {engine} {SNIPPET} {OVERLAP}\0{named}".encode()).hexdigest()


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
                cut = overlapping(text, SNIPPET, SNIPPET - OVERLAP)
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
    ids = index_tokens(reading.tokens(files, progress))
    if not reading.pages:
        first = reading.left_out[0].reason
        raise BadInput(f"none of the {len(files)} saved pages can be read; the first: {first}")
    weighed = Okapi.of(ids) if engine == "okapi" else Bm25.of(ids)
    arrays = {"snippets": np.array(reading.snippets, dtype=np.int64).reshape(-1, 3), **weighed.arrays}
    manifest = PagesManifest(
        key=key,
        engine=engine,
        size=SNIPPET,
        overlap=OVERLAP,
        pages=tuple(reading.pages),
        left_out=tuple(reading.left_out),
    )
    write_arrays(target, manifest, arrays)


def _opened(folder: Path, key: str, engine: Engine) -> tuple[PagesManifest, Arrays]:
    manifest, arrays = open_arrays(folder, _expected(key, engine), _SPECS[engine])
    if manifest.engine != engine:
        raise unusable(folder, "its manifest names another engine")
    rows = arrays["snippets"]
    if rows.shape[1:] != (3,) or (
        len(rows) and not 0 <= rows[:, 0].min() <= rows[:, 0].max() < len(manifest.pages)
    ):
        raise unusable(folder, "its snippets belong to no page")
    return manifest, arrays


def _expected(key: str, engine: Engine) -> PagesManifest:
    return PagesManifest(key=key, engine=engine, size=SNIPPET, overlap=OVERLAP, pages=(), left_out=())
