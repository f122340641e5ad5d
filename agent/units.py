"""Books cut into units of 2,000 to 4,000 tokens, at chapters and paragraphs (LongNovel, seed 004, section 3.1).

Knows: what opens a chapter in Chinese and English books, and where a paragraph ends. Tokens are estimated.
Does not know: what a unit tells, or what is made of it.
"""

import re

from longproof.agent.limits import estimate_tokens
from longproof.retrieval.text import sentences
from longproof.retrieval.types import Frozen

LEAST, MOST = 2000, 4000
_CHAPTER = re.compile(
    r"\s*(?:第[一二三四五六七八九十百零〇\d]{1,5}[回章節节卷]|chapter\s+[ivxlc\d]+|prelude|prologue|epilogue|#{1,3}\s)",
    re.IGNORECASE,
)


class Unit(Frozen):
    """A stretch of a book, in whole sentences. `tokens` is an estimate."""

    start: int
    end: int
    tokens: int


def units(text: str, least: int = LEAST, most: int = MOST) -> list[Unit]:
    """Consecutive units of `least` to `most` tokens, in text order.

    A unit ends before a chapter once it has `least` tokens, else at the first end of a paragraph once it is halfway
    to `most`, else at the end of the sentence that fills it. What is left over at the end of the text is joined to
    the last unit if that stays within `most`, and belongs to none otherwise. Raises ValueError for bad sizes.
    """
    if not 0 < least <= most:
        raise ValueError(f"a unit can't have {least} to {most} tokens")
    found: list[Unit] = []
    start, tokens, last = -1, 0, 0
    for a, b in sentences(text):
        size = estimate_tokens(text[a:b])
        gap = text[last:a]
        if start >= 0 and _ends(gap, text[a:b], tokens, size, (least, most)):
            found.append(Unit(start=start, end=last, tokens=tokens))
            start, tokens = -1, 0
        start = a if start < 0 else start
        tokens, last = tokens + size, b
    if start >= 0 and tokens >= least:
        found.append(Unit(start=start, end=last, tokens=tokens))
    elif start >= 0 and found and found[-1].tokens + tokens <= most:
        found[-1] = Unit(start=found[-1].start, end=last, tokens=found[-1].tokens + tokens)
    return found


def _ends(gap: str, sentence: str, tokens: int, size: int, bounds: tuple[int, int]) -> bool:
    """Whether a unit of so many tokens ends before this sentence, which comes behind this gap."""
    least, most = bounds
    if tokens < least:
        return False
    if tokens + size > most or ("\n" in gap and tokens >= (least + most) / 2):
        return True
    return "\n" in gap and _CHAPTER.match(sentence) is not None
