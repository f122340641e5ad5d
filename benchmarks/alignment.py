"""Windows of a book in which sentences of a summary are looked for: how often one holds the place, and its size.

Knows: books of LONGPROOF_DATA with summaries whose places are known, dense and thinned out: a Chinese one
(longnovel_mini_zh) in units of 5,000 characters, and others with the places of events in `data/*.jsonl`, told `plain`
with the book's names and usual words, of one also `reworded` with as few of them as can be. Summaries are running
text: line breaks would tell where a place ends. Does not know: whether a judge can use what a window holds.

    LONGPROOF_DATA=... python benchmarks/alignment.py
"""

import gzip
import json
import os
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longproof.graphs.evidence.places import windows
from longproof.graphs.evidence.sources import MARGIN
from longproof.retrieval.align import greedy
from longproof.retrieval.lexical import LexicalIndex
from longproof.retrieval.text.chunking import SEGMENT, blocks, overlapping, segments
from longproof.retrieval.text.normalise import is_chinese
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document

Range = tuple[int, int]
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


def told_by_events(data: Path, name: str) -> Book:
    """One sentence an event, in each of the ways in which it is told."""
    novel, file = NOVELS[name]
    text = (data / novel).read_text(encoding="utf-8") if novel.endswith(".txt") else book_text(data, novel)
    told = dict[str, Told]()
    for event in lines(EVENTS / f"{file}.jsonl"):
        for way in event.keys() & {"plain", "reworded"}:
            texts, places = told.setdefault(way, Told([], []))
            texts.append(event[way])
            places.append((event["start"], event["end"]))
    return Book(text, index_of(text), dict(sorted(told.items())))


def open_book(data: Path, name: str) -> Book:
    """One of NOVELS, or the Chinese one of longnovel_mini_zh."""
    return told_by_events(data, name) if name in NOVELS else chinese(data)


def lines(path: Path) -> list[dict[str, Any]]:
    """The rows of JSON Lines, packed or not."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return list(map(json.loads, file))


def book_text(data: Path, title: str) -> str:
    """The text of one of nocha_sample's books."""
    books = {book["book_title"]: book["text"] for book in lines(data / "nocha_sample" / "books.jsonl.gz")}
    return str(books[title])


def index_of(text: str) -> LexicalIndex:
    return LexicalIndex(Document.of(text), overlapping(text))


def thinned_out(told: Told, every: int) -> list[Told]:
    """Every `every`-th of them, from each beginning."""
    return [Told(told.texts[first::every], told.places[first::every]) for first in range(every)]


WAYS = ("sentences", "greedy", "top 5")
"""`sentences` is this project's own protocol, `greedy` LongNovel's in segments; the five most similar blocks."""


def blocks_shown(way: str, similarity: NDArray[np.float64], texts: Sequence[str]) -> list[list[int]]:
    """For each piece of a summary, the blocks that are shown, in order."""
    if way == "top 5":
        best: list[list[int]] = np.sort(np.argsort(-similarity, axis=1, kind="stable")[:, :5]).tolist()
        return best
    found = greedy(similarity) if way == "greedy" else windows(similarity, texts, [range(len(texts))])
    return [list(range(window.first, window.last + 1)) for window in found]


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
        shown = blocks_shown(way, book.index.similarity(texts, cut), texts)
        for number, place in pairs:
            ranges = characters_of(book, cut, shown[number], margin)
            found.append(any(start <= place[0] and place[1] <= end for start, end in ranges))
            read.append(sum(end - start for start, end in ranges) / SIZE)
    return float(np.mean(found)), float(np.mean(read))


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def main() -> None:
    """Print a row a book and a way of thinning its summary out."""
    folder = os.environ.get("LONGPROOF_DATA")
    if not folder:
        sys.exit("LONGPROOF_DATA is not set: it names the folder of development data")
    row("book", "summary", "sentences", *WAYS)
    data = Path(folder)
    for name in ("Rulin Waishi (Chinese)", *NOVELS):
        book = open_book(data, name)
        for kind, told in book.summaries.items():
            for which, summaries in (("all", [told]), ("every 3rd", thinned_out(told, 3))):
                results = [shares_shown(book, summaries, way) for way in WAYS]
                count = len(summaries[0].as_text()[0])
                row(name, f"{kind}, {which}", count, *(f"{r:.1%}, {m:.1f}" for r, m in results))


if __name__ == "__main__":
    main()
