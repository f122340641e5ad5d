"""The index of a folder of saved web pages: built once, named by what the pages hold.

Knows: one file an index under `pages/` in the data folder, with the pages, their snippets and the weights of the
words; the pages' texts lie in the document store, their vectors, where there is an embedder, under `vectors/`.
Does not know: how pages are read, cut and ranked (retrieval), what snippets are used for. Fetches nothing.
"""

import os
from collections.abc import Iterator, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.indexes.vectors import open_vectors, read_arrays, unusable, write_arrays
from longproof.retrieval.bm25 import Arrays, Bm25, Engine, Okapi, best_texts, number_tokens
from longproof.retrieval.dense import Embedder, Vectors
from longproof.retrieval.ranking import AMONG, fuse
from longproof.retrieval.text.chunking import OVERLAP, SNIPPET, overlapping
from longproof.retrieval.text.tokens import tokens
from longproof.retrieval.types import BadInput, Document, Frozen, Hit, Progress, Span
from longproof.retrieval.web_pages import SUFFIXES, read_page

VERSION = 4
"""Part of an index's key: what an older version wrote is not opened but built again."""
PAGE_BYTES = 64_000_000
"""Larger files are left out, unread."""


class PageRef(Frozen):
    """A stored page: its document, with title and address, and its file's path in the folder that was indexed."""

    document: DocumentRef
    path: str


class LeftOut(Frozen):
    """A file that is not in the index, and why."""

    path: str
    reason: str


class PageList(Frozen):
    """The pages of an index, in the order of their paths, and the files that are not in it."""

    pages: tuple[PageRef, ...]
    left_out: tuple[LeftOut, ...]


class PageIndex:
    """The snippets of a folder's pages, searchable. It does not change."""

    def __init__(self, path: Path, engine: Engine, arrays: Arrays, store: DocumentStore) -> None:
        self.path = path
        self.engine = engine
        listed = PageList.model_validate_json(arrays["listed"].tobytes())
        self.pages, self.left_out = listed.pages, listed.left_out
        self._snippets: NDArray[np.int64] = arrays["snippets"]
        self._weights = Okapi(arrays) if engine == "okapi" else Bm25(arrays)
        words = arrays["vocabulary"].tobytes().decode().split("\n")
        self._vocabulary = {word: number for number, word in enumerate(words)}
        self._pages = {page.document.id: page for page in self.pages}
        self._store = store
        self._vectors: Vectors | None = None

    def open_vectors(self, home: Path, embedder: Embedder, progress: Progress | None = None) -> None:
        """From now on search by meaning, too. Embeds the snippets where the data folder has no vectors of them."""
        if not len(self):
            return

        def texts() -> list[str]:
            return [self._span(number).text for number in range(len(self))]

        self._vectors = open_vectors(home, self.path.stem, len(self), texts, embedder, progress)

    def __len__(self) -> int:
        """The number of snippets."""
        return len(self._snippets)

    def search(self, query: str, k: int = 3) -> list[Hit]:
        """The k best snippets, best first; without vectors only such as share a token with the query.

        Raises BadInput where the text of a page is gone from the document store.
        """
        words = [self._vocabulary[token] for token in tokens(query) if token in self._vocabulary]
        if self._vectors is None:
            return self._hits(best_texts(self._weights, words, k))
        by_words = self._hits(best_texts(self._weights, words, max(k, AMONG)))
        return fuse(by_words, self._hits(self._vectors.nearest(query, max(k, AMONG))), k)

    def _hits(self, best: Sequence[tuple[int, float]]) -> list[Hit]:
        return [
            Hit(span=self._span(snippet), score=score, rank=rank)
            for rank, (snippet, score) in enumerate(best, start=1)
        ]

    def page(self, source_id: str) -> PageRef:
        """Title, address and path of the page that a hit's span points into. Raises KeyError for no page."""
        return self._pages[source_id]

    def _span(self, snippet: int) -> Span:
        number, start, end = self._snippets[snippet].tolist()
        page = self.pages[number]
        try:
            text = self._store.text(page.document.id)
        except BadInput as error:
            raise unusable(self.path, f"the text of {page.path} is gone or damaged") from error
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
    without a readable page and for an index that is damaged.
    """
    files = _files(folder)
    key = _key(files, engine)
    path, store = home / "pages" / f"{key}.npz", DocumentStore(home / "documents")
    if not path.exists():
        write_arrays(path, key, _build(files, engine, store, progress))
    try:
        return PageIndex(path, engine, read_arrays(path, key), store)
    except (LookupError, ValidationError, UnicodeDecodeError) as error:
        raise unusable(path, "its arrays don't fit together") from error


def _files(folder: Path) -> list[_File]:
    """The files of pages in the order of their paths, with the hash of their bytes; empty for what can't be read."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder; give one with saved pages")
    root = folder.resolve()
    files = [
        _File(path, os.fsencode(path.relative_to(folder)).decode("utf-8", "replace"), _digest(path))
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in SUFFIXES
        and not any(_is_skipped(part) for part in path.relative_to(folder).parts)
        and path.is_file()
        and path.resolve().is_relative_to(root)
    ]
    if not files:
        raise BadInput(
            f"{folder}: there are no saved pages in it; give a folder with {' '.join(SUFFIXES)} files"
        )
    return files


