"""Texts as the offline judges compare them: terms, what was shown, and where terms lie together in it.

Knows: which tokens carry content, weights by rarity in what was shown, the densest place.
Does not know: labels, or what disagrees with what.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longproof.agent.offline.lines import Ints, Line, Lines, Token, is_han, stem
from longproof.agent.offline.words import NEGATIONS_EN, STOP_EN, STOP_ZH, TALK_EN
from longproof.retrieval.text.fold import fold
from longproof.retrieval.text.numbers import Number, numbers
from longproof.retrieval.types import Span

CELL = 8
"""Tokens to a cell: places are found to this grain."""
NARROW, WIDE = 4, 8
"""Cells to a place: 32 tokens, about a clause with its surroundings, and 64, about a sentence or two."""


class Place(NamedTuple):
    """A place in the evidence: tokens [first, last), the share of the wanted weight found there, and its span."""

    first: int
    last: int
    share: float
    span: Span


def plain(text: str) -> str:
    """The folded text where folding keeps every place, else the text itself: for words of closed Chinese lists."""
    folded = fold(text).text
    return folded if len(folded) == len(text) else text


TALK = frozenset(map(stem, TALK_EN))


def is_content(token: Token) -> bool:
    """Whether a token carries content: no function word, no negation, no talk about the text."""
    if is_han(token.key):
        return token.key not in STOP_ZH
    return token.word not in STOP_EN and token.word not in NEGATIONS_EN and token.key not in TALK


def terms(tokens: Sequence[Token]) -> list[str]:
    """What a text is made of, each once, in order: content tokens, and pairs of neighbouring CJK characters."""
    found = dict.fromkeys(token.key for token in tokens if is_content(token))
    for a, b in pairwise(tokens):
        if a.end == b.start and is_han(a.key) and is_han(b.key) and is_content(a) and is_content(b):
            found[a.key + b.key] = None
    return list(found)


def part(span: Span, start: int, end: int) -> Span:
    """`[start, end)` of a span, counted from its own beginning."""
    return Span(
        source_id=span.source_id, start=span.start + start, end=span.start + end, text=span.text[start:end]
    )


class Evidence:
    """What was shown, read once. Tokens of all spans stand end to end: `keys`, `words`, and where they lie.

    `owner` tells each token's span; `where` tells where a key or a pair of neighbouring CJK characters stands.
    """

    def __init__(self, shown: Sequence[Span], lines: Lines | None = None) -> None:
        self.shown = tuple(shown)
        read, self._numbers = (lines or Lines()).read([span.text for span in shown])
        placed = [(start, line) for lines_of in read for start, line in lines_of]
        held = [line for _, line in placed]
        self.keys: list[str] = list(chain.from_iterable(line.keys for line in held))
        self.words: list[str] = list(chain.from_iterable(line.words for line in held))
        self.starts: list[int] = _joined(line.starts + start for start, line in placed).tolist()
        self.ends: list[int] = _joined(line.ends + start for start, line in placed).tolist()
        self.owner = [n for n, lines_of in enumerate(read) for _, line in lines_of for _ in line.keys]
        self._codes, self._at = _sorted(held)
        self.cells = len(self.keys) // CELL + 1

    @cached_property
    def distinct(self) -> list[str]:
        """The keys, each once, in order."""
        return list(dict.fromkeys(self.keys))

    @cached_property
    def _beginnings(self) -> set[str]:
        return {key[:5] for key in self.distinct if len(key) >= 5 and not is_han(key)}

    @cached_property
    def texts(self) -> list[str]:
        """The plain text of every span."""
        return [plain(span.text) for span in self.shown]

    @cached_property
    def numbers(self) -> list[tuple[int, Number]]:
        """The numbers of every span, with the span's place in `shown`."""
        return [(number, n) for number, span in enumerate(self.shown) for n in numbers(span.text)]

    def where(self, term: str) -> list[int]:
        """The tokens at which a key or a pair of neighbouring CJK characters stands, in order."""
        (first,), (last,) = self._ranges([term])
        held: list[int] = self._at[first:last].tolist()
        return held

    def holds(self, term: str) -> bool:
        """Whether a key or a pair of neighbouring CJK characters occurs."""
        (first,), (last,) = self._ranges([term])
        return bool(first < last)

    def has(self, key: str) -> bool:
        """Whether a term occurs; a longer English word also where only its ending differs."""
        return self.holds(key) or (len(key) >= 5 and not is_han(key) and key[:5] in self._beginnings)

    def _ranges(self, terms: Sequence[str]) -> tuple[Ints, Ints]:
        """Where in `_at` the places of each term begin and end."""
        codes = np.array([self._numbers.get(term, -1) for term in terms], dtype=np.int64)
        return self._codes.searchsorted(codes), self._codes.searchsorted(codes, "right")

    def profile(self, wanted: Sequence[str], width: int) -> NDArray[np.float64]:
        """For every place of `width` cells, by its last cell: the share of the terms' weight found in it.

        A term that is absent or occurs once weighs 1, less with the logarithm of its count.
        """
        firsts, lasts = self._ranges(wanted)
        counts = lasts - firsts
        rows = np.repeat(np.arange(len(wanted)), counts)
        at = np.concatenate([self._at[a:b] for a, b in zip(firsts, lasts, strict=True)])
        present = np.zeros((len(wanted), self.cells + width - 1), dtype=bool)
        for shift in range(width):
            present[rows, at // CELL + shift] = True
        weights = 1 / (1 + np.log(np.maximum(counts, 1)))
        return np.asarray(weights @ present / weights.sum(), dtype=float)

    def place(self, wanted: Sequence[str], width: int) -> Place | None:
        """The densest place; None where nothing of the terms is to be found."""
        if not wanted or not self.keys:
            return None
        profile = self.profile(wanted, width)
        best = int(profile.argmax())
        return self.at(best, width, float(profile[best])) if profile[best] > 0 else None

    def best(self, wanted: Sequence[str], width: int, count: int) -> set[int]:
        """The tokens of the `count` densest places that don't overlap."""
        if not wanted or not self.keys:
            return set()
        profile, found = self.profile(wanted, width), set[int]()
        for _ in range(count):
            cell = int(profile.argmax())
            found |= set(range(max(0, (cell - width + 1) * CELL), (cell + 1) * CELL))
            profile[max(0, cell - width + 1) : cell + width] = 0
        return found

    def at(self, cell: int, width: int, share: float) -> Place:
        """The place whose last cell is `cell`, kept inside the one span that holds most of its tokens."""
        first, last = max(0, (cell - width + 1) * CELL), min(len(self.keys), (cell + 1) * CELL)
        owners = self.owner[first:last]
        owner = max(dict.fromkeys(owners), key=owners.count)
        mine = [index for index in range(first, last) if self.owner[index] == owner]
        span = part(self.shown[owner], self.starts[mine[0]], self.ends[mine[-1]])
        return Place(mine[0], mine[-1] + 1, share, span)

    def around(self, place: Place, reach: int) -> str:
        """The plain text of the place's span from `reach` characters before it to `reach` after."""
        whole = self.shown[self.owner[place.first]]
        start = max(0, place.span.start - whole.start - reach)
        text = self.texts[self.owner[place.first]]
        return text[start : place.span.end - whole.start + reach]


def _joined(parts: Iterable[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _sorted(lines: Sequence[Line]) -> tuple[Ints, Ints]:
    """The numbers of all terms of the lines, in order, and beside each the token where it stands, in order too."""
    sizes = [len(line.keys) for line in lines]
    bases = np.cumsum([0, *sizes])
    codes = _joined(line.codes for line in lines)
    at = _joined(line.at + base for line, base in zip(lines, bases, strict=False))
    order = np.lexsort((at, codes))
    return codes[order], at[order]
