"""What is read from answers in the papers' own forms: labels by their menus, exact places, named failures."""

import json
from typing import Any

import pytest

from longproof.agent.guards import Weighed
from longproof.agent.models.answers import schema
from longproof.agent.types import KINDS, Case, Claim
from longproof.graphs.papers import all_papers, find_paper
from longproof.graphs.papers.answers import exact_places, fill, in_order
from longproof.graphs.papers.longnovel import KIND_NAMES, NO, YES
from longproof.graphs.papers.paper import About, Paper
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


def named(name: str) -> Paper:
    found = find_paper(name)
    assert found is not None
    return found


def read(name: str, answer: dict[str, Any]) -> Weighed:
    method = named(name)
    return method.read(method.form.model_validate(answer), About(1, CLAIM, SHOWN, CASE))


@pytest.mark.parametrize("name", [one.name for one in all_papers()])
def test_every_prompt_can_be_asked_and_its_form_has_a_strict_schema(name: str) -> None:
    method = named(name)
    made = fill(method.prompt, SHOWN, {1: CLAIM}, CASE)
    assert made.language == "zh"
    assert made.user
    written = schema(method.form)
    assert written["additionalProperties"] is False
    assert json.dumps(written)


@pytest.mark.parametrize(
    "name", ["halueval-qa", "halueval-dialogue-cot", "halueval-summary", "halueval-general"]
)
@pytest.mark.parametrize(
    ("said", "label", "failure"),
    [
        ("Yes", "fabricated", None),
        (" no. ", "implicitly_supported", None),
        ("maybe", None, "unparsed"),
        ("", None, "unparsed"),
    ],
)
def test_halueval_reads_yes_and_no(name: str, said: str, label: str | None, failure: str | None) -> None:
    weighed = read(name, {"reasoning": "因为。", "answer": said})
    assert (weighed.label, weighed.failure) == (label, failure)


def test_contrast_reads_which_of_two_is_made_up_whatever_their_order() -> None:
    first, second = in_order(CASE)
    ours = "first" if first == CASE.response else "second"
    theirs = "second" if ours == "first" else "first"
    assert read("halueval-qa-contrast", {"hallucinated": ours}).label == "fabricated"
    assert read("halueval-qa-contrast", {"hallucinated": theirs}).label == "implicitly_supported"
    assert read("halueval-qa-contrast", {"hallucinated": "both"}).failure == "unparsed"
    swapped = CASE.model_copy(update={"response": CASE.reference, "reference": CASE.response})
    assert in_order(swapped) == (first, second)


def test_both_orders_of_contrast_occur() -> None:
    cases = [CASE.model_copy(update={"reference": f"答复{n}"}) for n in range(40)]
    assert {in_order(case)[0] == case.response for case in cases} == {True, False}


def detail(kind: str, sentence: str, correction: str) -> dict[str, str]:
    return {
        "hallucination_type": kind,
        "hallucinated_sentence": sentence,
        "corrected_content": correction,
        "reason": "原文不是这样。",
    }


def test_longnovels_details_become_places_kinds_and_corrections() -> None:
    answer = {
        "has_hallucination": YES,
        "details": [
            detail("时间线乱序", "陆遥在正午离开渡口。", "陆遥在黎明前离开渡口。"),
            detail("虚构事件", "老掌柜暗自欢喜。", "老掌柜没有说话。"),
            detail("虚构事件", "文中没有的话。", "无。"),
        ],
    }
    weighed = read("longnovel-rag", answer)
    assert weighed.label == "contradicting"
    assert [(e.span.text, e.kind) for e in weighed.errors] == [
        ("陆遥在正午离开渡口。", "temporal"),
        ("老掌柜暗自欢喜。", "fabrication"),
    ]
    assert all(RESPONSE.text[e.span.start : e.span.end] == e.span.text for e in weighed.errors)
    assert weighed.reason


def test_only_invented_events_are_fabricated() -> None:
    answer = {"has_hallucination": YES, "details": [detail("虚构事件", "老掌柜暗自欢喜。", "")]}
    assert read("longnovel-zero-shot-beginning", answer).label == "fabricated"
    assert read("longnovel-rag", {"has_hallucination": YES, "details": []}).label == "contradicting"


