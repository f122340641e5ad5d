"""A text read once: its tokens, where each group of them stands, and where a claim stands in it nearly word for word.

Knows: tokens (words, Chinese characters, numbers by value), postings, alignment in order.
Does not know: what the words mean, or what follows from a place.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from longproof.retrieval.text.normalise import fold
from longproof.retrieval.text.numbers import Number, folded_numbers
from longproof.retrieval.text.tokens import CJK

_TOKEN = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:'[^\W_{CJK}]+)*")
_FIRST_CJK = "\u2e80"


def word_set(words: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(words.split())


STOP = word_set(
    """
    a an the and or but of at by for with about to from in on into as than then so too very also that this these those
    it its is are was were be been being am has have had having do does did doing i he she they we you his her their
    our your my him them us me who which what whom whose there here s t re ve ll d m
    的 了 着 是 在 也 都 就 又 便 于 和 与 把 被 将 而 之 所 以 他 她 它 们 我 你 这 那 有 上 下 中 里 个 去 来
    """
)
LONGEST = 200
"""Tokens of a claim that is looked for; a longer one is no single statement."""
RAREST = 16
"""Terms by which a claim is looked for."""
COMMON = 400
"""A term that stands in more places than this finds nothing."""
CANDIDATES = 4
GAP = 8
"""Tokens between two words of one place, at most."""


class Token(NamedTuple):
    """What is compared, where it lies in the text, and the number that it is, if it is one."""

    key: str
    start: int
    end: int
    number: Number | None = None

    @property
    def content(self) -> bool:
        """Whether it carries content: no function word."""
        return self.key not in STOP


class Match(NamedTuple):
    """Where a claim stands: pairs of (claim token, source token), in order, close together."""

    pairs: tuple[tuple[int, int], ...]

    @property
    def first(self) -> int:
        return self.pairs[0][1]

    @property
    def last(self) -> int:
        return self.pairs[-1][1]


class Indexed:
    """A text with its tokens. Its postings are made when a claim is first looked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.keys = [token.key for token in self.tokens]
        self._postings: dict[str, list[int]] | None = None

    def places(self, claim: "Indexed") -> list[Match]:
        """The places that share most with the claim, the best first."""
        if not 0 < len(claim.tokens) <= LONGEST:
            return []
        found = [self._aligned(claim, *region) for region in self._regions(claim)]
        return sorted((p for p in found if p), key=lambda p: (-len(p.pairs), p.first))

    def range(self, place: Match, *more: Token) -> tuple[int, int]:
        """Where a place begins and ends in the text, tokens behind it included."""
        ends = [self.tokens[place.last].end, *(token.end for token in more)]
        return self.tokens[place.first].start, max(ends)

    def _regions(self, claim: "Indexed") -> Iterator[tuple[int, int]]:
        if self._postings is None:
            self._postings = _postings(self.tokens)
        known = [self._postings[term] for term in _postings(claim.tokens) if term in self._postings]
        rare = sorted((at for at in known if len(at) <= COMMON), key=len)[:RAREST]
        width = max(16, len(claim.tokens))
        counts = Counter(cell for at in rare for cell in {p // width + side for p in at for side in (0, 1)})
        for cell, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:CANDIDATES]:
            yield max(0, (cell - 1) * width - width // 2), (cell + 1) * width + width // 2

    def _aligned(self, claim: "Indexed", first: int, last: int) -> Match | None:
        """The claim's tokens in order in `[first, last)`; of runs that lie apart, the one with most of them."""
        runs: list[list[tuple[int, int]]] = []
        for block in LCSseq.editops(claim.keys, self.keys[first:last]).as_matching_blocks():
            for at in range(block.size):
                pair = (block.a + at, first + block.b + at)
                if not runs or pair[1] - runs[-1][-1][1] > GAP:
                    runs.append([])
                runs[-1].append(pair)
        best = max(runs, key=lambda run: sum(claim.tokens[i].content for i, _ in run), default=[])
        return Match(tuple(self._tight(claim, best))) if len(best) > 1 else None

    def _tight(self, claim: "Indexed", run: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The same tokens where they stand closest to what follows: a name told twice is taken from its sentence."""
        tight = run[-1:]
        for i, j in reversed(run[:-1]):
            near = tight[-1][1] - (tight[-1][0] - i)
            tight.append((i, near if near > j and self.keys[near] == claim.keys[i] else j))
        return tight[::-1]


def is_han(key: str) -> bool:
    """Whether a key is a CJK character: of folded letters, these alone stand so high in Unicode."""
    return key >= _FIRST_CJK


def _tokens(text: str) -> Iterator[Token]:
    folded = fold(text)
    plain, back = folded.text, folded.original if len(folded.text) != len(text) else None
    end = 0
    for number in [*folded_numbers(plain), None]:
        for match in _TOKEN.finditer(plain, end, number.start if number else len(plain)):
            key = match[0] if is_han(match[0]) else stem(match[0])
            yield Token(key, *(back(*match.span()) if back else match.span()))
        if number:
            end = number.end
            start, stop = back(number.start, end) if back else (number.start, end)
            yield Token(f"#{number.value!r}{'%' * number.percent}", start, stop, number)


def _postings(tokens: list[Token]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for place, term in _placed_terms(tokens):
        found[term].append(place)
    return dict(found)


def _placed_terms(tokens: list[Token]) -> Iterator[tuple[int, str]]:
    """Words and numbers that carry content, and pairs of neighbouring CJK characters."""
    for place, token in enumerate(tokens):
        if token.content and not is_han(token.key):
            yield place, token.key
    for place, (a, b) in enumerate(pairwise(tokens)):
        if is_han(a.key) and is_han(b.key) and a.end == b.start:
            yield place, a.key + b.key


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """A crude English stem: endings of plural and tense gone."""
    word = word.removesuffix("'s")
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word
