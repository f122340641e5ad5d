"""Many cases: killed and taken up, one bad case, names, memory, shared sources, what was paid."""

import csv
import gc
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from fakes import ChatServer
from reader import well

from longproof.agent.types import Report
from longproof.batch.folder import check_cases
from longproof.batch.run import FileCases, run_batch
from longproof.graphs.cases import file_name
from longproof.graphs.runner import RunProgress, local_engine
from longproof.graphs.verifier import Verifier
from longproof.retrieval.types import BadInput

SOURCE = "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds.\n"
WORK = """
import sys
from pathlib import Path
from longproof.batch.folder import check_cases
settings = {"judges": ["openai:m@" + sys.argv[3]], "home": sys.argv[4]}
check_cases(Path(sys.argv[1]), Path(sys.argv[2]), settings=settings)
"""


def case(id_: str, **more: object) -> dict[str, object]:
    return {
        "id": id_,
        "task": "summary",
        "source_text": SOURCE,
        "response": "Ada lit the lamp at nine.",
    } | more


def write(folder: Path, rows: list[object]) -> Path:
    path = folder / "cases.jsonl"
    path.write_text(
        "".join(json.dumps(r) + "\n" if not isinstance(r, str) else r + "\n" for r in rows), "utf-8"
    )
    return path


def go(cases: Path, out: Path, *, progress=None, again=False, **settings: object):
    verifier = Verifier(**settings)
    return run_batch(
        cases,
        out,
        local_engine(verifier, FileCases(cases)),
        settings={"a": "b"},
        again=again,
        progress=progress,
    )


def reports(out: Path) -> dict[str, bytes]:
    """The reports but for their times and what a run paid."""
    found = {}
    for path in sorted((out / "reports").iterdir()):
        report = json.loads(path.read_text("utf-8"))
        for name in ("created_at", "seconds", "paid"):
            report["stamp"].pop(name)
        found[path.name] = json.dumps(report).encode()
    return found


def test_a_report_a_case_a_summary_and_no_failures(tmp_path):
    (tmp_path / "story.txt").write_text(SOURCE * 3, "utf-8")
    rows = [
        case("a"),
        case("b", response="Tom sold the boat to Ada for ninety pounds."),
        case("c", source_text=[], source="story.txt", label="faithful"),
        case("d", source_text={"seats": 36}, response="It has 36 seats.", task="article"),
    ]
    done = go(write(tmp_path, rows), tmp_path / "out")
    assert done.states == {"done": 4}
    assert sum(done.verdicts.values()) == 4
    table = (tmp_path / "out" / "summary.csv").read_text("utf-8").splitlines()
    assert [row.split(",")[0] for row in table] == ["id", "a", "b", "c", "d"]
    assert [row.split(",")[2] for row in table] == ["triage", *"1111"]
    for name, data in reports(tmp_path / "out").items():
        assert Report.model_validate_json((tmp_path / "out" / "reports" / name).read_bytes()).case.id in name
        assert data
    assert (tmp_path / "out" / "failures.jsonl").read_text("utf-8") == ""


BAD = {
    "not JSON": ('{"id": "x", ', "not JSON"),
    "no object": ("[1, 2]", "not a JSON object"),
    "no response": (json.dumps({"id": "x", "source_text": "y"}), "response"),
    "an unknown field": (json.dumps(case("x", contxt="y")), "contxt"),
    "an unknown task": (json.dumps(case("x", task="poem")), "task"),
    "no source": (json.dumps(case("x", source_text="")), "no source"),
    "two kinds of sources": (json.dumps(case("x", source="story.txt")), "one of source"),
    "a missing file": (json.dumps(case("x", source_text=[], source="gone.txt")), "gone.txt"),
    "no file's name": (json.dumps(case("x", source_text=[], source="a\0b")), "file's name"),
    "an empty response": (json.dumps(case("x", response=" ")), "no text"),
    "a hole in the text": (json.dumps(case("x", source_text="a\0b")), "NUL"),
    "nested too deeply": ('{"id": "x", "label": ' + "[" * 100_000 + "]" * 100_000 + "}", "not"),
}


