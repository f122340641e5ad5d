"""The index of a folder of saved web pages, read and counted anew when it is opened.

Knows: which files are pages, which are left out and why. The pages' texts lie in the document store; their vectors,
where there is an embedder, under `vectors/` in the data folder.
Does not know: how pages are read, cut and ranked (retrieval), what snippets are used for. Fetches nothing.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.indexes.vectors import open_vectors
from longproof.retrieval.dense import Embedder, Vectors
from longproof.retrieval.loaders import read_bytes
from longproof.retrieval.ranking import AMONG, Bm25, Engine, Okapi, best_texts, fuse, number_tokens
from longproof.retrieval.text.chunking import OVERLAP, SNIPPET, overlapping
from longproof.retrieval.text.normalise import tokens
from longproof.retrieval.types import BadInput, Hit, Progress, Span
from longproof.retrieval.web_pages import SUFFIXES, read_page


class PageIndex:
    """The snippets of a folder's pages, searchable by words."""

    def __init__(self, engine: Engine, pages: dict[str, DocumentRef], snippets: Sequence[Span]) -> None:
        self.engine = engine
        self.pages = pages
        """Title and address of each page, by the id that the spans of hits name."""
        self.left_out: dict[str, str] = {}
        """The files of the folder that are not in the index, and why."""
        self._snippets = snippets
        self._vectors: Vectors | None = None
        texts, self._vocabulary = number_tokens(tokens(snippet.text) for snippet in snippets)
        self._weights = (Okapi if engine == "okapi" else Bm25)(texts, len(self._vocabulary))

    def open_vectors(self, home: Path, embedder: Embedder, progress: Progress | None = None) -> None:
        """From now on search by meaning, too. Embeds the snippets where the data folder has no vectors of them."""
        texts = [snippet.text for snippet in self._snippets]
        made_of = "\0".join([f"{SNIPPET} {OVERLAP}", *self.pages])
        self._vectors = open_vectors(home, made_of, texts, embedder, progress)

    def __len__(self) -> int:
        """The number of snippets."""
        return len(self._snippets)

    def search(self, query: str, k: int = 3) -> list[Hit]:
        """The k best snippets, best first; without vectors only such as share a token with the query."""
        words = [self._vocabulary[token] for token in tokens(query) if token in self._vocabulary]
        if self._vectors is None:
            return self._hits(best_texts(self._weights, words, k))
        by_words = self._hits(best_texts(self._weights, words, AMONG))
        return fuse(by_words, self._hits(self._vectors.nearest(query, AMONG)), k)

    def _hits(self, best: Sequence[tuple[int, float]]) -> list[Hit]:
        return [Hit(self._snippets[number], score) for number, score in best]


def open_pages(
    folder: Path, home: Path, engine: Engine = "bm25", progress: Progress | None = None
) -> PageIndex:
    """The index of the saved pages (.html .htm .md .txt) in `folder` and below.

    Files that can't be read or hold no text are left out and listed. Folders that browsers save beside a page
    (`NAME_files`), hidden ones and links that lead out of the folder are not entered. Raises BadInput for a folder
    without a readable page.
    """
    store, files = DocumentStore(home / "documents"), _page_files(folder)
    pages: dict[str, DocumentRef] = {}
    names: dict[str, str] = {}
    left_out: dict[str, str] = {}
    snippets: list[Span] = []
    for done, (path, name) in enumerate(files, start=1):
        try:
            document = read_page(read_bytes(path), name, main_only=True)
            if document.id in pages:
                raise BadInput(f"{name}: the same text as {names[document.id]}")
            pages[document.id], names[document.id] = store.put(document), name
            for start, end in overlapping(document.text, SNIPPET, SNIPPET - OVERLAP):
                snippets.append(document.span(start, end))
        except BadInput as error:
            left_out[name] = str(error)
        if progress:
            progress(done, len(files))
    if not pages:
        first = next(iter(left_out.values()))
        raise BadInput(f"none of the {len(files)} saved pages can be read; the first: {first}")
    index = PageIndex(engine, pages, snippets)
    index.left_out = left_out
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
