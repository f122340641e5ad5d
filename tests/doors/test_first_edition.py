"""What the first edition left behind still serves: its ledger answers unpaid, its reports and batches open.

The files under tests/golden/first_edition were written by that edition and are never written again: with
`LONGPROOF_WRITE_GOLDENS=1` only those that are missing are made.
"""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import recorded
from disputing import disputing
from fakes import Asked, ChatServer, Reply

from longproof.agent.models.model import Refused
from longproof.cli import main

OLD = Path(__file__).parent.parent / "golden" / "first_edition"
LEDGER, REPORT, BATCH = OLD / "ledger.sql", OLD / "report.json", OLD / "batch"
WRITES = bool(os.environ.get("LONGPROOF_WRITE_GOLDENS"))
PAID = [("longproof", "gray"), ("verigray-audit", "zh"), ("probe", "en")]
"""What the old ledger has answers for."""
NUMBERS = ("application_id", "user_version")
SOURCE, RESPONSE = recorded.cases("longproof")["gray"][:2]


def refusing(asked: Asked) -> Reply:
    return Reply(status=403, error={"message": "nothing is sold here"})


def decomposing(asked: Asked) -> Reply:
    """Sells what cuts sentences into claims, and nothing else."""
    return disputing(asked) if asked.form == "Sentences" else refusing(asked)


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    return int(stop.value.code or 0)


def dumped(file: Path) -> str:
    """A database as text, with the two numbers by which its owner is known."""
    with closing(sqlite3.connect(file)) as db:
        known = [f"PRAGMA {name} = {db.execute(f'PRAGMA {name}').fetchone()[0]};" for name in NUMBERS]
        return "\n".join([*known, *db.iterdump()]) + "\n"


