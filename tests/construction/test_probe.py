"""PROBE's construction with scripted models: end to end, and every way to be thrown away."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from reader import Asked
from scripted_writer import by_model, make

from longproof.evaluation.datasets import examples
from longproof.retrieval.types import BadInput

make_one = partial(make, "probe", task="summarization")


@pytest.fixture(scope="module")
def articles(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("articles")
    for name in ("Ferrol", "Marden", "Oakby"):
        told = [
            f"{name} is a market town on the river Lune.",
            f"It received its charter in {1200 + len(name)}.",
            f"The church of {name} has a tower of 40 metres.",
            "A flood destroyed the old bridge in 1903.",
        ]
        (folder / f"{name}.txt").write_text(" ".join(told), encoding="utf-8")
    return sorted(folder.glob("*.txt"))


def test_three_articles_end_to_end(articles, tmp_path):
    done, _ = make("probe", articles, tmp_path / "set", n_models=2)
    assert (done.rejected, done.made) == ({}, 3 * 3 * 4)
    made = examples("jsonl", tmp_path / "set")
    assert {e.task for e in made} == {"summary", "answer", "rewrite"}
    for example in made:
        level = int(example.slices["complexity"])
        assert len(example.gold.errors or ()) == level
        assert (example.gold.outcome == "hallucinated") == (level > 0)
        assert all("painted green" in error.place.text for error in example.gold.errors or ())
        assert sum(claim.hallucinated for claim in example.gold.claims or ()) == level
        assert all(claim.evidence for claim in example.gold.claims or () if not claim.hallucinated)
    prompts = json.loads((tmp_path / "set" / "provenance.json").read_text("utf-8"))["prompts"]
    assert {"insert 1", "insert 3", "question", "answer", "find evidence", "weigh evidence"} <= set(prompts)
    with pytest.raises(BadInput, match="there is no task"):
        make("probe", articles, tmp_path / "set", task="poetry")


@pytest.mark.parametrize(
    ("verdicts", "good"),
    [(["pass"] * 3 + [other], True) for other in ("fail", None)]
    + [(["pass"] * 2 + [other] * 2, False) for other in ("fail", None)],
)
def test_three_of_four_accept_evidence_and_who_fails_is_one_of_four(articles, tmp_path, verdicts, good):
    said = [verdict and {"reasoning": "", "verdict": verdict} for verdict in verdicts]
    done, _ = make_one(articles[:1], tmp_path / "set", {"PassFail": by_model(*said)}, n_models=4)
    assert ("claim: no_evidence" not in done.rejected) == good
    assert (done.made == 4) == good


def test_claims_that_are_partly_new_are_left_out(articles, tmp_path):
    def clause(asked: Asked) -> dict[str, Any]:
        first, rest = asked.parts("response")[0].split(".", 1)
        made = ", which was red" if asked.parts("complexity")[0] == "1" else ", xx"
        return {"text": f"{first}{made}.{rest}", "inventions": [made.strip(", ")]}

    done, _ = make_one(articles[:1], tmp_path / "set", {"Inserted": clause})
    assert done.rejected["claim: mixed"] == 1
    assert done.rejected["response: no_claims"] == 1


@pytest.mark.parametrize(
    ("text", "inventions", "why"),
    [
        ("{base}", ["a market town"], "not_changed"),
        ("Nothing is as it was. " * 9, ["Nothing"], "base_rewritten"),
        ("{base} It burned.", ["It burned.", "The well"], "wrong_count"),
        ("{base} It burned.", ["That is not there."], "span_not_found"),
        ("{base} It burned.", ["a market town"], "span_elsewhere"),
    ],
)
def test_insertions_are_checked(articles, tmp_path, text, inventions, why):
    def insert(asked: Asked) -> dict[str, Any]:
        return {"text": text.format(base=asked.parts("response")[0]), "inventions": inventions}

    done, _ = make_one(articles[:1], tmp_path / "set", {"Inserted": insert})
    assert done.rejected[f"insert 1: {why}"] == done.made == 1
