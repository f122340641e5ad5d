"""Whole books: the windows of dense and sparse summaries hold what is summarised, with the lexical index."""

from pathlib import Path
from types import ModuleType

import pytest
from scripts import benchmark


@pytest.fixture(scope="module")
def alignment() -> ModuleType:
    """benchmarks/alignment.py, which reads the books and their summaries."""
    return benchmark("alignment")


def test_windows_hold_what_a_chinese_summary_tells(alignment: ModuleType, data: Path) -> None:
    book = alignment.chinese(data)
    dense, sparse = book.summaries["dense"], book.summaries["first sentences"]
    for way in ("sentences", "greedy"):
        recall, shown = alignment.shares_shown(book, [dense], way)
        assert recall >= 0.99
        assert shown <= (3.5 if way == "sentences" else 5)
    for every in (2, 3, 5):
        recall, shown = alignment.shares_shown(book, alignment.thinned_out(sparse, every), "sentences")
        assert recall >= 0.98
        assert shown <= 3.5


def test_windows_hold_what_an_english_summary_tells(alignment: ModuleType, data: Path) -> None:
    book = alignment.told_by_events(data, "Wildfell Hall")
    plain = book.summaries["plain"]
    for every in (1, 2, 3, 5):
        recall, shown = alignment.shares_shown(book, alignment.thinned_out(plain, every), "sentences")
        assert recall >= 0.98
        assert shown <= 3.5
    recall, _ = alignment.shares_shown(book, [book.summaries["reworded"]], "sentences")
    assert recall >= 0.9


@pytest.mark.parametrize("name", ["Chessmen of Mars", "Great Gatsby", "Sherlock Holmes"])
def test_windows_hold_what_other_english_summaries_tell(alignment: ModuleType, data: Path, name: str) -> None:
    book = alignment.told_by_events(data, name)
    recall, shown = alignment.shares_shown(book, [book.summaries["plain"]], "sentences")
    assert recall >= 0.98
    assert shown <= 3.6
    recall, shown = alignment.shares_shown(
        book, alignment.thinned_out(book.summaries["plain"], 3), "sentences"
    )
    assert recall >= 0.94
    assert shown <= 4.3
