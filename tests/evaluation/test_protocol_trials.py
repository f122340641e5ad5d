"""benchmarks/protocols.py and its reader: a trial a protocol, an answer to every form, real data through both."""

import json
from pathlib import Path
from types import ModuleType

import pytest
from fakes import Asked
from reader import FORMS, WRONG, _shown, read, reader
from scripts import benchmark

from longproof.agent.forms import Places, ScanNotes, SearchTurn, Segments, Sentences
from longproof.agent.recipes import RECIPES
from longproof.graphs.protocols import PROTOCOLS
from longproof.prompts import fence

SHOWN = "The Orla bridge was opened in 1911. It is 340.4 metres long, and cost 12,500 crowns. 桥边住着姓钱的船夫。"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return benchmark("protocols")


def asked(form: str, model: str = "reader-65", **parts: str) -> Asked:
    """A prompt that shows these parts, for a server that takes no schema."""
    fences = [fence(name, text) for name, text in {**parts, "schema": json.dumps({"title": form})}.items()]
    return Asked(0, {"model": model, "messages": [{"content": ""}, {"content": "\n".join(fences)}]}, "")


def test_every_protocol_has_a_trial(bench: ModuleType) -> None:
    assert list(dict.fromkeys(trial.protocol for trial in bench.TRIALS)) == list(PROTOCOLS)


def test_the_reader_answers_every_form() -> None:
    judged = {asking.form.__name__ for asking in RECIPES.values()}
    beside = (Sentences, Places, Segments, SearchTurn, ScanNotes)
    assert set(FORMS) == judged | {form.__name__ for form in beside}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The Orla bridge was opened in 1911.", "explicitly_supported"),
        ("The Orla bridge was opened in 1911 by songs.", "implicitly_supported"),
        ("The bridge is 340 metres long and cost 12500 crowns.", "explicitly_supported"),
        ("The bridge was opened in 1921.", "contradicting"),
        ("Prisoners painted every bridge.", "fabricated"),
        ("桥边住着船夫。", "explicitly_supported"),
        ("陆遥杀死了李家的人。", "fabricated"),
        ("Oh no!", "no_fact"),
    ],
)
def test_the_readers_rule(text: str, label: str) -> None:
    assert read(text, _shown((SHOWN,), True), 0.65).label == label


def test_without_a_source_only_numbers_count() -> None:
    question = _shown(("When was the bridge of 1911 opened?",), False)
    assert read("Prisoners painted it.", question, 0.65).label not in WRONG
    assert read("It was opened in 1921.", question, 0.65).label == "contradicting"


def test_the_share_stands_in_the_models_name() -> None:
    parts = {"evidence": SHOWN, "response": "The bridge was opened with fine songs."}
    said = [json.loads(reader(asked("Recognition", f"reader-{n}", **parts)).text or "") for n in (40, 80)]
    assert [answer["answer"] for answer in said] == ["no", "yes"]


def test_of_two_texts_the_one_with_fewer_known_words_is_called_made_up() -> None:
    parts = {
        "context": "Who opened the bridge?",
        "first": "The bridge was opened.",
        "second": "Quinces ripen.",
    }
    assert json.loads(reader(asked("Contrast", **parts)).text or "") == {"hallucinated": "second"}


@pytest.mark.parametrize(
    "name",
    [
        "verigray-audit",
        "halueval-dialogue-contrast",
        "data-to-text",
        pytest.param("verigray-rag", marks=pytest.mark.heavy),
    ],
)
def test_a_trial_runs_on_its_data_from_beginning_to_end(bench: ModuleType, name: str, data: Path) -> None:
    (trial,) = (trial for trial in bench.TRIALS if trial.protocol == name)
    *_, line = bench.lines(trial, sample=2, seed=1)
    found = dict(zip(bench.COLUMNS, line, strict=True))
    assert (found["protocol"], found["examples"], found["judges"].split()[0]) == (name, "2", "reader")
    assert int(found["calls"]) >= 2
    assert float(found["passes"]) > 0
    assert len(found["value"].split(", ")) == len(trial.scores)


def test_a_constant_answer_scores_as_one(bench: ModuleType, data: Path) -> None:
    (trial,) = (trial for trial in bench.TRIALS if trial.protocol == "halueval-qa-knowledge")
    (line,) = bench.lines(trial, sample=4, seed=0)
    found = dict(zip(bench.COLUMNS, line, strict=True))
    assert (found["all wrong"], found["nothing wrong"]) == ("0.500", "0.500")
