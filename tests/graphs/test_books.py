"""Whole novels through the graph: windows hold what the summary tells of, and every span is what it says."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from scripted import ScriptedJudge

import longproof.examples
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
    """The number of a report's spans; every one equals the slice it names."""
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


def rows(data: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (data / "longnovel_mini_zh" / name).open(encoding="utf-8")]


@pytest.mark.parametrize("scale", ["M", pytest.param("XXL", marks=pytest.mark.heavy)])
def test_a_book_with_a_dense_summary_keeps_its_place(data, scale):
    case = next(case for case in rows(data, "cases.jsonl") if case["scale"] == scale)
    begins, ends = case["source_start"], case["source_end"]
    source = (data / "longnovel_mini_zh" / "novel.txt").read_text("utf-8")[begins:ends]
    report = Verifier().verify(source, case["summary"])
    hold(report, {document.id: source for document in report.documents if document.role == "source"})
    inside = [unit for unit in rows(data, "annotations.jsonl") if begins <= unit["start"] < ends]
    held = 0
    for claim in report.claims:
        # A line of the summary tells of a unit: the claim's window holds all of it.
        unit = inside[case["summary"][: claim.origin.start].count("\n")]
        held += claim.window.start <= unit["start"] - begins and unit["end"] - begins <= claim.window.end
    assert held / len(report.claims) >= 0.99
