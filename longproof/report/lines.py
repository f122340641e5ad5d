"""Text folded to a width in terminal cells, Chinese and English.

Knows: that wide characters take two cells, that a line may break between them but not before closing marks or
after opening ones (a short form of JIS X 4051's rule), and that a word longer than a line is cut.
Does not know: what the text says.
"""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

_NEVER_FIRST = "，。！？；：、）】》〉」』”’…—·,.!?;:)]}％%»"
_NEVER_LAST = "（【《〈「『“‘([{«"


def fold(text: Text, width: int) -> Text:
    """The same text with line breaks, no line wider than `width` cells. Spaces at a break are dropped."""
    width = max(width, 2)
    lines = [line for given in text.split("\n", allow_blank=True) for line in _fold_line(given, width)]
    return Text("\n", no_wrap=True).join(lines)


def _fold_line(line: Text, width: int) -> Iterator[Text]:
    plain, start = line.plain, 0
    while start < len(plain):
        end = _break(plain, start, width)
        piece = line[start:end]
        piece.rstrip()
        yield piece
        start = end
        while start < len(plain) and plain[start] == " ":
            start += 1
    if not plain:
        yield line


def _break(plain: str, start: int, width: int) -> int:
    cells, last = 0, 0
    for at in range(start, len(plain)):
        if at > start and _may_break(plain[at - 1], plain[at]):
            last = at
        cells += cell_len(plain[at])
        if cells > width and plain[at] != " ":
            return last or max(at, start + 1)
    return len(plain)


def _may_break(before: str, after: str) -> bool:
    if before == " " or after == " ":
        return after != " "
    wide = cell_len(before) == 2 or cell_len(after) == 2
    return wide and after not in _NEVER_FIRST and before not in _NEVER_LAST
