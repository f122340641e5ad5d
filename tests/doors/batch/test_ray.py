"""The Ray engine: the same reports as the local one, one ledger, one limit, one budget for all workers; killed and
taken up again, in whole or its gate alone; a ledger that can't be written."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import batches
import pytest
from batches import fill_disk, kill_after, reports
from fakes import ChatServer
from reader import Reply, always, well

from longproof import Verifier
from longproof.batch.ray import ray_engine
from longproof.batch.run import BatchDone, check_cases
from longproof.graphs.runner import RunProgress
from longproof.retrieval.types import BadInput

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]
AT_ONCE = 3
"""Calls under way at once: what a kill may cost, and no more."""


@pytest.fixture(autouse=True)
def ray_that_reports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="the ray engine needs the extra `ray`")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")


def write(folder: Path) -> Path:
    response = "Ada lit the lamp at nine. Tom sold {} boats to Ada."
    rows = [batches.case(f"{i}", response=response.format(i)) for i in range(20)]
    return batches.write(folder, [*rows, {"id": "bad"}])


def asking(server: ChatServer, home: Path, **more: object) -> dict[str, Any]:
    return batches.asking(server, home, "mn", concurrency=AT_ONCE, **more)


def on_ray(cases: Path, out: Path, settings: dict[str, Any], **more: Any) -> BatchDone:
    engine = ray_engine(settings, cases, workers=2, parallel=2)
    return check_cases(cases, out, settings=settings, engine=engine, **more)


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[1])


def processes(name: str) -> list[int]:
    """The actors of this name whose Ray this process has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            called = (folder / "cmdline").read_bytes().startswith(f"ray::{name}".encode())
            if called and parent(parent(int(folder.name))) == os.getpid():
                found.append(int(folder.name))
    return found


def test_ray_and_local_give_the_same_reports_and_pay_once(tmp_path):
    cases = write(tmp_path)
    with ChatServer(well, delay_s=0.01) as server:
        settings = asking(server, tmp_path / "there", stream=True)
        here = check_cases(cases, tmp_path / "a", settings=asking(server, tmp_path / "here", stream=True))
        asked = len(server.asked)
        there = on_ray(cases, tmp_path / "b", settings)
        assert there.states == here.states == {"done": 20, "failed": 1}
        assert (reports(tmp_path / "b"), there.paid) == (reports(tmp_path / "a"), here.paid)
        assert server.most_at_once <= AT_ONCE
        assert all(asked.body["stream"] for asked in server.asked)
        assert on_ray(cases, tmp_path / "again", settings).paid.calls == 0
        assert len(server.asked) == 2 * asked


def test_a_killed_batch_goes_on_and_pays_for_nothing_twice(tmp_path, monkeypatch):
    cases, out, home = write(tmp_path), tmp_path / "out", tmp_path / "home"
    monkeypatch.setenv("LONGPROOF_HOME", str(home))
    with ChatServer(well, delay_s=0.1) as server:
        ray = ("--engine", "ray", "--workers", "2", "--parallel", "2", "--concurrency", str(AT_ONCE))
        command = batches.command(cases, out, server, *ray, names="mn")
        killed = kill_after(command, out, 6)
        assert len(killed) < 20
        assert subprocess.run(command, check=False).returncode == 2, "one case is bad"
        assert_all_is_paid_once(cases, out, server, home)
    assert killed.items() <= reports(out).items()


def assert_all_is_paid_once(cases: Path, out: Path, server: ChatServer, home: Path) -> None:
    """Nothing but what was under way at a kill was asked again, and the ledger answers the whole batch."""
    asked = len(server.asked)
    assert asked - len({(one.body["model"], one.user) for one in server.asked}) <= AT_ONCE
    check_cases(cases, out.parent / "here", settings=asking(server, home))
    assert len(server.asked) == asked
    assert len(reports(out)) == 20
    assert reports(out) == reports(out.parent / "here")


@pytest.mark.skipif(sys.platform != "linux", reason="finds the actors' processes under /proc")
@pytest.mark.parametrize("who", ["ModelProxy", "Worker"])
def test_a_worker_that_dies_is_started_again_and_a_batch_whose_proxy_died_goes_on(tmp_path, who):
    cases, out, home, killed = write(tmp_path), tmp_path / "out", tmp_path / "home", list[int]()

    def kill(word: RunProgress) -> None:
        if word.done >= 6 and not killed:
            killed.append(processes(who)[0])
            os.kill(killed[0], signal.SIGKILL)

    with ChatServer(well, delay_s=0.1) as server:
        done = on_ray(cases, out, asking(server, home), progress=kill)
        assert len(killed) == 1
        if who == "ModelProxy":
            assert sum("ActorDied" in str(one.failure) for one in done.cases) >= 1
            done = on_ray(cases, out, asking(server, home))
        assert done.states == {"done": 20, "failed": 1}
        assert_all_is_paid_once(cases, out, server, home)


def test_a_server_that_refuses_ends_a_batch_at_its_first_answer(tmp_path):
    with ChatServer(always(Reply(status=401, error={"message": "not you"}))) as server:
        settings = asking(server, tmp_path / "home", run_id="refused")
        with pytest.raises(BadInput, match=r"answered HTTP 401: not you; check the key"):
            on_ray(write(tmp_path), tmp_path / "out", settings)
        assert len(server.asked) <= 8


def test_a_batch_stops_paying_when_the_ledger_cant_be_written(tmp_path):
    home = tmp_path / "home"
    with ChatServer(well, delay_s=0.02) as server:
        settings = asking(server, home)
        Verifier(**settings).verify(batches.SOURCE, "Ada lit the lamp at nine.")
        fill_disk(home)
        paid = len(server.asked)
        with pytest.raises(BadInput, match=r"^the ledger .* can't be used: disk is full; .*$"):
            on_ray(write(tmp_path), tmp_path / "out", {**settings, "run_id": "full"})
        assert len(server.asked) - paid <= AT_ONCE + 2  # a model's first request is sent alone
