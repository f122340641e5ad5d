"""Where sentences of a summary are looked for in a book: recall and size of windows, what the first piece of
evidence holds, and what the index costs.

Knows: books of LONGPROOF_DATA with summaries whose places are known, dense and thinned out, in order and with
flashbacks: a Chinese one (longnovel_mini_zh) in units of 5,000 characters, and others with the places of events in
`data/*.jsonl`, told `plain` with the book's names and usual words, of one also `reworded` with as few of them as can
be. All were written for this project. Summaries are running text: line breaks would tell where a place ends.
Does not know: whether a judge can use what a window holds.

    LONGPROOF_DATA=... python benchmarks/alignment.py recall
    LONGPROOF_DATA=... python benchmarks/alignment.py sizes
    LONGPROOF_DATA=... python benchmarks/alignment.py pieces
    LONGPROOF_DATA=... python benchmarks/alignment.py index --characters 100000 1000000 10000000
"""

import argparse
import gzip
import json
import multiprocessing
import os
import random
import resource
import tempfile
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longproof.agent.types import Claim
from longproof.graphs.evidence.places import claim_groups, locate_sentences, windows
from longproof.graphs.evidence.reading_plan import PLACE, reading_plan
from longproof.graphs.evidence.sources import MARGIN, Sources
from longproof.indexes.sources import source_index
from longproof.retrieval.align import greedy, viterbi
from longproof.retrieval.lexical import LexicalIndex
from longproof.retrieval.text.chunking import BLOCK, SEGMENT, blocks, overlapping, segments
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.text.tokens import is_chinese
from longproof.retrieval.types import Document, Window

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
SHUFFLES = 5


class Told(NamedTuple):
    """Sentences or lines of a summary, in order, each with the place in the book that it is about."""

    texts: list[str]
    places: list[Range]

    def of(self, numbers: Sequence[int]) -> "Told":
        """These ones, in this order."""
        return Told([self.texts[i] for i in numbers], [self.places[i] for i in numbers])

    def running(self, size: int = 0) -> tuple[list[str], list[tuple[int, Range]]]:
        """The text without line breaks, cut into sentences or segments of `size`, and the places each is to hold.

        A segment may have to hold the places of several sentences: a pair of its number and a place for each.
        """
        between = "" if is_chinese("".join(self.texts)) else " "
        text = between.join(self.texts)
        begins = list(accumulate((len(line) + len(between) for line in self.texts), initial=0))
        cut = segments(text, size) if size else sentences(text)
        owners = [range(bisect_right(begins, start) - 1, bisect_left(begins, end)) for start, end in cut]
        pairs = [(n, self.places[line]) for n, lines in enumerate(owners) for line in lines]
        return [text[start:end] for start, end in cut], pairs


class Book(NamedTuple):
    text: str
    index: LexicalIndex
    summaries: dict[str, Told]
    """`dense`: a paragraph a unit; others: a sentence an event. All are thinned out."""


def chinese(data: Path) -> Book:
    """Dense: the faithful XXL summary. Sparse: the first sentence of each unit."""
    folder = data / "longnovel_mini_zh"
    text = (folder / "novel.txt").read_text(encoding="utf-8")
    units = [json.loads(line) for line in (folder / "annotations.jsonl").open(encoding="utf-8")]
    places = [(unit["start"], unit["end"]) for unit in units]
    first = [unit["summary"][slice(*sentences(unit["summary"])[0])] for unit in units]
    dense = Told([unit["paraphrase"] or unit["summary"] for unit in units], places)
    return Book(text, indexed(text), {"dense": dense, "first sentences": Told(first, places)})


def told_by_events(data: Path, name: str) -> Book:
    """One sentence an event, in each of the ways in which it is told."""
    novel, file = NOVELS[name]
    text = (data / novel).read_text(encoding="utf-8") if novel.endswith(".txt") else titled(data, novel)
    events = [json.loads(line) for line in (EVENTS / f"{file}.jsonl").open(encoding="utf-8")]
    places = [(event["start"], event["end"]) for event in events]
    told = {
        way: Told([event[way] for event in events], places)
        for way in ("plain", "reworded")
        if way in events[0]
    }
    return Book(text, indexed(text), told)


def titled(data: Path, title: str) -> str:
    """The text of one of nocha_sample's books."""
    with gzip.open(data / "nocha_sample" / "books.jsonl.gz", "rt", encoding="utf-8") as lines:
        return next(str(book["text"]) for book in map(json.loads, lines) if book["book_title"] == title)


def books(data: Path) -> Iterator[tuple[str, Book]]:
    yield "Rulin Waishi (Chinese)", chinese(data)
    for name in NOVELS:
        yield name, told_by_events(data, name)


def indexed(text: str) -> LexicalIndex:
    return LexicalIndex.build(Document.of(text), overlapping(text))


