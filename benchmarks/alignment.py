"""Windows of a book in which sentences of a summary are looked for: how often one holds the place, and its size.

With an embedder: how often search finds a right place by words, by meaning and by both, and the windows hold it.
Knows: books of LONGPROOF_DATA with summaries whose places are known, dense and thinned out: a Chinese one
(longnovel_mini_zh) in units of 5,000 characters, and others with the places of events in `data/*.jsonl`, told `plain`
with the book's names and usual words, of one also `reworded` with as few of them as can be. Summaries are running
text: line breaks would tell where a place ends. For search also clipper_books' claims (`clipper:ID`), each of
which may rest on several chapters. Vectors are kept in LONGPROOF_HOME. Does not know: whether a judge can use what
is found.

    LONGPROOF_DATA=... python benchmarks/alignment.py [BOOK ...]
    LONGPROOF_DATA=... python benchmarks/alignment.py --embedder e5 ["Great Gatsby" clipper:13511 ...]
"""

import argparse
import gzip
import json
import os
import re
import sys
import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longproof.agent.models.addresses import place_and_key
from longproof.graphs.evidence.places import windows
from longproof.graphs.evidence.sources import MARGIN, MEANING, SHOWN
from longproof.indexes.search import SourceIndex, source_index
from longproof.retrieval.align import greedy
from longproof.retrieval.dense import Embedder
from longproof.retrieval.embedders import embedder
from longproof.retrieval.files import home
from longproof.retrieval.ranking import AMONG, LexicalIndex, fuse
from longproof.retrieval.text.chunking import SEGMENT, blocks, overlapping, segments
from longproof.retrieval.text.normalise import is_chinese
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document, Hit

Range = tuple[int, int]
Queries = list[tuple[str, list[Range]]]
"""Each with the places that are right."""
EVENTS = Path(__file__).parent / "data"
NOVELS = {
    "Wildfell Hall": ("novels_en/a_bronte_the_tenant_of_wildfell_hall.txt", "tenant_of_wildfell_hall"),
    "Chessmen of Mars": ("novels_en/burroughs_the_chessmen_of_mars.txt", "the_chessmen_of_mars"),
    "Great Gatsby": ("the_great_gatsby_f_scott_fitzgerald", "the_great_gatsby"),
    "Sherlock Holmes": (
        "the_adventures_of_sherlock_holmes_arthur_conan_doyle",
        "the_adventures_of_sherlock_holmes",
    ),
    "Sanguo Yanyi (Chinese)": ("novels_zh/sanguo_yanyi_三国演义.txt", "sanguo_yanyi"),
}
"""Each book's file, or its title in nocha_sample, and its events."""
CHINESE = "Rulin Waishi (Chinese)"
BOOKS = (CHINESE, *NOVELS)
SIZE = 5500
"""Characters of a block."""


class Told(NamedTuple):
    """Sentences or lines of a summary, in order, each with the place in the book that it is about."""

    texts: list[str]
    places: list[Range]

    def as_text(self, size: int = 0) -> tuple[list[str], list[tuple[int, Range]]]:
        """The text without line breaks, cut into sentences or segments of `size`, and the places each is to hold.

        A segment may have to hold the places of several sentences: a pair of its number and a place for each.
        """
        between = "" if is_chinese("".join(self.texts)) else " "
        text, pieces, pairs = between.join(self.texts), list[str](), list[tuple[int, Range]]()
        begins = list(accumulate((len(line) + len(between) for line in self.texts), initial=0))
        for number, (start, end) in enumerate(segments(text, size) if size else sentences(text)):
            pieces.append(text[start:end])
            for line in range(bisect_right(begins, start) - 1, bisect_left(begins, end)):
                pairs.append((number, self.places[line]))
        return pieces, pairs


class Book(NamedTuple):
    text: str
    index: LexicalIndex
    summaries: dict[str, Told]
    """`dense`: a paragraph a unit; others: a sentence an event. All are thinned out."""


def chinese(data: Path) -> Book:
    """Dense: the faithful XXL summary. Sparse: the first sentence of each unit."""
    folder = data / "longnovel_mini_zh"
    text, dense, first = (folder / "novel.txt").read_text(encoding="utf-8"), Told([], []), Told([], [])
    for unit in lines(folder / "annotations.jsonl"):
        summary = unit["summary"]
        dense.texts.append(unit["paraphrase"] or summary)
        first.texts.append(summary[slice(*sentences(summary)[0])])
        for told in (dense, first):
            told.places.append((unit["start"], unit["end"]))
    return Book(text, index_of(text), {"dense": dense, "first sentences": first})


