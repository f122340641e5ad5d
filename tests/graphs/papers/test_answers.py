"""What is read from answers in the papers' own forms: labels by their menus, exact places, named failures."""

import json
from typing import Any

import pytest

from longproof.agent.guards import Weighed
from longproof.agent.models.answers import schema
from longproof.agent.types import Case, Claim
from longproof.graphs.papers import PAPERS
from longproof.graphs.papers.data_to_text import Steps
from longproof.graphs.papers.longnovel import NO, YES
from longproof.graphs.papers.paper import About, in_order, mark_pieces, prompt_about
from longproof.graphs.settings import NEEDS, unmet
from longproof.retrieval.types import Document

SOURCE = Document.of("陆遥在黎明前离开渡口。船上只有九盏灯。老掌柜没有说话。")
PAGE = Document.of("渡口的灯历来是九盏。")
RESPONSE = Document.of("陆遥在正午离开渡口。船上有九盏灯。老掌柜暗自欢喜。")
CLAIM = Claim(id="c0", index=0, sentence=0, text=RESPONSE.text, origin=RESPONSE.span(0, len(RESPONSE.text)))
CASE = Case(
    id="x",
    response=RESPONSE.text,
    source_ids=(SOURCE.id,),
    context="何时离开？",
    reference="陆遥在黎明前离开。",
)
SHOWN = (SOURCE.span(0, 11), SOURCE.span(11, len(SOURCE.text)), PAGE.span(0, len(PAGE.text)))
NAMED = {one.name: one for one in PAPERS}


def read(name: str, answer: dict[str, Any]) -> Weighed:
    method = NAMED[name]
    return method.read(method.form.model_validate(answer), About(1, CLAIM, SHOWN, CASE))


@pytest.mark.parametrize("name", NAMED)
def test_every_prompt_shows_what_it_should_in_a_strict_form_and_a_need_is_one_line(name: str) -> None:
    method = NAMED[name]
    made = prompt_about(method.prompt, SHOWN, {1: CLAIM}, CASE)
    assert made.language == "zh"
    assert SHOWN[0].text in made.user or method.shows == "nothing"
    written = schema(method.form)
    assert written["additionalProperties"] is False
    assert json.dumps(written)
    why = unmet(name, method.needs, ())
    assert why is not None
    assert name in why
    assert "\n" not in why
    assert unmet(name, method.needs, tuple(NEEDS)) is None


def tell(word: str, *kinds: str) -> dict[str, Any]:
    details = [{"hallucination_type": kind, "hallucinated_sentence": "老掌柜暗自欢喜。"} for kind in kinds]
    return {"has_hallucination": word, "details": details}


STEPS = dict.fromkeys(Steps.model_fields, "x")


def wrong_spans(*spans: str) -> dict[str, Any]:
    return {"reasoning": STEPS, "hallucination_list": list(spans)}


def wrong(sentence: str, *words: str, label: str = "fabricated") -> dict[str, Any]:
    return {"wrong": [{"sentence": sentence, "label": label, "words": one} for one in words]}


