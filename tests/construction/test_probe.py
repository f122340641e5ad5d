"""PROBE's construction with scripted models: end to end, every way to be thrown away, nothing paid twice."""

import json
from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from reader import Asked, Reply
from scripted_writer import writer

from longproof.agent.types import Place
from longproof.construction.probe import invention_places, is_invention
from longproof.construction.run import Constructed, construct
from longproof.construction.versions import Rejected, shared_length
from longproof.evaluation.datasets import examples
from longproof.retrieval.types import BadInput

PLACES = ("Ferrol", "Marden", "Oakby")


@pytest.fixture(scope="module")
def articles(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("articles")
    for name in PLACES:
        told = [
            f"{name} is a market town on the river Lune.",
            f"It received its charter in {1200 + len(name)}.",
            f"The church of {name} has a tower of 40 metres.",
            "A flood destroyed the old bridge in 1903.",
        ]
        (folder / f"{name}.txt").write_text(" ".join(told), encoding="utf-8")
    return sorted(folder.glob("*.txt"))


def make(
    articles: list[Path], out: Path, server: ChatServer, n_models: int = 1, **options: Any
) -> Constructed:
    models = [f"openai:m{n}@{server.address}" for n in range(n_models)]
    return construct("probe", articles, out, models=models, home=str(out.parent / "home"), **options)


def test_three_articles_end_to_end(articles, tmp_path):
    with ChatServer(writer()) as server:
        done = make(articles, tmp_path / "set", server, n_models=2)
    assert done.rejected == {}
    assert done.made == 3 * 3 * 4
    made = examples("jsonl", tmp_path / "set")
    assert {e.task for e in made} == {"summary", "answer", "rewrite"}
    for example in made:
        level = int(example.slices["complexity"])
        assert len(example.gold.errors or ()) == level
        assert (example.gold.outcome == "hallucinated") == (level > 0)
        assert all("painted green" in error.place.text for error in example.gold.errors or ())
        assert sum(claim.hallucinated for claim in example.gold.claims or ()) == level
        assert all(claim.evidence for claim in example.gold.claims or () if not claim.hallucinated)
    provenance = json.loads((tmp_path / "set" / "provenance.json").read_text("utf-8"))
    assert {"insert 1", "insert 3", "question", "answer", "find evidence", "weigh evidence"} <= set(
        provenance["prompts"]
    )


def votes(*verdicts: str | None):
    """Each model's own verdict on all evidence; None: no answer that can be read."""

    def verdict(asked: Asked) -> Any:
        one = verdicts[int(asked.body["model"][1:])]
        return Reply("no idea") if one is None else {"reasoning": "", "verdict": one}

    return verdict


@pytest.mark.parametrize(
    ("verdicts", "good"),
    [
        (("pass", "pass", "pass", "fail"), True),
        (("pass", "pass", "fail", "fail"), False),
        (("pass", "pass", "pass", None), True),
        (("pass", "pass", None, None), False),
    ],
)
def test_three_of_four_accept_evidence_and_who_fails_stays_in_the_denominator(
    articles, tmp_path, verdicts, good
):
    with ChatServer(writer(PassFail=votes(*verdicts))) as server:
        done = make(articles[:1], tmp_path / "set", server, n_models=4, task="summarization")
    assert ("claim: no_evidence" not in done.rejected) == good
    assert (done.made == 4) == good


def test_claims_that_are_partly_new_are_left_out(articles, tmp_path):
    def clause(asked: Asked) -> dict[str, Any]:
        base = asked.parts("response")[0]
        first, rest = base.split(".", 1)
        made = ", which was red" if asked.parts("complexity")[0] == "1" else ", xx"
        return {"text": f"{first}{made}.{rest}", "inventions": [made.strip(", ")]}

    with ChatServer(writer(Inserted=clause)) as server:
        done = make(articles[:1], tmp_path / "set", server, task="summarization")
    assert done.rejected["claim: mixed"] == 1
    assert done.rejected["response: no_claims"] == 1


def test_a_second_run_pays_nothing_and_writes_the_same(articles, tmp_path):
    with ChatServer(writer()) as server:
        whole = make(articles[:1], tmp_path / "a" / "set", server)
        first = make(articles[:1], tmp_path / "b" / "set", server, max_calls=9)
        rest = make(articles[:1], tmp_path / "b" / "set", server)
        again = make(articles[:1], tmp_path / "b" / "set", server)
    assert (first.bought, rest.bought, again.bought) == (9, whole.bought - 9, 0)
    assert (tmp_path / "a" / "set" / "cases.jsonl").read_bytes() == (
        tmp_path / "b" / "set" / "cases.jsonl"
    ).read_bytes()


def test_an_unknown_task_is_refused(articles, tmp_path):
    with ChatServer(writer()) as server, pytest.raises(BadInput, match="there is no task"):
        make(articles, tmp_path / "set", server, task="poetry")


WRITTEN = "The mill ground flour for six villages. A flood destroyed the bridge in 1903."


@pytest.mark.parametrize(
    ("text", "inventions", "why"),
    [
        (WRITTEN, ["six villages"], "not_changed"),
        ("Nothing is as it was. " * 9, ["Nothing"], "base_rewritten"),
        (f"{WRITTEN} It burned.", ["It burned.", "The well"], "wrong_count"),
        (f"{WRITTEN} It burned.", ["That is not there."], "span_not_found"),
        (f"{WRITTEN} It burned.", ["six villages"], "span_elsewhere"),
    ],
)
def test_insertions_are_checked(text, inventions, why):
    assert invention_places(WRITTEN, text, inventions, 1) == Rejected(why)


def place_at(text: str, part: str) -> Place:
    start = text.index(part)
    return Place(start=start, end=start + len(part), text=part)


def test_a_claim_is_new_old_or_mixed():
    text = WRITTEN.replace(" A flood", " It burned twice. A flood")
    new = [place_at(text, "It burned twice.")]
    assert is_invention(place_at(text, "It burned twice."), new) is True
    assert is_invention(place_at(text, "The mill"), new) is False
    assert (
        is_invention(place_at(text, "villages. It burned twice. A flood destroyed the bridge"), new) is None
    )
    assert shared_length(place_at(text, "The mill"), new[0]) == 0