def thinned(told: Told, every: int) -> list[Told]:
    """Every `every`-th of them, from each beginning."""
    return [told.of(range(first, len(told.texts), every)) for first in range(every)]


def flashed(told: Told, share: float) -> list[Told]:
    """With this share of them moved elsewhere, a few times."""
    moved = []
    for seed in range(SHUFFLES):
        draw, numbers = random.Random(seed), list(range(len(told.texts)))
        for _ in range(max(1, round(share * len(numbers)))):
            numbers.insert(draw.randrange(len(numbers)), numbers.pop(draw.randrange(len(numbers))))
        moved.append(told.of(numbers))
    return moved


Shown = list[list[tuple[int, int]]]
"""For each piece of a summary, the first and last block of what is shown."""


def best_blocks(similarity: NDArray[np.float64], k: int) -> Shown:
    best = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
    return [[(block, block) for block in sorted(row)] for row in best.tolist()]


def spans(found: Sequence[Window]) -> Shown:
    return [[(window.first, window.last)] for window in found]


class Way(NamedTuple):
    """How a summary is cut, its characters a segment (0: sentences), and what is shown for each piece of it."""

    segment: int
    shown: Callable[[NDArray[np.float64], Sequence[str]], Shown]


WAYS = {
    "sentences": Way(0, lambda matrix, texts: spans(windows(matrix, texts, [range(len(texts))]))),
    "segments": Way(SEGMENT, lambda matrix, texts: spans(viterbi(matrix))),
    "greedy": Way(SEGMENT, lambda matrix, texts: spans(greedy(matrix))),
    "top 5": Way(0, lambda matrix, texts: best_blocks(matrix, 5)),
}
"""`sentences` is this project's own protocol, `greedy` LongNovel's; `segments` its segments on our path."""


def characters_of(
    book: Book, cut: Sequence[Range], shown: Sequence[tuple[int, int]], margin: int
) -> list[Range]:
    """What is shown, with its margin, joined where it touches."""
    joined: list[Range] = []
    for first, last in shown:
        start, end = max(0, cut[first][0] - margin), min(cut[last][1] + margin, len(book.text))
        if joined and start <= joined[-1][1]:
            start, _ = joined.pop()
        joined.append((start, end))
    return joined


def held(
    book: Book, summaries: Sequence[Told], way: str, size: int = 5500, segment: int | None = None
) -> tuple[float, float]:
    """The share of places that are shown whole, and how much is shown on average, in blocks of `size`.

    Windows on our path are shown with a margin.
    """
    cut, margin = blocks(book.text, size), MARGIN if way in ("sentences", "segments") else 0
    found, read = [], []
    for told in summaries:
        texts, pairs = told.running(WAYS[way].segment if segment is None else segment)
        shown = WAYS[way].shown(book.index.similarity(texts, cut), texts)
        for number, place in pairs:
            ranges = characters_of(book, cut, shown[number], margin)
            found.append(any(start <= place[0] and place[1] <= end for start, end in ranges))
            read.append(sum(end - start for start, end in ranges) / size)
    return float(np.mean(found)), float(np.mean(read))


def selections(told: Told) -> Iterator[tuple[str, list[Told]]]:
    """Whole, thinned out, and with flashbacks."""
    yield "all", [told]
    for every, which in ((2, "every 2nd"), (3, "every 3rd"), (5, "every 5th")):
        yield which, thinned(told, every)
    yield "all, 30% moved", flashed(told, 0.3)
    yield "every 3rd, 30% moved", [moved for part in thinned(told, 3) for moved in flashed(part, 0.3)]


def recall(data: Path) -> None:
    row("book", "summary", "sentences", *WAYS)
    for name, book in books(data):
        for kind, told in book.summaries.items():
            for which, summaries in selections(told):
                results = [held(book, summaries, way) for way in WAYS]
                row(
                    name,
                    f"{kind}, {which}",
                    len(summaries[0].running()[0]),
                    *(f"{r:.1%}, {m:.1f}" for r, m in results),
                )


def sizes(data: Path) -> None:
    """LongNovel's Appendix G: other blocks, other segments. Characters read: the mean window."""
    for name, book in books(data):
        told = next(iter(book.summaries.values()))
        row(name, "blocks of", "sentences: recall, blocks, characters", "greedy: recall, blocks, characters")
        for size in (1000, 2000, 3000, 4000, 5500, 7000, 10000):
            results = [held(book, [told], way, size) for way in ("sentences", "greedy")]
            row("", f"{size:,}", *(f"{r:.1%}, {m:.1f}, {m * size:,.0f}" for r, m in results))
        row(name, "segments of", "segments: recall, blocks, segments", "greedy: recall, blocks, segments")
        for size in (50, 100, 150, 250, 350, 500):
            results = [held(book, [told], way, segment=size) for way in ("segments", "greedy")]
            count = len(told.running(size)[0])
            row("", size, *(f"{r:.1%}, {m:.1f}, {count}" for r, m in results))