def open_book(data: Path, name: str) -> Book:
    """One of BOOKS; of NOVELS one sentence an event, in each of the ways in which it is told."""
    if name not in BOOKS:
        sys.exit(f"{name} is none of {', '.join(BOOKS)}")
    if name == CHINESE:
        return chinese(data)
    novel, file = NOVELS[name]
    text = (data / novel).read_text(encoding="utf-8") if novel.endswith(".txt") else book_text(data, novel)
    told = dict[str, Told]()
    for event in lines(EVENTS / f"{file}.jsonl"):
        for way in event.keys() & {"plain", "reworded"}:
            texts, places = told.setdefault(way, Told([], []))
            texts.append(event[way])
            places.append((event["start"], event["end"]))
    return Book(text, index_of(text), dict(sorted(told.items())))


def lines(path: Path) -> list[dict[str, Any]]:
    """The rows of JSON Lines, packed or not."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return list(map(json.loads, file))


def book_text(data: Path, title: str) -> str:
    """The text of one of nocha_sample's books."""
    books = {book["book_title"]: book["text"] for book in lines(data / "nocha_sample" / "books.jsonl.gz")}
    return str(books[title])


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


def index_of(text: str) -> LexicalIndex:
    return LexicalIndex(Document.of(text), overlapping(text))


def thinned_out(told: Told, every: int) -> list[Told]:
    """Every `every`-th of them, from each beginning."""
    return [Told(told.texts[first::every], told.places[first::every]) for first in range(every)]


WAYS = ("sentences", "greedy", "top 5")
"""`sentences` is this project's own protocol, `greedy` LongNovel's in segments; the five most similar blocks."""


def characters_of(book: Book, cut: Sequence[Range], shown: Sequence[int], margin: int) -> list[Range]:
    """The ranges of these blocks, with their margin, joined where they touch."""
    joined: list[Range] = []
    for block in shown:
        start, end = max(0, cut[block][0] - margin), min(cut[block][1] + margin, len(book.text))
        if joined and start <= joined[-1][1]:
            start, _ = joined.pop()
        joined.append((start, end))
    return joined


def shares_shown(book: Book, summaries: Sequence[Told], way: str) -> tuple[float, float]:
    """The share of places that are shown whole, and how much is shown on average, in blocks of `SIZE`.

    Windows on our path are shown with a margin.
    """
    cut, margin = blocks(book.text, SIZE), MARGIN if way == "sentences" else 0
    found, read = [], []
    for told in summaries:
        texts, pairs = told.as_text(SEGMENT if way == "greedy" else 0)
        similarity, shown = book.index.similarity(texts, cut), list[list[int]]()
        if way == "top 5":
            shown = np.sort(np.argsort(-similarity, axis=1, kind="stable")[:, :5]).tolist()
        else:
            path = greedy(similarity) if way == "greedy" else windows(similarity, texts, [range(len(texts))])
            shown = [list(range(window.first, window.last + 1)) for window in path]
        for number, place in pairs:
            ranges = characters_of(book, cut, shown[number], margin)
            found.append(any(start <= place[0] and place[1] <= end for start, end in ranges))
            read.append(sum(end - start for start, end in ranges) / SIZE)
    return float(np.mean(found)), float(np.mean(read))


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def window_rows(data: Path, names: Sequence[str]) -> None:
    """Print a row a book and a way of thinning its summary out."""
    row("book", "summary", "sentences", *WAYS)
    for name in names:
        book = open_book(data, name)
        for kind, told in book.summaries.items():
            for which, summaries in (("all", [told]), ("every 3rd", thinned_out(told, 3))):
                results = [shares_shown(book, summaries, way) for way in WAYS]
                count = len(summaries[0].as_text()[0])
                row(name, f"{kind}, {which}", count, *(f"{r:.1%}, {m:.1f}" for r, m in results))


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
            among = ranks <= 5
            found[way].append((1 in ranks, among.any(), among.mean(), (ranks <= 10).mean()))
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


def meaning_rows(data: Path, names: Sequence[str], model: Embedder) -> None:
    """Print rows of search, and of the path where a summary tells the book."""
    row("text", "sentences", "by", "a right place first", "among 5", "all among 5", "all among 10")
    for name in names:
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


def main() -> None:
    """Print the rows of the books that are named, or of all that have summaries."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--embedder", default="lexical", help="search by its meaning, by words and by both")
    parser.add_argument("books", metavar="BOOK", nargs="*", default=BOOKS)
    given = parser.parse_args()
    if not (folder := os.environ.get("LONGPROOF_DATA")):
        parser.error("LONGPROOF_DATA is not set: it names the folder of development data")
    if model := embedder(given.embedder, place_and_key):
        meaning_rows(Path(folder), given.books, model)
    else:
        window_rows(Path(folder), given.books)


if __name__ == "__main__":
    main()
