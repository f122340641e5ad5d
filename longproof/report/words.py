"""Words and texts as people read them in a report: on one line, not too long, with marks for what acts.

Labels are VeriGray's, kinds LongNovel's eight (Appendix A); `words.json` has their names in
English and Chinese. Knows: how a text is cut at its marks, in its middle, and at its sentences; Unicode's control
characters, direction overrides (UAX #9) and half surrogates, which are shown as marks.
Does not know: why anything is marked, or any markup language; each way of showing escapes its own.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Literal, NamedTuple

from longproof.retrieval.text.normalise import is_chinese
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Span

Language = Literal["en", "zh"]
Section = Literal["report", "serve", "demo"]
"""Of the file: the report's words, those of the local pages, and those of the demo."""

SIGNS: dict[str, str] = {
    "contradicting": "✗",
    "fabricated": "∅",
    "ambiguous": "≈",
    "no_fact": "·",
    "out_dependent": "↗",
    "implicitly_supported": "✓",
    "explicitly_supported": "✔",
    "not_found": "○",
    "undecided": "?",
    "not_checked": "–",
    "hallucinated": "✗",
    "faithful": "✔",
    "open": "…",
    "running": "▸",
    "stopped": "‖",
    "waiting": "?",
    "failed": "!",
}
"""One sign a label, so that colour never says anything alone; then those of runs without a report."""
LONGEST = 400
"""Characters of a line beyond which its middle is left out."""
FAR = 1000
"""How many characters before and after a quote its sentence is looked for."""
_BLANK = re.compile(r"[^\S\x1c-\x1f\x85\u2028\u2029]+")
"""Blanks, but for those that act and are shown as marks."""
PATTERN = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
"""What acts instead of being read, as a character class that Python and a browser read alike. Line breaks and tabs
stay."""
_CODES = (0x7F, 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_CALLED = "DEL ALM LRM RLM LS PS LRE RLE PDF LRO RLO LRI RLI FSI PDI"
NAMES = dict(zip(_CODES, _CALLED.split(), strict=True))
"""The names of some of them by their codes."""


def language(text: str) -> Language:
    """The language to speak about this text in."""
    return "zh" if is_chinese(text) else "en"


@cache
def words(spoken: Language, section: Section = "report") -> Mapping[str, str]:
    """The report's words in that language, and another section's over them; `str.format` fills their `{places}`."""
    sections = json.loads(files("longproof.report").joinpath("words.json").read_text(encoding="utf-8"))
    column = ("en", "zh").index(spoken)
    return {key: pair[column] for key, pair in {**sections["report"], **sections[section]}.items()}


def visible(text: str) -> str:
    """The text with every acting character shown as a mark: `␛` for escape, `⟦RLO⟧` for an override."""

    def mark(match: re.Match[str]) -> str:
        code = ord(match[0])
        return chr(0x2400 + code) if code < 0x20 else f"⟦{NAMES.get(code, f'U+{code:04X}')}⟧"

    return re.sub(PATTERN, mark, text)


class Piece(NamedTuple):
    """A run of text, and whether it is what the reader should look at."""

    text: str
    marked: bool


def line(text: str, characters: int = LONGEST) -> str:
    """The text on one line, its middle left out where it is long, with marks in the place of what acts."""
    return flat(short(text, characters))


def flat(text: str) -> str:
    """The text on one line, with marks in the place of what acts."""
    return visible(_BLANK.sub(" ", text))


def short(text: str, characters: int) -> str:
    """The text with its middle left out where it is longer than that: at spaces, where there are some near."""
    if len(text) <= characters:
        return text
    half = characters // 2
    head, tail = text[:half], text[-half:]
    near = head.rfind(" ", half // 2), tail.find(" ", 0, half // 2)
    return f"{head[: near[0]] if near[0] > 0 else head} … {tail[near[1] + 1 :] if near[1] >= 0 else tail}"


def marked_pieces(text: str, places: Iterable[tuple[int, int]], offset: int = 0) -> list[Piece]:
    """The text cut at these places, which are counted from `offset`; those that overlap or touch are one mark."""
    marked: set[int] = set()
    for start, end in places:
        marked.update(range(start - offset, end - offset))
    runs = groupby(range(len(text)), marked.__contains__)
    return [Piece("".join(text[at] for at in run), flag) for flag, run in runs]


def around(span: Span, text: str | None, characters: int = 60) -> list[Piece]:
    """The quote with up to that many characters of its text on each side, as far as its line goes."""
    if text is None or text[span.start : span.end] != span.text:
        return [Piece(span.text, True)]
    first, last = span.start - characters, span.end + characters
    before = ("…" if first > 0 else "") + text[max(0, first) : span.start]
    after = text[span.end : last] + ("…" if last < len(text) else "")
    before, after = before.rpartition("\n")[2], after.partition("\n")[0]
    pieces = (Piece(before, False), Piece(span.text, True), Piece(after, False))
    return [piece for piece in pieces if piece.text]


def whole_sentences(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the sentences of this place begin and end; an end that is far off stays where it is."""
    low = text.rfind("\n\n", max(0, start - FAR), start)
    high = text.find("\n\n", end, end + FAR)
    low = low + 2 if low >= 0 else max(0, start - FAR)
    high = high if high >= 0 else min(len(text), end + FAR)
    cut = [(low + a, low + b) for a, b in sentences(text[low:high])]
    touched = [(a, b) for a, b in cut if a < end and b > start] or [(start, end)]
    first, last = touched[0][0], touched[-1][1]
    far_before = touched[:1] == cut[:1] and start - low == FAR
    far_behind = touched[-1:] == cut[-1:] and high - end == FAR
    return start if far_before else min(start, first), end if far_behind else max(end, last)
