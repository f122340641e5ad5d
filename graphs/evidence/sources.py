"""The sources of one case, seen as one row of blocks and as one row of numbered lines.

Knows: blocks and lines across several documents, and what of them is found, read or shown: by line numbers.
Does not know: judges, looks, how lines are written into a prompt.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from sys import maxsize
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from longproof.agent.types import Lines
from longproof.indexes.search import PassageSize, SourceIndex
from longproof.retrieval.outline import fit_entries, outline
from longproof.retrieval.ranking import AMONG, CONTEXT, LexicalIndex, fuse
from longproof.retrieval.text.chunking import BLOCK, blocks, evidence_lines, overlapping, pack
from longproof.retrieval.types import Document, Hit, Line, Span, Window

Place = tuple[int, int, int]
"""Document number, start, end: a piece of text that is compared with a sentence, cut anywhere."""
Index = Callable[[Document, PassageSize], SourceIndex]

SHOWN = PassageSize(300, 150)
"""The passages that are searched for and shown: small ones, so that many claims find theirs in one question."""
MEANING = PassageSize(900, 900)
"""The passages that are compared by meaning: longer ones cost less to embed, and find more."""
RUN = 500
"""A found run of lines is at most this long: a passage and what touches it."""
HITS_A_RUN = 6
"""So many passages are looked at for every run that is wanted, since several of them show one scene."""
MARGIN = 500
"""Characters shown before and behind a window: blocks are cut anywhere, what a segment tells of is not."""


class Sources:
    """The documents of a case, each indexed by its passages. Words align and search; with `embed`, what is searched
    for is found by words and by meaning together, and passages are embedded when the first search needs them."""

    def __init__(
        self, documents: Sequence[Document], block_characters: int = BLOCK, embed: Index | None = None
    ) -> None:
        self.documents = list(documents)
        self.characters = sum(len(document.text) for document in documents)
        """Of all sources together."""
        self._embed, self._embedding, self._by_meaning = embed, Lock(), list[SourceIndex]()
        self._aligning, self._searching = list[SourceIndex](), list[SourceIndex]()
        self.blocks: list[Place] = []
        self._lines: list[Place] = []
        """The places of the lines of all documents, in order."""
        self._numbers: list[range] = []
        """The numbers of the lines of each document."""
        for number, document in enumerate(documents):
            self._aligning.append(LexicalIndex(document, overlapping(document.text, *PassageSize())))
            self._searching.append(LexicalIndex(document, overlapping(document.text, *SHOWN), [CONTEXT]))
            for start, end in blocks(document.text, block_characters):
                self.blocks.append((number, start, end))
            first = len(self._lines)
            for start, end in evidence_lines(document.text, record=document.kind == "record"):
                self._lines.append((number, start, end))
            self._numbers.append(range(first, len(self._lines)))
        self._lengths = np.array([end - start for _, start, end in self._lines], dtype=np.int64)
        self.number_of_lines = len(self._lines)
        """Of all sources together."""

    def similarity(
        self, segments: Sequence[str], places: Sequence[Place] | None = None
    ) -> NDArray[np.float64]:
        """Segments by blocks of all documents, or by these places, which stand in the order of the documents."""
        columns = self.blocks if places is None else places
        parts = []
        for number, index in enumerate(self._aligning):
            own = [(start, end) for n, start, end in columns if n == number]
            parts.append(index.similarity(segments, own))
        return np.hstack(parts) if parts else np.zeros((len(segments), 0))

    def places(self, window: Window) -> list[Place]:
        """The window's blocks, joined where they follow each other in one document, with a margin at both ends."""
        wider: list[Place] = []
        for n, start, end in merge(self.blocks[window.first : window.last + 1]):
            wider.append((n, max(0, start - MARGIN), min(end + MARGIN, len(self.documents[n].text))))
        return wider

    def line(self, number: int) -> Line:
        """The line of this number. Raises IndexError where there is none."""
        if not 0 <= number < self.number_of_lines:
            raise IndexError(f"there is no line {number} among {self.number_of_lines}")
        document, start, end = self._lines[number]
        return Line(number, self.documents[document].span(start, end))

    def lines_in(self, places: Iterable[Place]) -> Lines:
        """The numbers of all lines that touch these places, sorted."""
        numbers: set[int] = set()
        for place in places:
            numbers.update(self._touching(place))
        return tuple(sorted(numbers))

    def places_of(self, numbers: Iterable[int]) -> list[Place]:
        """The places of these lines, in order, those of consecutive numbers in one document joined."""
        joined: list[Place] = []
        before = -1
        for number in sorted(set(numbers)):
            document, start, end = self._lines[number]
            if joined and number == before + 1 and joined[-1][0] == document:
                joined[-1] = (document, joined[-1][1], end)
            else:
                joined.append((document, start, end))
            before = number
        return joined

    def characters_of(self, numbers: Iterable[int]) -> int:
        """The characters of these lines, with what stands between neighbours."""
        return sum(end - start for _, start, end in self.places_of(numbers))

    def share(self, numbers: Iterable[int]) -> float:
        """The share of all lines' characters that these lines hold, from 0 to 1."""
        return float(self._lengths[sorted(set(numbers))].sum() / max(1, self._lengths.sum()))

    def read(self, number: int, characters: int = 1500) -> list[Line]:
        """The lines around this one in its document, whole, as many on both sides as `characters` hold; behind the
        end the last lines, so that whoever reads on there learns where it is."""
        if not self.number_of_lines:
            return []
        number = min(number, self.number_of_lines - 1)
        own = self._numbers[self._lines[number][0]]
        low, high = number, number + 1
        while True:
            wider = max(own.start, low - 1), min(own.stop, high + 1)
            if wider == (low, high) or self._extent(*wider) > characters:
                return [self.line(n) for n in range(low, high)]
            low, high = wider

    def with_neighbours(self, numbers: Iterable[int]) -> Lines:
        """These lines, each with the one before it and the one after it in its document, sorted."""
        near: set[int] = set()
        for number in numbers:
            own = self._numbers[self._lines[number][0]]
            near.update(range(max(own.start, number - 1), min(own.stop, number + 2)))
        return tuple(sorted(near))

    def pieces(self, characters: int = 16_000) -> list[list[Line]]:
        """All lines in order, in pieces of at most so many characters of lines; a longer line is a piece alone."""
        return pack(map(self.line, range(self.number_of_lines)), lambda line: len(line.span.text), characters)

    def find(self, query: str, k: int = 4) -> list[list[Line]]:
        """The k best passages for a query, best first, as runs of whole lines; each scene once: a hit that overlaps
        or touches a better one widens it, as long as it stays below RUN characters."""
        number_of = {document.id: n for n, document in reversed(list(enumerate(self.documents)))}
        runs: list[range] = []
        for span in _short_spans(self.search(query, HITS_A_RUN * k)):
            run = self._run((number_of[span.source_id], span.start, span.end))
            if not run:
                continue
            near = [i for i, other in enumerate(runs) if self._meet(run, other)]
            if not near and len(runs) < k:
                runs.append(run)
            elif len(near) == 1:
                better = runs[near[0]]
                low, high = min(better.start, run.start), max(better.stop, run.stop)
                if self._extent(low, high) <= RUN:
                    runs[near[0]] = range(low, high)
        return [[self.line(n) for n in run] for run in runs]

    def hits(self, claim: str, k: int = 2) -> list[Line]:
        """The lines of the k best passages for a claim's own words, in order: what no searcher can withhold."""
        return sorted(chain.from_iterable(self.find(claim, k)), key=lambda line: line.number)

    def outline(self, characters: int = 4000) -> list[Line]:
        """Headings of the sources, and openings of their parts where headings are rare; texts are cut short."""
        entries = []
        for n, document in enumerate(self.documents):
            own = self._numbers[n]
            ranges = [(start, end) for _, start, end in self._lines[own.start : own.stop]]
            entries += [(n, entry) for entry in outline(document.text, ranges)]
        lines: list[Line] = []
        for n, entry in fit_entries(entries, characters):
            for start, end in entry:
                lines.append(Line(self._touching((n, start, end))[0], self.documents[n].span(start, end)))
        return lines

    def search(self, query: str, k: int) -> list[Hit]:
        """The k best passages for a query, the best first."""
        if not self._embed:
            return _best(self._searching, query, k)
        return fuse(_best(self._searching, query, AMONG), _best(self.meaning(), query, AMONG), k)

    def meaning(self) -> list[SourceIndex]:
        """The indexes by meaning, none without an embedder. The first call embeds all passages, which takes long."""
        with self._embedding:
            if self._embed and not self._by_meaning:
                self._by_meaning = [self._embed(document, MEANING) for document in self.documents]
            return self._by_meaning

    def _touching(self, place: Place) -> range:
        """The numbers of the lines that share a character with the place."""
        document, start, end = place
        begin = bisect_right(self._lines, (document, start, maxsize))
        if begin and self._lines[begin - 1][0] == document and self._lines[begin - 1][2] > start:
            begin -= 1
        return range(begin, bisect_left(self._lines, (document, end, 0)) if end > start else begin)

    def _extent(self, low: int, high: int) -> int:
        """The characters from the first line of a range of numbers, in one document, to the end of the last."""
        return self._lines[high - 1][2] - self._lines[low][1]

    def _run(self, place: Place) -> range:
        """The lines that a passage touches, without the one at an end that shares less while they exceed RUN."""
        _, start, end = place
        run = self._touching(place)
        while len(run) > 1 and self._extent(run.start, run.stop) > RUN:
            first = self._lines[run.start][2] - start
            last = end - self._lines[run.stop - 1][1]
            run = run[1:] if first < last else run[:-1]
        return run

    def _meet(self, run: range, other: range) -> bool:
        """True if two runs of one document overlap or touch."""
        same = self._lines[run.start][0] == self._lines[other.start][0]
        return same and run.start <= other.stop and other.start <= run.stop


def merge(places: Iterable[Place]) -> list[Place]:
    """Places in order, those that touch or overlap joined."""
    joined: list[Place] = []
    for number, start, end in sorted(places):
        if joined and joined[-1][0] == number and start <= joined[-1][2]:
            joined[-1] = (number, joined[-1][1], max(end, joined[-1][2]))
        else:
            joined.append((number, start, end))
    return joined


def _best(indexes: Sequence[SourceIndex], query: str, k: int) -> list[Hit]:
    """The best hits of several documents' indexes, by score."""
    hits: list[Hit] = []
    for index in indexes:
        hits.extend(index.search(query, k))
    hits.sort(key=lambda hit: -hit.score)
    return hits[:k]


def _short_spans(hits: Iterable[Hit]) -> Iterator[Span]:
    """The places of hits; of a passage that was found by meaning alone both halves, since no run is so long."""
    for hit in hits:
        half = len(hit.span.text) // 2
        if 2 * half > RUN:
            yield hit.span.part(0, half)
            yield hit.span.part(half, len(hit.span.text))
        else:
            yield hit.span
