"""Tables: a hostile name stays a cell, an undefined score a dash."""

from longproof.evaluation.tables import Score, Section, score_tables

SECTION = Section(
    title="By model",
    scores=(
        Score(name="a|b <img>\n[red]x: recall", value=None, over="hallucinated", n=0),
        Score(name="MCC", value=0.12345, over="responses", n=1200, coverage=0.5, low=-0.1, high=0.3),
    ),
)


def test_markdown_keeps_one_row_a_score() -> None:
    text = score_tables("title", [SECTION], "footer")
    assert "| a\\|b &lt;img> [red]x: recall | – |  | hallucinated | 0 |  |" in text
    assert "| MCC | 0.123 | -0.100 to 0.300 | responses | 1,200 | 0.500 |" in text