def _is_skipped(part: str) -> bool:
    return part.startswith(".") or part.endswith(("_files", ".files"))


def _digest(path: Path) -> str:
    try:
        if path.stat().st_size > PAGE_BYTES:
            return ""
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _key(files: Sequence[_File], engine: Engine) -> str:
    named = "".join(f"{file.shown}\0{file.digest}\0" for file in files)
    return sha256(f"{VERSION} {engine} {SNIPPET} {OVERLAP}\0{named}".encode()).hexdigest()


class _Reading:
    """The pages and snippets that were read so far, and the files left out. A snippet is (page, start, end)."""

    def __init__(self, store: DocumentStore) -> None:
        self.pages: list[PageRef] = []
        self.left_out: list[LeftOut] = []
        self.snippets: list[tuple[int, int, int]] = []
        self._store = store
        self._paths: dict[str, str] = {}

    def read(self, files: Sequence[_File], progress: Progress | None) -> Iterator[list[str]]:
        """The tokens of each snippet of each page, in order. One page is held at a time."""
        for done, file in enumerate(files, start=1):
            try:
                text = self._store_page(read_page(_bytes(file), file.shown, main_only=True), file.shown)
            except BadInput as error:
                self.left_out.append(LeftOut(path=file.shown, reason=str(error)))
                text = ""
            for start, end in overlapping(text, SNIPPET, SNIPPET - OVERLAP):
                self.snippets.append((len(self.pages) - 1, start, end))
                yield tokens(text[start:end])
            if progress:
                progress(done, len(files))

    def _store_page(self, document: Document, path: str) -> str:
        """Store a page and return its text. Raises BadInput for a text that another page has."""
        if document.id in self._paths:
            raise BadInput(f"{path}: the same text as {self._paths[document.id]}")
        self._paths[document.id] = path
        self.pages.append(PageRef(document=self._store.put(document), path=path))
        return document.text


def _bytes(file: _File) -> bytes:
    if not file.digest:
        raise BadInput(
            f"{file.shown}: larger than {PAGE_BYTES // 1_000_000} MB, or not readable; save its text"
        )
    return file.path.read_bytes()


def _build(
    files: Sequence[_File], engine: Engine, store: DocumentStore, progress: Progress | None
) -> dict[str, NDArray[Any]]:
    """The arrays of a new index of these files."""
    reading = _Reading(store)
    numbered = number_tokens(reading.read(files, progress))
    if not reading.pages:
        first = reading.left_out[0].reason
        raise BadInput(f"none of the {len(files)} saved pages can be read; the first: {first}")
    listed = PageList(pages=tuple(reading.pages), left_out=tuple(reading.left_out))
    weights = Okapi.of(numbered) if engine == "okapi" else Bm25.of(numbered)
    return {
        "listed": _as_array(listed.model_dump_json()),
        "snippets": np.array(reading.snippets, dtype=np.int64).reshape(-1, 3),
        "vocabulary": _as_array("\n".join(numbered.vocabulary)),
        **weights.arrays,
    }


def _as_array(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)
