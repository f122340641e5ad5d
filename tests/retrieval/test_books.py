"""Whole books: the windows of dense and sparse summaries hold what is summarised, with the lexical index."""

from pathlib import Path

import pytest
from scripts import benchmark


@pytest.mark.parametrize("kind", ["dense", "first sentences"])
def test_windows_hold_what_a_chinese_summary_tells(kind: str, data: Path) -> None:
    alignment = benchmark("alignment")
    book = alignment.chinese(data)
    for every in (1, 2, 3, 5):
        summary = alignment.thinned_out(book.summaries[kind], every)
        recall, shown = alignment.shares_shown(book, summary, "sentences")
        assert recall == 1.0 or (kind, every) == ("dense", 5)
        assert recall >= 0.99
        assert shown <= 3.2
    recall, shown = alignment.shares_shown(book, [book.summaries["dense"]], "greedy")
    assert recall >= 0.99
    assert shown <= 5


@pytest.mark.parametrize(
    ("name", "steps", "least", "most"),
    [
        ("Wildfell Hall", (1, 2, 3, 5), 0.98, 3.5),
        *((name, (1, 3), 0.94, 4.3) for name in ("Chessmen of Mars", "Great Gatsby", "Sherlock Holmes")),
    ],
)
def test_windows_hold_what_an_english_summary_tells(data, name, steps, least, most):
    alignment = benchmark("alignment")
    book = alignment.open_book(data, name)
    for every in steps:
        summary = alignment.thinned_out(book.summaries["plain"], every)
        recall, shown = alignment.shares_shown(book, summary, "sentences")
        assert recall >= (0.98 if every == 1 else least)
        assert shown <= most
    if reworded := book.summaries.get("reworded"):
        assert alignment.shares_shown(book, [reworded], "sentences")[0] >= 0.9
