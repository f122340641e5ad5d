"""Marks that come in pairs: quotations, brackets, titles.

Knows: which opening mark belongs to which closing one, and which ranges between them are short enough to
be held together.
Does not know: sentences or what is quoted.
"""

import re
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass

HELD = 150
"""A quotation or bracket of at most this many characters, marks included, is held together."""

NESTED = 16
"""At most this many marks are open at once; the oldest is forgotten, so that hostile text costs no more."""

_OPENER = dict(zip("”」』）)】》〉］]’»", "“「『（(【《〈［[‘«", strict=True))
_MARK = re.compile(r"[“”「」『』（）()【】《》〈〉［］\[\]\"‘«»]|’(?!\w)|\n\s*\n")
_BEFORE_OPENING = re.compile(r"[\s(\[（“‘—:：,，-]")


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of a text: each closing place with its opening one, and the ranges that are held together."""

    opener: dict[int, int]
    straight: frozenset[int]
    starts: list[int]
    ends: list[int]

    def holds(self, place: int) -> bool:
        """Whether the place lies strictly inside a range that is held together."""
        index = bisect_right(self.starts, place) - 1
        return index >= 0 and self.starts[index] < place < self.ends[index]

    def before_opener(self, text: str, start: int, end: int) -> int:
        """The end of `[start, end)`, drawn back before the first straight quotation mark in it that opens."""
        while (start := text.find('"', start, end)) >= 0:
            if start in self.straight:
                return start
            start += 1
        return end


def pairs(text: str) -> Pairs:
    """Match the paired marks of a text. Marks without a partner in their paragraph count as nothing."""
    stack: deque[int] = deque(maxlen=NESTED)
    found = Pairs({}, frozenset(), [], [])
    for match in _MARK.finditer(text):
        place, mark = match.start(), match[0]
        if mark[0] == "\n":
            stack.clear()
        elif mark == '"':
            _meet_straight(text, place, stack, found)
        elif mark in _OPENER:
            _close(text, place, _OPENER[mark], stack, found)
        else:
            stack.append(place)
    straight = frozenset(opener for opener in found.opener.values() if text[opener] == '"')
    return Pairs(found.opener, straight, found.starts, found.ends)


def _meet_straight(text: str, place: int, stack: deque[int], found: Pairs) -> None:
    """A straight mark closes an open one, unless it plainly opens: space before it and none behind."""
    after_space = place == 0 or _BEFORE_OPENING.match(text, place - 1)
    opens = after_space and text[place + 1 : place + 2].strip() != ""
    if any(text[other] == '"' for other in stack) and not (opens and text[place - 1].isspace()):
        _close(text, place, '"', stack, found)
    elif not text[place - 1 : place].isdigit():
        stack.append(place)


def _close(text: str, place: int, opening: str, stack: deque[int], found: Pairs) -> None:
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
