"""Normal forms of characters: folding for comparison, and the replacement of characters that no file can hold.

Knows: traditional and simplified characters, full and half width, case, accents, marks of punctuation, and lone
surrogates; for every place in a folded text, the place in the original that it came from.
Does not know: words, sentences, what a folded text is compared with, or where a text came from.
Width folding follows Unicode NFKC and case folding Unicode's, character by character; the script map is OpenCC's t2s.
"""

import re
import unicodedata
from array import array
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, TypeVar, cast

_SAME = {
    **dict.fromkeys("“”„‟«»「」『』〝〞﹁﹂﹃﹄", '"'),
    **dict.fromkeys("‘’‚‛‹›´`′", "'"),
    **dict.fromkeys("‐‑‒–—―−﹘﹣─━", "-"),
    **dict.fromkeys("…⋯‥︙", "…"),
    **dict.fromkeys("・‧•", "·"),
    **dict.fromkeys("\u00ad\u200b\u200e\u200f\u2060\ufeff", ""),
}
_VARIANTS = str.maketrans(
    "著妳甚乾囘覆揹谘瞭甦伕鎗彷渖沈钜馀藉衞敍鲶姪旛甯",
    "着你什干回复背咨了苏夫枪仿沉沉巨余借卫叙鲇侄幡宁",
)
_HAN = re.compile("[\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


_SURROGATE = re.compile("[\ud800-\udfff]")
T = TypeVar("T")


def without_surrogates(value: T, mark: str = "\ufffd") -> T:
    """The text, or all texts in a JSON value, keys too, with `mark` for each lone surrogate.

    JSON can escape such half characters (`\\ud800`), but no text file can hold them. Offsets stay.
    """
    return cast(T, _without_surrogates(value, mark))


def _without_surrogates(value: Any, mark: str) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub(mark, value)
    if isinstance(value, list):
        return [_without_surrogates(item, mark) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(k, mark): _without_surrogates(item, mark) for k, item in value.items()}
    return value


class _Converter(Protocol):
    def convert(self, text: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text and the way back. `text` is what is compared; `original` names places before folding.

    `_places` holds, for each folded character and for the end of the text, the place in the original that it came
    from; empty where every character folded to one.
    """

    text: str
    _places: "array[int]" = field(default_factory=lambda: array("Q"))

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The half-open range of the original text that `text[start:end]` came from.

        Whole characters: a range that begins inside `ss` of a folded `ß` takes the `ß`. Marks that folding
        drops go with the character before them. Raises ValueError for a range that is not in the text.
        """
        if not 0 <= start <= end <= len(self.text):
            raise ValueError(f"[{start}, {end}) does not lie in {len(self.text)} folded characters")
        if not self._places:
            return start, end
        first = self._places[start]
        if start == end:
            return first, first
        return first, max(self._places[end], self._places[end - 1] + 1)


class _Table(dict[int, str]):
    """The form that each character folds to, found at its first use. `uneven` holds those that change the length."""

    def __init__(self) -> None:
        super().__init__()
        self.uneven: set[str] = set()

    def __missing__(self, code: int) -> str:
        folded = _fold_character(chr(code))
        if len(folded) != 1:
            self.uneven.add(chr(code))
        self[code] = folded
        return folded


def fold(text: str) -> Folded:
    """The text in simplified script, half width and lower case, with one form for each kind of mark.

    Lengths stay, but for ligatures and their like (`ﬁ`, `ß`, `℃`) and dropped marks (combining accents,
    zero-width characters); `Folded.original` accounts for them. Three dots are left as they are.
    """
    table = _table()
    folded = text.translate(table)
    if table.uneven.isdisjoint(text):
        return Folded(folded)
    return Folded(folded, _places(text, table))


def _places(text: str, table: _Table) -> "array[int]":
    """For each character of the folded text the place that it came from, and the length of the text behind them."""
    places = array("Q")
    for place, character in enumerate(text):
        for _ in table[ord(character)]:
            places.append(place)
    places.append(len(text))
    return places


@cache
def _table() -> _Table:
    return _Table()


def _fold_character(character: str) -> str:
    """One character's form: script, width, case, no accent. A combining accent alone folds to nothing.

    Fractions like `½` stay: `3½` would become `31⁄2`.
    """
    if character in _SAME:
        return _SAME[character]
    plain = unicodedata.normalize("NFKC", character).casefold()
    if "⁄" in plain:
        return character
    if _HAN.search(plain):
        return "".join(map(_simplify_character, plain))
    bare = "".join(c for c in unicodedata.normalize("NFD", plain) if not _is_dropped(c))
    return "".join(_SAME.get(c, c) for c in unicodedata.normalize("NFC", bare))


def _is_dropped(character: str) -> bool:
    return "\u0300" <= character <= "\u036f" or "\ufe00" <= character <= "\ufe0f"


def _simplify_character(character: str) -> str:
    simple = _converter().convert(character)
    return (simple if len(simple) == 1 else character).translate(_VARIANTS)


@cache
def _converter() -> _Converter:
    from opencc import OpenCC

    converter: _Converter = OpenCC("t2s")
    return converter
