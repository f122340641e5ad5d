"""What is believed of a finding: located quotes, consistent fields, places that exist."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.forms import MENU, Finding
from longproof.agent.guards import HOLDS, find, located, same, weigh, word, wrong_place
from longproof.agent.types import KINDS, Claim, JudgeLabel
from longproof.retrieval.types import Document

SOURCE = Document.of(
    "序。老船長在黎明之前沿著港口慢慢地走。他沒有說話。Then “Mara” rowed home; she had 9 letters. 😀é end"
)
CUT = SOURCE.text.index("他沒有")
RESPONSE = Document.of("开头。老船长天黑后去了港口，他没有说话。Mara rowed to sea.")
START = RESPONSE.text.index("老船长")
CLAIM = Claim(
    id="c0", index=0, sentence=0, text="老船长天黑后去了港口", origin=RESPONSE.span(START, START + 10)
)
SHOWN = (SOURCE.span(0, CUT), SOURCE.span(CUT, len(SOURCE.text)))


def finding(**changes: Any) -> Finding:
    said = {
        "claim": "C1",
        "quotes": ["老船長在黎明之前"],
        "reason": "原文是黎明之前。",
        "holds": "no",
        "label": "contradicting",
        "kind": "temporal",
        "wrong": "天黑后",
        "correction": "黎明之前",
    }
    return Finding.model_validate({**said, **changes})


def test_a_sound_finding_is_taken_whole() -> None:
    weighed = weigh(finding(), CLAIM, SHOWN)
    assert (weighed.label, weighed.failure, weighed.dropped) == ("contradicting", None, 0)
    assert [span.text for span in weighed.quotes] == ["老船長在黎明之前"]
    (error,) = weighed.errors
    assert RESPONSE.text[error.span.start : error.span.end] == "天黑后"
    assert (error.kind, error.correction) == ("temporal", "黎明之前")


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("老船长在黎明之前沿着港口", "老船長在黎明之前沿著港口"),
        ('Then "Mara" rowed home', "Then “Mara” rowed home"),
        ("he had nothing; she had 9 letters.", None),
        ("沿着港口……他没有说话", None),
        ("老", None),
        ("a", None),
        ("", None),
        ("the captain of the seven seas", None),
    ],
)
def test_quotes_are_found_in_any_script_or_not_believed(quote: str, text: str | None) -> None:
    span = find(quote, SHOWN)
    if text is not None:
        assert span is not None
        assert span.text == text
    elif span is not None:
        assert len(span.text) >= 2
    if span is not None:
        assert SOURCE.text[span.start : span.end] == span.text


@given(st.integers(0, 60), st.integers(1, 30))
def test_every_located_quote_lies_where_it_says(start: int, length: int) -> None:
    quote = SOURCE.text[start : start + length]
    spans, dropped = located([quote, "nobody ever wrote this here"], SHOWN)
    assert all(SOURCE.text[span.start : span.end] == span.text for span in spans)
    assert dropped >= 1


def test_one_located_quote_is_enough_and_the_others_are_counted() -> None:
    weighed = weigh(finding(quotes=["从来没有人写过这一句话", "他没有说话", "他没有说话"]), CLAIM, SHOWN)
    assert weighed.failure is None
    assert len(weighed.quotes) == 1
    assert weighed.dropped == 1


def test_only_labels_that_rest_on_nothing_need_no_quote() -> None:
    for label in MENU:
        weighed = weigh(
            finding(label=label, quotes=[], holds=HOLDS.get(label, "no"), wrong="", correction=""),
            CLAIM,
            SHOWN,
        )
        assert (weighed.failure == "ungrounded") == (label not in ("not_found", "no_fact"))


def test_where_nothing_was_shown_nothing_can_be_quoted() -> None:
    assert weigh(finding(quotes=[]), CLAIM, ()).label == "contradicting"


@pytest.mark.parametrize("label", get_args(JudgeLabel))
def test_holds_must_agree_with_the_label(label: JudgeLabel) -> None:
    for holds in ("yes", "no"):
        weighed = weigh(finding(label=label, holds=holds, wrong="", correction=""), CLAIM, SHOWN)
        contradicts = HOLDS.get(label, holds) != holds
        assert (weighed.failure == "self_contradicted") == contradicts
        assert weigh(finding(label=label, holds=holds), CLAIM, SHOWN, "paper").label == label


def test_an_error_needs_words_that_stand_in_the_response() -> None:
    assert weigh(finding(wrong="半夜里"), CLAIM, SHOWN).errors == ()
    assert weigh(finding(wrong=""), CLAIM, SHOWN).errors == ()
    assert weigh(finding(wrong="rowed to sea"), CLAIM, SHOWN).errors == ()


def test_an_unknown_kind_is_no_kind() -> None:
    (error,) = weigh(finding(kind="stylistic"), CLAIM, SHOWN).errors
    assert error.kind is None
    assert {wrong_place("天黑后", kind, "x", "", CLAIM)[0].kind for kind in KINDS} == set(KINDS)


def test_supported_claims_have_no_errors() -> None:
    weighed = weigh(finding(label="implicitly_supported", holds="yes"), CLAIM, SHOWN)
    assert (weighed.label, weighed.errors) == ("implicitly_supported", ())


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("Explicitly Supported", "explicitly_supported"),
        (' "not-found". ', "not_found"),
        ("NO", "no"),
        ("incorrect", "incorrect"),
    ],
)
def test_words_are_whole_words(said: str, read: str) -> None:
    assert word(said) == read


def test_the_same_words_are_the_same_in_any_dress() -> None:
    assert same("他預感孟河朗，或與南邊有關聯。", "他预感孟河朗或与南边有关联")
    assert not same("nine", "nineteen")
    assert not same("", "")
