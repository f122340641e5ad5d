"""What a notebook shows of a report."""

from longproof.report.notebook import FINDINGS, in_short
from longproof.verifier import Report


def test_a_notebook_shows_the_outcome_and_the_first_findings_in_short(english_report):
    shown = Report.of(english_report[0], None)._repr_html_()
    assert shown == in_short(english_report[0])
    assert "✗ hallucinated" in shown
    assert 1 <= shown.count("<li>") <= FINDINGS + 1
    assert len(shown) < 6000


def test_nothing_of_a_hostile_report_is_markup(hostile_report):
    shown = in_short(hostile_report[0])
    assert "&lt;" in shown
    for alive in ("<script", "<img", "<a ", "<style", "\x1b", "\u202e"):
        assert alive not in shown
