"""PROBE's construction with scripted models: end to end, every way to be thrown away, nothing paid twice."""

import json
from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from reader import Asked, Reply
from scripted_writer import inserted, writer

from longproof.agent.types import Place
from longproof.construction.probe import is_invention
from longproof.construction.run import Constructed, construct
from longproof.construction.versions import shared_length
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


def votes(*verdicts: str):
    """Each model's own verdict on all evidence."""
    return lambda asked: {"reasoning": "", "verdict": verdicts[int(asked.body["model"][1:])]}


@pytest.mark.parametrize(
    ("verdicts", "good"), [(("pass",) * 3 + ("fail",), True), (("pass", "pass", "fail", "fail"), False)]
)
def test_three_of_four_accept_evidence(articles, tmp_path, verdicts, good):
    with ChatServer(writer(PassFail=votes(*verdicts))) as server:
        done = make(articles[:1], tmp_path / "set", server, n_models=4, task="summarization")
    assert ("claim: no_evidence" not in done.rejected) == good
    assert (done.made == 4) == good


def test_a_failing_model_stays_in_the_denominator(articles, tmp_path):
    def verdict(asked: Asked) -> Any:
        return Reply("no idea") if asked.body["model"] == "m3" else {"reasoning": "", "verdict": "pass"}

    with ChatServer(writer(PassFail=verdict)) as server:
        three = make(articles[:1], tmp_path / "a", server, n_models=4, task="summarization")
    assert three.made == 4

    def two_fail(asked: Asked) -> Any:
        return (
            Reply("no idea") if asked.body["model"] in ("m2", "m3") else {"reasoning": "", "verdict": "pass"}
        )

    with ChatServer(writer(PassFail=two_fail)) as server:
        two = make(articles[:1], tmp_path / "b", server, n_models=4, task="summarization")
    assert two.rejected["claim: no_evidence"] > 0


def changed(asked: Asked, **changes: Any) -> dict[str, Any]:
    return {**inserted(asked), **changes}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda a: changed(a, text=a.parts("response")[0]), "not_changed"),
        (lambda a: changed(a, text="Nothing is as it was. " * 9, inventions=["Nothing"]), "base_rewritten"),
        (lambda a: changed(a, inventions=[*inserted(a)["inventions"], "The well"]), "wrong_count"),
        (
            lambda a: changed(a, inventions=["That is not there."] * int(a.parts("complexity")[0])),
            "span_not_found",
        ),
        (
            lambda a: changed(a, inventions=[a.parts("response")[0][:20]] * int(a.parts("complexity")[0])),
            "span_elsewhere",
        ),
        (Reply('{"text": "', finish="length"), "truncated"),
        (Reply("Done."), "unparsed"),
    ],
)
def test_insertions_are_checked(articles, tmp_path, answer, why):
    with ChatServer(writer(Inserted=answer)) as server:
        done = make(articles[:1], tmp_path / "set", server, task="summarization")
    assert done.rejected == {f"insert {level}: {why}": 1 for level in (1, 2, 3)}
    assert done.made == 1


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
