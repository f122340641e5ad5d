"""Chunking: the half-open ranges of characters in which a text is aligned, embedded, searched and shown.

Knows: segments of a response, blocks and passages of a source, snippets of a saved page. Sizes are those of
LongNovel's Appendix D (segments 150, blocks 5,500 characters) and of VeriGray's Appendix F (snippets 1,600, of which
200 are shared). Segments are whole sentences, since a claim cut in two can't be judged.
Does not know: what is searched for, or how chunks are compared.
"""

from longproof.retrieval.text.line_breaks import Range
from longproof.retrieval.text.sentences import sentences

SEGMENT = 150
BLOCK = 5500
SNIPPET = 1600
OVERLAP = 200
LINE_BREAKS = "\n\r\x0b\x0c\x85\u2028\u2029"


def segments(text: str, size: int = SEGMENT) -> list[Range]:
    """Neighbouring whole sentences, packed in order to at most `size` characters from first to last.

    Sentences that a line break divides are never packed together. A sentence longer than `size`, or one that runs
    over a wrapped line, stays whole. Each sentence lies in exactly one segment.
    """
    packed: list[Range] = []
    for start, end in sentences(text):
        if packed and end - packed[-1][0] <= size and not _breaks(text, packed[-1][1], start):
            packed[-1] = (packed[-1][0], end)
        else:
            packed.append((start, end))
    return packed


def blocks(text: str, size: int = BLOCK) -> list[Range]:
    """Consecutive ranges of `size` characters that cover the text; the last may be shorter. None for no text."""
    return [(start, min(start + size, len(text))) for start in range(0, len(text), size)]


def overlapping(text: str, size: int = 400, step: int = 200) -> list[Range]:
    """Overlapping ranges of `size` characters, one every `step`, up to the one that reaches the end of the text."""
    last = max(0, len(text) - size)
    starts = range(0, last + step, step) if text else range(0)
    return [(start, min(start + size, len(text))) for start in starts]


def _breaks(text: str, start: int, end: int) -> bool:
    return any(mark in text[start:end] for mark in LINE_BREAKS)
