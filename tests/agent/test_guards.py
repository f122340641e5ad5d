"""What is believed of a finding: located quotes, consistent fields, places that exist."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from seam import lines_of

from longproof.agent.evidence.citations import says_something
from longproof.agent.guards import Weighed, find_cited_line, find_quote, read_lines
from longproof.agent.judge import (
    LETTERS,
    MENU,
    Finding,
    Findings,
    StatementChoice,
    findings_about,
    read_choice,
    read_findings,
)
from longproof.agent.prompting import statements
from longproof.agent.types import Case, Claim, Error, Question, SourcePlace
from longproof.retrieval.types import Document, Span

SOURCE = Document.of(
    "序。老船長在黎明之前沿著港口慢慢地走。他沒有說話。Then “Mara” rowed home; she had 9 letters. 😀é end"
)
CUT = SOURCE.text.index("他沒有")
RESPONSE = Document.of("开头。老船长天黑后去了港口，他没有说话。Mara rowed to sea.")
START = RESPONSE.text.index("老船长")
CLAIM = Claim(
    id="c0", index=0, sentence=0, text="老船长天黑后去了港口", origin=RESPONSE.span(START, START + 10)
)
CASE = Case(id="case", response=RESPONSE.text)
SHOWN = (SOURCE.span(0, CUT), SOURCE.span(CUT, len(SOURCE.text)))


def question_showing(shown: Sequence[Span], numbers: Sequence[int]) -> Question:
    """A question that shows these texts, in lines where there are numbers: those of snippets are negative."""
    lines = tuple(number for number in numbers if number >= 0)
    pages = [SourcePlace(source_id=s.source_id, start=s.start, end=s.end) for s in shown[len(lines) :]]
    return Question(
        id="q",
        claim_ids=("c0",),
        shown=tuple(shown),
        look="window",
        prompt="judge",
        lines=(lines,) if lines else (),
        pages=tuple(pages) if numbers else (),
    )


QUESTION = question_showing(SHOWN, (1, 2))


def weigh(question: Question = QUESTION, **changes: Any) -> Weighed:
    said = {
        "claim": "C1",
        "lines": ["老船長在黎明之前"],
        "reason": "原文是黎明之前。",
        "label": "contradicting",
    }
    said["errors"] = ["temporal: 天黑后 => 黎明之前"]
    return read_findings([Finding.model_validate({**said, **changes})], CLAIM, question, CASE)


@pytest.mark.parametrize(
    ("changes", "words", "kind"),
    [
        ({}, ["天黑后"], "temporal"),
        ({"errors": ["天黑后 → 黎明之前"]}, ["天黑后"], None),
        ({"errors": ["none：「天黑后」=>黎明之前"] * 2}, ["天黑后"], None),
        ({"errors": ["event: 天黑后 => 黎明之前", "event: 港口 => 黎明之前"]}, ["天黑后", "港口"], "event"),
        ({"errors": ["他没有说话 => 黎明之前"]}, ["他没有说话"], None),
        ({"errors": ["temporal: 半夜里 => 黎明之前"]}, [], None),
        ({"errors": [" => 黎明之前", ""]}, [], None),
        ({"errors": ["rowed to sea => 黎明之前"]}, [], None),
        ({"label": "implicitly_supported"}, [], None),
    ],
)
def test_an_error_is_words_of_the_response_that_a_wrong_claim_names(
    changes: dict[str, Any], words: list[str], kind: str | None
) -> None:
    read = weigh(**changes)
    assert (read.failure, read.quotes_dropped) == (None, 0)
    assert list(read.quotes) == [SHOWN[0]]
    assert [RESPONSE.text[error.span.start : error.span.end] for error in read.errors] == words
    assert [(error.kind, error.correction) for error in read.errors] == [(kind, "黎明之前")] * len(words)


@given(st.integers(0, 60), st.integers(1, 30))
def test_every_located_quote_lies_where_it_says(start: int, length: int) -> None:
    span = find_quote(SOURCE.text[start : start + length], SHOWN)
    assert span is None or SOURCE.text[span.start : span.end] == span.text
    assert find_quote("nobody ever wrote this here", SHOWN) is None


def test_only_labels_that_rest_on_nothing_need_no_quote() -> None:
    for label in MENU:
        read = weigh(label=label, lines=[], errors=[])
        assert (read.failure == "ungrounded") == (label not in ("not_found", "no_fact", "out_dependent"))
    assert weigh(question_showing((), ()), lines=[]).label == "contradicting", "nothing is shown to quote"


LINES = ["Ada lit the lamp; nobody saw it.", "3 boats were sold, 15 were not.", "Tom said nothing."]
LINES += ["他在天亮之前點了燈。", "“Yes,” he said.", "Yes."]
SNIPPET = Document.of("Lamps  were lit\nwith oil.")
TOLD = [line.span for line in lines_of(*LINES)]
NUMBERED = question_showing([*TOLD, SNIPPET.span(0, len(SNIPPET.text))], [12, 13, 14, 20, 21, 22, -1])


CITED = {
    0: ["[12] Ada lit", "12, “Ada lit", "12 Ada lit…", "12 the lamp; nobody", "Ada lit the lamp"],
    1: ["13 3 boats", "15 were not"],
    3: ["20 他在", "２０｜他在", "他在天亮之前點了燈。\n“Yes,” he"],
    6: ["p1| lamps were lit with"],
}
UNCITED = ["", "12", "13 3", "12 Ad", "20 他", "P0 Ada lit", "P12 Ada lit", "13 Ada lit the"]
UNCITED += ["-1 Lamps were lit", "99 … Ada lit the lamp"]


def test_a_line_is_cited_by_its_number_and_its_beginning() -> None:
    for line, citations in CITED.items():
        for citation in citations:
            assert find_cited_line(citation, NUMBERED) == NUMBERED.shown[line], citation
    assert [citation for citation in UNCITED if find_cited_line(citation, NUMBERED)] == []


def test_several_lines_may_stand_in_one_citation() -> None:
    read = {
        ("12 Ada lit；14 Tom said",): ([0, 2], 0),
        ("12 Ada lit, 14 Tom said",): ([0, 2], 0),
        ("12 Ada lit the lamp; nobody; 14 Tom said",): ([0, 2], 0),
        ("13 3 boats were sold, 15 were not",): ([1], 0),
        ("14 Tom said", "12 Ada lit", "14 Tom said nothing"): ([2, 0], 0),
        ("12 Ada lit; 99 nothing", "12"): ([0], 2),
        ("", " ", ";"): ([], 0),
        (*["12"] * 39, "12 Ada lit", "14 Tom said"): ([0], 39),
    }
    for citations, (lines, dropped) in read.items():
        shown = tuple(NUMBERED.shown[line] for line in lines)
        assert read_lines(citations, NUMBERED) == (shown, dropped), citations


def test_a_supported_claim_is_one_string_with_its_number() -> None:
    read = {
        "C1 E 12 Ada lit; 15 Tom said": ("E", "12 Ada lit; 15 Tom said"),
        "C1：I：12 他在": ("I", "12 他在"),
        "1  e\n12 Ada lit": ("E", "12 Ada lit"),
        "[C1] (I) [12] Ada lit": ("I", "[12] Ada lit"),
        "C1 implicitly_supported 12 Ada": ("I", "12 Ada"),
        "C1 E": ("E", ""),
        "C1 12 Ada lit": ("", "12 Ada lit"),
        "C1 F 12 Ada lit": ("", "F 12 Ada lit"),
        "C1 Ian lit it": ("", "Ian lit it"),
    }
    for compact, (letter, citations) in read.items():
        (finding,) = findings_about(Findings(short=[compact]), 1, "")
        assert (finding.label, finding.lines) == (LETTERS.get(letter, ""), [citations]), compact
    assert findings_about(Findings(short=["E 12 Ada lit", ""]), 1, "") == []


WORDS = st.lists(st.text("abcdefghij", min_size=2, max_size=7), min_size=2, max_size=8).map(" ".join)
TEXTS = st.lists(WORDS | st.text("天地玄黄宇宙洪荒，。", min_size=4, max_size=30), min_size=2, max_size=6)


def number_lines(texts: Sequence[str], first: int) -> Question:
    return question_showing([line.span for line in lines_of(*texts)], range(first, first + len(texts)))


@given(TEXTS, st.data())
def test_every_line_shown_is_found_by_its_number_and_beginning(texts: list[str], data: st.DataObject) -> None:
    question = number_lines(texts, data.draw(st.integers(0, 10**6)))
    at = data.draw(st.integers(0, len(texts) - 1))
    beginning = texts[at][: data.draw(st.integers(4, 16))]
    assume(says_something("".join(filter(str.isalnum, beginning))))
    between = data.draw(st.sampled_from([" ", "| ", ": ", "  ", "] "]))
    assert find_cited_line(f"{question.numbers[at]}{between}{beginning}", question) == question.shown[at]


@given(TEXTS, st.integers(0, 10**6), st.data())
def test_no_wrong_number_or_beginning_is_believed(texts: list[str], first: int, data: st.DataObject) -> None:
    question = number_lines(texts, first)
    at = data.draw(st.integers(0, len(texts) - 1))
    number = data.draw(st.integers(0, 10**7).filter(lambda n: n not in question.numbers))
    assert find_cited_line(f"{number} {texts[at][:12]}", question) is None
    other = data.draw(st.text("uvwxyz", min_size=4))
    assert find_cited_line(f"{question.numbers[at]} {other}", question) is None


@given(st.lists(st.text()), st.text())
def test_no_citation_breaks_the_reading(citations: list[str], compact: str) -> None:
    lines, dropped = read_lines([*citations, compact], NUMBERED)
    assert set(lines) <= set(NUMBERED.shown)
    assert dropped >= 0
    findings_about(Findings(short=[compact]), 1, "")


def test_hostile_citations_cost_little() -> None:
    for one in (" ", "(", "[ ", "1", "; ", ", 1", "12 ", "P", "…", "E "):
        findings_about(Findings(short=[one * 40_000]), 1, "")
        assert set(read_lines([one * 40_000], NUMBERED)[0]) <= set(NUMBERED.shown)


def confirm(answer: str, claim: Claim = CLAIM, line: str = "老船長在黎明之前") -> Weighed:
    return read_choice(
        StatementChoice(lines=[line], reason="原文如此。", answer=answer), claim, QUESTION, CASE
    )


def test_a_confirming_answer_is_about_the_claim_in_whatever_order_the_two_stood() -> None:
    first: set[str] = set()
    for claim in (CLAIM.model_copy(update={"id": f"c{n}"}) for n in range(30)):
        both = statements(claim, (), CASE)
        first.add(both[0])
        for said, statement in zip(("first", "second"), both, strict=True):
            label = "implicitly_supported" if statement == claim.text else "contradicting"
            assert confirm(said, claim).label == label
    assert len(first) == 2


def test_a_confirming_answer_without_a_line_that_was_shown_is_none() -> None:
    assert confirm("first", line="没有这句话的引文").failure == "ungrounded"
    assert confirm("neither").label == "not_found"
    assert confirm("either").label == "ambiguous"
    assert confirm("both").failure == "off_menu"


def test_a_denial_names_the_words_that_are_called_wrong_and_what_should_stand_there() -> None:
    denied = [Error(span=CLAIM.origin, correction=right) for right in ("九盏", "", None)]
    denial = next(one for one in statements(CLAIM, denied, CASE) if one != CLAIM.text)
    words = f"“{CLAIM.origin.text}”"
    assert denial.endswith(f"错在：{words}，应为“九盏”；{words}；{words}。")


def test_what_is_called_out_dependent_by_pages_rests_on_one() -> None:
    shown = (SHOWN[0], SNIPPET.span(0, len(SNIPPET.text)))
    question = question_showing(shown, (1, -1)).model_copy(update={"look": "pages"})
    case = CASE.model_copy(update={"source_ids": (SOURCE.id,)})
    for line, label in (("1 老船長", None), ("P1 Lamps were", "out_dependent")):
        said = [Finding(claim="C1", lines=[line], label="out_dependent")]
        assert read_findings(said, CLAIM, question, case).label == label
