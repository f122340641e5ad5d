"""Scores, their sections, and the Markdown tables of them. A rate never stands without its denominator and coverage.

Does not know: how a score was computed.
"""

from collections.abc import Iterator, Sequence

from longproof.retrieval.types import Frozen

COLUMNS = ("score", "value", "95 % interval", "over", "n", "coverage")
UNDEFINED = "–"


class Score(Frozen):
    """One number: its denominator in words and in size, its coverage, and where it has one its interval."""

    name: str
    value: float | None
    over: str
    n: int
    coverage: float | None = None
    low: float | None = None
    high: float | None = None


class Section(Frozen):
    """Scores that belong together."""

    title: str
    scores: tuple[Score, ...]


def plain_scores(coverage: float | None, *scores: tuple[str, float | None, str, int]) -> Iterator[Score]:
    """Scores without intervals, of one coverage: name, value, denominator in words, its size."""
    for name, value, over, n in scores:
        yield Score(name=name, value=value, over=over, n=n, coverage=coverage)


def score_tables(title: str, sections: Sequence[Section], footer: str) -> str:
    """One Markdown table a section."""
    lines = [f"# {title}", ""]
    for section in sections:
        lines += [f"## {section.title}", "", table_row(COLUMNS), table_row(("---",) * len(COLUMNS))]
        lines += [table_row(_cells(score)) for score in section.scores] + [""]
    return "\n".join([*lines, footer, ""])


def _cells(score: Score) -> tuple[str, ...]:
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


def table_row(cells: Sequence[str]) -> str:
    """A line of a Markdown table; what the cells hold stays text."""
    return "| " + " | ".join(_escape(cells)) + " |"


def _escape(cells: Sequence[str]) -> Iterator[str]:
    for cell in cells:
        yield cell.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
