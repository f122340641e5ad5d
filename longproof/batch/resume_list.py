"""The resume list of a batch: which cases are done and which are left, in one SQLite file that locks the folder.

Knows: the cases of the case file by name, which are checked together, how each ended, what is left; it holds all of
that on the disk, so that memory doesn't grow with the number of cases. The lock is the open file: the death of its
holder frees it.
Does not know: how a case is checked, or what its report says.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

from longproof.agent.models.model import UNANSWERED
from longproof.agent.types import Report, Usage
from longproof.batch.cases import (
    CaseLine,
    GivenCase,
    case_key,
    case_lines,
    case_name,
    file_name,
    given_case,
    group_key,
    sources_key,
)
from longproof.graphs.joined import case_groups
from longproof.retrieval.files import make_folder, private_file
from longproof.retrieval.types import BadInput, Frozen

FILE = "batch.sqlite"
CaseState = Literal["todo", "done", "unfinished", "failed"]
"""`unfinished`: there is a report, but some calls were never answered; the next run takes it up again."""
TABLES = """
CREATE TABLE IF NOT EXISTS batch (settings TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS cases (
  name TEXT PRIMARY KEY COLLATE NOCASE, id TEXT NOT NULL, line INTEGER NOT NULL, offset INTEGER NOT NULL,
  length INTEGER NOT NULL, sources TEXT NOT NULL, key TEXT NOT NULL, seen INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'todo', summary TEXT NOT NULL DEFAULT '', failure TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS cases_by_line ON cases(line);
CREATE TABLE IF NOT EXISTS groups (name TEXT PRIMARY KEY COLLATE NOCASE, id TEXT NOT NULL);
CREATE TEMP TABLE joinable (
  name TEXT PRIMARY KEY COLLATE NOCASE, line INTEGER NOT NULL, key TEXT NOT NULL, pair TEXT
);
CREATE TEMP TABLE planned (name TEXT PRIMARY KEY COLLATE NOCASE, id TEXT NOT NULL);
"""
PLANNED = (
    "INSERT INTO cases (name, id, line, offset, length, sources, key, seen) VALUES (?, ?, ?, ?, ?, ?, ?, 1)"
    " ON CONFLICT (name) DO UPDATE SET id = excluded.id, line = excluded.line, offset = excluded.offset,"
    " length = excluded.length, sources = excluded.sources, seen = 1, key = excluded.key,"
    " state = CASE WHEN key = excluded.key THEN state ELSE 'todo' END,"
    " summary = CASE WHEN key = excluded.key THEN summary ELSE '' END"
)

REGROUPED = """
UPDATE cases SET state = 'todo', summary = '' WHERE seen AND state != 'failed' AND
  coalesce((SELECT id FROM groups WHERE groups.name = cases.name), '')
  != coalesce((SELECT id FROM planned WHERE planned.name = cases.name), '')
"""
"""A report belongs to the group that its case was checked with; in another group it is made anew."""

LEFT = "seen AND (state IN ('todo', 'unfinished')"
LEFT += " OR CASE WHEN :again AND state = 'done' THEN json_extract(summary, '$.verdict') = 'undecided' ELSE 0 END)"
"""Which cases are left; with `again`, also those that nobody could decide."""


class Todo(NamedTuple):
    """A case that is to be checked: the name of its report, its id and its line.

    `left` is false for one that has its report and is checked again with its group, for the others' sake.
    """

    name: str
    id: str
    line: CaseLine
    left: bool = True


class Summary(Frozen):
    """One line of the summary table. `usage` is what the answers cost when they were bought."""

    name: str
    id: str
    verdict: str
    triage: bool = False
    claims: int
    counts: dict[str, int]
    coverage: float
    usage: Usage


class ResumeList:
    """The cases of a batch with their states. Open it with `open_resume_list`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def plan(self, cases: Path, written: Callable[[str], bool], *, joined: bool = False) -> None:
        """Enter all cases of a file; what was done stays done where its report is still `written`.

        Lines that are no cases are entered as failed; cases that are no longer in the file are left out. `joined`:
        short cases about one long source are checked together; the groups follow from the file alone.
        Raises BadInput where two cases have one id, or ids that make one file name.
        """
        with self._db:
            self._db.execute("UPDATE cases SET seen = 0")
            self._db.execute("DELETE FROM cases WHERE state = 'failed'")
            for line, data in case_lines(cases):
                try:
                    case = given_case(data)
                except BadInput as error:
                    name = case_name(data, line)
                    self._enter(name, line, "", "")
                    self._end(file_name(name), "failed", failure=str(error))
                else:
                    self._plan_case(case, line, cases.parent, written, joined=joined)
            self._plan_groups()

    def todo(self, *, again: bool = False) -> Iterator[list[Todo]]:
        """What is left, in the groups that are checked together; groups with the same sources behind each other.

        A group comes whole if one of its cases is left. `again`: also what nobody could decide.
        """
        found = self._db.execute(
            f"WITH grouped AS (SELECT cases.*, coalesce(groups.id, cases.name) AS together, {LEFT} AS unmade"
            " FROM cases LEFT JOIN groups ON groups.name = cases.name WHERE seen)"
            " SELECT together, unmade, name, id, line, offset, length,"
            " min(line) OVER (PARTITION BY sources) AS first, min(line) OVER (PARTITION BY together) AS head"
            " FROM grouped WHERE together IN (SELECT together FROM grouped WHERE unmade)"
            " ORDER BY first, head, line",
            {"again": again},
        )
        for _, rows in groupby(found, key=itemgetter(0)):
            yield [Todo(name, id_, CaseLine(*line), bool(left)) for _, left, name, id_, *line, _, _ in rows]

    def left(self, *, again: bool = False) -> int:
        """How many `todo` gives."""
        found = self._db.execute(f"SELECT count(*) FROM cases WHERE {LEFT}", {"again": again})
        count: int = found.fetchone()[0]
        return count

    def done(self, name: str, report: Report) -> None:
        """Enter a case whose report is written."""
        left = any(claim.label is None and claim.failure in UNANSWERED for claim in report.claims)
        with self._db:
            self._end(
                name, "unfinished" if left else "done", summary=_summary(name, report).model_dump_json()
            )

    def failed(self, name: str, failure: str) -> None:
        """Enter a case that could not be checked."""
        with self._db:
            self._end(name, "failed", failure=failure)

    def states(self) -> dict[CaseState, int]:
        """How many cases are in which state."""
        found: dict[CaseState, int] = dict.fromkeys(("todo", "done", "unfinished", "failed"), 0)
        found.update(
            self._db.execute("SELECT state, count(*) FROM cases WHERE seen GROUP BY state").fetchall()
        )
        return found

    def verdicts(self) -> dict[str, int]:
        """How many reports have which verdict."""
        return dict(
            self._db.execute(
                "SELECT json_extract(summary, '$.verdict') AS verdict, count(*) FROM cases"
                " WHERE seen AND summary != '' GROUP BY verdict"
            ).fetchall()
        )

    def summaries(self) -> Iterator[Summary]:
        """The lines of the summary, in the file's order."""
        found = self._db.execute("SELECT summary FROM cases WHERE seen AND summary != '' ORDER BY line")
        for (text,) in found:
            yield Summary.model_validate_json(text)

    def failures(self) -> Iterator[tuple[int, str, str]]:
        """CaseLine, id and reason of each case that could not be checked."""
        yield from self._db.execute(
            "SELECT line, id, failure FROM cases WHERE seen AND state = 'failed' ORDER BY line"
        )

    def _plan_case(
        self, case: GivenCase, line: CaseLine, folder: Path, written: Callable[[str], bool], *, joined: bool
    ) -> None:
        name = file_name(str(case.id))
        self._enter(str(case.id), line, sources_key(case, folder), case_key(case, folder))
        if not written(name):
            self._end(name, "todo")
        if joined and (key := group_key(case, folder)):
            self._db.execute("INSERT INTO joinable VALUES (?, ?, ?, ?)", (name, line.number, key, case.pair))

    def _plan_groups(self) -> None:
        """Which cases are checked together. A group is named by its cases, so that another one has another name."""
        found = self._db.execute(
            "SELECT joinable.key, pair, cases.name, cases.key FROM joinable JOIN cases USING (name)"
            " ORDER BY joinable.key, joinable.line"
        )
        for group in case_groups((key, pair, (name, own)) for key, pair, name, own in found):
            if len(group) > 1:
                id_ = sha256(" ".join(own for _, own in group).encode()).hexdigest()
                self._db.executemany("INSERT INTO planned VALUES (?, ?)", [(name, id_) for name, _ in group])
        self._db.execute(REGROUPED)
        self._db.execute("DELETE FROM groups")
        self._db.execute("INSERT INTO groups SELECT * FROM planned")
        self._db.execute("DELETE FROM planned")
        self._db.execute("DELETE FROM joinable")

    def _enter(self, id_: str, line: CaseLine, sources: str, key: str) -> None:
        name = file_name(id_)
        known = self._db.execute("SELECT id, line FROM cases WHERE name = ? AND seen", (name,)).fetchone()
        if known:
            same = "the same id" if known[0] == id_ else f"ids that make one file name, {name!r}"
            raise BadInput(f"lines {known[1]} and {line.number} have {same}: rename one")
        self._db.execute(PLANNED, (name, id_, *line, sources, key))

    def _end(self, name: str, state: CaseState, *, summary: str = "", failure: str = "") -> None:
        self._db.execute(
            "UPDATE cases SET state = ?, summary = ?, failure = ? WHERE name = ?",
            (state, summary, failure, name),
        )


@contextmanager
def open_resume_list(folder: Path, settings: dict[str, Any]) -> Iterator[ResumeList]:
    """The resume list of a folder, for this process alone; made where there is none.

    Raises BadInput where the folder can't be made, another run holds it, or it is another batch's.
    """
    make_folder(folder)
    with suppress(OSError):  # SQLite says better what is wrong
        private_file(folder / FILE)
    db = sqlite3.connect(folder / FILE, timeout=0)
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.executescript(TABLES)
        _refuse_other_batch(db, folder, settings)
        yield ResumeList(db)
    except sqlite3.Error as error:
        raise BadInput(
            f"can't use {folder / FILE}: {error}; wait for the other run, or choose another folder"
        ) from error
    finally:
        db.close()


def _refuse_other_batch(db: sqlite3.Connection, folder: Path, settings: dict[str, Any]) -> None:
    """What was left unset or off is not compared: a batch goes on though settings were added to the program since."""
    given = _set(settings)
    with db:
        known = db.execute("SELECT settings FROM batch").fetchone()
        if known is None:
            db.execute("INSERT INTO batch VALUES (?)", (json.dumps(given, sort_keys=True),))
        elif _set(json.loads(known[0])) != given:
            raise BadInput(
                f"{folder} holds a batch with other settings: choose another folder, or the same settings"
            )


def _set(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value}


def _summary(name: str, report: Report) -> Summary:
    return Summary(
        name=name,
        id=report.case.id,
        verdict=report.verdict,
        triage=report.triage,
        claims=len(report.claims),
        counts=report.counts,
        coverage=report.coverage,
        usage=report.usage,
    )