@pytest.mark.parametrize(
    ("said", "label", "failure"),
    [(NO, "implicitly_supported", None), ("没有", None, "unparsed"), ("", None, "unparsed")],
)
def test_longnovels_answer_is_one_of_two_words(said: str, label: str | None, failure: str | None) -> None:
    weighed = read(
        "longnovel-zero-shot-cot", {"analysis": "逐句分析。", "has_hallucination": said, "details": []}
    )
    assert (weighed.label, weighed.failure) == (label, failure)


def test_every_kind_has_its_chinese_name() -> None:
    assert set(KIND_NAMES) == set(KINDS)
    assert len(set(KIND_NAMES.values())) == 8


STEPS = {
    "content_analysis": "a",
    "reference_comparison": "b",
    "hallucination_identification": "c",
    "span_extraction": "d",
    "final_verdict": "e",
}


def listed(*spans: str) -> Weighed:
    return read("data-to-text", {"reasoning": STEPS, "hallucination_list": list(spans)})


def test_data_to_text_takes_exact_substrings_alone() -> None:
    weighed = listed("在正午", "暗自欢喜", "在正午以后")
    assert [e.span.text for e in weighed.errors] == ["在正午", "暗自欢喜"]
    assert (weighed.label, weighed.dropped) == ("fabricated", 1)
    assert listed().label == "implicitly_supported"


@pytest.mark.parametrize("spans", [("在午后",), (RESPONSE.text,), (f" {RESPONSE.text}\n",)])
def test_a_list_of_what_is_no_piece_of_the_article_is_a_failure(spans: tuple[str, ...]) -> None:
    assert listed(*spans).failure == "ungrounded"
    assert read("probe-direct", {"hallucinated": ["在午后"]}).failure == "unparsed"


def test_a_repeated_piece_is_its_next_place() -> None:
    text = Document.of("nine and nine and ten")
    places, dropped = exact_places(["nine", "nine", "nine"], text.span(0, len(text.text)))
    assert [place.start for place in places] == [0, 9]
    assert dropped == 1


def test_all_five_steps_are_asked_for() -> None:
    with pytest.raises(ValueError, match="final_verdict"):
        read("data-to-text", {"reasoning": dict.fromkeys(list(STEPS)[:4], ""), "hallucination_list": []})


def test_a_passed_piece_is_the_evidence() -> None:
    passed = read("probe", {"reasoning": "就是它。", "verdict": "PASS"})
    assert (passed.label, passed.quotes) == ("explicitly_supported", SHOWN[:1])
    failed = read("probe", {"verdict": "fail"})
    assert (failed.label, failed.quotes) == ("fabricated", ())


@pytest.mark.parametrize(
    ("said", "label"),
    [("Explicitly-Supported", "explicitly_supported"), ("No-Fact", "no_fact"), ("not_found", None)],
)
def test_verigray_reads_its_seven_options(said: str, label: str | None) -> None:
    weighed = read("verigray", {"facts": ["离开渡口"], "label": said})
    assert (weighed.label, weighed.failure) == (label, None if label else "unparsed")


def test_the_piece_stands_alone_and_what_surrounds_it_beside() -> None:
    prompt = fill(named("probe").prompt, SHOWN, {1: CLAIM}, CASE)
    piece, around = prompt.user.split("它前后的文字")
    assert "陆遥在黎明前离开渡口" in piece
    assert "船上只有九盏灯" not in piece
    assert "船上只有九盏灯" in around


def test_beginning_and_end_differ_in_order_alone() -> None:
    end, beginning = (
        fill(named(name).prompt, SHOWN, {1: CLAIM}, CASE)
        for name in ("longnovel-zero-shot", "longnovel-zero-shot-beginning")
    )
    assert end.system == beginning.system
    assert end.user.index("船上只有九盏灯") < end.user.index("船上有九盏灯")
    assert beginning.user.index("船上只有九盏灯") > beginning.user.index("船上有九盏灯")