@pytest.mark.parametrize("kind", BAD)
def test_one_bad_case_is_named_and_the_others_go_on(tmp_path, kind):
    line, says = BAD[kind]
    done = go(write(tmp_path, [case("a"), line, case("b")]), tmp_path / "out")
    assert (done.states["done"], done.states["failed"]) == (2, 1)
    (failure,) = map(json.loads, (tmp_path / "out" / "failures.jsonl").read_text("utf-8").splitlines())
    assert failure["line"] == 2
    assert says in failure["failure"]
    assert sorted(reports(tmp_path / "out")) == ["a.json", "b.json"]


def test_what_failed_is_tried_again_and_nothing_else(tmp_path):
    path = write(tmp_path, [case("a"), case("b", source_text=[], source="story.txt")])
    assert go(path, tmp_path / "out").states["failed"] == 1
    before = (tmp_path / "out" / "reports" / "a.json").stat().st_mtime_ns
    (tmp_path / "story.txt").write_text(SOURCE, "utf-8")
    done = go(path, tmp_path / "out")
    assert done.states == {"done": 2}
    assert (tmp_path / "out" / "reports" / "a.json").stat().st_mtime_ns == before


def test_a_changed_case_and_a_lost_report_are_checked_again(tmp_path):
    go(write(tmp_path, [case("a"), case("b"), case("c")]), tmp_path / "out")
    (tmp_path / "out" / "reports" / "b.json").unlink()
    heard: list[RunProgress] = []
    path = write(tmp_path, [case("a", response="Tom sold the boat."), case("b"), case("c"), case("d")])
    go(path, tmp_path / "out", progress=heard.append)
    assert (heard[0].done, heard[-1].done, heard[-1].total) == (1, 4, 4)
    assert heard[0].seconds_left is None
    assert heard[-1].seconds_left == 0
    assert Report.model_validate_json(
        (tmp_path / "out" / "reports" / "a.json").read_bytes()
    ).case.response == ("Tom sold the boat.")


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        (["a", "b", "a"], "lines 1 and 3 have the same id"),
        (["a/b", "a:b"], "file name"),
        (["A", "a"], "file name"),
    ],
)
def test_ids_that_collide_are_refused_before_anything_is_checked(tmp_path, ids, says):
    with pytest.raises(BadInput, match=says):
        go(write(tmp_path, [case(id_) for id_ in ids]), tmp_path / "out")
    assert not (tmp_path / "out" / "reports").exists()


@pytest.mark.parametrize(
    "id_",
    [
        "../../etc/passwd",
        "..",
        ".",
        "",
        "CON",
        "nul.txt",
        "a\nb",
        "x" * 500,
        "儒林" * 200,
        "a\u202eb",
        "~/.ssh",
    ],
)
def test_names_stay_in_their_folder(tmp_path, id_):
    name = file_name(id_)
    assert (tmp_path / f"{name}.json").resolve().parent == tmp_path.resolve()
    assert 0 < len(name.encode()) <= 120
    (tmp_path / f"{name}.json").write_text("x", "utf-8")


@pytest.mark.parametrize(
    "id_",
    [
        "\r=1+1",
        "\n=1+1",
        "＝1+1",
        "\t＠x",
        " =1",
        "\u200b=1",
        "﹢1",
        "\ufeff-1",
        "\x0b=1",
        "a\rb",
        "a\nb",
        "a\0b",
    ],
)
def test_an_odd_id_neither_breaks_the_table_nor_becomes_a_formula(tmp_path, id_):
    path = write(tmp_path, [case(id_), case("other")])
    settings = {"home": str(tmp_path / "home")}
    for _ in range(2):
        assert check_cases(path, tmp_path / "out", settings=settings).states["done"] == 2
    data = (tmp_path / "out" / "summary.csv").read_bytes()
    assert data.count(b"\n") == 3
    assert b"\r" not in data
    (cell, *_), _ = list(csv.reader(data.decode().splitlines()))[1:]
    assert cell.startswith("'")


