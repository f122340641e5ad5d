"""Texts as the offline judges compare them: tokens with their places, terms, and where terms lie together.

Knows: characters of Chinese, stemmed words of other scripts, weights by rarity in what was shown, the densest place.
Does not know: labels, or what disagrees with what.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longproof.agent.offline.words import NEGATIONS_EN, STOP_EN, STOP_ZH, TALK_EN
from longproof.retrieval.text.fold import fold
from longproof.retrieval.text.numbers import Number, numbers
from longproof.retrieval.text.tokens import CJK
from longproof.retrieval.types import Span

_TOKEN = re.compile(rf"[{CJK}]|\d+(?:[.,:/]\d+)*|[^\W\d_{CJK}]+(?:'[^\W\d_{CJK}]+)*")
_FIRST_CJK = "\u2e80"
CELL = 8
"""Tokens to a cell: places are found to this grain."""
NARROW, WIDE = 4, 8
"""Cells to a place: 32 tokens, about a clause with its surroundings, and 64, about a sentence or two."""


class Token(NamedTuple):
    """One token: what is compared, the folded word as it stands, and where it lies in the text as given."""

    key: str
    word: str
    start: int
    end: int


class Place(NamedTuple):
    """A place in the evidence: tokens [first, last), the share of the wanted weight found there, and its span."""

    first: int
    last: int
    share: float
    span: Span


def read(text: str) -> list[Token]:
    """The tokens of a text in order; offsets count in the text as given."""
    return [Token(key_of(word), word, start, end) for word, start, end in _scan(text)]


def plain(text: str) -> str:
    """The folded text where folding keeps every place, else the text itself: for words of closed Chinese lists."""
    folded = fold(text).text
    return folded if len(folded) == len(text) else text


def _scan(text: str) -> list[tuple[str, int, int]]:
    folded = fold(text)
    found = [(m[0], m.start(), m.end()) for m in _TOKEN.finditer(folded.text)]
    if len(folded.text) == len(text):
        return found
    return [(word, *folded.original(start, end)) for word, start, end in found]


def is_han(key: str) -> bool:
    """Whether a key is CJK characters: of folded letters, these alone stand so high in Unicode."""
    return key >= _FIRST_CJK


def stem(word: str) -> str:
    """A crude English stem: plural, past and -ing endings, final e and doubled consonants gone."""
    word = word.removesuffix("'s")
    for ending in ("ingly", "edly", "ies", "ied", "ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + ("y" if ending in ("ies", "ied") else "")
            break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls" else word


def key_of(word: str) -> str:
    """What of a folded word is compared: a character, a number without its commas, a stem."""
    if word >= _FIRST_CJK:
        return word
    return word.replace(",", "") if word[0].isdigit() else stem(word)


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

    `owner` tells each token's span; `positions` where each key and each pair of neighbouring CJK characters stands.
    """

    def __init__(self, shown: Sequence[Span]) -> None:
        self.shown = tuple(shown)
        self.keys: list[str] = []
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.owner: list[int] = []
        self.positions: defaultdict[str, list[int]] = defaultdict(list)
        for number, span in enumerate(shown):
            self._add(number, _scan(span.text))
        self.positions.default_factory = None
        self.cells = len(self.keys) // CELL + 1
        self.beginnings = {key[:5] for key in self.positions if len(key) >= 5 and not is_han(key)}

    def _add(self, number: int, found: list[tuple[str, int, int]]) -> None:
        positions = self.positions
        last, reached = "", -1
        for index, (word, start, end) in enumerate(found, len(self.keys)):
            key = key_of(word)
            self.keys.append(key)
            positions[key].append(index)
            if start == reached and key >= _FIRST_CJK and last >= _FIRST_CJK:
                positions[last + key].append(index - 1)
            last, reached = key, end
        self.words += [word for word, _, _ in found]
        self.starts += [start for _, start, _ in found]
        self.ends += [end for _, _, end in found]
        self.owner += [number] * len(found)

    @cached_property
    def texts(self) -> list[str]:
        """The plain text of every span."""
        return [plain(span.text) for span in self.shown]

    @cached_property
    def numbers(self) -> list[tuple[int, Number]]:
        """The numbers of every span, with the span's place in `shown`."""
        return [(number, n) for number, span in enumerate(self.shown) for n in numbers(span.text)]

    def has(self, key: str) -> bool:
        """Whether a term occurs; a longer English word also where only its ending differs."""
        return key in self.positions or (len(key) >= 5 and not is_han(key) and key[:5] in self.beginnings)

    def weights(self, wanted: Sequence[str]) -> NDArray[np.float64]:
        """1 for a term that is absent or occurs once, falling with the logarithm of its count."""
        counts = np.array([len(self.positions.get(term, ())) for term in wanted], dtype=float)
        return np.asarray(1 / (1 + np.log(np.maximum(counts, 1))), dtype=float)

    def profile(self, wanted: Sequence[str], width: int) -> NDArray[np.float64]:
        """For every place of `width` cells, by its last cell: the share of the terms' weight found in it."""
        inside = np.zeros((len(wanted), self.cells), dtype=bool)
        for row, term in enumerate(wanted):
            inside[row, np.asarray(self.positions.get(term, ()), dtype=int) // CELL] = True
        present = np.zeros((len(wanted), self.cells + width - 1), dtype=bool)
        for shift in range(width):
            present[:, shift : shift + self.cells] |= inside
        weights = self.weights(wanted)
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
