"""Tokens: what lexical search counts and judges compare.

Knows: words of alphabetic scripts, numbers written in digits, and, where no spaces divide words (Chinese,
Japanese, Korean), single characters and pairs of neighbours, which retrieve as well as a word segmenter.
Does not know: frequencies, stop words, meanings.
"""

import re
from operator import add

from longproof.retrieval.text.normalise import fold

CJK = (
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"([{CJK}]+)|(\d+(?:[.,]\d+)+)|[^\W_{CJK}]+(?:'[^\W_{CJK}]+)*")
_CJK_RUN = re.compile(f"[{CJK}]+")
_LETTERS = re.compile(r"[^\W\d_]+")


def tokens(text: str) -> list[str]:
    """The tokens of the folded text, in order; repeated ones stay.

    A word keeps its inner apostrophes (`don't`), a number its decimals but not the marks between thousands
    (`3,500` gives `3500`). A run of CJK characters gives its characters, then its pairs of neighbours.
    """
    found: list[str] = []
    for match in _TOKEN.finditer(fold(text).text):
        token = match[0]
        if match[1]:
            found += token
            found += map(add, token, token[1:])
        else:
            found.append(token.replace(",", "") if match[2] else token)
    return found


CHINESE_FROM = 0.3


def is_chinese(text: str) -> bool:
    """True if the text counts as Chinese: at least CHINESE_FROM of its letters are CJK; names may be Latin."""
    return cjk_share(text) >= CHINESE_FROM


def cjk_share(text: str) -> float:
    """The share of CJK characters among the letters of the text, 0 to 1; 0 where it has no letters."""
    letters = "".join(_LETTERS.findall(text))
    return sum(map(len, _CJK_RUN.findall(letters))) / len(letters) if letters else 0.0
