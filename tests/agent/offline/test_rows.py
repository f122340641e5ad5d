import pytest
from asked import judgement

RECORD = """home.TEAM-NAME: Celtics
home.TEAM-TOV: 16
players[0].PLAYER_NAME: Isaiah Thomas
players[0].PTS: 38
players[0].AST: 4
players[0].STL: 0
players[1].PLAYER_NAME: Al Horford
players[1].PTS: 11
players[1].REB: 8
players[2].PLAYER_NAME: Marcus Morris
players[2].PTS: 8
players[3].PLAYER_NAME: Markieff Morris
players[3].PTS: 9"""


@pytest.mark.parametrize(
    ("told", "wrong", "correction"),
    [
        ("Isaiah Thomas had 38 points and six assists.", "six", "4"),
        ("Thomas led the Celtics with 38 points, four assists and a steal.", "a", None),
        ("Thomas scored 38 points, and Horford had 12 points.", "12", "11"),
        ("Horford had an 11-point, 12-rebound double-double.", "12", "8"),
        ("The Celtics committed 19 turnovers.", "19", "16"),
    ],
)
def test_figures_are_read_in_the_row_of_the_one_named(told, wrong, correction):
    found = judgement(RECORD, told)
    assert found.label == "contradicting"
    assert (found.errors[0].span.text, found.errors[0].correction) == (wrong, correction)
    assert told[found.errors[0].span.start : found.errors[0].span.end] == wrong
    assert found.quotes[0].text in RECORD.splitlines()


@pytest.mark.parametrize(
    "told",
    [
        "Isaiah Thomas averaged 25 points.",
        "Jae Crowder had 12 points.",
        "Morris had 12 points.",
        "Thomas made a three-point shot.",
        "Thomas had 38 points.",
        "Thomas had about 40 points.",
        "The Celtics had a 30-point lead.",
    ],
)
def test_sums_averages_and_unknown_names_are_left_alone(told):
    assert judgement(RECORD, told).failure == "needs_model"
