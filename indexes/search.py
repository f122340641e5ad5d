"""What is searched: a source by words or by vectors, and the snippets of a folder of saved web pages.

Knows: vectors are made once by an embedder and kept under `vectors/` in the data folder, one file for those of one
text, opened only if it is what was written for the same texts, cut and embedded alike. By words, all is counted anew
in every run. Which files are pages, which are left out and why; their texts lie in the document store.
Does not know: how texts are read, cut and ranked (retrieval), what hits are used for. Fetches nothing.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.retrieval.dense import DenseIndex, Embedder, Vectors
from longproof.retrieval.files import read_whole, write_whole
from longproof.retrieval.loaders import read_bytes
from longproof.retrieval.ranking import AMONG, Bm25, Engine, LexicalIndex, Okapi, fuse, number_tokens
from longproof.retrieval.text.chunking import OVERLAP, SNIPPET, overlapping
from longproof.retrieval.text.normalise import tokens
from longproof.retrieval.types import BadInput, Document, Hit, Progress, Span
from longproof.retrieval.web_pages import SUFFIXES, read_page

VERSION = 7
"""Part of the key of vectors: what an older version wrote is made again."""

SourceIndex = LexicalIndex | DenseIndex


class PassageSize(NamedTuple):
    """The passages that are indexed: `size` characters, one every `step`."""

    size: int = 400
    step: int = 200


def source_index(
    document: Document,
    home: Path,
    embedder: Embedder | None,
    cut: PassageSize,
    progress: Progress | None = None,
) -> SourceIndex:
    """The index of a document by words or, with an embedder, by vectors. Raises BadInput as `open_vectors` does."""
    passages = overlapping(document.text, cut.size, cut.step)
    if embedder is None or not passages:
        return LexicalIndex(document, passages)
    texts = [document.text[start:end] for start, end in passages]
    made_of = f"{document.id}\0{cut.size}\0{cut.step}"
    return DenseIndex(document, passages, open_vectors(home, made_of, texts, embedder, progress))


def open_vectors(
    home: Path, made_of: str, texts: Sequence[str], embedder: Embedder, progress: Progress | None = None
) -> Vectors:
    """The vectors of texts, which `made_of` names, made where there are none. Raises BadInput for damaged ones."""
    key = sha256(f"{VERSION}\0{made_of}\0{embedder.name}".encode())
    path = home / "vectors" / f"{key.hexdigest()}.vectors"
    if not path.exists():
        vectors = Vectors.of(texts, embedder, progress)
        write_whole(path, sha256(key.digest() + vectors.data).digest() + vectors.data)
        return vectors
    stored = b""
    with suppress(OSError):
        stored = read_whole(path)
    data = stored[32:]
    if stored[:32] != sha256(key.digest() + data).digest():
        raise BadInput(f"the vectors {path} are damaged: delete this file and run again to make them anew")
    return Vectors(data, embedder)


@dataclass
class PageIndex:
    """The snippets of a folder's pages, searchable by words."""

    engine: Engine
    pages: dict[str, DocumentRef]  # title and address of each page, by the id that the spans of hits name
    left_out: dict[str, str]  # the files of the folder that are not in the index, and why
    snippets: Sequence[Span]

    def __post_init__(self) -> None:
        self._vectors: Vectors | None = None
        texts, vocabulary = number_tokens(tokens(snippet.text) for snippet in self.snippets)
        self._weights = Okapi(texts, vocabulary) if self.engine == "okapi" else Bm25(texts, vocabulary)

    def open_vectors(self, home: Path, embedder: Embedder, progress: Progress | None = None) -> None:
        """From now on search by meaning, too. Embeds the snippets where the data folder has no vectors of them."""
        texts = [snippet.text for snippet in self.snippets]
        made_of = "\0".join([f"{SNIPPET} {OVERLAP}", *self.pages])
        self._vectors = open_vectors(home, made_of, texts, embedder, progress)

    def __len__(self) -> int:
        """The number of snippets."""
        return len(self.snippets)

    def search(self, query: str, k: int = 3) -> list[Hit]:
        """The k best snippets, best first; without vectors only such as share a token with the query."""
        words = tokens(query)
        if self._vectors is None:
            return self._hits(self._weights.best(words, k))
        by_words = self._hits(self._weights.best(words, AMONG))
        return fuse(by_words, self._hits(self._vectors.nearest(query, AMONG)), k)

    def _hits(self, best: Sequence[tuple[int, float]]) -> list[Hit]:
        return [Hit(self.snippets[number], score) for number, score in best]


def open_pages(
    folder: Path, home: Path, engine: Engine = "bm25", progress: Progress | None = None
) -> PageIndex:
    """The index of the saved pages in `folder` and below. Raises BadInput for a folder without a readable page.

    Files that can't be read or hold no text are listed as left out. Folders that browsers save beside a page, hidden
    ones and links that lead out of the folder are not entered.
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
    return PageIndex(engine, pages, left_out, snippets)


def _page_files(folder: Path) -> list[tuple[Path, str]]:
    """The files of pages, each with its name in the folder, in the order of their paths."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder; give one with saved pages")
    root = folder.resolve()
    files = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        saved_beside = any(
            part.startswith(".") or part.endswith(("_files", ".files")) for part in inside.parts
        )
        if path.suffix.lower() not in SUFFIXES or saved_beside:
            continue
        if path.is_file() and path.resolve().is_relative_to(root):
            files.append((path, os.fsencode(inside).decode("utf-8", "replace")))
    if not files:
        raise BadInput(f"{folder}: no saved pages in it; give a folder with {' '.join(SUFFIXES)} files")
    return files
