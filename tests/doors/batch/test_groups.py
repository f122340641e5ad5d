"""Short cases about one long source, checked together: told by the file, taken up, pairs apart, no case
harmed by another."""

import os
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import batches
import pytest
from batches import reports
from fakes import ChatServer
from reader import well

from longproof.agent.models.ledger import LedgerFailed
from longproof.agent.types import Case, Report, Usage
from longproof.batch.run import BatchDone, FileCases, check_cases, plan_cases
from longproof.graphs.runner import local_engine, plan_groups
from longproof.graphs.verifier import Verifier
from longproof.retrieval.types import BadInput, Document

STORY = "\n\n".join(
    f"On day {n} of the voyage Ada lit lamp {n} and Tom wrote line {n} into the log of the ship."
    for n in range(300)
)


def row(n: int, **more: object) -> dict[str, object]:
    return {"id": f"case-{n}", "source": "story.txt", "response": f"Ada lit lamp {n}."} | more


def write(folder: Path, rows: Iterable[object]) -> Path:
    (folder / "story.txt").write_text(STORY, "utf-8")
    os.utime(folder / "story.txt", (1, 1))
    return batches.write(folder, rows)


def check(cases: Path, out: Path, server: ChatServer) -> BatchDone:
    return check_cases(cases, out, settings=batches.asking(server, out.parent / "home"))


def together(out: Path) -> dict[str, list[str]]:
    """Each case of the folder, with those that were checked with it."""
    return {name: report["stamp"].get("group", {}).get("cases", []) for name, report in reports(out).items()}


def test_the_file_tells_the_groups_in_its_order(tmp_path: Path) -> None:
    rows = [
        row(1),
        row(2, task="answer"),
        row(3, context="Which lamp?"),
        row(4, response="Ada lit lamp 4. " * 80),
        row(5),
        row(6, source=None, source_text=STORY),
        row(7, source=None, source_text=STORY[:16_000]),
        row(8, source=None, source_text=STORY[:16_000]),
        row(9, response=" … "),
        row(10, reference="Ada lit it."),
        row(11, source=None, source_text=STORY),
        row(12, task="answer"),
        "no case",
    ]
    planned = plan_cases(write(tmp_path, rows), joined=True)
    found = [[one.name for one in group] for group in plan_groups(planned)]
    wanted = [[1, 5], [2, 12], [3], [4], [9], [10], [6, 11], [7], [8]]
    assert found == [*([f"case-{n}" for n in group] for group in wanted), ["line_13"]]


def test_a_group_has_a_report_a_case_whose_figures_add_up(tmp_path: Path) -> None:
    cases = write(tmp_path, [row(n) for n in range(6)])
    with ChatServer(well) as server:
        done = check(cases, tmp_path / "out", server)
        asked = len(server.asked)
    assert done.states == {"done": 6}
    assert done.paid.calls == asked < 12
    found = reports(tmp_path / "out")
    assert sum(report["usage"]["calls"] for report in found.values()) == asked
    assert together(tmp_path / "out") == {name: [f"case-{n}" for n in range(6)] for name in found}
    responses = [report["case"]["response"] for report in found.values()]
    assert responses == [f"Ada lit lamp {n}." for n in range(6)]


def test_no_prompt_holds_two_cases_of_a_pair(tmp_path: Path) -> None:
    rows = []
    for n, side in product(range(8), ("north", "south")):
        rows.append(row(n, id=f"{n}-{side}", response=f"Ada lit lamp {n} {side}.", pair=f"p{n}"))
    with ChatServer(well) as server:
        check(write(tmp_path, rows), tmp_path / "out", server)
        prompts = [one.user + one.system for one in server.asked]
    shown = [[str(one["pair"]) for one in rows if str(one["response"]) in prompt] for prompt in prompts]
    assert all(len(pairs) == len({*pairs}) for pairs in shown)
    assert max(map(len, shown)) > 1
    assert {len(ids) for ids in together(tmp_path / "out").values()} == {8}


def test_a_bad_case_harms_no_other(tmp_path: Path) -> None:
    rows = [row(1), row(2, response="…"), row(3, source="gone.txt"), row(4), row(5, response="a\0b"), row(6)]
    with ChatServer(well) as server:
        done = check(write(tmp_path, rows), tmp_path / "out", server)
    assert done.states == {"done": 3, "failed": 3}
    assert set(reports(tmp_path / "out")) == {"case-1", "case-4", "case-6"}


def test_a_batch_stopped_inside_a_group_pays_nothing_twice(tmp_path: Path) -> None:
    cases, out = write(tmp_path, [row(n) for n in range(5)]), tmp_path / "out"
    with ChatServer(well) as server:
        check(cases, out, server)
        whole, asked = reports(out), len(server.asked)
        for n in (1, 3, 4):
            (out / "reports" / f"case-{n}.json").unlink()
        kept = (out / "reports" / "case-0.json").stat().st_mtime_ns
        done = check(cases, out, server)
        assert len(server.asked) == asked
    assert (done.paid, done.states) == (Usage(), {"done": 5})
    assert reports(out) == whole
    assert (out / "reports" / "case-0.json").stat().st_mtime_ns == kept


def test_a_group_that_changes_is_checked_anew_and_no_other(tmp_path: Path) -> None:
    rows = [row(1), row(2), row(3, task="answer"), row(4, task="answer")]
    with ChatServer(well) as server:
        check(write(tmp_path, rows), tmp_path / "out", server)
        kept = (tmp_path / "out" / "reports" / "case-3.json").stat().st_mtime_ns
        check(write(tmp_path, [*rows, row(5)]), tmp_path / "out", server)
        found = together(tmp_path / "out")
        assert all(found[f"case-{n}"] == ["case-1", "case-2", "case-5"] for n in (1, 2, 5))
        assert all(found[f"case-{n}"] == ["case-3", "case-4"] for n in (3, 4))
        assert (tmp_path / "out" / "reports" / "case-3.json").stat().st_mtime_ns == kept
        check(write(tmp_path, rows[1:]), tmp_path / "out", server)
        assert together(tmp_path / "out")["case-2"] == []


def check_with(
    error: Exception, folder: Path, monkeypatch: pytest.MonkeyPatch, source: str = STORY
) -> tuple[BatchDone, int]:
    """Check three cases with a verifier whose groups fail with this error; how often that was tried."""
    tries = 0

    async def check_group(
        self: Verifier, documents: Sequence[Document], cases: Sequence[Case]
    ) -> list[Report]:
        nonlocal tries
        tries += 1
        raise error

    monkeypatch.setattr(Verifier, "check_group", check_group)
    cases = write(folder, map(row, range(3)))
    (folder / "story.txt").write_text(source, "utf-8")
    engine = local_engine(Verifier(home=str(folder / "home")), FileCases(cases))
    judged = {"judges": ["openai:m@http://127.0.0.1:9/v1"]}
    return check_cases(cases, folder / "out", settings=judged, engine=engine), tries


@pytest.mark.parametrize(
    ("error", "source", "tries"),
    [
        (RuntimeError("a defect"), STORY, 1),
        (BadInput("one of them is odd"), STORY, 1),
        (RuntimeError("never"), STORY[:16_000], 0),
    ],
)
def test_a_group_that_fails_and_cases_of_a_short_file_are_checked_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, source: str, tries: int
) -> None:
    done, tried = check_with(error, tmp_path, monkeypatch, source)
    assert (tried, done.states["done"]) == (tries, 3)


def test_a_group_stops_the_batch_where_the_ledger_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput, match="ledger"):
        check_with(LedgerFailed("the ledger can't be used"), tmp_path, monkeypatch)
