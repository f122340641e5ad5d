"""HaluEval's construction with a scripted model: both samplings, the choice, queries, every rejection."""

import json
from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from reader import Asked, Reply
from scripted_writer import writer

from longproof.construction.run import Constructed, construct
from longproof.evaluation.datasets import examples
from longproof.retrieval.types import BadInput

QA = [
    {
        "knowledge": f"The ferry {n} left at nine.",
        "question": f"When did ferry {n} leave?",
        "right_answer": "At nine.",
    }
    for n in range(4)
]
DIALOGUE = [
    {
        "knowledge": "Ann wrote the book.",
        "dialogue_history": "[Human]: Who wrote the book?",
        "right_response": f"Ann wrote it in {1990 + n}.",
    }
    for n in range(3)
]
SUMMARY = [
    {"document": f"It rained on day {n}.", "right_summary": f"Rain fell on day {n}."} for n in range(3)
]
QUERIES = [{"ID": f"q{n}", "user_query": f"Tell me about lake {n}"} for n in range(3)]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("rows")
    named = {"qa": QA, "dialogue": DIALOGUE, "summary": SUMMARY, "general": QUERIES}
    return [write(folder / f"{name}.jsonl", rows) for name, rows in named.items()]


def make(files: list[Path], out: Path, server: ChatServer, **options: Any) -> Constructed:
    model = f"openai:m@{server.address}"
    return construct("halueval", files, out, models=[model], home=str(out.parent / "home"), **options)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_all_tasks_end_to_end(files, tmp_path):
    with ChatServer(writer()) as server:
        done = make(files, tmp_path / "set", server, keep=2)
        sampled = [a.body for a in server.asked if a.parts("right") or a.form == "Lesson"]
    out = tmp_path / "set"
    assert done.rejected == {}
    assert done.made == 4 + 3 + 3 + 2
    assert {(b["temperature"], b["top_p"], b["max_tokens"]) for b in sampled} == {(1.0, 1.0, 256)}
    for name, n in (("halueval_qa", 4), ("halueval_dialogue", 3), ("halueval_summary", 3)):
        assert len(examples(name, out)) == 2 * n
    patterns = {e.slices["pattern"] for e in examples("halueval_qa", out) if "pattern" in e.slices}
    assert patterns == {"comprehension", "factualness", "specificity", "inference"}
    cases = examples("jsonl", out)
    assert len(cases) == 20
    assert {e.gold.outcome for e in cases} == {"faithful", "hallucinated"}
    assert all(e.reference and e.reference != e.response for e in cases)
    kept = rows(out / "preselected.jsonl")
    assert len(kept) == 2
    assert all(len(row["other_responses"]) == 2 and 0 <= row["similarity"] <= 1 for row in kept)


def test_the_conversation_carries_what_was_learned(files, tmp_path):
    with ChatServer(writer()) as server:
        make(files[:1], tmp_path / "set", server)
        told = [a.parts("lesson") for a in server.asked if a.parts("right")]
    assert sorted(told) == [[]] * 4 + [["Say what is not so.\nRight: nine. Wrong: ten."]] * 4


def longer(asked: Asked) -> dict[str, Any]:
    if not asked.parts("right"):
        return {"text": "x"}
    return {"text": "very " * 20 + asked.parts("right")[0]}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda asked: {"text": asked.parts("right")[0].upper()}, "not_changed"),
        (lambda asked: {"text": " "}, "no_success"),
        (longer, "too_long"),
        (Reply('{"text": "', finish="length"), "truncated"),
    ],
)
def test_samples_are_checked(files, tmp_path, answer, why):
    with ChatServer(writer(Written=answer)) as server:
        done = make(files[:1], tmp_path / "set", server)
    assert done.made == 0
    assert done.rejected == {
        f"one-pass qa: {why}": 4,
        f"conversational qa: {why}": 4,
        "choose qa: no_success": 4,
    }


@pytest.mark.parametrize(
    ("answer", "why"), [({"reason": "", "best": "both"}, "no_choice"), (Reply("Both are fine."), "unparsed")]
)
def test_no_choice_is_not_guessed(files, tmp_path, answer, why):
    def sample(asked: Asked) -> dict[str, Any]:
        return {"text": ("never " if asked.parts("lesson") else "rarely ") + asked.parts("right")[0]}

    with ChatServer(writer(Choice=answer, Written=sample)) as server:
        done = make(files[:1], tmp_path / "set", server)
    assert done.made == 0
    assert done.rejected == {f"choose qa: {why}": 4}


def test_queries_with_the_least_alike_answers_are_kept(files, tmp_path):
    def reply(asked: Asked) -> dict[str, Any]:
        query = asked.parts("context")[0]
        return {"text": f"words that differ {asked.number}" * 3 if query.endswith("1") else "It is the same."}

    with ChatServer(writer(Written=reply)) as server:
        done = make(files[3:], tmp_path / "set", server, keep=1)
        assert len(server.asked) == 9
    assert done.made == 1
    (kept,) = rows(tmp_path / "set" / "preselected.jsonl")
    assert kept["ID"] == "q1"
    assert kept["similarity"] < 1


def test_a_second_run_pays_nothing_and_writes_the_same(files, tmp_path):
    with ChatServer(writer()) as server:
        first = make(files, tmp_path / "set", server)
        before = {p.name: p.read_bytes() for p in (tmp_path / "set").glob("*.jsonl")}
        again = make(files, tmp_path / "set", server)
    assert first.bought == first.calls > 0
    assert again.bought == 0
    assert before == {p.name: p.read_bytes() for p in (tmp_path / "set").glob("*.jsonl")}


def test_other_rows_are_refused(files, tmp_path):
    other = write(tmp_path / "other.jsonl", [{"text": "x"}])
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{", encoding="utf-8")
    with ChatServer(writer()) as server:
        with pytest.raises(BadInput, match="fields of no task"):
            make([other], tmp_path / "set", server)
        with pytest.raises(BadInput, match="not JSON"):
            make([broken], tmp_path / "set", server)
        with pytest.raises(BadInput, match="no row"):
            make(files[:1], tmp_path / "set", server, task="summary")
