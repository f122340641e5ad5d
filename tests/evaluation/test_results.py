"""A report reduced: what speaks for a part of the response, what is flagged, what is kept."""

from pathlib import Path

import pytest
from evaluated import scripted_report

from longproof.agent.types import Place
from longproof.evaluation.results import flagged, label_at, outcome_at, prediction, results_of
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
    assert outcome_at(predicted, at("They met.")) == "undecided"
    assert outcome_at(predicted, at("She lost. They met.")) == "undecided"
    assert flagged(predicted) == [(7, 12)]


def test_nothing_flagged_and_something_undecided_is_no_answer_about_places() -> None:
    assert flagged(prediction(scripted_report(TEXT, ["no_fact", None, "no_fact"]))) is None
    assert flagged(prediction(scripted_report(TEXT, ["no_fact", "out_dependent", "no_fact"]))) == []


def test_a_wrong_claim_without_marked_words_is_flagged_whole() -> None:
    assert flagged(prediction(scripted_report(TEXT, ["no_fact", "fabricated", None]))) == [(21, 30)]


def test_the_responses_label_is_the_least_faithful_that_states_facts() -> None:
    assert prediction(scripted_report(TEXT, ["no_fact", "ambiguous", "out_dependent"])).label == "ambiguous"
    assert prediction(scripted_report(TEXT, ["no_fact", "no_fact", "no_fact"])).label == "no_fact"
    assert prediction(scripted_report(TEXT, ["no_fact", None, "fabricated"])).label == "fabricated"


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"holds no results\.jsonl"):
        results_of(tmp_path)
    (tmp_path / "results.jsonl").write_text('{"id": 1}\n', encoding="utf-8")
    with pytest.raises(BadInput, match="line 1"):
        results_of(tmp_path)
