"""LongNovel's construction with scripted models: end to end, every way to be thrown away, nothing paid twice."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from reader import Asked, Reply
from scripted_writer import (
    GOOD,
    by_model,
    kind_asked,
    make,
    make_on,
    novel,
    rows,
    summary_asked,
    writer,
    written,
    wrong,
)

from longproof.agent.types import KINDS
from longproof.construction.run import construct
from longproof.evaluation.datasets import examples
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput

make_novel = partial(make, "longnovel", cases=60)


@pytest.fixture(scope="module")
def books(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("books")
    for number in range(3):
        (folder / f"b{number}.txt").write_text(novel(number, 50 if number else 170).text, encoding="utf-8")
    return sorted(folder.glob("*.txt"))


@pytest.fixture(scope="module")
def short(books) -> list[Path]:
    """The shortest book: two units or so."""
    return books[2:]


def test_three_books_end_to_end(books, tmp_path):
    out = tmp_path / "set"
    done, asked = make_novel(books, out, n_models=3, cases=160)
    errors = [a for a in asked if a.form == "WrongVersion"]
    assert {kind_asked(a) for a in errors} == set(KINDS)
    assert all("不在其中" not in part for a in errors for part in a.parts("entities"))
    made = examples("jsonl", out)
    assert done.made == len(made) > 20
    assert sum(e.gold.outcome == "hallucinated" for e in made) == done.made / 2
    assert {e.slices["kind"] for e in made if "kind" in e.slices} >= {"entity", "temporal"}
    assert {e.slices["scale"] for e in made} >= {"S", "M"}
    provenance = json.loads((out / "provenance.json").read_text("utf-8"))
    assert provenance["models"] == ["m0", "m1", "m2"]
    assert {"draft", "entities", "label", "reword", "wrong: causal"} <= set(provenance["prompts"])
    assert len(provenance["sources"]) == 3
    assert provenance["usage"]["prompt_tokens"] > 0
    assert "| balance of labels | hallucinated " in (out / "checks.md").read_text("utf-8")


def test_two_books_of_one_name_keep_their_own_texts(books, tmp_path):
    for folder, book in zip("ab", books[1:], strict=True):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "story.txt").write_bytes(book.read_bytes())
    make_novel([tmp_path / name / "story.txt" for name in "ab"], tmp_path / "set")
    made = examples("jsonl", tmp_path / "set")
    assert {e.slices["book"] for e in made} == {"story", "story (2)"}
    assert all(e.sources[0].text for e in made)


def reworded(change: Callable[[str], str]) -> Callable[[Asked], dict[str, Any]]:
    def reword(asked: Asked) -> dict[str, Any]:
        return {"text": change(summary_asked(asked))} if asked.parts("summary") else written(asked)

    return reword


@pytest.mark.parametrize(
    ("form", "answer", "lost", "why"),
    [
        ("WrongVersion", lambda asked: {**wrong(asked), "possible": "no"}, KINDS, "no_success"),
        ("WrongVersion", lambda asked: {**wrong(asked), "text": summary_asked(asked)}, KINDS, "not_changed"),
        ("WrongVersion", Reply('{"possible": "yes", "text": "', finish="length"), KINDS, "truncated"),
        ("Written", lambda asked: {"text": "他走了。"}, ["draft"], "no_success"),
        ("Written", reworded(lambda text: text), ["reword"], "not_changed"),
        ("Written", reworded(lambda text: text + "他有九百人。"), ["reword"], "figures_differ"),
        ("Written", reworded(lambda text: text * 2), ["reword"], "too_long"),
        ("Written", reworded(lambda text: text[: len(text) // 2]), ["reword"], "no_success"),
        ("Narrative", {"has_hallucination": "也许", "details": []}, ["label"], "off_menu"),
        ("Narrative", {"has_hallucination": "有幻觉", "details": []}, ["label"], "span_not_found"),
    ],
)
def test_what_is_not_believed_is_thrown_away_and_counted(short, tmp_path, form, answer, lost, why):
    """All other reasons for an error: test_versions.py."""
    done, _ = make_novel(short, tmp_path / "set", {form: answer}, n_models=3)
    assert done.made == 0
    assert set(done.rejected) == {f"{what}: {why}" for what in lost}
    assert len(set(done.rejected.values())) == 1


def unfaithful(asked: Asked) -> dict[str, Any]:
    """The first sentence of the passage is wrong."""
    text = asked.parts("passage")[0]
    a, b = sentences(text)[0]
    detail = {"hallucination_type": "事件幻觉", "hallucinated_sentence": text[a:b]}
    detail |= {"corrected_content": "他走了。", "reason": "原文不是这样。"}
    return {"has_hallucination": "有幻觉", "details": [detail]}


@pytest.mark.parametrize("other", [unfaithful, {"has_hallucination": "有幻觉", "details": []}])
def test_an_unfaithful_draft_is_a_case_of_its_own(short, tmp_path, other):
    done, _ = make_novel(short, tmp_path / "set", {"Narrative": by_model(unfaithful, other)}, n_models=2)
    made = examples("jsonl", tmp_path / "set")
    assert done.made == len(made) > 0
    told = {(e.slices["scale"], e.slices["kind"], e.gold.outcome) for e in made}
    assert told == {("S", "event", "hallucinated")}


def test_a_third_model_decides_where_two_disagree(short, tmp_path):
    faithful = GOOD["Narrative"]
    answers = {"Narrative": by_model(faithful, unfaithful, faithful)}
    three, _ = make_novel(short, tmp_path / "three" / "set", answers, n_models=3)
    two, _ = make_novel(short, tmp_path / "two" / "set", answers, n_models=2)
    assert (three.made > 0, two.made, set(two.rejected)) == (True, 0, {"label: no_choice"})


def test_summaries_by_people_are_taken_as_they_are(short, tmp_path):
    length, given = len(short[0].read_text("utf-8")), tmp_path / "given.jsonl"
    line = {"title": "b2", "summary": "李守信答应曹操出城。张文远有三匹马。孙伯符不肯投降。"}
    halves = ({"start": 0, "end": length // 2}, {"start": length // 2, "end": length})
    given.write_text("\n".join(json.dumps({**line, **half}) for half in halves), encoding="utf-8")
    done, asked = make_novel(short, tmp_path / "set", summaries=[given])
    assert {a.form for a in asked} == {"Entities", "WrongVersion", "Written"}
    assert done.made > 0
    given.write_text('{"title": "b2"}', encoding="utf-8")
    with pytest.raises(BadInput, match="a summary is a JSON line"):
        make_novel(short, tmp_path / "other", summaries=[given])


def test_a_stopped_run_is_finished_and_pays_for_the_rest_alone(short, tmp_path):
    """So is one of the other constructions: all ask through the same maker."""
    with ChatServer(writer()) as server:
        remake = partial(make_on, server, "longnovel", short, tmp_path / "b" / "set", cases=60)
        whole = make_on(server, "longnovel", short, tmp_path / "a" / "set", cases=60)
        first, rest, again = remake(max_calls=7), remake(), remake()
    assert any("over_budget" in key for key in first.rejected)
    assert (first.bought, rest.bought, again.bought) == (7, whole.bought - 7, 0)
    for name in ("cases.jsonl", "checks.md"):
        assert (tmp_path / "a" / "set" / name).read_bytes() == (tmp_path / "b" / "set" / name).read_bytes()
    assert {row["id"] for row in rows(tmp_path / "b" / "set" / "cases.jsonl")}


def test_short_sources_and_missing_models_are_refused(short, tmp_path):
    tiny, out = tmp_path / "short.txt", tmp_path / "set"
    tiny.write_text("他走了。", encoding="utf-8")
    with pytest.raises(BadInput, match="2,000 tokens"):
        make_novel([tiny], out)
    with pytest.raises(BadInput, match="needs a language model"):
        construct("longnovel", short, out, home=str(tmp_path))
    with pytest.raises(BadInput, match="no construction"):
        construct("poems", short, out)
