"""What goes along when words are taken out of a text: the marks, spaces and line breaks that only they needed.

Knows: the punctuation of Chinese and English, lines, items of lists. Does not know: why words are taken out.
"""

import re

CLOSING = dict(zip("([{（［“‘「『《〈【", ")]}）］”’」』》〉】", strict=True))
PAUSES, ENDS = ",;:、，；：—–", ".!?…。！？"
AFTER_WORDS = {*",;:、，；：", *ENDS, *CLOSING.values(), '"'}
"""What no space stands before."""
_OPENING = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?")
"""How a line may begin without saying anything: an item's bullet or number."""
_BREAKS = re.compile(r"(?:[ \t]*\n)+")


def left_over(left: str, right: str) -> tuple[int, int]:
    """Of a text without some words, how many characters before and after them go, too."""
    before, after = left, right
    while any(taken := _marks(before, after)):
        before, after = before[: len(before) - taken[0]], after[taken[1] :]
    taken = _line(before, after) or _spaces(before, after)
    return len(left) - len(before) + taken[0], len(right) - len(after) + taken[1]


def _marks(left: str, right: str) -> tuple[int, int]:
    """A pair of brackets around nothing, or one mark of two between which nothing is left."""
    words_before, words_after = left.rstrip(" \t"), right.lstrip(" \t")
    before, after = words_before[-1:], words_after[:1]
    starts, ends = _opening(left) is not None, after in ("", "\n")
    in_left, in_right = len(left) - len(words_before) + 1, len(right) - len(words_after) + 1
    if before and (CLOSING.get(before) == after or left[-1:] == right[:1] == '"'):
        return in_left, in_right
    pauses, stops = after != "" and after in PAUSES, after != "" and after in ENDS
    if (pauses or stops) and (starts or before in CLOSING or before in ENDS):
        return 0, in_right
    if before and before in PAUSES and not starts:
        if pauses:
            return 0, in_right
        if ends or stops or after in CLOSING.values():
            return in_left, 0
    return 0, 0


def _line(left: str, right: str) -> tuple[int, int] | None:
    """A line on which nothing is left goes with one of the breaks around it: the wider one stays."""
    opening, below = _opening(left), _BREAKS.match(right)
    if opening is None or not (below or not right.strip()):
        return None
    above = left[: len(left) - opening]
    blank = len(above) - len(above.rstrip())
    if below and (blank == len(above) or above[-blank:].count("\n") >= below[0].count("\n")):
        return opening, below.end()
    return opening + blank, 0


def _spaces(left: str, right: str) -> tuple[int, int]:
    """One side's spaces, where the other side's are enough, or there should be none."""
    in_left, in_right = len(left) - len(left.rstrip(" \t")), len(right) - len(right.lstrip(" \t"))
    after, starts = right[in_right:][:1], _opening(left) is not None
    if not starts and (after in ("", "\n") or after in AFTER_WORDS):
        return in_left, 0
    if starts or in_left or left[-1:] in CLOSING:
        return 0, in_right
    return 0, 0


def _opening(left: str) -> int | None:
    """The length of the beginning of the last line, if it has no more than that."""
    line = left[left.rfind("\n") + 1 :]
    return len(line) if _OPENING.fullmatch(line) else None
