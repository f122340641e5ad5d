"""Lines are cited by number and beginning: what is shown can be cited, and nothing else is believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seam import lines_of

from longproof.agent.evidence.citations import (
    begins,
    check_citations,
    line_blocks,
    ranges,
    read_citation,
    runs,
)
from longproof.retrieval.types import Line, Span

TEXTS = st.lists(st.text(min_size=1).filter(lambda text: "\0" not in text), min_size=1, max_size=8)


def line(text: str, number: int = 0) -> Line:
    return Line(number, Span(source_id="s", start=0, end=len(text), text=text))


@pytest.mark.parametrize(
    "text",
    ["I... don't know what", "He… he is dead.", "我……我不知道。", "Oh ... no one came.", "So; he went away"],
)
def test_a_line_with_an_ellipsis_or_a_semicolon_can_be_cited_as_it_stands(text: str) -> None:
    known = dict(enumerate(lines_of(text)))
    assert check_citations(f"0 {text}", known) == ([0], 0)
    assert check_citations(f"0 {text}; 7 Ada", known) == ([0], 1)


@given(st.text())
def test_nothing_breaks_the_reader(text: str) -> None:
    assert check_citations(text, {})[0] == []


@given(TEXTS)
def test_every_line_is_shown_on_one_line(texts: list[str]) -> None:
    lines = [line(text, number) for number, text in enumerate(texts)]
    (block,) = line_blocks(lines)
    assert [row.split("|")[0] for row in block.split("\n")] == [str(n) for n in range(len(texts))]
    assert len(block.splitlines()) == len(texts)


def test_runs_are_cut_at_gaps_and_pages_stay_apart() -> None:
    lines = [line("a", n) for n in (3, 4, 9, -1, -2, 0)]
    assert [[x.number for x in run] for run in runs(lines)] == [[3, 4], [9], [-1], [-2], [0]]
    assert line_blocks(lines)[2] == "P1| a"
    assert ranges([7, 3, 4, 5, 9, 3]) == "3-5, 7, 9"


def test_forms_of_citing() -> None:
    cited = {
        "12| Ada\n lit": (12, 12, "Ada lit"), "[12] Ada lit": (12, 12, "Ada lit"), "12": (12, 12, ""),
        "12-14 Ada lit": (12, 14, "Ada lit"), "12 -5 degrees": (12, 12, "-5 degrees"),
        "P2 the page": (-2, -2, "the page"), "P0 the page": None, "Ada 12": None, "9" * 5000 + " Ada": None,
    }  # fmt: skip
    assert {text: read_citation(text) for text in cited} == cited


def test_a_range_is_proved_by_the_beginning_of_its_first_line() -> None:
    known = {n: line(f"Line number {n}.", n) for n in (*range(60), 61)}
    assert check_citations("3-5 line number 3; 7-6 line number 7", known) == ([3, 4, 5, 7], 0)
    assert check_citations("3-5 line number 4", known) == ([], 1)
    assert check_citations("20-90 line number 20", known)[0] == list(range(20, 60))


def test_beginnings() -> None:
    fits = {
        ("Ada lit the lamp.", "Ada lit"): True,
        ("“Ada  lit\nthe lamp.", "ada LIT the"): True,
        ("她點燃了燈。", "她点"): True,
        ("她點燃了燈。", "她"): False,
        ("Ada lit the lamp.", "Ada"): False,
        ("Ada lit the lamp.", "lit the lamp"): False,
        ("Ada lit the lamp.", "Ada lit the lamp. Then she left"): False,
        ("No!", "No"): True,
        ("* * *", "* * *"): False,
        ("Ada lit the lamp.", ""): False,
    }
    assert {both: begins(*both) for both in fits} == fits


def test_an_answer_of_nothing_but_semicolons_is_read_to_its_end() -> None:
    """Work that grew with the square of its length would not end before the test is stopped."""
    known = dict(enumerate(lines_of("Ada lit the lamp.")))
    for answer in ("0 zzzzz" + ";a" * 60_000, "0 Ada lit;" * 15_000, "0" + "," * 120_000 + ";a;a;a"):
        check_citations(answer, known)
