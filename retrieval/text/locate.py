"""Locating: where a quote stands in a text. Does not know: who quoted, or what a quote that isn't found means.

Knows: exact places, places equal after folding script, width, case, punctuation and spaces, and nearly equal ones.
"""

import re
from array import array
from collections.abc import Callable
from functools import lru_cache

from longproof.retrieval.text.normalise import CJK, fold, way_back
from longproof.retrieval.text.sentences import Range

ENOUGH = 90.0  # the least likeness, 0 to 100 (partial ratio), at which a place is taken for the quote

_SPACED = rf"[^\W_{CJK}]"
_WORD = re.compile(rf"[{CJK}]+|{_SPACED}+")
_IS_SPACED = re.compile(_SPACED)
_IS_CJK = re.compile(f"[{CJK}]")
_FIGURE = re.compile(r"\d+")
_ELLIPSIS = re.compile(r"\[?(?:[…⋯]+|[.．]{3,}|。{3,}|(?:\. ){2,}\.)\]?")


def locate(quote: str, text: str) -> Range | None:
    """The first place of the quote in the text, `[start, end)`; None where there is none.

    Sought exactly; then folded, without punctuation; then, for quotes of at least 4 CJK or 8 other characters, the
    likeliest place of at least `ENOUGH` that has the same figures. Of a quote cut by an ellipsis, its longest part
    is located. Words of spaced scripts are never cut. What stands at the place may differ from the quote.
    """
    quote = quote.strip()
    if place := _exactly(quote, text):
        return place
    words, places, back = _words(text)
    place = _exactly(_words(quote)[0], words)
    if place is None:
        parts = [_words(part)[0] for part in _ELLIPSIS.split(quote)]
        longest = max(parts, key=len)
        # In short quotes one other character is another word; a CJK character says as much as two others.
        if len(longest) + len(_IS_CJK.findall(longest)) < 8:
            return None
        place = (_exactly(longest, words) if len(parts) > 1 else None) or _nearly(longest, words)
    if place is None:
        return None
    start, end = place
    return back(places[start], places[end - 1] + 1)


def _exactly(quote: str, text: str) -> Range | None:
    """The first place of the quote that isn't inside a longer word of a spaced script; none of an empty one."""
    if not quote:
        return None
    spaced_first, spaced_last = _IS_SPACED.match(quote), _IS_SPACED.match(quote[-1:])
    at = text.find(quote)
    while at >= 0:
        after = at + len(quote)
        cut = (spaced_first and at and _IS_SPACED.match(text, at - 1)) or (
            spaced_last and _IS_SPACED.match(text, after)
        )
        if not cut:
            return at, after
        at = text.find(quote, at + 1)
    return None


@lru_cache(maxsize=8)
def _words(text: str) -> tuple[str, "array[int]", Callable[[int, int], Range]]:
    """The folded words of a text, CJK runs joined, other words with one space between them; and the way back.

    First each character's place in the folded text, then the way from there. Many quotes are looked for in one text:
    it is kept.
    """
    places = array("I")
    pieces: list[str] = []
    spaced = False
    for match in _WORD.finditer(fold(text)):
        was_spaced, spaced = spaced, _IS_SPACED.match(match[0]) is not None
        if spaced and was_spaced:
            pieces.append(" ")
            places.append(match.start())
        pieces.append(match[0])
        places.extend(range(*match.span()))
    return "".join(pieces), places, way_back(text)


def _nearly(sought: str, words: str) -> Range | None:
    """The likeliest place, widened to whole words; none where it has other figures than the quote."""
    from rapidfuzz.fuzz import partial_ratio_alignment

    if len(sought) > len(words):
        return None
    found = partial_ratio_alignment(sought, words, score_cutoff=ENOUGH)
    if found is None or found.dest_end <= found.dest_start:
        return None
    start, end = found.dest_start, found.dest_end
    while start > 0 and _IS_SPACED.match(words, start - 1) and _IS_SPACED.match(words, start):
        start -= 1
    while _IS_SPACED.match(words, end) and _IS_SPACED.match(words, end - 1):
        end += 1
    start += words.startswith(" ", start)
    end -= words.endswith(" ", start, end)
    same = _FIGURE.findall(sought) == _FIGURE.findall(words[start:end])
    return (start, end) if same else None
