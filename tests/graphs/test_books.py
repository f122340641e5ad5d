"""Whole novels through the graph: windows hold what the summary tells of, and every span is what it says."""

import json
from pathlib import Path

import pytest
from scripted import ScriptedJudge

from longproof import Verifier
from longproof.agent.types import Report, SourcePlace
from longproof.examples import LANGUAGES, example
from longproof.retrieval.types import Span


def spans(value: object) -> list[Span]:
    """Every span anywhere inside a report."""
    if isinstance(value, Span):
        return [value]
    if isinstance(value, tuple | list):
        return [span for item in value for span in spans(item)]
    if hasattr(type(value), "model_fields"):
        return [span for name in type(value).model_fields for span in spans(getattr(value, name))]
    return []


def hold(report: Report, texts: dict[str, str]) -> int:
    """How many spans the report has; every one equals the slice it names."""
    texts = {**texts, report.documents[0].id: report.case.response}
    found = spans(report)
    for span in found:
        assert texts[span.source_id][span.start : span.end] == span.text
    for claim in report.claims:
        assert report.case.response[claim.origin.start : claim.origin.end] == claim.origin.text
        assert isinstance(claim.window, SourcePlace)
        assert 0 <= claim.window.start < claim.window.end <= len(texts[claim.window.source_id])
    return len(found)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("summary", ["faithful", "hallucinated"])
def test_every_span_of_a_bundled_report_is_what_it_says(language, summary):
    story, response = example(language, summary)
    judge = ScriptedJudge("j", "implicitly_supported")
    report = Verifier([judge]).verify(story, response.text)
    assert hold(report, {story.id: story.text}) > 0
    assert [c.id for c in report.claims] == [f"s{c.sentence + 1}" for c in report.claims]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_bundled_errors_lie_where_they_are_recorded(language):
    from importlib.resources import files

    import longproof.examples

    story, wrong = example(language)
    faithful = example(language, "faithful")[1].text
    planted = json.loads((files(longproof.examples) / language / "planted.json").read_text("utf-8"))
    assert len(planted) == len({error["kind"] for error in planted}) == 4
    restored = wrong.text
    for error in planted:
        assert wrong.text[error["start"] : error["end"]] == error["wrong"]
        assert error["wrong"] in error["sentence"]
        assert all(quote in story.text for quote in error["evidence"])
        restored = restored.replace(error["sentence"], error["original"])
    assert restored == faithful


def cases(data: Path) -> list[dict]:
    return [json.loads(line) for line in (data / "longnovel_mini_zh" / "cases.jsonl").open(encoding="utf-8")]


def units(data: Path) -> list[dict]:
    return [
        json.loads(line) for line in (data / "longnovel_mini_zh" / "annotations.jsonl").open(encoding="utf-8")
    ]


def window_recall(report: Report, case: dict, data: Path) -> float:
    """Share of claims whose window holds the whole unit that their line tells of."""
    inside = [u for u in units(data) if case["source_start"] <= u["start"] < case["source_end"]]
    held = 0
    for claim in report.claims:
        unit = inside[case["summary"][: claim.origin.start].count("\n")]
        start, end = unit["start"] - case["source_start"], unit["end"] - case["source_start"]
        held += claim.window.start <= start and end <= claim.window.end
    return held / len(report.claims)


def check_book(case: dict, data: Path) -> None:
    novel = (data / "longnovel_mini_zh" / "novel.txt").read_text("utf-8")
    source = novel[case["source_start"] : case["source_end"]]
    report = Verifier().verify(source, case["summary"])
    (document,) = (d for d in report.documents if d.role == "source")
    hold(report, {document.id: source})
    assert window_recall(report, case, data) >= 0.99


@pytest.mark.parametrize("scale", ["M", pytest.param("XXL", marks=pytest.mark.heavy)])
def test_a_book_with_a_dense_summary_keeps_its_place(data, scale):
    check_book(next(case for case in cases(data) if case["scale"] == scale), data)
