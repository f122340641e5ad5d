"""What is read from answers in the papers' own forms: labels by their menus, exact places, named failures."""

import json
from typing import Any

import pytest

from longproof.agent.forms import KIND_NAMES, NO, YES
from longproof.agent.guards import Guards, Weighed, exact_places
from longproof.agent.models.answers import schema
from longproof.agent.prompting import prompt_for, statements
from longproof.agent.recipes import RECIPES, about, in_order
from longproof.agent.types import KINDS, Case, Claim, Question
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


def question(prompt: str) -> Question:
    shown = (SOURCE.span(0, 11), SOURCE.span(11, len(SOURCE.text)), PAGE.span(0, len(PAGE.text)))
    return Question(id="q", claim_ids=("c0",), shown=shown, round="pages", prompt=prompt)


def read(prompt: str, answer: dict[str, Any], guards: Guards = "paper") -> Weighed:
    value = RECIPES[prompt].form.model_validate(answer)
    return RECIPES[prompt].read(about(value, 1), CLAIM, question(prompt), CASE, guards)


@pytest.mark.parametrize("prompt", RECIPES)
def test_every_prompt_can_be_asked_and_its_form_has_a_strict_schema(prompt: str) -> None:
    made = prompt_for(RECIPES[prompt].parts, question(prompt), {1: CLAIM}, CASE)
    assert made.language == "zh"
    assert made.user
    written = schema(RECIPES[prompt].form)
    assert written["additionalProperties"] is False
    assert json.dumps(written)


