"""HaluEval's construction with a scripted model: both samplings, the choice, queries, every rejection."""

import json
from pathlib import Path
from typing import Any

import pytest
from reader import Asked, Reply
from scripted_writer import make, rows

from longproof.evaluation.datasets import examples
from longproof.retrieval.types import BadInput

RIGHT = {
    "qa": {"knowledge": "The ferry {n} left at nine.", "question": "When?", "right_answer": "At nine."},
    "dialogue": {
        "knowledge": "Ann wrote the book.",
        "dialogue_history": "[Human]: Who wrote the book?",
        "right_response": "Ann wrote it in 199{n}.",
    },
    "summary": {"document": "It rained on day {n}.", "right_summary": "Rain fell on day {n}."},
    "general": {"ID": "q{n}", "user_query": "Tell me about lake {n}"},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    """Four rows of each task, a file a task."""
    folder = tmp_path_factory.mktemp("rows")
    for name, row in RIGHT.items():
        told = [{field: text.format(n=n) for field, text in row.items()} for n in range(4)]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, told)), encoding="utf-8")
    return [folder / f"{name}.jsonl" for name in RIGHT]


def test_all_tasks_end_to_end(files, tmp_path):
    out = tmp_path / "set"
    done, asked = make("halueval", files, out, keep=2)
    sampled = [a.body for a in asked if a.parts("right") or a.form == "Lesson"]
    assert (done.rejected, done.made) == ({}, 3 * 4 + 2)
    assert {(b["temperature"], b["top_p"], b["max_tokens"]) for b in sampled} == {(1.0, 1.0, 256)}
    learned = sorted(a.parts("lesson") for a in asked if a.parts("right") and a.form == "Written")
    assert learned == [[]] * 12 + [["Say what is not so.\nRight: nine. Wrong: ten."]] * 12
    for name in ("halueval_qa", "halueval_dialogue", "halueval_summary"):
        assert len(examples(name, out)) == 8
    patterns = {e.slices["pattern"] for e in examples("halueval_qa", out) if "pattern" in e.slices}
    assert patterns == {"comprehension", "factualness", "specificity", "inference"}
    cases = examples("jsonl", out)
    assert len(cases) == 24
    assert {e.gold.outcome for e in cases} == {"faithful", "hallucinated"}
    assert all(e.reference and e.reference != e.response for e in cases)
    kept = rows(out / "preselected.jsonl")
    assert len(kept) == 2
    assert all(len(row["other_responses"]) == 2 and 0 <= row["similarity"] <= 1 for row in kept)


def two(asked: Asked) -> dict[str, Any]:
    return {"text": ("never " if asked.parts("lesson") else "rarely ") + asked.parts("right")[0]}


SAMPLED = ("one-pass qa", "conversational qa")


@pytest.mark.parametrize(
    ("answers", "lost", "why"),
    [
        ({"Written": lambda asked: {"text": asked.parts("right")[0].upper()}}, SAMPLED, "not_changed"),
        ({"Written": lambda asked: {"text": " "}}, SAMPLED, "no_success"),
        ({"Written": lambda asked: {"text": "very " * 20 + asked.part("right")}}, SAMPLED, "too_long"),
        ({"Written": Reply('{"text": "', finish="length")}, SAMPLED, "truncated"),
        ({"Written": two, "Choice": {"reason": "", "best": "both"}}, ["choose qa"], "no_choice"),
        ({"Written": two, "Choice": Reply("Both are fine.")}, ["choose qa"], "unparsed"),
        ({"Written": two, "Lesson": {"rule": "Say.", "example": " "}}, SAMPLED[1:], "not_learned"),
    ],
)
def test_what_is_not_believed_is_thrown_away_and_no_choice_is_guessed(files, tmp_path, answers, lost, why):
    done, _ = make("halueval", files[:1], tmp_path / "set", answers)
    unchosen = {"choose qa: no_success": 4} if lost == SAMPLED else {}
    assert done.rejected == {f"{what}: {why}": 4 for what in lost} | unchosen
    assert done.made == (4 if why == "not_learned" else 0)


def test_queries_with_the_least_alike_answers_are_kept(files, tmp_path):
    def reply(asked: Asked) -> dict[str, Any]:
        query = asked.parts("context")[0]
        return {"text": f"words that differ {asked.number}" * 3 if query.endswith("1") else "It is the same."}

    done, asked = make("halueval", files[3:], tmp_path / "set", {"Written": reply}, keep=1)
    assert (done.made, len(asked)) == (1, 12)
    (kept,) = rows(tmp_path / "set" / "preselected.jsonl")
    assert (kept["ID"], kept["similarity"] < 1) == ("q1", True)


def test_other_rows_are_refused(files, tmp_path):
    other, broken = tmp_path / "other.jsonl", tmp_path / "broken.jsonl"
    other.write_text('{"text": "x"}', encoding="utf-8")
    broken.write_text("{", encoding="utf-8")
    for given, task, says in (
        ([other], "", "fields of no task"),
        ([broken], "", "not JSON"),
        (files[:1], "summary", "no row"),
    ):
        with pytest.raises(BadInput, match=says):
            make("halueval", given, tmp_path / "set", task=task)
