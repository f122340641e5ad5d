"""Lines of text read once: the windows of a book overlap, and each of its lines comes back in many of them.

Knows: tokens of a line with their places, and numbers for its terms that are the same in every line.
Does not know: what is shown, or what is looked for.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.text.fold import fold
from longproof.retrieval.text.tokens import CJK

_TOKEN = re.compile(rf"[{CJK}]|\d+(?:[.,:/]\d+)*|[^\W\d_{CJK}]+(?:'[^\W\d_{CJK}]+)*")
_FIRST_CJK = "\u2e80"
KEPT = 500_000
"""Characters of lines that are kept; then all are forgotten, their terms' numbers too."""

Ints = NDArray[np.int64]


class Token(NamedTuple):
    """One token: what is compared, the folded word as it stands, and where it lies in the text as given."""

    key: str
    word: str
    start: int
    end: int


class Line(NamedTuple):
    """A line's tokens, column by column, and its terms.

    `codes[i]` numbers a term that stands at token `at[i]`: every key, and every pair of neighbouring CJK characters.
    """

    keys: list[str]
    words: list[str]
    starts: Ints
    ends: Ints
    codes: Ints
    at: Ints


class Lines:
    """Reads lines, each once."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._numbers: dict[str, int] = {}
        self._lines: dict[str, Line] = {}
        self._characters = 0

    def read(self, texts: Sequence[str]) -> tuple[list[list[tuple[int, Line]]], dict[str, int]]:
        """The lines of each text with the place where each begins, and the number of every term met so far."""
        if self._characters > KEPT:
            self._begin()
        return [list(self._placed(text)) for text in texts], self._numbers

    def _placed(self, text: str) -> Iterator[tuple[int, Line]]:
        start = 0
        for line in text.splitlines(keepends=True):
            yield start, self._line(line)
            start += len(line)

    def _line(self, text: str) -> Line:
        if text not in self._lines:
            self._lines[text] = self._read(text)
            self._characters += len(text)
        return self._lines[text]

    def _read(self, text: str) -> Line:
        tokens = read(text)
        terms = [(token.key, index) for index, token in enumerate(tokens)]
        terms += [
            (a.key + b.key, index)
            for index, (a, b) in enumerate(pairwise(tokens))
            if a.end == b.start and is_han(a.key) and is_han(b.key)
        ]
        numbers = self._numbers
        return Line(
            [token.key for token in tokens],
            [token.word for token in tokens],
            np.array([token.start for token in tokens], dtype=np.int64),
            np.array([token.end for token in tokens], dtype=np.int64),
            np.array([numbers.setdefault(term, len(numbers)) for term, _ in terms], dtype=np.int64),
            np.array([index for _, index in terms], dtype=np.int64),
        )


def read(text: str) -> list[Token]:
    """The tokens of a text in order; offsets count in the text as given."""
    return [Token(key_of(word), word, start, end) for word, start, end in _scan(text)]


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
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not (ending == "s" and word[-2] == "s"):
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
