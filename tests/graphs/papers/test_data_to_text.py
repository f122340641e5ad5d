"""Data-to-text (seed 001) through the graph: the JSON as it was given, five steps, exact spans, never the whole."""

import json
from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from papers import END, SPLIT, traced, verifier
from reader import Asked, Reader

from longproof.graphs.papers.data_to_text import Steps
from longproof.retrieval.loaders import record
from longproof.retrieval.types import BadInput

RAW = '{"lighthouse":  {"height_m": 31, "built": 1874, "keepers": 2}}'
ARTICLE = "The lighthouse, 41 metres high, was built in 1874. Two keepers live there. Prisoners built it."
STEPS = tuple(Steps.model_fields)


def listed(*spans: str) -> dict[str, Any]:
    return {"reasoning": {step: f"{step}: done" for step in STEPS}, "hallucination_list": list(spans)}


def checked(home: Path, *answers_in_turn: dict[str, Any]) -> tuple[Any, list[Asked]]:
    left = list(answers_in_turn)
    with ChatServer(Reader(Article=lambda asked: left.pop(0))) as server:
        report, path, _ = traced(verifier(server, home, "data-to-text"), record(RAW), ARTICLE, task="article")
        assert path == ["read", "as_given", *SPLIT[1:], *END]
        return report, list(server.asked)


def test_the_record_is_shown_as_it_was_given_and_the_list_becomes_exact_errors(tmp_path: Path) -> None:
    report, (asked,) = checked(tmp_path, listed("41 metres high", "Prisoners built it"))
    assert asked.parts("evidence") == [RAW]
    assert asked.parts("response") == [ARTICLE]
    schema = json.dumps(asked.schema)
    assert len(STEPS) == 5
    assert all(step in schema and step in asked.system for step in STEPS), "five reasoning fields"
    errors = [error.span for error in report.claims[0].errors]
    assert [span.text for span in errors] == ["41 metres high", "Prisoners built it"]
    assert all(ARTICLE[span.start : span.end] == span.text for span in errors)
    assert [s.label for s in report.sentences] == ["fabricated", "implicitly_supported", "fabricated"]
    assert report.verdict == "hallucinated"
    assert report.claims[0].judgements[0].reason == "final_verdict: done"


def test_a_list_of_what_is_no_piece_is_asked_for_once_more(tmp_path: Path) -> None:
    report, asked = checked(tmp_path / "mended", listed(ARTICLE), listed("41 metres high"))
    assert len(asked) == 2
    assert "C1: ungrounded" in asked[1].user
    assert [error.span.text for error in report.claims[0].errors] == ["41 metres high"]
    report, asked = checked(tmp_path / "twice", listed(ARTICLE), listed("31 metres high"))
    assert (len(asked), report.verdict, report.claims[0].failure) == (2, "undecided", "ungrounded")


def test_a_text_is_no_record(tmp_path: Path) -> None:
    with (
        ChatServer(Reader(Article=listed())) as server,
        pytest.raises(BadInput, match="data-to-text needs a JSON record"),
    ):
        verifier(server, tmp_path, "data-to-text").verify("The lighthouse is 31 metres high.", ARTICLE)