TWICE = {"wrong": [*wrong("S1", "九盏")["wrong"], *wrong("1", "正午", label="contradicting")["wrong"]]}
ANSWERS: list[tuple[str, dict[str, Any], str, list[str]]] = [
    *((f"halueval-{task}", {"answer": "Yes"}, "fabricated", []) for task in ("qa", "dialogue", "summary")),
    ("halueval-general", {"answer": " no. "}, "implicitly_supported", []),
    ("halueval-qa", {"answer": "Yes and no"}, "unparsed", []),
    ("halueval-qa-cot", {"reasoning": "因为。", "answer": "yes"}, "fabricated", []),
    ("halueval-qa-contrast", {"hallucinated": "both"}, "unparsed", []),
    ("longnovel-rag", tell(YES), "contradicting", []),
    ("longnovel-rag", tell(YES, "虚构事件"), "fabricated", ["老掌柜暗自欢喜。"]),
    ("longnovel-zero-shot-beginning", tell(YES, "虚构事件", "数字幻觉"), "contradicting", ["老掌柜暗自欢喜。"] * 2),
    ("longnovel-zero-shot-cot", {"analysis": "逐句。", **tell(NO)}, "implicitly_supported", []),
    ("longnovel-zero-shot", tell("没有"), "unparsed", []),
    ("longnovel-zero-shot", tell(""), "unparsed", []),
    ("data-to-text", wrong_spans(), "implicitly_supported", []),
    ("data-to-text", wrong_spans("在正午", "暗自欢喜", "在正午以后"), "fabricated", ["在正午", "暗自欢喜"]),
    ("data-to-text", wrong_spans("在午后"), "ungrounded", []),
    ("data-to-text", wrong_spans(f" {RESPONSE.text}\n"), "ungrounded", []),
    ("probe-direct", {"hallucinated": []}, "implicitly_supported", []),
    ("probe-direct", {"hallucinated": ["在午后"]}, "unparsed", []),
    ("probe-direct", {"hallucinated": [RESPONSE.text]}, "fabricated", [RESPONSE.text]),
    ("probe", {"verdict": "PASS"}, "explicitly_supported", []),
    ("probe", {"verdict": "fail"}, "fabricated", []),
    ("verigray", {"facts": ["离开渡口"], "label": "Explicitly-Supported"}, "explicitly_supported", []),
    ("verigray", {"facts": [], "label": "No-Fact"}, "no_fact", []),
    ("verigray", {"facts": [], "label": "not_found"}, "unparsed", []),
    ("verigray-audit", {"answer": "not attributable"}, "fabricated", []),
    ("plain", {"wrong": []}, "implicitly_supported", []),
    ("plain", wrong("S2", "正午"), "implicitly_supported", []),
    ("plain", wrong("S1", "午夜"), "fabricated", []),
    ("plain", wrong("S1", "正午", label="doubtful"), "unparsed", []),
    ("plain", TWICE, "contradicting", ["九盏", "正午"]),
]  # fmt: skip
"""An answer, the label or the failure that is read from it, and the words that it marks."""


@pytest.mark.parametrize(("name", "answer", "outcome", "words"), ANSWERS)
def test_what_is_read_of_an_answer(name: str, answer: dict[str, Any], outcome: str, words: list[str]) -> None:
    weighed = read(name, answer)
    assert outcome in (weighed.label, weighed.failure)
    assert (weighed.label is None) != (weighed.failure is None)
    marked = [error.span for error in weighed.errors]
    assert all(RESPONSE.text[span.start : span.end] == span.text for span in marked)
    assert [span.text for span in marked] == words
    assert weighed.quotes == (SHOWN[:1] if answer.get("verdict") == "PASS" else ())


def test_contrast_reads_which_of_two_is_made_up_whatever_their_order() -> None:
    first, second = in_order(CASE)
    ours, theirs = ("first", "second") if first == CASE.response else ("second", "first")
    assert read("halueval-qa-contrast", {"hallucinated": ours}).label == "fabricated"
    assert read("halueval-qa-contrast", {"hallucinated": theirs}).label == "implicitly_supported"
    swapped = CASE.model_copy(update={"response": CASE.reference, "reference": CASE.response})
    assert in_order(swapped) == (first, second)
    cases = [CASE.model_copy(update={"reference": f"答复{n}"}) for n in range(40)]
    assert {in_order(case)[0] == case.response for case in cases} == {True, False}


def test_a_repeated_piece_is_its_next_place() -> None:
    text = Document.of("nine and nine and ten")
    pieces = ["nine", "nine", "nine"]
    marked = mark_pieces(pieces, text.span(0, len(text.text)), "", whole=False, failure="ungrounded")
    assert [error.span.start for error in marked.errors] == [0, 9]
    assert marked.quotes_dropped == 1
