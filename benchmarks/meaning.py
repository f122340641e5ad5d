"""Search and alignment by words, by meaning and by both: how often the right place of a book is found.

Knows: alignment.py's books with summaries whose places are known (a sentence has one), and clipper_books' claims
(`clipper:ID`), whose chapters are known (a claim may have several). Vectors are kept in LONGPROOF_HOME.
Does not know: whether a judge can use what is found.

    LONGPROOF_DATA=... python benchmarks/meaning.py e5 "Great Gatsby" "Rulin Waishi (Chinese)" clipper:13511
"""

import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from alignment import NOVELS, SIZE, Book, Range, Told, lines, open_book, row
from numpy.typing import NDArray

from longproof.agent.models.addresses import place_and_key
from longproof.graphs.evidence.places import windows
from longproof.graphs.evidence.sources import MEANING, SHOWN
from longproof.indexes.search import SourceIndex, source_index
from longproof.retrieval.dense import Embedder
from longproof.retrieval.embedders import embedder
from longproof.retrieval.files import home
from longproof.retrieval.ranking import AMONG, fuse
from longproof.retrieval.text.chunking import blocks
from longproof.retrieval.types import Document, Hit

AMONG_FIRST, AMONG_TEN = 5, 10
Queries = list[tuple[str, list[Range]]]
"""Each with the places that are right."""


def claims(data: Path, number: str) -> tuple[str, Queries]:
    """A book of clipper_books and its true claims, with their chapters."""
    books = lines(data / "clipper_books" / "books.jsonl.gz")
    book = next(one for one in books if str(one["book_id"]) == number)
    text, chapters = "", dict[str, Range]()
    for name, chapter in enumerate(book["chapters"], start=1):
        chapters[str(name)] = (len(text), len(text) + len(chapter["text"]))
        text += chapter["text"] + "\n\n"
    queries: Queries = []
    for claim in lines(data / "clipper_books" / "claims.jsonl"):
        named = chapters.keys() & re.findall(r"\d+", claim["source"])
        if str(claim["book_id"]) == number and named:
            queries.append((claim["facts"], [chapters[name] for name in named]))
    return text, queries


def first_in(hits: Sequence[Hit], place: Range) -> int:
    """The rank of the first hit whose middle lies in the place, without those that overlap a better one; 0: none."""
    kept: list[Hit] = []
    for hit in hits:
        if all(hit.span.end <= one.span.start or one.span.end <= hit.span.start for one in kept):
            kept.append(hit)
            if 2 * place[0] <= hit.span.start + hit.span.end < 2 * place[1]:
                return len(kept)
    return 0


def search_rows(name: str, queries: Queries, words: SourceIndex, meaning: SourceIndex) -> None:
    """Print how often a right place comes first and is among five, and which share of all is among five and ten."""
    found: dict[str, list[tuple[float, ...]]] = {"words": [], "meaning": [], "both": []}
    for query, places in queries:
        by_words, by_meaning = words.search(query, AMONG), meaning.search(query, AMONG)
        ranked = {"words": by_words, "meaning": by_meaning, "both": fuse(by_words, by_meaning, AMONG)}
        for way, hits in ranked.items():
            ranks = np.array([first_in(hits, place) or np.inf for place in places])
            among = ranks <= AMONG_FIRST
            found[way].append((1 in ranks, among.any(), among.mean(), (ranks <= AMONG_TEN).mean()))
    for way, results in found.items():
        row(name, len(queries), way, *(f"{share:.3f}" for share in np.mean(results, axis=0)))


def rises(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row in units of its rise above its median."""
    middle = np.median(matrix, axis=1, keepdims=True)
    rise = matrix.max(axis=1, keepdims=True) - middle
    return (matrix - middle) / np.maximum(rise, max(float(np.median(rise)), 1e-9))


def path_rows(name: str, book: Book, told: Told, meaning: SourceIndex) -> None:
    """Print how often the window along the path holds the place."""
    cut = blocks(book.text, SIZE)
    texts, pairs = told.as_text()
    by_words, by_meaning = book.index.similarity(texts, cut), meaning.similarity(texts, cut)
    both = rises(by_words) + rises(by_meaning)
    for way, matrix in (("words", by_words), ("meaning", by_meaning), ("both", both)):
        shown = windows(matrix, texts, [range(len(texts))])
        whole = [cut[shown[n].first][0] <= a and b <= cut[shown[n].last][1] for n, (a, b) in pairs]
        row(name, len(texts), f"path by {way}", f"{np.mean(whole):.3f}")


def indexes(text: str, model: Embedder) -> tuple[SourceIndex, SourceIndex]:
    """The indexes of a book by words and by meaning; says what the second costs where it is new."""
    document, began, wall = Document.of(text), time.process_time(), time.monotonic()
    meaning = source_index(document, home(), model, MEANING)
    spent = time.process_time() - began
    row("", len(text), "characters", f"{spent:.0f} CPU s", f"{time.monotonic() - wall:.0f} s")
    return source_index(document, home(), None, SHOWN), meaning


def main() -> None:
    """Print the rows of the books that are named, or of all that have summaries."""
    folder = os.environ.get("LONGPROOF_DATA")
    if not folder or len(sys.argv) < 2:
        sys.exit("usage: LONGPROOF_DATA=... python benchmarks/meaning.py EMBEDDER [BOOK ...]")
    data, model = Path(folder), embedder(sys.argv[1], place_and_key)
    if model is None:
        sys.exit("name an embedder: lexical is none")
    among = f"among {AMONG_FIRST}"
    row("text", "sentences", "by", "a right place first", among, f"all {among}", f"all among {AMONG_TEN}")
    for name in sys.argv[2:] or ["Rulin Waishi (Chinese)", *NOVELS]:
        if name.startswith("clipper:"):
            text, queries = claims(data, name.removeprefix("clipper:"))
            search_rows(name, queries, *indexes(text, model))
            continue
        book = open_book(data, name)
        words, meaning = indexes(book.text, model)
        for kind, told in book.summaries.items():
            texts, pairs = told.as_text()
            queries = [(text, [at for n, at in pairs if n == number]) for number, text in enumerate(texts)]
            search_rows(f"{name}, {kind}", queries, words, meaning)
            path_rows(f"{name}, {kind}", book, told, meaning)


if __name__ == "__main__":
    main()