@pytest.mark.parametrize(
    "prompt", ["halueval_qa", "halueval_dialogue_cot", "halueval_summary", "halueval_general"]
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
def test_halueval_reads_yes_and_no(prompt: str, said: str, label: str | None, failure: str | None) -> None:
    weighed = read(prompt, {"reasoning": "因为。", "answer": said})
    assert (weighed.label, weighed.failure) == (label, failure)


def test_contrast_reads_which_of_two_is_made_up_whatever_their_order() -> None:
    first, second = in_order(CASE)
    ours = "first" if first == CASE.response else "second"
    theirs = "second" if ours == "first" else "first"
    assert read("halueval_qa_contrast", {"hallucinated": ours}).label == "fabricated"
    assert read("halueval_qa_contrast", {"hallucinated": theirs}).label == "implicitly_supported"
    assert read("halueval_qa_contrast", {"hallucinated": "both"}).failure == "unparsed"
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
    weighed = read("longnovel", answer)
    assert weighed.label == "contradicting"
    assert [(e.span.text, e.kind) for e in weighed.errors] == [
        ("陆遥在正午离开渡口。", "temporal"),
        ("老掌柜暗自欢喜。", "fabrication"),
    ]
    assert all(RESPONSE.text[e.span.start : e.span.end] == e.span.text for e in weighed.errors)
    assert weighed.reason


def test_only_invented_events_are_fabricated() -> None:
    answer = {"has_hallucination": YES, "details": [detail("虚构事件", "老掌柜暗自欢喜。", "")]}
    assert read("longnovel_beginning", answer).label == "fabricated"
    assert read("longnovel", {"has_hallucination": YES, "details": []}).label == "contradicting"


@pytest.mark.parametrize(
    ("said", "label", "failure"),
    [(NO, "implicitly_supported", None), ("没有", None, "unparsed"), ("", None, "unparsed")],
)
def test_longnovels_answer_is_one_of_two_words(said: str, label: str | None, failure: str | None) -> None:
    weighed = read("longnovel_cot", {"analysis": "逐句分析。", "has_hallucination": said, "details": []})
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


def listed(*spans: str, guards: Guards = "ours") -> Weighed:
    return read("data_to_text", {"reasoning": STEPS, "hallucination_list": list(spans)}, guards)


def test_data_to_text_takes_exact_substrings_alone() -> None:
    weighed = listed("在正午", "暗自欢喜", "在正午以后")
    assert [e.span.text for e in weighed.errors] == ["在正午", "暗自欢喜"]
    assert (weighed.label, weighed.dropped) == ("fabricated", 1)
    assert listed().label == "implicitly_supported"


@pytest.mark.parametrize("spans", [("在午后",), (RESPONSE.text,), (f" {RESPONSE.text}\n",)])
def test_a_list_of_what_is_no_piece_of_the_article_is_a_failure(spans: tuple[str, ...]) -> None:
    assert listed(*spans).failure == "ungrounded"
    assert listed(*spans, guards="paper").failure == "unparsed"


def test_a_repeated_piece_is_its_next_place() -> None:
    text = Document.of("nine and nine and ten")
    places, dropped = exact_places(["nine", "nine", "nine"], text.span(0, len(text.text)))
    assert [place.start for place in places] == [0, 9]
    assert dropped == 1


def test_all_five_steps_are_asked_for() -> None:
    with pytest.raises(ValueError, match="final_verdict"):
        read("data_to_text", {"reasoning": dict.fromkeys(list(STEPS)[:4], ""), "hallucination_list": []})


def test_a_passed_piece_is_the_evidence() -> None:
    passed = read("evaluate", {"reasoning": "就是它。", "verdict": "PASS"})
    assert (passed.label, passed.quotes) == ("explicitly_supported", question("evaluate").shown[:1])
    failed = read("evaluate", {"verdict": "fail"})
    assert (failed.label, failed.quotes) == ("fabricated", ())


@pytest.mark.parametrize(
    ("said", "label"),
    [("Explicitly-Supported", "explicitly_supported"), ("No-Fact", "no_fact"), ("not_found", None)],
)
def test_verigray_reads_its_seven_options(said: str, label: str | None) -> None:
    weighed = read("verigray", {"facts": ["离开渡口"], "label": said})
    assert (weighed.label, weighed.failure) == (label, None if label else "unparsed")


def test_the_piece_stands_alone_and_what_surrounds_it_beside() -> None:
    prompt = prompt_for(RECIPES["evaluate"].parts, question("evaluate"), {1: CLAIM}, CASE)
    piece, around = prompt.user.split("它前后的文字")
    assert "陆遥在黎明前离开渡口" in piece
    assert "船上只有九盏灯" not in piece
    assert "船上只有九盏灯" in around


def test_beginning_and_end_differ_in_order_alone() -> None:
    end, beginning = (
        prompt_for(RECIPES[name].parts, question(name), {1: CLAIM}, CASE)
        for name in ("longnovel", "longnovel_beginning")
    )
    assert end.system == beginning.system
    assert end.user.index("船上只有九盏灯") < end.user.index("船上有九盏灯")
    assert beginning.user.index("船上只有九盏灯") > beginning.user.index("船上有九盏灯")


@pytest.mark.parametrize("guards", ["ours", "paper"])
def test_a_confirming_answer_is_about_the_claim_in_whatever_order_the_two_stood(guards: Guards) -> None:
    for claim in (CLAIM.model_copy(update={"id": f"c{n}"}) for n in range(8)):
        at = statements(claim, CASE).index(claim.text)
        for place, label in ((at, "implicitly_supported"), (1 - at, "contradicting")):
            said = {"answer": ("first", "second")[place], "lines": ["船上只有九盏灯"], "reason": "原文如此。"}
            value = RECIPES["confirm"].form.model_validate(said)
            found = RECIPES["confirm"].read(value, claim, question("confirm"), CASE, guards)
            assert (found.label, found.failure, len(found.quotes)) == (label, None, 1)
    orders = {statements(CLAIM.model_copy(update={"id": f"c{n}"}), CASE)[0] for n in range(30)}
    assert len(orders) == 2


def test_a_confirming_answer_without_a_line_that_was_shown_is_none() -> None:
    assert read("confirm", {"answer": "first", "lines": ["没有这句话的引文"]}).failure == "ungrounded"
    assert read("confirm", {"answer": "neither"}).label == "not_found"
    assert read("confirm", {"answer": "both"}, "ours").failure == "off_menu"
