"""Outlines: headings of Chinese and English books, no tables of contents, openings where headings are rare."""

from itertools import pairwise

import pytest
from counted import assert_linear
from hypothesis import example, given
from hypothesis import strategies as st

from longproof.retrieval.outline import STRETCH, Entry, fit_entries, outline
from longproof.retrieval.text.chunking import evidence_lines

FIRST = "The boats came in late that evening, and nobody spoke of it afterwards."
PARAGRAPH = f"{FIRST} “No!” cried Ann.\n\n"


def told(text: str) -> list[str]:
    entries = outline(text, evidence_lines(text))
    return [" / ".join(text[start:end] for start, end in entry) for entry in entries]


@pytest.mark.parametrize(
    ("heading", "said"),
    [
        ("CHAPTER XI", f"CHAPTER XI / {FIRST}"),
        ("CHAPTER XI\n\nTHE BOATS", "CHAPTER XI / THE BOATS"),
        ("III.\n\nA CASE OF BOATS", "III. / A CASE OF BOATS"),
        ("IV. The Boats", "IV. The Boats"),
        ("## How the boats came", "## How the boats came"),
        ("第十二回 名士大宴莺脰湖", "第十二回 名士大宴莺脰湖"),
        ("第十二章", f"第十二章 / {FIRST}"),
        ("Epilogue", "Epilogue"),
    ],
)
def test_a_heading_is_told_with_its_title_or_the_words_behind_a_numeral(heading: str, said: str) -> None:
    assert told(PARAGRAPH + f"{heading}\n\n{PARAGRAPH}")[-1:] == [said]
    assert told(PARAGRAPH) == [FIRST], "a short text without headings opens somehow"


def test_a_table_of_contents_gives_way_to_the_headings_themselves() -> None:
    headings = [f"第{n}回 船来" for n in "一二三四五"]
    text = "\n".join(headings) + "\n\n" + "\n".join(f"{heading}\n船晚上才来。" * 3 for heading in headings)
    found = outline(text, evidence_lines(text))
    assert all(entry[0][0] >= len("\n".join(headings)) for entry in found)
    assert told(text)[0] == headings[0]


def test_long_stretches_without_headings_are_told_by_openings() -> None:
    text = "\n\n".join(f"On day {n} the boats came in late, and nobody spoke of it." for n in range(2000))
    found = outline(text, evidence_lines(text))
    assert len(found) >= 2 * len(text) // STRETCH
    starts = [entry[0][0] for entry in found]
    assert 0 < max(b - a for a, b in pairwise(starts)) < STRETCH
    assert all(text[start : start + 6] == "On day" for start in starts)


@given(st.text(alphabet="aI.第一回# \n\u3000“。", max_size=300))
def test_every_entry_lies_in_the_text(text: str) -> None:
    for entry in outline(text, evidence_lines(text)):
        assert entry
        for start, end in entry:
            assert 0 <= start < end <= len(text)
            assert text[start:end].strip()


@given(st.lists(st.integers(1, 200), max_size=60), st.integers(0, 2000))
@example([1] * 6, 6)
def test_what_is_fitted_never_holds_more_than_it_may(lengths: list[int], characters: int) -> None:
    entries: list[tuple[int, Entry]] = [(n, [(0, length)]) for n, length in enumerate(lengths)]
    kept = fit_entries(entries, characters)
    assert sum(end - start for _, entry in kept for start, end in entry) <= characters
    assert [n for n, _ in kept] == sorted({n for n, _ in kept})
    if sum(lengths) <= characters:
        assert len(kept) == len(entries)


@pytest.mark.parametrize("piece", ["I\n\n", "# a\nb\n", "ABCD\n\n", " \n"])
def test_an_outline_costs_little_for_hostile_text(piece: str) -> None:
    def outlined(size: int) -> None:
        text = piece * size
        fit_entries([(0, entry) for entry in outline(text, evidence_lines(text))], 4000)

    assert_linear(outlined, 1000)
