"""Sentences of Chinese and English text, with exact offsets, and which line breaks only wrap prose.

Knows: what ends a sentence, what only looks like an end (decimals, abbreviations, initials, list numbers), how
quotations and brackets hold sentences together. Does not know: clauses, claims, or how sentences are packed.
Rules of our own, in one pass, linear in the text: sentencex joins headings and parts speech from its tag (LOG.md).
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from longproof.retrieval.text.normalise import CJK

Range = tuple[int, int]

WIDEST = 120  # wrapped prose is never set wider than this; longer lines are paragraphs of their own

_TEXT_LINE = re.compile(r"[^\r\n\x0b\x0c\x85\u2028\u2029]+")
_SINGLE_BREAK = re.compile(r"[^\S\r\n]*(?:\r\n|\n|\r)")
_ITEM = re.compile(
    r"\s*(?:[-*+•·#>|◆●○■□▪–—]|\(?\d{1,3}[.)、．]|[（(]?[一二三四五六七八九十]{1,3}[、）)]|第\S{1,6}[回章节卷]|[A-Za-z][.)]\s)"
)
_FINISHED = re.compile(r"[。！？!?….:：；;][”’」』）)\]】》\"'*_]*\s*\Z")
_WIDE_FIRST = re.compile(r"\s*[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]")
_INNER_STOP = re.compile("[，。；、]")
_ADDRESS = re.compile(r"@|://|\w\.\w")

HELD = 150  # a quotation or bracket of at most this many characters, marks included, is held together

NESTED = 16  # so many marks are open at once; the oldest is forgotten: hostile text costs no more

_OPENING_OF = dict(zip("”」』）)】》〉］]’»", "“「『（(【《〈［[‘«", strict=True))
_MARK = re.compile(r"[“”「」『』（）()【】《》〈〉［］\[\]\"‘«»]|’(?!\w)|\n\s*\n")
_BEFORE_OPENING = re.compile(r"[\s(\[（“‘—:：,，-]")

_STOPS = "。！？｡!?؟।॥۔….⋯．"
_CLOSERS = "”’」』）)】》〉\\]\"'»］｝}*_"
_END = re.compile(rf"(?:[{_STOPS}]+(?: \.+)*[{_CLOSERS}]*(?:\[\d{{1,3}}\])*)+")
_WIDE_STOP = re.compile("[。！？｡।॥۔؟]")
_IS_CJK = re.compile(f"[{CJK}。，、；：”’」』）】》〉]")
_DOTS = re.compile(r"[.…⋯．]+")
_HAS_WORD = re.compile(r"\w")
_QUOTE_OPENERS = '“「『"‘'
_FIRM = re.compile("[。！？｡!?؟।॥۔]")
_CAPITAL = re.compile("[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω]")
_SPACE = re.compile(r"\s*")
_CLAUSE = re.compile(r"[^\W_]+\Z")
_DOTTED = re.compile(r"[^\W\d_]{1,2}(?:\.[^\W\d_]{1,2})+")
_GOES_ON_WIDE = re.compile(r"\s*[，、；：,;:）)」』》]")
_SAID_WIDE = re.compile(
    r"[^，。！？：:；、“”「」『』…\s]{0,12}?[说說道問问答喊叫嚷曰云][道着著了]?(?:了?一声|起来)?[。，！]"
)
_SAID = re.compile(
    r"\s+(?:[A-Z][\w’'.-]{0,20}\s+){1,3}(?:said|asked|replied|answered|cried|exclaimed|whispered|shouted|yelled|murmured"
    r"|muttered|returned|continued|added|called|remarked|observed|demanded|inquired|enquired|responded|repeated)\b"
)
_WORD_BEFORE = re.compile(r"[^\W\d_](?:[^\W\d_]|[.’'-](?=[^\W\d_]))*\Z")
_ONLY_NUMBER = re.compile(r"[\W_]*(?:\d{1,3}|[ivxIVX]{1,5}|[A-Za-z])(?:\.\d{1,3})*\Z")
_NEXT = re.compile(r"(\s*)[“‘「『（(\[\"'*_]*(\w[\w’']{0,30})?")
_BEFORE_DOTS = Path(__file__).parents[1] / "before_dots.txt"
"""Words before a dot that hardly ever, sometimes or before a number end no sentence; words that begin one."""


@cache
def word_lists(file: Path) -> dict[str, frozenset[str]]:
    """The word lists of a file by their names. Each is a line of it: its name, a colon, its words."""
    lists = {}
    for line in file.read_text("utf-8").splitlines():
        name, _, words = line.partition(": ")
        lists[name] = frozenset(words.split())
    return lists


class _PairedMarks:
    """The paired marks of a text. Marks without a partner in their paragraph count as nothing."""

    def __init__(self, text: str) -> None:
        self.opener: dict[int, int] = {}  # of each closing place the opening one
        self.held = bytearray(len(text) + 1)  # 1 for each place inside a range that is held together
        waiting: deque[int] = deque(maxlen=NESTED)
        for match in _MARK.finditer(text):
            place, mark = match.start(), match[0]
            opening = _OPENING_OF.get(mark, "")
            if mark[0] == "\n":
                waiting.clear()
            elif mark == '"':
                # A straight mark closes an open one, unless it plainly opens: space before it and none behind.
                leads = place == 0 or _BEFORE_OPENING.match(text, place - 1)
                opens = leads and text[place + 1 : place + 2].strip() != ""
                if any(text[other] == '"' for other in waiting) and not (opens and text[place - 1].isspace()):
                    opening = '"'
                elif not text[place - 1 : place].isdigit():
                    waiting.append(place)
            elif not opening:
                waiting.append(place)
            if opening and any(text[other] == opening for other in waiting):
                # The nearest open partner; whatever opened in between has none.
                while text[opener := waiting.pop()] != opening:
                    pass
                self.opener[place] = opener
                if place + 1 - opener <= HELD:
                    self.held[opener + 1 : place + 1] = b"\1" * (place - opener)
        self.straight = {opener for opener in self.opener.values() if text[opener] == '"'}
        """The straight quotation marks that open."""


def sentences(text: str, keep: Callable[[Range], bool] = lambda line: False) -> list[Range]:
    """Half-open `[start, end)` of every sentence, in order; together they hold all that is not whitespace.

    A line break ends a sentence unless it only wraps prose. A quotation or bracket of at most `HELD` characters is
    not cut inside; a speech tag behind it (`他问。`, `she asked.`) stays with it. Marks alone join the sentence
    before them on their line. A logical line of which `keep` is true stays whole.
    """
    paired, found = _PairedMarks(text), list[Range]()
    for unit in logical_lines(text):
        line = trim(text, *unit)
        found.extend([line] if keep(line) else _split(text, unit, paired))
    return found


def _split(text: str, unit: Range, paired: _PairedMarks) -> list[Range]:
    start, stop = unit
    cased = _CAPITAL.search(text, *unit) is not None
    bounds = [start]
    for match in _END.finditer(text, *unit):
        closers = range(match.start() + 1, match.end())
        end = next((place for place in closers if place in paired.straight), match.end())
        if end < stop and _ends(_Stop(text, bounds[-1], match.start(), end, stop, cased), paired):
            bounds.append(end)
    found: list[Range] = []
    for bound in pairwise([*bounds, stop]):
        start, end = trim(text, *bound)
        # What holds no word joins the sentence before it, or at the beginning the one behind it.
        if found and start < end and not _HAS_WORD.search(text, start, end):
            start = found.pop()[0]
        if start < end:
            found.append((start, end))
    if len(found) > 1 and not _HAS_WORD.search(text, *found[0]):
        found[:2] = [(found[0][0], found[1][1])]
    return found


def trim(text: str, start: int, end: int) -> Range:
    """`[start, end)` without the whitespace around it."""
    cut = text[start:end]
    return start + len(cut) - len(cut.lstrip()), end - len(cut) + len(cut.rstrip())


class _Stop(NamedTuple):
    """A place where a sentence may end: begun at `start`, stopped at `dot`, closed by `end`, in a unit up to `stop`.

    `cased` says whether the unit has capitals at all, so that a small letter says anything.
    """

    text: str
    start: int
    dot: int
    end: int
    stop: int
    cased: bool


def _ends(at: _Stop, paired: _PairedMarks) -> bool:
    if paired.held[at.end]:
        return False
    opener = paired.opener.get(at.end - 1)
    if opener is not None and at.text[opener] not in _QUOTE_OPENERS:
        # What closes a bracket ends a sentence only where it began one; a title (`《…！》`) never does.
        leading = at.text[at.start : opener][-3:].strip()
        if at.text[opener] in "《〈" or (leading != "" and leading[-1] not in _STOPS + _CLOSERS):
            return False
    # In CJK text no space follows a sentence.
    before = at.dot > at.start and _IS_CJK.match(at.text, at.dot - 1)
    if _WIDE_STOP.search(at.text, at.dot, at.end) or before or _IS_CJK.match(at.text, at.end):
        return _ends_cjk(at, opener)
    return _ends_alphabetic(at, opener)


def _ends_cjk(at: _Stop, opener: int | None) -> bool:
    if _GOES_ON_WIDE.match(at.text, at.end, at.stop):
        return False
    if opener is not None and at.text[opener] in _QUOTE_OPENERS:
        if at.text[at.end] in "的地得便就遂":
            return False
        if (
            opener > at.start
            and at.text[opener - 1].isalnum()
            and at.text[opener - 1] not in "说說道曰问問答云"
        ):
            return False
        if _SPACE.fullmatch(at.text, at.start, opener) and _SAID_WIDE.match(at.text, at.end, at.stop):
            return False
    dots = _DOTS.match(at.text, at.dot, at.end)
    if dots is None or _FIRM.search(at.text, at.dot, at.end):
        return True
    if dots[0] in ".．":
        after = at.text[at.end]
        return bool(_IS_CJK.match(at.text, at.dot - 1)) and not (after.isascii() and after.isalnum())
    # An ellipsis only delays after a few characters (`我……`), or before they are said again.
    clause = _CLAUSE.search(at.text, max(at.start, at.dot - 12), at.dot)
    said = clause[0] if clause else ""
    return len(said) > 4 and not at.text.startswith(said[0], at.end)


def _ends_alphabetic(at: _Stop, opener: int | None) -> bool:
    """True if a stop in spaced text ends the sentence: by what follows, then by the word before a lone dot."""
    following = _NEXT.match(at.text, at.end, at.stop)
    gap, word = (following[1], following[2] or "") if following else ("", "")
    if not gap:
        return at.text[at.end] in "“「『"
    speech = opener is not None and _SPACE.fullmatch(at.text, at.start, opener)
    if speech and _SAID.match(at.text, at.end, at.stop):
        return False
    dots = _DOTS.fullmatch(at.text, at.dot, at.end)
    several = dots is not None and len(dots[0]) > 1
    if at.text[at.dot - 1 : at.dot].isspace() and not several:
        return True
    if word[:1].islower() and (at.cased or several or opener is not None):
        return False
    return several or bool(_FIRM.search(at.text, at.dot, at.end)) or _ends_word(at, word)


def _ends_word(at: _Stop, after: str) -> bool:
    """True if the dot behind the word before it is a full stop, `after` being the next word."""
    if at.dot - at.start <= 12 and _ONLY_NUMBER.match(at.text, at.start, at.dot):
        return False
    match = _WORD_BEFORE.search(at.text, max(at.start, at.dot - 24), at.dot)
    word = match[0].lower() if match else ""
    lists = word_lists(_BEFORE_DOTS)
    if word in lists["titles"]:
        return False
    if word in lists["before numbers"]:
        return not after[:1].isdigit()
    if word in ("a.m", "p.m"):
        return True
    if len(word) == 1 or word in lists["inside"] or _DOTTED.fullmatch(word):
        return after.lower() in lists["starters"]
    return True


def logical_lines(text: str) -> Iterator[Range]:
    """Half-open ranges that no line break ends inside, in order: a line, or several lines of wrapped prose.

    A break only wraps when no line of its paragraph is wider than `WIDEST`, the next line is neither a list item
    nor indented deeper, and either the line is unfinished and the next goes on in lower case, or the paragraph is
    set to a width and the next word would not have fitted. Verse, headings and lists keep their breaks.
    """
    for paragraph in _paragraphs(text):
        lengths = [end - start for start, end in paragraph]
        widest = max(lengths)
        # Most lines but the last come near the widest, as in prose broken to a width.
        near = sum(length > 0.8 * widest for length in lengths[:-1])
        is_set = near >= 3 and 2 * near > len(paragraph) - 1
        start, end = paragraph[0]
        for line, after in pairwise(paragraph):
            if widest > WIDEST or not _wraps(text, line, after, widest if is_set else None):
                yield start, end
                start = after[0]
            end = after[1]
        yield start, end


def _paragraphs(text: str) -> Iterator[list[Range]]:
    paragraph: list[Range] = []
    for match in _TEXT_LINE.finditer(text):
        if match[0].isspace():
            continue
        line = match.start(), match.start() + len(match[0].rstrip())
        if paragraph and not _SINGLE_BREAK.fullmatch(text, paragraph[-1][1], line[0]):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph


def _wraps(text: str, line: Range, after: Range, width: int | None) -> bool:
    """True if the break between two lines of a paragraph only wraps; `width` is what the paragraph is set to."""
    begin = trim(text, *after)[0]
    if _ITEM.match(text, *after) or begin - after[0] > trim(text, *line)[0] - line[0]:
        return False
    first = text[begin : min(begin + 40, after[1])].split()[0]
    finished = _FINISHED.search(text, max(line[0], line[1] - 12), line[1]) is not None
    if first[:1].islower() and not finished and not _ADDRESS.search(first):
        return True
    if width is None:
        return False
    length = line[1] - line[0]
    if _WIDE_FIRST.match(first):
        return (
            length >= 20
            and length + 2 > width
            and not finished
            and _INNER_STOP.search(text, *line) is not None
        )
    return length >= 40 and length + 1 + len(first) > width
