"""Examples that share a long source are planned together, pairs apart. How groups are checked: tests/doors/batch."""

import json
from pathlib import Path
from typing import Any

import pytest

from longproof.evaluation.datasets import examples
from longproof.evaluation.run import planned_examples
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
