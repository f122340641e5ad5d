"""The order of importance, the texts that are believed, and text cut at its marks."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.models.model import UNANSWERED
from longproof.report.summary import (
    around,
    checked_texts,
    language,
    marked_pieces,
    missing_documents,
    short,
    total_lines,
    unread_claims,
    unsettled_claims,
    whole_sentences,
    wrong_claims,
)
from longproof.report.words import words
from longproof.retrieval.types import Document


def test_the_wrong_come_first_then_the_unsettled(english_report: Any) -> None:
    report, _ = english_report
    assert [claim.id for claim in wrong_claims(report)] == ["c0", "c2", "c3"]
    assert [claim.id for claim in unsettled_claims(report)] == ["c5"]


def test_a_judge_that_was_not_there_is_named(english_report: Any) -> None:
    report, _ = english_report
    lost = [said for claim in report.claims for said in claim.judgements if said.failure in UNANSWERED]
    told = "\n".join(total_lines(report, words("en")))
    assert told.count("gave no answer") == len({said.judge for said in lost}) > 0
    answered = tuple(
        claim.model_copy(update={"judgements": [said for said in claim.judgements if said.label]})
        for claim in report.claims
    )
    assert "gave no answer" not in "\n".join(
        total_lines(report.model_copy(update={"claims": answered}), words("en"))
    )


def test_a_text_with_another_hash_is_not_believed(english_report: Any) -> None:
    report, texts = english_report
    source = next(d for d in report.documents if d.role == "source")
    assert set(checked_texts(report, texts)) == set(texts)
    known = checked_texts(report, {source.id: texts[source.id] + " "})
    assert missing_documents(report, known) == [source]


def test_what_no_model_has_read_is_not_among_the_unsettled(english_report: Any, triage_report: Any) -> None:
    assert unread_claims(english_report[0]) == []
    assert (len(unread_claims(triage_report[0])), unsettled_claims(triage_report[0])) == (38, [])


def test_language_follows_the_letters() -> None:
    assert language("王冕 went home") == "en"
    assert language("王冕放牛，读书。") == "zh"


@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=5),
    st.integers(0, 9),
)
def test_pieces_are_the_text(text: str, places: list[tuple[int, int]], offset: int) -> None:
    found = marked_pieces(text, places, offset)
    marked = {at - offset for start, end in places for at in range(start, end)} & set(range(len(text)))
    flags = [piece.marked for piece in found for _ in piece.text]
    assert "".join(piece.text for piece in found) == text
    assert {at for at, flag in enumerate(flags) if flag} == marked


def test_surroundings_stay_on_the_line_and_say_that_they_are_cut() -> None:
    document = Document.of("first\nsecond line with a quote in it and more\nthird")
    start = document.text.index("quote")
    found = around(document.span(start, start + 5), document.text, 7)
    assert [piece.text for piece in found] == ["…with a ", "quote", " in it …"]
    assert [piece.text for piece in around(document.span(0, 5), document.text, 9)] == ["first"]


def test_a_quote_that_is_not_in_the_text_stands_alone() -> None:
    span = Document.of("abc").span(0, 3)
    assert [piece.text for piece in around(span, "xbc", 9)] == ["abc"]


@given(st.text(max_size=200), st.integers(2, 80))
def test_short_is_short(text: str, characters: int) -> None:
    assert len(short(text, characters)) <= max(characters + 3, 3)


def test_short_cuts_between_words() -> None:
    assert (
        short("On the second of March the frost came back to the river.", 30)
        == "On the second … to the river."
    )
    assert short("a" * 40, 10) == "aaaaa … aaaaa"


@given(st.text("aB.。 \n!”", max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_whole_sentences_hold_the_place(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    first, last = whole_sentences(text, start, end)
    assert 0 <= first <= start <= end <= last <= len(text)


def test_a_quote_is_widened_to_its_sentences_and_no_further() -> None:
    text = "He went. Ada lit the old\nlamp at nine. Tom slept.\n\nThe end"
    start = text.index("old")
    first, last = whole_sentences(text, start, start + 8)
    assert text[first:last] == "Ada lit the old\nlamp at nine."
    far = "x " * 3000
    assert whole_sentences(far, 2500, 2600) == (2500, 2600)
    assert whole_sentences("雨停了。他说：“走吧。”", 5, 6) == (4, 12)
