"""Sentences of Chinese and English text, with exact offsets.

Knows: what ends a sentence, what only looks like an end (decimals, abbreviations, initials, list numbers), how
quotations and brackets hold sentences together; which line breaks end something, and which only wrap prose.
Does not know: clauses, claims, or how sentences are packed.
Rules of our own, in one pass, linear in the text: sentencex joins headings and parts speech from its tag (LOG.md).
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from longproof.retrieval.text.normalise import CJK

Range = tuple[int, int]

WIDEST = 120
"""Wrapped prose is never set wider than this; longer lines are paragraphs of their own."""

_TEXT_LINE = re.compile(r"[^\r\n\x0b\x0c\x85\u2028\u2029]+")
_SINGLE_BREAK = re.compile(r"[^\S\r\n]*(?:\r\n|\n|\r)")
_ITEM = re.compile(
    r"\s*(?:[-*+•·#>|◆●○■□▪–—]|\(?\d{1,3}[.)、．]|[（(]?[一二三四五六七八九十]{1,3}[、）)]|第\S{1,6}[回章节卷]|[A-Za-z][.)]\s)"
)
_FINISHED = re.compile(r"[。！？!?….:：；;][”’」』）)\]】》\"'*_]*\s*\Z")
_WIDE_FIRST = re.compile(r"\s*[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]")
_INNER_STOP = re.compile("[，。；、]")
_ADDRESS = re.compile(r"@|://|\w\.\w")
_INDENT = re.compile(r"[^\S\n]*")
_FIRST_WORD = re.compile(r"\s*(\S{0,40})")

HELD = 150
"""A quotation or bracket of at most this many characters, marks included, is held together."""

NESTED = 16
"""At most this many marks are open at once; the oldest is forgotten, so that hostile text costs no more."""

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
_AFTER_QUOTE_WIDE = re.compile("[的地得便就遂]")
_SAYS = "说說道曰问問答云"
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


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_TITLES = _words(
    "mr mrs ms mx dr prof st ste mt messrs mme mlle rev hon capt col gen lt sgt maj cmdr gov sen rep pres supt insp"
    " vs cf e.g i.e eg ie viz approx ca esq fr pvt cpl adm atty"
)
_BEFORE_NUMBERS = _words(
    "no nos p pp vol vols fig figs ch chap sec art eq op ed jan feb mar apr jun jul aug sep sept oct nov dec v"
)
_OFTEN_INSIDE = _words("inc ltd co corp jr sr bros dept univ assn ave blvd rd ph.d m.d b.a m.a d.c al")
_STARTERS = _words(
    "he she it they we i you the a an this that these those his her its their my our your there then but and or so if"
    " when while after before as at in on for from with by to not no what who how why where which however meanwhile"
    " later one two some many most all both each now here also although because since during once despite"
    " finally"
)


@dataclass(frozen=True, slots=True)
class PairedMarks:
    """The pairs of a text: each closing place with its opening one, and the ranges that are held together."""

    opener: dict[int, int]
    straight: frozenset[int]
    starts: list[int]
    ends: list[int]

    def holds(self, place: int) -> bool:
        """True if the place lies strictly inside a range that is held together."""
        index = bisect_right(self.starts, place) - 1
        return index >= 0 and self.starts[index] < place < self.ends[index]

    def before_opener(self, text: str, start: int, end: int) -> int:
        """The end of `[start, end)`, drawn back before the first straight quotation mark in it that opens."""
        while (start := text.find('"', start, end)) >= 0:
            if start in self.straight:
                return start
            start += 1
        return end


def paired_marks(text: str) -> PairedMarks:
    """Match the paired marks of a text. Marks without a partner in their paragraph count as nothing."""
    stack: deque[int] = deque(maxlen=NESTED)
    found = PairedMarks({}, frozenset(), [], [])
    for match in _MARK.finditer(text):
        place, mark = match.start(), match[0]
        if mark[0] == "\n":
            stack.clear()
        elif mark == '"':
            _meet_straight(text, place, stack, found)
        elif mark in _OPENING_OF:
            _close(text, place, _OPENING_OF[mark], stack, found)
        else:
            stack.append(place)
    straight = frozenset(opener for opener in found.opener.values() if text[opener] == '"')
    return PairedMarks(found.opener, straight, found.starts, found.ends)


def _meet_straight(text: str, place: int, stack: deque[int], found: PairedMarks) -> None:
    """A straight mark closes an open one, unless it plainly opens: space before it and none behind."""
    after_space = place == 0 or _BEFORE_OPENING.match(text, place - 1)
    opens = after_space and text[place + 1 : place + 2].strip() != ""
    if any(text[other] == '"' for other in stack) and not (opens and text[place - 1].isspace()):
        _close(text, place, '"', stack, found)
    elif not text[place - 1 : place].isdigit():
        stack.append(place)


def _close(text: str, place: int, opening: str, stack: deque[int], found: PairedMarks) -> None:
    """Pair `place` with the nearest open partner; whatever opened in between has none."""
    if not any(text[other] == opening for other in stack):
        return
    while text[opener := stack.pop()] != opening:
        pass
    found.opener[place] = opener
    if place + 1 - opener > HELD:
        return
    while found.starts and found.starts[-1] > opener:
        found.starts.pop()
        found.ends.pop()
    found.starts.append(opener)
    found.ends.append(place + 1)


def sentences(text: str) -> list[Range]:
    """Half-open `[start, end)` of every sentence, in order, without the whitespace around it.

    Together they hold every character that is not whitespace. A line break ends a sentence unless it only wraps
    prose (`logical_lines`). A quotation or bracket of at most `HELD` characters is not cut inside; a
    speech tag behind it (`他问。`, `she asked.`) stays with it. Marks alone join the sentence before them on their
    line.
    """
    paired = paired_marks(text)
    return [sentence for unit in logical_lines(text) for sentence in _split(text, unit, paired)]


def _split(text: str, unit: Range, paired: PairedMarks) -> list[Range]:
    found: list[Range] = []
    start, stop = unit
    cased = _CAPITAL.search(text, *unit) is not None
    for match in _END.finditer(text, *unit):
        end = paired.before_opener(text, match.start() + 1, match.end())
        if end < stop and _ends(_Stop(text, start, match.start(), end, stop, cased), paired):
            _append(text, found, start, end)
            start = end
    _append(text, found, start, stop)
    if len(found) > 1 and not _HAS_WORD.search(text, *found[0]):
        found[:2] = [(found[0][0], found[1][1])]
    return found


def _append(text: str, found: list[Range], start: int, end: int) -> None:
    """Add `[start, end)` without its whitespace; where it holds no word, to the sentence before it."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start == end:
        return
    if found and not _HAS_WORD.search(text, start, end):
        start = found.pop()[0]
    found.append((start, end))


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


