"""Many cases: killed, taken up, bad ones, names, memory, payment; those about one long source, checked together."""

import gc
import os
import subprocess
import tracemalloc
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from batches import SOURCE, STORY, asking, case, command, fill_disk, kill_after, reports, write
from fakes import ChatServer
from hypothesis import given
from hypothesis import strategies as st
from reader import well

from longproof.agent.models.ledger import LedgerFailed
from longproof.agent.types import Report, Usage
from longproof.batch.run import BatchDone, FileCases, check_cases, plan_cases
from longproof.graphs.cases import file_name
from longproof.graphs.runner import Ended, Planned, RunProgress, check_left, local_engine, plan_groups
from longproof.graphs.verifier import Verifier
from longproof.report.saved import open_report
from longproof.retrieval.loaders import read_source
from longproof.retrieval.types import BadInput


def go(cases: Path, out: Path, **more: Any) -> BatchDone:
    return check_cases(cases, out, settings={"home": str(out.parent / "home")}, **more)


def test_only_what_failed_changed_or_was_lost_is_checked_again(tmp_path):
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


def test_ids_that_collide_are_refused_before_anything_is_checked(tmp_path):
    for ids, says in (("aba", "lines 1 and 3 have ids"), (["a/b", "a:b"], "file name"), ("Aa", "file name")):
        with pytest.raises(BadInput, match=says):
            go(write(tmp_path, map(case, ids)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


ODD = st.sampled_from(["../../etc/passwd", "..", "", "CON", "nul.txt", "x" * 500, "儒林" * 200, "a\u202eb"])


@given(ODD | st.text())
def test_names_stay_in_their_folder(id_):
    name = file_name(id_)
    assert Path(f"/out/{name}.json").resolve().parent == Path("/out")
    assert 0 < len(name.encode()) <= 120
    assert name.split(".")[0].lower() not in ("con", "nul")


def test_a_batch_stops_paying_when_the_ledger_cant_be_written(tmp_path):
    with ChatServer(well) as server:
        settings = asking(server, tmp_path / "home")
        check_cases(write(tmp_path, [case("first")]), tmp_path / "first", settings=settings)
        fill_disk(tmp_path / "home")
        paid = len(server.asked)
        rows = [case(f"{i}", response=f"Ada lit the lamp {i} times.") for i in range(30)]
        with pytest.raises(BadInput, match="disk is full"):
            check_cases(write(tmp_path, rows), tmp_path / "out", settings=settings)
        assert len(server.asked) - paid <= 8


def test_a_folder_takes_one_batch_and_one_run_at_a_time(tmp_path):
    path, out = write(tmp_path, [case("a")]), tmp_path / "out"
    with pytest.raises(BadInput, match="another run is writing"):
        go(path, out, engine=lambda groups, finish: go(path, out))
    with pytest.raises(BadInput, match="other settings"):
        check_cases(path, out, settings={"home": str(tmp_path / "home"), "reach": "place"})


def test_a_spent_budget_leaves_cases_that_the_next_run_takes_up(tmp_path):
    path = write(tmp_path, [case(f"{i}", response=f"Ada lit lamp {i}.") for i in range(6)])
    with ChatServer(well) as server:
        whole = asking(server, tmp_path / "home")
        limited = [{**whole, "max_calls": 5}, whole, whole]
        some, done, again = [check_cases(path, tmp_path / "out", settings=one) for one in limited]
    assert (some.states["unfinished"] > 0, done.states, again.paid.calls) == (True, {"done": 6}, 0)
    assert some.paid.calls + done.paid.calls == len(server.asked)


@pytest.mark.heavy
def test_killed_anywhere_nothing_is_lost_or_half_written(tmp_path, monkeypatch):
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
def test_memory_does_not_grow_with_the_texts_of_cases(tmp_path):
    rows = [case(f"{i}", response=f"Ada lit the lamp at nine, for the {i}th time.") for i in range(160)]
    grown: list[int] = []

    def hear(at: RunProgress) -> None:
        if at.done in (100, 160):
            gc.collect()
            grown.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    go(write(tmp_path, rows), tmp_path / "out", progress=hear)
    tracemalloc.stop()
    assert (grown[1] - grown[0]) / 60 < 3000, grown


def row(n: int, **more: object) -> dict[str, object]:
    return {"id": f"case-{n}", "source": "story.txt", "response": f"Ada lit lamp {n}."} | more


def write_story(folder: Path, rows: Iterable[object]) -> Path:
    (folder / "story.txt").write_text(STORY, "utf-8")
    os.utime(folder / "story.txt", (1, 1))
    return write(folder, rows)


def check(folder: Path, rows: Iterable[object], server: ChatServer) -> BatchDone:
    return check_cases(write_story(folder, rows), folder / "out", settings=asking(server, folder / "home"))


def together(out: Path) -> dict[str, list[str]]:
    """Each case of the folder, with those that were checked with it."""
    return {name: report["stamp"].get("group", {}).get("cases", []) for name, report in reports(out).items()}


def test_the_file_tells_the_groups_in_its_order(tmp_path):
    rows = [
        row(1),
        row(2, task="answer"),
        row(3, context="Which lamp?"),
        row(4, response="x" * 1001),
        row(5),
        row(6, source=None, source_text=STORY),
        row(7, source=None, source_text=STORY[:16_000]),
        row(8, source=None, source_text=STORY[:16_000]),
        row(9, response=" … "),
        row(10, reference=""),
        row(11, source=None, source_text=STORY),
        row(12, task="answer"),
        row(13, labels=[]),
        "no case",
    ]
    planned = plan_cases(write_story(tmp_path, rows), joined=True)
    found = [[one.name for one in group] for group in plan_groups(planned)]
    wanted = [[1, 5], [2, 12], [3], [4], [9], [10], [13], [6, 11], [7], [8]]
    assert found == [*([f"case-{n}" for n in group] for group in wanted), ["line_14"]]


def test_a_group_has_a_report_a_case_whose_figures_add_up_and_pays_nothing_twice(tmp_path):
    rows, out, names = [row(n) for n in range(6)], tmp_path / "out", [f"case-{n}" for n in range(6)]
    with ChatServer(well) as server:
        done = check(tmp_path, rows, server)
        whole, asked = reports(out), len(server.asked)
        for name in names[1:3]:
            (out / "reports" / f"{name}.json").unlink()
        kept = (out / "reports" / "case-0.json").stat().st_mtime_ns
        again = check(tmp_path, rows, server)
        assert len(server.asked) == asked < 12
    assert (done.states, done.paid.calls) == ({"done": 6}, asked)
    assert sum(report["usage"]["calls"] for report in whole.values()) == asked
    assert together(out) == dict.fromkeys(names, names)
    assert [one["case"]["response"] for one in whole.values()] == [f"Ada lit lamp {n}." for n in range(6)]
    assert (again.paid, again.states, reports(out)) == (Usage(), {"done": 6}, whole)
    assert (out / "reports" / "case-0.json").stat().st_mtime_ns == kept


def test_no_prompt_holds_two_cases_of_a_pair(tmp_path):
    rows = [
        row(n, id=f"{n}-{side}", response=f"Ada lit lamp {n} {side}.", pair=f"p{n}")
        for n in range(8)
        for side in ("north", "south")
    ]
    with ChatServer(well) as server:
        check(tmp_path, rows, server)
        prompts = [one.user + one.system for one in server.asked]
    shown = [[str(one["pair"]) for one in rows if str(one["response"]) in prompt] for prompt in prompts]
    assert all(len(pairs) == len({*pairs}) for pairs in shown)
    assert max(map(len, shown)) > 1
    assert {len(ids) for ids in together(tmp_path / "out").values()} == {8}


def test_a_group_that_changes_is_checked_anew_and_no_other(tmp_path):
    rows = [row(1), row(2), row(3, task="answer"), row(4, task="answer")]
    with ChatServer(well) as server:
        check(tmp_path, rows, server)
        kept = (tmp_path / "out" / "reports" / "case-3.json").stat().st_mtime_ns
        check(tmp_path, [*rows, row(5)], server)
        found = together(tmp_path / "out")
        assert [found[f"case-{n}"] for n in (1, 2, 5)] == [["case-1", "case-2", "case-5"]] * 3
        assert (tmp_path / "out" / "reports" / "case-3.json").stat().st_mtime_ns == kept
        check(tmp_path, rows[1:], server)
        assert together(tmp_path / "out")["case-2"] == []


@pytest.mark.parametrize(
    ("error", "source", "tries"),
    [
        (RuntimeError("a defect"), STORY, 1),
        (BadInput("one of them is odd"), STORY, 1),
        (RuntimeError("never"), STORY[:16_000], 0),
        (LedgerFailed("the ledger can't be used"), STORY, 1),
    ],
)
def test_a_group_that_fails_is_checked_one_by_one_but_for_the_ledger(
    tmp_path, monkeypatch, error, source, tries
):
    tried: list[object] = []

    async def check_group(*asked: object) -> list[Report]:
        tried.append(asked)
        raise error

    monkeypatch.setattr(Verifier, "check_group", check_group)
    cases = write_story(tmp_path, map(row, range(3)))
    (tmp_path / "story.txt").write_text(source, "utf-8")
    engine = local_engine(Verifier(home=str(tmp_path / "home")), FileCases(cases))
    judged = {"judges": ["openai:m@http://127.0.0.1:9/v1"]}
    with pytest.raises(BadInput, match="ledger") if isinstance(error, LedgerFailed) else nullcontext():
        done = check_cases(cases, tmp_path / "out", settings=judged, engine=engine)
        assert done.states["done"] == 3
    assert len(tried) == tries


def test_a_case_whose_line_cant_be_made_fails_alone(tmp_path):
    def line_of(one: Planned, result: Report | str) -> Ended:
        if result == "odd":
            raise ZeroDivisionError("boom")
        return Ended(name=one.name, key=one.key, state="failed", failure=str(result))

    planned = [Planned(name, name) for name in ("odd", "even")]
    lines, at = check_left(
        tmp_path,
        {},
        planned,
        lambda groups, finish: [finish(one, one.name) for (one,) in groups],
        Ended,
        line_of,
        again=False,
    )
    assert [line.failure for line in lines] == ["ZeroDivisionError: boom", "even"]
    assert at.failed == 2


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"response": "tenant.txt"},
            "response is the name of a file, 'tenant.txt': write response_file instead",
        ),
        (
            {"source_text": " tenant.txt"},
            "source_text is the name of a file, ' tenant.txt': write source instead",
        ),
        ({"response_file": "tenant.txt"}, "a case has one of response and response_file"),
        ({"response": None}, "a case has one of response and response_file"),
        ({"response": None, "response_file": "lost.txt"}, "lost.txt"),
        ({"case_id": "b"}, "not a case: case_id"),
    ],
)
def test_a_name_in_the_place_of_a_text_and_two_texts_are_refused(tmp_path, given, says):
    (tmp_path / "tenant.txt").write_text("Ada lit the lamp at nine.", "utf-8")
    done = go(write(tmp_path, [case("a", **given)]), tmp_path / "out")
    assert says in done.cases[0].failure