def test_a_batch_stops_paying_when_the_ledger_cant_be_written(tmp_path):
    home = tmp_path / "home"
    with ChatServer(well) as server:
        known = {"judges": [f"openai:m@{server.address}"], "home": str(home)}
        go(write(tmp_path, [case("first")]), tmp_path / "first", **known)
        with sqlite3.connect(home / "ledger.sqlite") as db:
            full = "BEFORE INSERT ON purchases BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
            db.execute(f"CREATE TRIGGER full {full}")
        db.close()
        paid = len(server.asked)
        rows = [case(f"{i}", response=f"Ada lit the lamp {i} times.") for i in range(30)]
        with pytest.raises(BadInput, match="disk is full"):
            go(write(tmp_path, rows), tmp_path / "out", **known)
        assert len(server.asked) - paid <= 8


def test_a_folder_takes_one_batch_and_one_run_at_a_time(tmp_path):
    path = write(tmp_path, [case("a")])
    with pytest.raises(BadInput, match="another folder"):
        run_batch(
            path, tmp_path / "out", lambda todo, finish: (list(todo), go(path, tmp_path / "out")), settings={}
        )  # type: ignore[arg-type,return-value]
    with pytest.raises(BadInput, match="other settings"):
        go(path, tmp_path / "out")


def test_cases_with_the_same_sources_follow_each_other_and_index_once(tmp_path):
    rows = [case(f"{i}", source_text=SOURCE + f"Book {i % 10}. " * 3) for i in range(40)]
    seen: list[str] = []

    def engine(todo, finish):
        seen.extend(one.name for group in todo for one in group)

    run_batch(write(tmp_path, rows), tmp_path / "out", engine, settings={})
    assert seen == [f"{10 * j + i}" for i in range(10) for j in range(4)]


def test_a_spent_budget_leaves_cases_that_the_next_run_takes_up(tmp_path):
    path, home = (
        write(tmp_path, [case(f"{i}", response=f"Ada lit lamp {i}.") for i in range(6)]),
        str(tmp_path / "h"),
    )
    with ChatServer(well) as server:
        judges = [f"openai:m@{server.address}"]
        some = go(path, tmp_path / "out", judges=judges, home=home, max_calls=5)
        assert some.states["unfinished"] > 0
        done = go(path, tmp_path / "out", judges=judges, home=home)
        assert done.states["done"] == 6
        assert some.paid.calls + done.paid.calls == len(server.asked)
        assert go(path, tmp_path / "out", judges=judges, home=home).paid.calls == 0


@pytest.mark.heavy
def test_killed_anywhere_nothing_is_lost_or_half_written(tmp_path):
    path = write(tmp_path, [case(f"{i}", response=f"Ada lit lamp number {i} at nine.") for i in range(14)])
    out, home = tmp_path / "out", tmp_path / "home"
    with ChatServer(well, delay_s=0.03) as server:
        command = [sys.executable, "-c", WORK, str(path), str(out), server.address, str(home)]
        for kill in (6,):
            child = subprocess.Popen(command)
            while child.poll() is None and len(list((out / "reports").glob("*.json"))) < kill:
                time.sleep(0.01)
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            for report in (out / "reports").glob("*.json"):
                Report.model_validate_json(report.read_bytes())
        killed = len(server.answered)
        assert subprocess.run(command, check=False).returncode == 0
        whole, asked = reports(out), {a.user for a in server.answered}
        assert killed < len(server.answered) <= len(asked) + 2 * 16
        go(path, tmp_path / "at once", judges=[f"openai:m@{server.address}"], home=str(home))
    assert reports(tmp_path / "at once") == whole
    assert len(whole) == 14


@pytest.mark.heavy
def test_memory_does_not_grow_with_the_cases(tmp_path):
    rows = [case(f"{i}", response=f"Ada lit the lamp at nine, for the {i}th time.") for i in range(160)]
    path, grown = write(tmp_path, rows), []

    def hear(word: RunProgress) -> None:
        if word.done in (100, 160):
            gc.collect()
            grown.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    try:
        go(path, tmp_path / "out", progress=hear)
    finally:
        tracemalloc.stop()
    assert (grown[1] - grown[0]) / 60 < 3000, grown
