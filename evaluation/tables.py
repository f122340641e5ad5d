"""Scores as tables, in Markdown and on a terminal. A rate never stands without its denominator and coverage.

Does not know: how a score was computed.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from longproof.evaluation.headlines import Score
from longproof.evaluation.score import Section

if TYPE_CHECKING:
    from rich.console import Console

COLUMNS = ("score", "value", "95 % interval", "over", "n", "coverage")
UNDEFINED = "–"


def markdown(title: str, sections: Sequence[Section], footer: str) -> str:
    """One Markdown table a section."""
    lines = [f"# {title}", ""]
    for section in sections:
        lines += [f"## {section.title}", "", _row(COLUMNS), _row(("---",) * len(COLUMNS))]
        lines += [_row(cells(score)) for score in section.scores] + [""]
    return "\n".join([*lines, footer, ""])


def show(title: str, sections: Sequence[Section], console: "Console") -> None:
    """The same tables on a terminal."""
    from rich.table import Table
    from rich.text import Text

    console.print(Text(title, style="bold"))
    for section in sections:
        table = Table(*COLUMNS, title=Text(section.title), title_justify="left", box=None, pad_edge=False)
        for score in section.scores:
            table.add_row(*map(Text, cells(score)))
        console.print(table)


def cells(score: Score) -> tuple[str, ...]:
    """A score as text: name, value, interval, denominator in words and in size, coverage."""
    return (
        score.name,
        number(score.value),
        f"{number(score.low)} to {number(score.high)}" if score.low is not None else "",
        score.over,
        f"{score.n:,}",
        "" if score.coverage is None else number(score.coverage),
    )


def number(value: float | None) -> str:
    """Three decimals below ten, one above; an undefined score is a dash."""
    if value is None:
        return UNDEFINED
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escaped(cells)) + " |"


def _escaped(cells: Sequence[str]) -> Iterator[str]:
    for cell in cells:
        yield cell.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
