"""The index of a folder of saved web pages, read and counted anew when it is opened.

Knows: which files are pages, which are left out and why. The pages' texts lie in the document store; their vectors,
where there is an embedder, under `vectors/` in the data folder.
Does not know: how pages are read, cut and ranked (retrieval), what snippets are used for. Fetches nothing.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.indexes.vectors import open_vectors
from longproof.retrieval.bm25 import Bm25, Engine, Okapi, best_texts, number_tokens
from longproof.retrieval.dense import Embedder, Vectors
from longproof.retrieval.loaders import read_bytes
from longproof.retrieval.ranking import AMONG, fuse
from longproof.retrieval.text.chunking import OVERLAP, SNIPPET, overlapping
from longproof.retrieval.text.tokens import tokens
from longproof.retrieval.types import BadInput, Document, Hit, Progress, Span
from longproof.retrieval.web_pages import SUFFIXES, read_page


class PageRef(NamedTuple):
    """A stored page: its document, with title and address, and its file's path in the folder that was indexed."""

    document: DocumentRef
    path: str


class LeftOut(NamedTuple):
    """A file that is not in the index, and why."""

    path: str
    reason: str


class PageIndex:
    """The snippets of a folder's pages, searchable. `pages` and `left_out` are in the order of their paths."""

    def __init__(self, engine: Engine, store: DocumentStore) -> None:
        self.engine = engine
        self.pages: list[PageRef] = []
        self.left_out: list[LeftOut] = []
        self._store = store
        self._snippets: list[Span] = []
        self._by_id: dict[str, PageRef] = {}
        self._vectors: Vectors | None = None

    def read(self, files: Sequence[tuple[Path, str]], progress: Progress | None) -> None:
        """Read these files, each a path and its name in the folder; those that can't be read are left out."""
        for done, (path, name) in enumerate(files, start=1):
            try:
                self._add(read_page(read_bytes(path), name, main_only=True), name)
            except BadInput as error:
                self.left_out.append(LeftOut(name, str(error)))
            if progress:
                progress(done, len(files))
        if not self.pages:
            first = self.left_out[0].reason
            raise BadInput(f"none of the {len(files)} saved pages can be read; the first: {first}")
        numbered = number_tokens(tokens(snippet.text) for snippet in self._snippets)
        self._vocabulary = numbered.vocabulary
        self._weights = Okapi(numbered) if self.engine == "okapi" else Bm25(numbered)

    def _add(self, document: Document, name: str) -> None:
        if same := self._by_id.get(document.id):
            raise BadInput(f"{name}: the same text as {same.path}")
        page = PageRef(self._store.put(document), name)
        self.pages.append(page)
        self._by_id[document.id] = page
        for start, end in overlapping(document.text, SNIPPET, SNIPPET - OVERLAP):
            self._snippets.append(document.span(start, end))

    def open_vectors(self, home: Path, embedder: Embedder, progress: Progress | None = None) -> None:
        """From now on search by meaning, too. Embeds the snippets where the data folder has no vectors of them."""
        texts = [snippet.text for snippet in self._snippets]
        made_of = "\0".join([f"{SNIPPET} {OVERLAP}", *self._by_id])
        self._vectors = open_vectors(home, made_of, lambda: texts, embedder, progress)

    def __len__(self) -> int:
        """The number of snippets."""
        return len(self._snippets)

    def search(self, query: str, k: int = 3) -> list[Hit]:
        """The k best snippets, best first; without vectors only such as share a token with the query."""
        words = [self._vocabulary[token] for token in tokens(query) if token in self._vocabulary]
        if self._vectors is None:
            return self._hits(best_texts(self._weights, words, k))
        by_words = self._hits(best_texts(self._weights, words, max(k, AMONG)))
        return fuse(by_words, self._hits(self._vectors.nearest(query, max(k, AMONG))), k)

    def _hits(self, best: Sequence[tuple[int, float]]) -> list[Hit]:
        return [
            Hit(span=self._snippets[number], score=score, rank=rank)
            for rank, (number, score) in enumerate(best, start=1)
        ]

    def page(self, source_id: str) -> PageRef:
        """Title, address and path of the page that a hit's span points into. Raises KeyError for no page."""
        return self._by_id[source_id]


def open_pages(
    folder: Path, home: Path, engine: Engine = "bm25", progress: Progress | None = None
) -> PageIndex:
    """The index of the saved pages (.html .htm .md .txt) in `folder` and below.

    Files that can't be read or hold no text are left out and listed. Folders that browsers save beside a page
    (`NAME_files`), hidden ones and links that lead out of the folder are not entered. Raises BadInput for a folder
    without a readable page.
    """
    index = PageIndex(engine, DocumentStore(home / "documents"))
    index.read(_page_files(folder), progress)
    return index


def _page_files(folder: Path) -> list[tuple[Path, str]]:
    """The files of pages, each with its name in the folder, in the order of their paths."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder; give one with saved pages")
    root = folder.resolve()
    files = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.suffix.lower() not in SUFFIXES or any(_is_skipped(part) for part in inside.parts):
            continue
        if path.is_file() and path.resolve().is_relative_to(root):
            files.append((path, os.fsencode(inside).decode("utf-8", "replace")))
    if not files:
        raise BadInput(
            f"{folder}: there are no saved pages in it; give a folder with {' '.join(SUFFIXES)} files"
        )
    return files


def _is_skipped(part: str) -> bool:
    return part.startswith(".") or part.endswith(("_files", ".files"))
