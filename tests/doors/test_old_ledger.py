"""Paid answers are never lost: a ledger of the first edition still answers.

tests/golden/old_ledger.sql was written by that edition and is never written again.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import recorded
from disputing import disputing
from fakes import ChatServer
from reader import Asked, Reply

LEDGER = Path(__file__).parent.parent / "golden" / "old_ledger.sql"


def decomposing(asked: Asked) -> Reply:
    """Sells what cuts sentences into claims, and nothing else."""
    refusal = Reply(status=403, error={"message": "nothing is sold here"})
    return disputing(asked) if asked.form == "Sentences" else refusal


@pytest.mark.parametrize(
    ("protocol", "name", "asked_anew"), [("verigray-audit", "zh", set()), ("probe", "en", {"Sentences"})]
)
def test_an_old_ledger_still_answers(protocol, name, asked_anew, tmp_path):
    """Papers' prompts stay. PROBE's claims come from our decomposer, which asks in another form since.

    A refusal in so many words is no form today; the golden report has one that its server calls a refusal.
    """
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as db:
        db.executescript(LEDGER.read_text("utf-8"))
    with ChatServer(decomposing) as server, recorded.at(server):
        report = recorded.checked(protocol, recorded.cases(protocol)[name], tmp_path)
    assert {asked.form for asked in server.asked} == asked_anew
    golden = (recorded.GOLDEN / protocol / f"{name}.json").read_text("utf-8")
    for beginning in ('"!', "m0 ", "m1 ", "m2 "):
        golden = golden.replace(f'{beginning}refused"', f'{beginning}unparsed"')
    assert recorded.kept(report) == json.loads(golden)["report"]
