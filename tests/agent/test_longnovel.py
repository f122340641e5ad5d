"""Reports in the paper's form, and back: what was read is what is written."""

import pytest

from longproof.agent.report import report, reported_claim, trusted
from longproof.agent.types import LABELS, Case, Claim, Error, Label, Report, Sentence
from longproof.graphs.papers.longnovel import NO, YES, Narrative, paper_answer, read_details
from longproof.graphs.papers.paper import About
from longproof.graphs.papers.verigray import review_list
from longproof.retrieval.types import Document

RESPONSE = Document.of("陆遥在正午离开渡口。船上有九盏灯。老掌柜暗自欢喜。")
WHOLE = RESPONSE.span(0, len(RESPONSE.text))
CLAIM = Claim(id="c0", index=0, sentence=0, text=WHOLE.text, origin=WHOLE)
SENTENCES = [(0, 10), (10, 17), (17, 25)]


def made(label: Label | None, errors: tuple[Error, ...] = ()) -> Report:
    claim = reported_claim(
        CLAIM, [], label=label, decided_by="vote", question_id="", failure="unparsed", localised=errors
    )
    return report(
        case=Case(id="x", response=RESPONSE.text),
        documents=[],
        sentences=[Sentence(index=n, span=RESPONSE.span(*at)) for n, at in enumerate(SENTENCES)],
        claims=[claim],
        stamp={},
    )


ANSWER = {
    "has_hallucination": YES,
    "details": [
        {
            "hallucination_type": "时间线乱序",
            "hallucinated_sentence": "陆遥在正午离开渡口。",
            "corrected_content": "陆遥在黎明前离开渡口。",
            "reason": "原文是黎明前。",
        }
    ],
}


def test_what_was_read_is_what_is_written() -> None:
    about = About(1, CLAIM, (), Case(id="x", response=RESPONSE.text))
    weighed = read_details(Narrative.model_validate(ANSWER), about)
    assert paper_answer(made("contradicting", weighed.errors)) == ANSWER


def test_a_wrong_word_is_written_as_its_sentence_and_the_sentence_put_right() -> None:
    error = Error(span=RESPONSE.span(3, 5), kind="temporal", correction="黎明前", reason="原文是黎明前。")
    (detail,) = paper_answer(made("contradicting", (error,)))["details"]
    assert detail["hallucinated_sentence"] == "陆遥在正午离开渡口。"
    assert detail["corrected_content"] == "陆遥在黎明前离开渡口。"


def test_faithful_and_undecided_are_written_apart() -> None:
    assert paper_answer(made("implicitly_supported")) == {"has_hallucination": NO, "details": []}
    assert paper_answer(made(None)) == {"has_hallucination": None, "details": []}


def test_only_the_sentences_that_an_error_touches_are_wrong() -> None:
    error = Error(span=RESPONSE.span(17, 25), kind="fabrication")
    labels = [s.label for s in made("fabricated", (error,)).sentences]
    assert labels == ["implicitly_supported", "implicitly_supported", "fabricated"]
    assert [s.label for s in made("fabricated", (Error(span=WHOLE),)).sentences] == ["fabricated"] * 3
    assert [s.label for s in made(None).sentences] == [None] * 3


@pytest.mark.parametrize("least", LABELS)
def test_trusted_sentences_have_at_least_that_label(least: Label) -> None:
    error = Error(span=RESPONSE.span(17, 25))
    found = trusted(made("fabricated", (error,)), least)
    rank = LABELS.index(least)
    assert len(found) == (3 if rank <= 1 else 2 if rank <= LABELS.index("implicitly_supported") else 0)
    assert trusted(made(None), least) == ()


def test_a_report_without_given_labels_has_nothing_to_review() -> None:
    assert review_list(made(None)) == []
