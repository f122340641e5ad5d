"""An outline of a text: its headings, and where it has none for long, how its parts open.

Knows: what a heading looks like in Chinese and English books, tables of contents, which lines open a part well.
Does not know: numbers of lines, documents beside this one, who reads the outline.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from longproof.retrieval.text.sentences import Range

LONGEST_HEADING = 80
STRETCH = 30_000  # so many characters without a heading are told by openings, one every OPENING_EVERY
OPENING_EVERY = 15_000
LOOKED_FOR_OPENING = 3000
SHORTEST_ENTRY = 4  # entries are hardly shorter; more than there is room for are thinned at once
CONTENTS = 4  # so many headings in a row are a table of contents; only the last can head a text

_LINE = re.compile(r"^[^\S\n]*(?P<line>[^\s][^\n]{0,120})(?=\n|\Z)", re.MULTILINE)
_NUMERAL = r"(?:\d{1,3}|[IVXLC]{1,8}|[一二三四五六七八九十百]{1,5})"
_NAMED = "(?:CHAPTER|Chapter|BOOK|Book|PART|Part|LETTER|Letter|ACT|Act|VOLUME|Volume|STAVE|Stave)"
_MARKED = re.compile(
    rf"#{{1,6}}\s+\S|第[零〇一二三四五六七八九十百千两兩\d]{{1,6}}[回章节節卷部篇集折幕]"
    rf"|{_NAMED}\s+"
    rf"(?:{_NUMERAL}|[A-Z][A-Za-z]+)\b"
    r"|(?i:prologue|epilogue|prelude|introduction|preface|conclusion|postscript|appendix)[.:]?\s*\Z"
    r"|(?:楔子|引子|序章|序言|序幕|尾声|尾聲|后记|後記|终章)(?:\s|\Z)"
)
_WITH_NUMERAL = re.compile(rf"[\[(（*_]*{_NUMERAL}(?:[.、．:)）—-]+(?:\s+\S.*)?|[\])*_]*)\Z")
_BARE = re.compile(
    rf"\W*(?:#+\s*)?(?:[A-Za-z]+\s+)?(?:第\S{{1,6}}[回章节節卷部篇集折幕]|{_NUMERAL})\W*\Z|{_NAMED}\s+\w+\W*\Z"
)
_SAID = re.compile(r"[“”\"「」『』]|[。！？!?，,；;]\W*\Z")
_QUOTED = "“\"‘'「『（(—-"


Entry = list[Range]
"""Ranges that belong together: a heading with its title or the words behind it, or the opening of a part."""


def outline(text: str, lines: Sequence[Range]) -> list[Entry]:
    """The entries of a text in order: headings, and openings where they are more than STRETCH characters apart.

    `lines` are the text's lines of evidence: openings are whole lines, and so is what follows a bare numeral.
    """
    headings: list[Entry] = []
    for heading in _headings(text):
        start, end = heading[-1]
        following = _first_at(lines, end) if _BARE.match(text[start:end]) else len(lines)
        headings.append([*heading, *lines[following : following + 1]])
    openings: list[Entry] = []
    for start, end in pairwise([0, *(entry[0][0] for entry in headings), len(text)]):
        if end - start > STRETCH or not headings:
            openings.extend([line] for line in _openings(text, lines, start, end))
    return sorted([*headings, *openings], key=lambda entry: entry[0])


def _headings(text: str) -> Iterator[list[Range]]:
    """Headings with nothing between them together; of a table of contents only the last."""
    groups: list[list[tuple[bool, Range]]] = []
    for marked, line in _candidates(text):
        if groups and not text[groups[-1][-1][1][1] : line[0]].strip():
            groups[-1].append((marked, line))
        else:
            groups.append([(marked, line)])
    with_marks = [group for group in groups if any(marked for marked, _ in group)]
    for group in with_marks if len(with_marks) * STRETCH >= len(text) else groups:
        ranges = [line for _, line in group]
        yield ranges if len(ranges) < CONTENTS else ranges[-1:]


def _candidates(text: str) -> Iterator[tuple[bool, Range]]:
    """Lines that look like headings, and whether by a word that says so (`Chapter`, `第三回`, `#`)."""
    for match in _LINE.finditer(text):
        line = match["line"].rstrip()
        if len(line) > LONGEST_HEADING or _SAID.search(line):
            continue
        start = match.start("line")
        place = start, start + len(line)
        if _MARKED.match(line):
            yield True, place
            continue
        before, after = text[max(0, match.start() - 40) : match.start()], text[match.end() : match.end() + 40]
        begins = not before.strip() or re.search(r"\n[^\S\n]*\n[^\S\n]*\Z", before)
        ends = not after.strip() or re.match(r"[^\S\n]*\n[^\S\n]*\n", after)
        capital = line.isupper() and sum(map(str.isalpha, line)) >= 4
        if begins and ends and (capital or _WITH_NUMERAL.match(line)):
            yield False, place


def _openings(text: str, lines: Sequence[Range], start: int, end: int) -> Iterator[Range]:
    """One line a part of nearly even length, but for one that a heading opens: where a paragraph begins soon, else
    the part's first."""
    count = max(1, round((end - start) / OPENING_EVERY))
    for part in range(int(start > 0), count):
        at = start + (end - start) * part // count
        first = _first_at(lines, at)
        near = range(first, min(_first_at(lines, at + LOOKED_FOR_OPENING), len(lines)))
        best = next((n for n in near if _opens_well(text, lines[n])), first)
        if best < len(lines) and lines[best][0] < end:
            yield lines[best]


def _opens_well(text: str, line: Range) -> bool:
    """True if the line begins a paragraph and tells something, rather than is called out."""
    start, end = line
    wide = text[start] >= "\u2e80"
    begins = start == 0 or "\n" in text[max(0, start - 8) : start]
    return begins and end - start >= (15 if wide else 40) and text[start] not in _QUOTED


def _first_at(lines: Sequence[Range], at: int) -> int:
    """The number of the first line that starts at this place or behind it."""
    return bisect_left(lines, at, key=lambda line: line[0])


def fit_entries(entries: Sequence[tuple[int, Entry]], characters: int) -> list[tuple[int, Entry]]:
    """Entries, each with the number of its text, cut and then thinned evenly to at most `characters` together."""
    most = characters // SHORTEST_ENTRY + 1
    short = list(entries) if _size(entries) <= characters else _thin(entries, most)
    for longest in (LONGEST_HEADING, 60, 40):
        short = [(n, [(start, min(end, start + longest)) for start, end in entry]) for n, entry in short]
        if _size(short) <= characters:
            return short
    while short and _size(short) > characters:
        short = _thin(short, min(len(short) - 1, len(short) * characters // _size(short)))
    return short


def _thin(entries: Sequence[tuple[int, Entry]], count: int) -> list[tuple[int, Entry]]:
    if len(entries) <= count:
        return list(entries)
    return [entries[i * len(entries) // count] for i in range(count)]


def _size(entries: Sequence[tuple[int, Entry]]) -> int:
    return sum(end - start for _, entry in entries for start, end in entry)