def test_the_name_of_no_file_is_a_text(tmp_path):
    given = {"response": "lost.txt", "source_text": "The file is lost.txt"}
    assert go(write(tmp_path, [case("a", **given)]), tmp_path / "out").cases[0].failure is None


def test_a_response_may_be_a_file_beside_the_cases_and_tells_how_it_was_read(tmp_path):
    (tmp_path / "b.html").write_text(
        "<title>B</title><p>Ada lit the lamp at nine.</p><img alt=lamp>", "utf-8"
    )
    row = {"case_id": "b", "source_text": SOURCE, "response_file": "b.html"}
    done = go(write(tmp_path, [row]), tmp_path / "out")
    report = open_report(tmp_path / "out" / "reports" / "b.json")
    assert [line.id for line in done.cases] == ["b"]
    assert "Ada lit the lamp at nine." in report.case.response
    assert report.documents[0].notes == read_source(tmp_path / "b.html").notes


def test_a_changed_response_file_is_checked_again(tmp_path):
    row = {"id": "b", "source_text": SOURCE, "response_file": "b.txt"}
    path = write(tmp_path, [row])
    for text in ("Ada lit the lamp at nine.", "Tom sold the boat."):
        (tmp_path / "b.txt").write_text(text, "utf-8")
        go(path, tmp_path / "out")
        assert open_report(tmp_path / "out" / "reports" / "b.json").case.response == text
