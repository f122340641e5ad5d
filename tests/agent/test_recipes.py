"""What is read from a confirming answer, and that every prompt that a judge answers can be asked."""

import json
from typing import Any

import pytest

from longproof.agent.guards import Weighed
from longproof.agent.judge import RECIPES, part_about
from longproof.agent.models.answers import schema
from longproof.agent.prompting import prompt_for, statements
from longproof.agent.types import Case, Claim, Question
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
    return Question(id="q", claim_ids=("c0",), shown=shown, look="pages", prompt=prompt)


def read(prompt: str, answer: dict[str, Any]) -> Weighed:
    value = RECIPES[prompt].form.model_validate(answer)
    return RECIPES[prompt].read(part_about(value, 1, CLAIM.text), CLAIM, question(prompt), CASE)


@pytest.mark.parametrize("prompt", RECIPES)
def test_every_prompt_can_be_asked_and_its_form_has_a_strict_schema(prompt: str) -> None:
    made = prompt_for(RECIPES[prompt].parts, question(prompt), {1: CLAIM}, CASE)
    assert made.language == "zh"
    assert made.user
    written = schema(RECIPES[prompt].form)
    assert written["additionalProperties"] is False
    assert json.dumps(written)


def test_a_confirming_answer_is_about_the_claim_in_whatever_order_the_two_stood() -> None:
    for claim in (CLAIM.model_copy(update={"id": f"c{n}"}) for n in range(8)):
        at = statements(claim, CASE).index(claim.text)
        for place, label in ((at, "implicitly_supported"), (1 - at, "contradicting")):
            said = {"answer": ("first", "second")[place], "lines": ["船上只有九盏灯"], "reason": "原文如此。"}
            value = RECIPES["confirm"].form.model_validate(said)
            found = RECIPES["confirm"].read(value, claim, question("confirm"), CASE)
            assert (found.label, found.failure, len(found.quotes)) == (label, None, 1)
    orders = {statements(CLAIM.model_copy(update={"id": f"c{n}"}), CASE)[0] for n in range(30)}
    assert len(orders) == 2


def test_a_confirming_answer_without_a_line_that_was_shown_is_none() -> None:
    assert read("confirm", {"answer": "first", "lines": ["没有这句话的引文"]}).failure == "ungrounded"
    assert read("confirm", {"answer": "neither"}).label == "not_found"
    assert read("confirm", {"answer": "both"}).failure == "off_menu"


def test_a_claim_may_be_named_by_its_text() -> None:
    said = {
        "claim": CLAIM.text,
        "lines": ["船上只有九盏灯"],
        "reason": "-",
        "label": "contradicting",
        "errors": [],
    }
    for name, label in ((CLAIM.text, "contradicting"), ("C1", "contradicting"), ("陆遥在正午", None)):
        assert read("judge", {"rest": [{**said, "claim": name}]}).label == label
