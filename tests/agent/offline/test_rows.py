from longproof.agent.offline.rows import figures_of_rows

RECORD = """home.TEAM-NAME: Celtics
players[0].PLAYER_NAME: Isaiah Thomas
players[0].PTS: 38
players[0].AST: 4
players[1].PLAYER_NAME: Al Horford
players[1].PTS: 11
players[1].AST: 8"""


def wrong(see, told: str) -> list[tuple[str, str]]:
    found = figures_of_rows(see(RECORD, told, task="article"))
    return [(told[f.start : f.end], f.correction) for f in found]


def test_figures_are_read_in_the_row_of_the_one_named(see):
    assert wrong(see, "Isaiah Thomas had 38 points and six assists.") == [("six assists", "4 assist")]
    assert wrong(see, "Thomas scored 11 points, and Horford had 11 points.") == [("11 points", "38 points")]


def test_sums_averages_and_unknown_names_are_left_alone(see):
    assert wrong(see, "Isaiah Thomas averaged 25 points.") == []
    assert wrong(see, "Jae Crowder had 12 points.") == []
