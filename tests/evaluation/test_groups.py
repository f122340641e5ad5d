"""Examples that share a long source are checked together, pairs apart; a stopped run pays for nothing twice."""

import json
from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from reader import well

from longproof.evaluation.datasets import examples
from longproof.evaluation.run import Evaluation, evaluate_dataset, planned_examples
from longproof.evaluation.types import Example
from longproof.graphs.runner import plan_groups

STORY = "\n\n".join(
    f"On day {n} of the voyage Ada lit lamp {n} and Tom wrote line {n} into the log of the ship."
    for n in range(300)
)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    rows: list[dict[str, Any]] = [
        {
            "id": f"{n} {where}",
            "source_text": STORY,
            "response": f"Ada lit lamp {n} {where}.",
            "pair": f"p{n}",
            "label": "faithful" if where == "north" else "hallucinated",
        }
        for n in range(6)
        for where in ("north", "south")
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def run(cases: Path, out: Path, server: ChatServer, **options: Any) -> Evaluation:
    judges = [f"openai:m@{server.address}"]
    return evaluate_dataset(
        "jsonl", path=cases, out=out, judges=judges, home=str(out.parent / "home"), **options
    )


def example_groups(drawn: list[Example]) -> list[list[Example]]:
    groups = plan_groups(planned_examples(drawn, joined=True))
    return [[drawn[one.place[0]] for one in group] for group in groups]


def test_examples_of_a_long_source_are_groups_without_pairs(cases: Path) -> None:
    found = list(examples("jsonl", cases))
    groups = example_groups(found)
    assert [len(group) for group in groups] == [6, 6]
    for group in groups:
        assert len({example.pair for example in group}) == 6
        assert len({example.gold.outcome for example in group}) == 2
    short = [example.model_copy(update={"sources": ()}) for example in found]
    assert [len(group) for group in example_groups(short)] == [1] * 12


def test_examples_that_a_set_groups_by_source_stay_alone(cases: Path) -> None:
    found = [
        example.model_copy(update={"pair": None, "group": "book"}) for example in examples("jsonl", cases)
    ]
    assert [len(group) for group in example_groups(found)] == [1] * 12


def test_no_prompt_holds_both_of_a_pair_and_results_stand_in_order(cases: Path, tmp_path: Path) -> None:
    with ChatServer(well) as server:
        finished = run(cases, tmp_path / "out", server)
        asked = [one.system + one.user for one in server.asked]
    assert [line.id for line in finished.results] == [e.id for e in examples("jsonl", cases)]
    for n in range(6):
        both = [f"Ada lit lamp {n} {where}." for where in ("north", "south")]
        assert any(both[0] in prompt for prompt in asked)
        assert not any(both[0] in prompt and both[1] in prompt for prompt in asked)
    assert sum(line.prediction.usage.calls for line in finished.results) == len(asked)


def test_a_run_stopped_inside_a_group_pays_nothing_twice(cases: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ChatServer(well) as server:
        whole = run(cases, out, server).results
        asked = len(server.asked)
        lines = (out / "results.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        (out / "results.jsonl").write_text("".join(lines[:7]), encoding="utf-8")
        assert run(cases, out, server).results == whole
        assert len(server.asked) == asked


def test_an_example_that_cannot_be_checked_harms_no_other(cases: Path, tmp_path: Path) -> None:
    text = cases.read_text(encoding="utf-8").replace("Ada lit lamp 2 south.", "Ada\\u0000")
    cases.write_text(text, encoding="utf-8")
    with ChatServer(well) as server:
        results = run(cases, tmp_path / "out", server).results
    assert [line.id for line in results if line.prediction.failure] == ["2 south"]
