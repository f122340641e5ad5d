"""A report reduced: what speaks for a part of the response, what is flagged, what is kept."""

from pathlib import Path

import pytest
from evaluated import scripted_report

from longproof.agent.types import Judgement, Label, Place, Report
from longproof.evaluation.results import (
    flagged_places,
    label_at,
    prediction,
    results_of,
)
from longproof.retrieval.types import BadInput

TEXT = "He won twice in May. She lost. They met."


def at(quote: str) -> Place:
    start = TEXT.index(quote)
    return Place(start=start, end=start + len(quote), text=quote)


def test_a_wrong_claim_speaks_only_for_its_marked_words() -> None:
    predicted = prediction(scripted_report(TEXT, ["contradicting", "out_dependent", None], wrong=["twice"]))
    assert label_at(predicted, at("twice")) == "contradicting"
    assert label_at(predicted, at("He won twice in May.")) == "contradicting"
    assert label_at(predicted, at("May")) == "implicitly_supported"
    assert label_at(predicted, at("She")) == "out_dependent"
    assert label_at(predicted, at("They met.")) is None
    assert label_at(predicted, at("She lost. They met.")) is None
    assert flagged_places(predicted) == [(7, 12)]


def test_nothing_flagged_and_something_undecided_is_no_answer_about_places() -> None:
    assert flagged_places(prediction(scripted_report(TEXT, ["no_fact", None, "no_fact"]))) is None
    assert flagged_places(prediction(scripted_report(TEXT, ["no_fact", "out_dependent", "no_fact"]))) == []


def test_a_wrong_claim_without_marked_words_is_flagged_whole() -> None:
    assert flagged_places(prediction(scripted_report(TEXT, ["no_fact", "fabricated", None]))) == [(21, 30)]


def judged(report: Report, protocol: str, *votes: tuple[str, Label | None]) -> Report:
    """The report of that protocol, its first claim judged so: question and label (None: no answer)."""
    first, *others = report.claims
    judgements = tuple(
        Judgement(
            claim_id=first.id,
            judge=f"j{n}",
            round="source",
            question_id=question,
            label=label,
            failure=None if label else "unparsed",
        )
        for n, (question, label) in enumerate(votes)
    )
    claims = (first.model_copy(update={"judgements": judgements}), *others)
    return report.model_copy(update={"claims": claims, "stamp": {"protocol": protocol}})


def test_votes_on_pieces_of_evidence_are_kept_apart() -> None:
    report = scripted_report(TEXT, ["fabricated", "no_fact", "no_fact"])
    votes: list[tuple[str, Label | None]] = [
        ("q1", "explicitly_supported"),
        ("q2", "fabricated"),
        ("q1", None),
        ("q2", "fabricated"),
    ]
    first = prediction(judged(report, "probe", *votes)).claims[0]
    assert (first.votes, first.pieces) == (
        (),
        (("explicitly_supported", None), ("fabricated", "fabricated")),
    )
    other = prediction(judged(report, "longproof", *votes)).claims[0]
    assert (other.votes, other.pieces) == (("fabricated", "fabricated"), ())


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"holds no results\.jsonl"):
        results_of(tmp_path)
    (tmp_path / "results.jsonl").write_text('{"id": 1}\n', encoding="utf-8")
    with pytest.raises(BadInput, match="line 1"):
        results_of(tmp_path)
