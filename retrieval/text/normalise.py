"""Normal forms of characters, tokens, and the replacement of characters that no file can hold.

Knows: scripts, width, case, accents, marks of punctuation, lone surrogates, and which place a folded one came from.
Where no spaces divide words (Chinese, Japanese, Korean), single characters and pairs of neighbours are tokens,
which retrieve as well as a word segmenter's. Does not know: sentences, frequencies, stop words, meanings.
Width follows Unicode NFKC and case Unicode's case folding, character by character; the script map is OpenCC's t2s.
"""

import re
import unicodedata
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from operator import add
from typing import Any, TypeVar, cast

CJK = (
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
CHINESE_FROM = 0.3

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
_MARKS = re.compile("[\u0300-\u036f\ufe00-\ufe0f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(rf"([{CJK}]+)|(\d+(?:[.,]\d+)+)|[^\W_{CJK}]+(?:'[^\W_{CJK}]+)*")
_CJK_RUN = re.compile(f"[{CJK}]+")
_LETTERS = re.compile(r"[^\W\d_]+")
T = TypeVar("T")


def without_surrogates(value: T, mark: str = "\ufffd") -> T:
    """The text, or all texts in a JSON value, keys too, with `mark` for each lone surrogate: no file can hold one."""
    clean: Any = value
    if isinstance(value, str):
        clean = _SURROGATE.sub(mark, value)
    elif isinstance(value, list):
        clean = [without_surrogates(item, mark) for item in value]
    elif isinstance(value, dict):
        clean = {without_surrogates(k, mark): without_surrogates(item, mark) for k, item in value.items()}
    return cast(T, clean)


class _Table(dict[int, str]):
    """The form that each character folds to, found at its first use."""

    def __missing__(self, code: int) -> str:
        self[code] = _fold_character(chr(code))
        return self[code]


_TABLE = _Table()


def fold(text: str) -> str:
    """The text in simplified script, half width and lower case, with one form for each kind of mark.

    Lengths stay, but for ligatures and their like (`ﬁ`, `ß`, `℃`) and dropped marks (combining accents, zero-width
    characters). Three dots are left as they are.
    """
    return text.translate(_TABLE)


def way_back(text: str) -> Callable[[int, int], tuple[int, int]]:
    """From a range of the folded text, at least one character, to that of the text that it came from, in whole
    characters. Marks that folding drops go with the character before them."""
    places: Sequence[int] = range(len(text) + 1)
    if any(len(_TABLE[ord(character)]) != 1 for character in set(text)):
        places = array("Q")
        for place, character in enumerate(text):
            for _ in _TABLE[ord(character)]:
                places.append(place)
        places.append(len(text))
    return lambda start, end: (places[start], max(places[end], places[end - 1] + 1))


def _fold_character(character: str) -> str:
    """One character's form; a combining accent alone folds to nothing. `½` stays: `3½` would become `31⁄2`."""
    if character in _SAME:
        return _SAME[character]
    plain = unicodedata.normalize("NFKC", character).casefold()
    if "⁄" in plain:
        return character
    if _HAN.search(plain):
        simple = [_converter().convert(each) for each in plain]
        kept = (each if len(each) == 1 else own for each, own in zip(simple, plain, strict=True))
        return "".join(kept).translate(_VARIANTS)
    bare = _MARKS.sub("", unicodedata.normalize("NFD", plain))
    return "".join(_SAME.get(c, c) for c in unicodedata.normalize("NFC", bare))


@cache
def _converter() -> Any:
    from opencc import OpenCC

    return OpenCC("t2s")


def tokens(text: str) -> list[str]:
    """The tokens of the folded text, in order; repeated ones stay.

    A word keeps its inner apostrophes, a number its decimals but not the marks between thousands (`3,500` gives
    `3500`). A run of CJK characters gives its characters, then its pairs of neighbours.
    """
    found: list[str] = []
    for match in _TOKEN.finditer(fold(text)):
        token = match[0]
        if match[1]:
            found += token
            found += map(add, token, token[1:])
        else:
            found.append(token.replace(",", "") if match[2] else token)
    return found


def is_chinese(text: str) -> bool:
    """True if the text counts as Chinese: at least CHINESE_FROM of its letters are CJK; names may be Latin."""
    letters = "".join(_LETTERS.findall(text))
    return letters != "" and sum(map(len, _CJK_RUN.findall(letters))) >= CHINESE_FROM * len(letters)
