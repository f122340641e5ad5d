"""The tokens of a text: words by their stems, Chinese characters, numbers by their values.

Knows: which tokens carry content, and where each stands in the text as given.
Does not know: what the words mean, or what tokens are compared for.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from longproof.retrieval.text.normalise import fold
from longproof.retrieval.text.numbers import Number, folded_numbers
from longproof.retrieval.text.tokens import CJK

_TOKEN = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:'[^\W_{CJK}]+)*")
_FIRST_CJK = "\u2e80"


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text, each once."""
    return frozenset(words.split())


STOP = word_set(
    """
    a an the and or but of at by for with about to from in on into as than then so too very also that this these those
    it its is are was were be been being am has have had having do does did doing i he she they we you his her their
    our your my him them us me who which what whom whose there here s t re ve ll d m
    的 了 着 是 在 也 都 就 又 便 于 和 与 把 被 将 而 之 所 以 他 她 它 们 我 你 这 那 有 上 下 中 里 个 去 来
    """
)


class Token(NamedTuple):
    """A key to compare by, where it lies in the text, and the number that it is, if it is one."""

    key: str
    start: int
    end: int
    number: Number | None = None

    @property
    def content(self) -> bool:
        """True if it carries content: no function word."""
        return self.key not in STOP


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text in order, with offsets in the text as given."""
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


def is_han(key: str) -> bool:
    """Return whether a key is a CJK character: of folded letters, these alone stand so high in Unicode."""
    return key >= _FIRST_CJK


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Return a crude English stem: endings of plural and tense gone."""
    word = word.removesuffix("'s")
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word