def restored(dump: Path, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as db:
        db.executescript(dump.read_text("utf-8"))


def old_ledger(home: Path) -> None:
    """A data folder with nothing but the old ledger, at its old place."""
    if WRITES and not LEDGER.exists():
        paying = home.parent / "paying"
        for protocol, name in PAID:
            recorded.recorded(protocol, recorded.cases(protocol)[name], paying)
        OLD.mkdir(parents=True, exist_ok=True)
        (ledger,) = paying.glob("*.sqlite")
        LEDGER.write_text(dumped(ledger).replace(str(paying), "/somewhere/longproof"), "utf-8")
    restored(LEDGER, home / "ledger.sqlite")


@pytest.mark.parametrize(
    ("protocol", "name", "asked_anew"),
    [("verigray-audit", "zh", set()), ("probe", "en", {"Sentences"})],
    ids=["verigray-audit-zh", "probe-en"],
)
def test_an_old_ledger_still_answers(protocol: str, name: str, asked_anew: set[str], tmp_path: Path) -> None:
    """Papers' prompts stay. PROBE's claims come from our decomposer, which asks in another form since."""
    home = tmp_path / "home"
    old_ledger(home)
    with ChatServer(decomposing) as server, recorded.at(server):
        report = recorded.checked(protocol, recorded.cases(protocol)[name], home)
    assert {asked.form for asked in server.asked} == asked_anew
    assert recorded.kept(report) == golden(protocol, name)


def test_an_old_ledger_goes_on_with_the_new_prompts_of_our_own_protocol(tmp_path: Path) -> None:
    """What was bought for `longproof` then answers other prompts than are asked now: longer forms, no lines.
    It is paid for again, once, and what was bought then is kept."""
    home, case = tmp_path / "home", recorded.cases("longproof")["gray"]
    old_ledger(home)
    before = answers_in(home / "ledger.sqlite")
    with ChatServer(disputing) as server, recorded.at(server):
        report = recorded.checked("longproof", case, home)
    assert recorded.kept(report) == golden("longproof", "gray")
    assert before < answers_in(home / "ledger.sqlite")
    with ChatServer(refusing) as server, recorded.at(server):
        again = recorded.checked("longproof", case, home)
    assert server.asked == []
    assert again["stamp"]["paid"]["calls"] == 0


def golden(protocol: str, name: str) -> Any:
    return json.loads((recorded.GOLDEN / protocol / f"{name}.json").read_text("utf-8"))["report"]


def answers_in(ledger: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(ledger)) as db:
        return set(db.execute("SELECT key, answer FROM calls").fetchall())


def test_the_old_ledger_is_what_answers(tmp_path: Path) -> None:
    case = recorded.cases("verigray-audit")["zh"]
    with ChatServer(refusing) as server, recorded.at(server), pytest.raises(Refused):
        recorded.checked("verigray-audit", case, tmp_path / "home")
    assert server.asked


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of what the first edition left, with the source that was checked beside it."""
    if WRITES and not REPORT.exists():
        case = recorded.cases("longproof")["gray"]._replace(pages={})
        with ChatServer(disputing) as server, recorded.at(server):
            report = recorded.checked("longproof", case, tmp_path / "home")
        del report["stamp"]["settings"]["pages"]
        OLD.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(json.dumps(report, ensure_ascii=False) + "\n", "utf-8")
    shutil.copy(REPORT, tmp_path / "report.json")
    (tmp_path / "article.txt").write_text(SOURCE, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("door", "says"),
    [
        ((), "3 of 7 sentences are wrong"),
        (("--markdown", "page.md"), "3 of 7 sentences are wrong"),
        (("--html", "page.html"), "The harbour council paid for the new boat."),
    ],
    ids=str,
)
def test_an_old_report_is_shown(door: tuple[str, ...], says: str, folder: Path, capsys: Any) -> None:
    more = [folder / word if "." in word else word for word in door]
    assert run("report", folder / "report.json", "--source", folder / "article.txt", *more) == 0
    shown = (folder / door[1]).read_text("utf-8") if door else capsys.readouterr().out
    assert says in shown
    assert json.loads(REPORT.read_text("utf-8"))["schema_version"] == 1


def batch_of(cases: Path, out: Path, *more: str) -> int:
    rows = [
        {"id": f"ferry-{n}", "response": text, "source_text": SOURCE}
        for n, text in enumerate((RESPONSE, RESPONSE[:70]))
    ]
    cases.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    seats = [word for n in range(2) for word in ("--judge", f"openai:m{n}@{recorded.ADDRESS}")]
    return run("batch", cases, "--out", out, *seats, *more)


def test_an_old_batch_goes_on_without_checking_again(tmp_path: Path, capsys: Any) -> None:
    cases, out = tmp_path / "cases.jsonl", tmp_path / "out"
    if WRITES and not BATCH.exists():
        with ChatServer(disputing) as server, recorded.at(server):
            assert batch_of(cases, tmp_path / "made") == 0
        BATCH.mkdir(parents=True)
        shutil.copytree(tmp_path / "made" / "reports", BATCH / "reports")
        (BATCH / "batch.sql").write_text(dumped(tmp_path / "made" / "batch.sqlite"), "utf-8")
    shutil.copytree(BATCH / "reports", out / "reports")
    restored(BATCH / "batch.sql", out / "batch.sqlite")
    with ChatServer(refusing) as server, recorded.at(server):
        assert batch_of(cases, out) == 0
    assert server.asked == []
    for report in (BATCH / "reports").glob("*.json"):
        assert (out / "reports" / report.name).read_bytes() == report.read_bytes()
    assert [line.split(",")[0] for line in (out / "summary.csv").read_text("utf-8").splitlines()] == [
        "id",
        "ferry-0",
        "ferry-1",
    ]
    assert batch_of(cases, out, "--reach", "place") == 2
    assert "other settings" in capsys.readouterr().err, "a new setting that is given makes another batch"


def test_old_reports_make_an_index_page(tmp_path: Path) -> None:
    assert run("report", BATCH / "reports", "--html", tmp_path / "index.html") == 0
    assert "ferry-0" in (tmp_path / "index.html").read_text("utf-8")