def _ends(at: _Stop, paired: PairedMarks) -> bool:
    if paired.holds(at.end):
        return False
    opener = paired.opener.get(at.end - 1)
    if opener is not None and _inside_bracket(at, opener):
        return False
    if _is_wide(at):
        return _ends_wide(at, opener)
    return _ends_spaced(at, opener)


def _inside_bracket(at: _Stop, opener: int) -> bool:
    """True if the stop belongs to a bracket or title that is itself part of the sentence."""
    mark = at.text[opener]
    if mark in _QUOTE_OPENERS:
        return False
    before = at.text[at.start : opener][-3:].strip()
    return mark in "《〈" or (before != "" and before[-1] not in _STOPS + _CLOSERS)


def _is_wide(at: _Stop) -> bool:
    """True if the stop stands in CJK text, where no space follows a sentence."""
    if _WIDE_STOP.search(at.text, at.dot, at.end):
        return True
    before = at.dot > at.start and _IS_CJK.match(at.text, at.dot - 1)
    return bool(before or _IS_CJK.match(at.text, at.end))


def _ends_wide(at: _Stop, opener: int | None) -> bool:
    if _GOES_ON_WIDE.match(at.text, at.end, at.stop):
        return False
    if opener is not None and at.text[opener] in _QUOTE_OPENERS:
        if _AFTER_QUOTE_WIDE.match(at.text, at.end, at.stop):
            return False
        if opener > at.start and at.text[opener - 1].isalnum() and at.text[opener - 1] not in _SAYS:
            return False
        if _first_mark(at) == opener and _SAID_WIDE.match(at.text, at.end, at.stop):
            return False
    dots = _DOTS.match(at.text, at.dot, at.end)
    if dots is None or _FIRM.search(at.text, at.dot, at.end):
        return True
    if dots[0] in ".．":
        after = at.text[at.end]
        return bool(_IS_CJK.match(at.text, at.dot - 1)) and not (after.isascii() and after.isalnum())
    return not _hesitates(at)


def _hesitates(at: _Stop) -> bool:
    """True if an ellipsis only delays: after a few characters (`我……`), or before they are said again."""
    clause = _CLAUSE.search(at.text, max(at.start, at.dot - 12), at.dot)
    said = clause[0] if clause else ""
    return len(said) <= 4 or at.text.startswith(said[0], at.end)


def _ends_spaced(at: _Stop, opener: int | None) -> bool:
    """True if a stop in spaced text ends the sentence: by what follows, then by the word before a lone dot."""
    following = _NEXT.match(at.text, at.end, at.stop)
    gap, word = (following[1], following[2] or "") if following else ("", "")
    if not gap:
        return at.text[at.end] in "“「『"
    if opener is not None and opener == _first_mark(at) and _SAID.match(at.text, at.end, at.stop):
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
    if word in _TITLES:
        return False
    if word in _BEFORE_NUMBERS:
        return not after[:1].isdigit()
    if word in ("a.m", "p.m"):
        return True
    if len(word) == 1 or word in _OFTEN_INSIDE or _DOTTED.fullmatch(word):
        return after.lower() in _STARTERS
    return True


def _first_mark(at: _Stop) -> int:
    """The place of the sentence's first character."""
    match = _SPACE.match(at.text, at.start, at.end)
    return match.end() if match else at.start


def logical_lines(text: str) -> Iterator[Range]:
    """Half-open ranges that no line break ends inside, in order, each with at least one visible character.

    A logical line is a line of the text, or several lines of wrapped prose. A break only wraps when no line of its
    paragraph (lines without a blank one between them) is wider than `WIDEST`, the next line is neither a list item
    nor indented deeper, and either the line is unfinished and the next goes on in lower case, or the paragraph is set
    to a width and the next word would not have fitted. Verse, headings and lists keep their breaks.
    """
    for paragraph in _paragraphs(text):
        widest = max(end - start for start, end in paragraph)
        is_set = _is_set(paragraph, widest)
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


def _is_set(paragraph: list[Range], widest: int) -> bool:
    """True if most lines but the last come near the widest, as in prose broken to a width."""
    near = sum(end - start > 0.8 * widest for start, end in paragraph[:-1])
    return near >= 3 and 2 * near > len(paragraph) - 1


def _wraps(text: str, line: Range, after: Range, width: int | None) -> bool:
    """True if the break between two lines of a paragraph only wraps; `width` is what the paragraph is set to."""
    if _ITEM.match(text, *after) or _indent(text, after) > _indent(text, line):
        return False
    word = _FIRST_WORD.match(text, *after)
    first = word[1] if word else ""
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


def _indent(text: str, line: Range) -> int:
    match = _INDENT.match(text, *line)
    return len(match[0]) if match else 0
