"""Case files and what a batch makes of them."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from fakes import ChatServer

from longproof.report.saved import open_report

SOURCE = "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds.\n"
DAY = "On day {0} of the voyage Ada lit lamp {0} and Tom wrote line {0} into the log of the ship."
STORY = "\n\n".join(DAY.format(n) for n in range(300))


def case(id_: str, **more: object) -> dict[str, object]:
    return {"id": id_, "source_text": SOURCE, "response": "Ada lit the lamp at nine.", **more}


def write(folder: Path, rows: Iterable[object]) -> Path:
    """A case file; a text is a line as it stands."""
    path = folder / "cases.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path


def asking(server: ChatServer, home: Path, names: str = "m", **more: Any) -> dict[str, Any]:
    """Settings with these models of a server as judges."""
    return {"judges": [f"openai:{name}@{server.address}" for name in names], "home": str(home), **more}


def command(cases: Path, out: Path, server: ChatServer, *more: str, names: str = "m") -> list[str]:
    """The command that checks a case file with the same judges; its data folder is `LONGPROOF_HOME`."""
    judges = [part for judge in asking(server, out, names)["judges"] for part in ("--judge", judge)]
    return [sys.executable, "-m", "longproof", "batch", str(cases), "--out", str(out), *judges, *more]


def reports(out: Path) -> dict[str, dict[str, Any]]:
    """The reports but for their times, what a run paid and where data lay."""
    made: dict[str, dict[str, Any]] = {}
    for path in sorted((out / "reports").glob("*.json")):
        report = open_report(path).model_dump(mode="json")
        for name in ("created_at", "seconds", "paid", "settings"):
            report["stamp"].pop(name)
        made[path.stem] = report
    return made


def kill_after(command: Sequence[str], out: Path, n: int) -> dict[str, dict[str, Any]]:
    """Run a batch and kill it after so many reports; those that it left, each whole."""
    child = subprocess.Popen(command)
    while child.poll() is None and len(list((out / "reports").glob("*.json"))) < n:
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    left = reports(out)
    assert len(left) >= n
    return left


def fill_disk(home: Path) -> None:
    """Let the ledger take no more answers."""
    with closing(sqlite3.connect(home / "ledger.sqlite")) as db:
        full = "BEFORE INSERT ON calls BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        db.execute(f"CREATE TRIGGER full {full}")
