"""Many cases: killed and taken up, one bad case, names, memory, shared sources, what was paid."""

import gc
import json
import re
import subprocess
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from batches import SOURCE, asking, case, command, fill_disk, kill_after, reports, write
from fakes import ChatServer
from hypothesis import given
from hypothesis import strategies as st
from reader import well

from longproof.batch.run import BatchDone, check_cases
from longproof.graphs.cases import file_name
from longproof.graphs.runner import RunProgress
from longproof.retrieval.types import BadInput


def go(cases: Path, out: Path, **more: Any) -> BatchDone:
    return check_cases(cases, out, settings={"home": str(out.parent / "home")}, **more)


BAD = {
    '{"id": "x", ': "not JSON",
    "[1, 2]": "not a JSON object",
    json.dumps({"id": "x", "source_text": "y"}): "response",
    json.dumps(case("x", contxt="y")): "contxt",
    json.dumps(case("x", task="poem")): "task",
    json.dumps(case("x", source_text="")): "no source",
    json.dumps(case("x", source="story.txt")): "one of source",
    json.dumps(case("x1", source_text=[], source="gone.txt")): "gone.txt",
    json.dumps(case("x2", source_text=[], source="a\0b")): "file's name",
    json.dumps(case("x3", response=" ")): "no text",
    json.dumps(case("x4", source_text="a\0b")): "NUL",
    '{"id": "x", "label": ' + "[" * 100_000 + "]" * 100_000 + "}": "not",
}


def test_bad_cases_are_named_and_the_others_go_on(tmp_path: Path) -> None:
    bad = [line.replace('"id": "x', f'"id": "x{number}.') for number, line in enumerate(BAD)]
    done = go(write(tmp_path, [case("a"), *bad, case("b")]), tmp_path / "out")
    assert sorted(reports(tmp_path / "out")) == ["a", "b"]
    index = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert all((tmp_path / "out" / name).exists() for name in re.findall(r'href: "\./(.+?)"', index))
    failed = [one for one in done.cases if one.state == "failed"]
    assert [one.line for one in failed] == [*range(2, 2 + len(BAD))]
    for one, says in zip(failed, BAD.values(), strict=True):
        assert says in str(one.failure)


def test_only_what_failed_changed_or_was_lost_is_checked_again(tmp_path: Path) -> None:
    rows = [case("a"), case("b"), case("c", source_text=[], source="story.txt"), case("d")]
    out = tmp_path / "out"
    assert go(write(tmp_path, rows), out, html=True).states == {"done": 3, "failed": 1}
    page = out / "pages" / "d.html"
    drawn = page.stat().st_mtime_ns
    (tmp_path / "story.txt").write_text(SOURCE, "utf-8")
    (out / "reports" / "b.json").unlink()
    before = (out / "reports" / "a.json").stat().st_mtime_ns
    heard: list[RunProgress] = []
    rows[3] = case("d", response="Tom sold the boat.")
    assert go(write(tmp_path, rows), out, progress=heard.append, html=True).states == {"done": 4}
    assert page.stat().st_mtime_ns > drawn
    assert [(at.done, at.total) for at in heard] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert (heard[0].seconds_left, heard[-1].seconds_left) == (None, 0)
    assert reports(out)["d"]["case"]["response"] == "Tom sold the boat."
    assert (out / "reports" / "a.json").stat().st_mtime_ns == before
    (tmp_path / "story.txt").write_text(SOURCE.upper(), "utf-8")
    heard.clear()
    go(write(tmp_path, rows), out, progress=heard.append)
    assert heard[0].done == 3, "a file of the same size that was written since is another source"


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        (["a", "b", "a"], "lines 1 and 3 have ids of one file name"),
        (["a/b", "a:b"], "file name"),
        (["A", "a"], "file name"),
    ],
)
def test_ids_that_collide_are_refused_before_anything_is_checked(
    tmp_path: Path, ids: list[str], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        go(write(tmp_path, map(case, ids)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


ODD = st.sampled_from(["../../etc/passwd", "..", "", "CON", "nul.txt", "x" * 500, "儒林" * 200, "a\u202eb"])


@given(ODD | st.text())
def test_names_stay_in_their_folder(id_: str) -> None:
    name = file_name(id_)
    assert Path(f"/out/{name}.json").resolve().parent == Path("/out")
    assert 0 < len(name.encode()) <= 120
    assert name.split(".")[0].lower() not in ("con", "nul")


def test_a_batch_stops_paying_when_the_ledger_cant_be_written(tmp_path: Path) -> None:
    with ChatServer(well) as server:
        settings = asking(server, tmp_path / "home")
        check_cases(write(tmp_path, [case("first")]), tmp_path / "first", settings=settings)
        fill_disk(tmp_path / "home")
        paid = len(server.asked)
        rows = [case(f"{i}", response=f"Ada lit the lamp {i} times.") for i in range(30)]
        with pytest.raises(BadInput, match="disk is full"):
            check_cases(write(tmp_path, rows), tmp_path / "out", settings=settings)
        assert len(server.asked) - paid <= 8


def test_a_folder_takes_one_batch_and_one_run_at_a_time(tmp_path: Path) -> None:
    path, out = write(tmp_path, [case("a")]), tmp_path / "out"
    with pytest.raises(BadInput, match="another run is writing"):
        go(path, out, engine=lambda groups, finish: go(path, out))
    with pytest.raises(BadInput, match="other settings"):
        check_cases(path, out, settings={"home": str(tmp_path / "home"), "reach": "place"})


def test_a_spent_budget_leaves_cases_that_the_next_run_takes_up(tmp_path: Path) -> None:
    path = write(tmp_path, [case(f"{i}", response=f"Ada lit lamp {i}.") for i in range(6)])
    with ChatServer(well) as server:
        whole = asking(server, tmp_path / "home")
        some = check_cases(path, tmp_path / "out", settings={**whole, "max_calls": 5})
        done = check_cases(path, tmp_path / "out", settings=whole)
        assert some.states["unfinished"] > 0
        assert done.states == {"done": 6}
        assert some.paid.calls + done.paid.calls == len(server.asked)
        assert check_cases(path, tmp_path / "out", settings=whole).paid.calls == 0


@pytest.mark.heavy
def test_killed_anywhere_nothing_is_lost_or_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, [case(f"{i}", response=f"Ada lit lamp number {i} at nine.") for i in range(14)])
    out, home = tmp_path / "out", tmp_path / "home"
    monkeypatch.setenv("LONGPROOF_HOME", str(home))
    with ChatServer(well, delay_s=0.03) as server:
        kill_after(command(path, out, server), out, 6)
        killed = len(server.answered)
        assert subprocess.run(command(path, out, server), check=False).returncode == 0
        whole, asked = reports(out), {a.user for a in server.answered}
        assert killed < len(server.answered) <= len(asked) + 2 * 16
        check_cases(path, tmp_path / "at once", settings=asking(server, home))
    assert reports(tmp_path / "at once") == whole
    assert len(whole) == 14


@pytest.mark.heavy
def test_memory_does_not_grow_with_the_texts_of_cases(tmp_path: Path) -> None:
    rows = [case(f"{i}", response=f"Ada lit the lamp at nine, for the {i}th time.") for i in range(160)]
    grown: list[int] = []

    def hear(at: RunProgress) -> None:
        if at.done in (100, 160):
            gc.collect()
            grown.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    try:
        go(write(tmp_path, rows), tmp_path / "out", progress=hear)
    finally:
        tracemalloc.stop()
    assert (grown[1] - grown[0]) / 60 < 3000, grown
