"""What the offline judges have in common: terms of a text with their places, and where a claim's terms lie together.

Knows: tokens (Chinese by character, other scripts by stemmed word) with offsets in the original, weights of terms,
the densest place for a claim in what was shown. Does not know: labels, or what disagrees with what.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from longproof.agent.offline.words import STOP_EN, STOP_ZH
from longproof.retrieval.text.fold import fold
from longproof.retrieval.text.tokens import CJK
from longproof.retrieval.types import Span
from numpy.typing import NDArray

_TOKEN = re.compile(rf"[{CJK}]|\d+(?:[.,:/]\d+)*|[^\W\d_{CJK}]+(?:'[^\W\d_{CJK}]+)*")
_CJK = re.compile(f"[{CJK}]")
CELL = 8
"""Tokens to a cell: places are found to this grain."""
PLACE_CELLS = 8
"""Cells to a place: about 64 tokens, a few sentences of Chinese or two to three of English."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its key (what is compared), and where it lies in the original text."""

    key: str
    start: int
    end: int


def read(text: str) -> list[Token]:
    """The tokens of a text in order, offsets in the text as given."""
    folded = fold(text)
    return [Token(_key(m[0]), *folded.original(m.start(), m.end())) for m in _TOKEN.finditer(folded.text)]


def is_han(key: str) -> bool:
    """Whether a token is a single CJK character."""
    return _CJK.match(key) is not None


def terms(tokens: Sequence[Token]) -> list[str]:
    """What a claim is made of: content words, and pairs of neighbouring characters; each once, in order."""
    found = dict.fromkeys(t.key for t in tokens if not is_han(t.key) and t.key not in STOP_EN)
    for a, b in zip(tokens, tokens[1:], strict=False):
        if is_han(a.key) and is_han(b.key) and a.end == b.start and not {a.key, b.key} & STOP_ZH:
            found[a.key + b.key] = None
    return list(found)


def _key(token: str) -> str:
    if token[0].isdigit():
        return token.replace(",", "")
    return token if is_han(token) else stem(token)


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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a claim's terms lie together: a span of the evidence, and the share of their weight found in it."""

    span: Span
    share: float


class Evidence:
    """The shown spans, read once: positions of every term, in tokens of all spans laid end to end."""

    def __init__(self, shown: Sequence[Span]) -> None:
        self.shown = tuple(shown)
        self.tokens: list[tuple[int, Token]] = []
        self.positions: dict[str, list[int]] = {}
        for number, span in enumerate(shown):
            self._add(number, read(span.text))
        self.cells = len(self.tokens) // CELL + 1

    def _add(self, number: int, tokens: list[Token]) -> None:
        base = len(self.tokens)
        self.tokens += [(number, token) for token in tokens]
        for index, token in enumerate(tokens):
            self.positions.setdefault(token.key, []).append(base + index)
            if index and is_han(token.key) and is_han(tokens[index - 1].key):
                self.positions.setdefault(tokens[index - 1].key + token.key, []).append(base + index - 1)

    def weights(self, wanted: Sequence[str]) -> NDArray[np.float64]:
        """Rarer terms weigh more: 1 for a term absent or met once, falling with the logarithm of its count."""
        counts = np.array([len(self.positions.get(term, ())) for term in wanted], dtype=float)
        return np.asarray(1 / (1 + np.log(np.maximum(counts, 1))), dtype=float)

    def share(self, wanted: Sequence[str]) -> float:
        """The share of the terms' weight found anywhere; 1 where there are no terms."""
        if not wanted:
            return 1.0
        weights = self.weights(wanted)
        found = np.array([term in self.positions for term in wanted])
        return float(weights[found].sum() / weights.sum())

    def place(self, wanted: Sequence[str]) -> Place | None:
        """The densest place; None where nothing of the claim is to be found."""
        if not wanted or not self.tokens:
            return None
        present = np.zeros((len(wanted), self.cells + PLACE_CELLS - 1), dtype=bool)
        for row, term in enumerate(wanted):
            at = np.asarray(self.positions.get(term, ()), dtype=int) // CELL
            for shift in range(PLACE_CELLS):
                present[row, at + shift] = True
        weights = self.weights(wanted)
        scores = weights @ present
        best = int(scores.argmax())
        if scores[best] <= 0:
            return None
        span = self._span((best - PLACE_CELLS + 1) * CELL, (best + 1) * CELL)
        return Place(span, float(scores[best] / weights.sum()))

    def _span(self, first: int, last: int) -> Span:
        """Tokens [first, last), clipped to the span that holds most of them."""
        inside = self.tokens[max(0, first) : last]
        numbers = [number for number, _ in inside]
        number = max(dict.fromkeys(numbers), key=numbers.count)
        mine = [token for n, token in inside if n == number]
        return part(self.shown[number], mine[0].start, mine[-1].end)


def part(span: Span, start: int, end: int) -> Span:
    """The part `[start, end)` of a span, offsets counted from its own beginning."""
    return Span(
        source_id=span.source_id, start=span.start + start, end=span.start + end, text=span.text[start:end]
    )


class Reader:
    """Reads evidence once for all judges of a panel: the last few shown sets and claims are kept."""

    def __init__(self) -> None:
        self.evidence = lru_cache(maxsize=8)(Evidence)
        self.tokens = lru_cache(maxsize=256)(read)