def first_pieces(data: Path) -> None:
    """What graphs/evidence/places.py does with summaries, and with each sentence as a response of its own."""
    row("book", "summary", "window holds", "sure", "sure and held", "pieces right", "characters", "groups")
    for name, book in books(data):
        sources = Sources([Document.of(book.text)], BLOCK)
        for kind, told in book.summaries.items():
            for which, summaries in selections(told):
                if "moved" not in which:
                    row(name, f"{kind}, {which}", *told_in_pieces(book, sources, summaries))
            row(name, f"{kind}, alone", *told_in_pieces(book, sources, [told], alone=True))


def told_in_pieces(book: Book, sources: Sources, summaries: Sequence[Told], alone: bool = False) -> list[str]:
    """Shares of sentences, characters shown a sentence, and groups.

    A group's pieces are right for a sentence if its place lies half inside them, or half a piece inside the place.
    """
    seen: list[tuple[bool, bool, bool]] = []
    shown, grouped = 0, 0
    for told in summaries:
        texts, pairs = told.running()
        parts = [range(n, n + 1) for n in range(len(texts))] if alone else [range(len(texts))]
        found = locate_sentences(texts, parts, sources)
        groups = claim_groups(
            [as_claim(n, text) for n, text in enumerate(texts)],
            [at.piece for at in found],
            reading_plan(sources.characters, len(texts)),
        )
        pieces = {claim.index: group.pieces for group in groups for claim in group.claims}
        shown += sum(end - start for group in groups for _, start, end in group.pieces)
        grouped += len(groups)
        for number, place in pairs:
            wide = any(a <= place[0] and place[1] <= b for _, a, b in sources.places(found[number].window))
            near = sum(max(0, min(b, place[1]) - max(a, place[0])) for _, a, b in pieces[number])
            half = min(PLACE, place[1] - place[0]) / 2
            seen.append((wide, found[number].sure, near >= half))
    wide, certain, right = np.array(seen).T
    both = f"{wide[certain].mean():.1%}" if certain.any() else "-"
    shares = [f"{wide.mean():.1%}", f"{certain.mean():.1%}", both, f"{right.mean():.1%}"]
    return [*shares, f"{shown / len(seen):,.0f}", str(grouped)]


def as_claim(number: int, text: str) -> Claim:
    origin = Document.of(text).span(0, len(text))
    return Claim(id=f"c{number}", index=number, sentence=number, text=text, origin=origin)


def index(data: Path, characters: Sequence[int]) -> None:
    row(
        "language",
        "characters",
        "build, CPU s",
        "peak, MB",
        "on disk, MB",
        "open, CPU s",
        "100 segments, CPU s",
        "search, CPU ms",
    )
    for language in ("Chinese", "English"):
        for number in characters:
            with tempfile.TemporaryDirectory() as home:
                built = alone(build, data, language, number, Path(home))
                used = alone(use, data, language, number, Path(home))
            row(language, f"{number:,}", *(f"{value:,.1f}" for value in (*built, *used)))


def long_text(data: Path, language: str, characters: int) -> str:
    """As much text, novels one after the other and again from the first."""
    folder = data / ("novels_zh" if language == "Chinese" else "novels_en")
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt")))
    return (text * (characters // len(text) + 1))[:characters]


def build(data: Path, language: str, characters: int, home: Path) -> tuple[float, ...]:
    document = Document.of(long_text(data, language, characters))
    before = time.process_time()
    source_index(document, home, keep=True)
    took = time.process_time() - before
    size = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    return took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, size / 1e6


def use(data: Path, language: str, characters: int, home: Path) -> tuple[float, ...]:
    document = Document.of(long_text(data, language, characters))
    text, times = document.text, [time.process_time()]
    opened = source_index(document, home, keep=True)
    times.append(time.process_time())
    asked = [text[at : at + 150] for at in range(0, characters - 150, characters // 100)][:100]
    opened.similarity(asked, blocks(text))
    times.append(time.process_time())
    for query in asked[:20]:
        opened.search(query, 10)
    times.append(time.process_time())
    opening, aligning, searching = np.diff(times)
    return float(opening), float(aligning), float(searching) / 20 * 1e3


def alone(work: Callable[..., Any], *given: object) -> Any:
    """What the work gives in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, given)


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["recall", "sizes", "pieces", "index"])
    parser.add_argument("--characters", type=int, nargs="*", default=[100_000, 1_000_000])
    arguments = parser.parse_args()
    folder = os.environ.get("LONGPROOF_DATA")
    if not folder:
        parser.error("LONGPROOF_DATA is not set: it names the folder of development data")
    if arguments.what == "index":
        index(Path(folder), arguments.characters)
    else:
        {"recall": recall, "sizes": sizes, "pieces": first_pieces}[arguments.what](Path(folder))


if __name__ == "__main__":
    main()
