"""The Ray engine: the same reports as the local one, one ledger, one limit, one budget for all workers."""

import json
from pathlib import Path

import pytest
from fakes import ChatServer, well

from longproof.graphs.batch import Done, batch, local
from longproof.graphs.verifier import Verifier

pytestmark = pytest.mark.heavy
SOURCE = "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds.\n"


def write(folder: Path) -> Path:
    rows = [
        {
            "id": f"{i}",
            "source_text": SOURCE,
            "response": f"Ada lit the lamp at nine. Tom sold {i} boats to Ada.",
        }
        for i in range(20)
    ]
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"id": "bad"}]), "utf-8")
    return path


def reports(out: Path) -> dict[str, object]:
    """The reports but for their times and what a run paid."""
    found: dict[str, object] = {}
    for path in sorted((out / "reports").iterdir()):
        report = json.loads(path.read_text("utf-8"))
        for name in ("created_at", "seconds", "paid"):
            report["stamp"].pop(name)
        report["stamp"]["settings"] = {}
        found[path.name] = report
    return found


def test_ray_and_local_give_the_same_reports_and_pay_once(tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="the ray engine needs the extra `ray`")
    from longproof.graphs.cluster import on_ray

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    cases = write(tmp_path)
    with ChatServer(well, delay_s=0.01) as server:
        judges = [f"openai:m@{server.address}", "offline"]

        def settings(name: str) -> dict[str, object]:
            return {"judges": judges, "home": str(tmp_path / name), "concurrency": 3}

        def on(name: str, out: str) -> Done:
            engine = on_ray(settings(name), cases, workers=2, parallel=3)
            return batch(cases, tmp_path / out, engine, settings={})

        here = batch(cases, tmp_path / "here", local(Verifier(**settings("a")), cases), settings={})
        asked = len(server.asked)
        there = on("b", "there")
        assert there.states == here.states
        assert (there.states["done"], there.states["failed"]) == (20, 1)
        assert reports(tmp_path / "there") == reports(tmp_path / "here")
        assert len(server.asked) == 2 * asked
        assert there.paid == here.paid
        assert server.most_at_once <= 3
        again = on("b", "again")
        assert len(server.asked) == 2 * asked
        assert again.paid.calls == 0
