"""The sentence rule, the outcome rule, numbers that add up; what states no fact, and what exit 0 means."""

import itertools
from typing import Any

import pytest
from counted import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from scripted import ScriptedJudge, WholeSentences
from seam import claims_of

from longproof import Report, Verifier
from longproof.agent.report import (
    _set_phrases,
    distinct,
    is_set_phrase,
    named_errors,
    not_borne_out,
    price,
    report,
    reported_claim,
    sentence_label,
    sentences_at_least,
    total_usage,
    usage,
)
from longproof.agent.types import LABELS, Call, Case, Claim, Decision, Error, Judgement, Place, ReportClaim
from longproof.cli.verify import exit_code
from longproof.retrieval.types import Document

LABEL = st.one_of(st.sampled_from(LABELS), st.none())
TEXT = "A lamp stood there. It was lit."
DOCUMENT = Document.of(TEXT)


def claim(number: int, label: str | None, start: int = 0, end: int = 19, **given: Any) -> ReportClaim:
    return ReportClaim(
        id=f"c{number}",
        text=TEXT[start:end],
        sentence=int(start >= 20),
        origin=Place(start=start, end=end, text=TEXT[start:end]),
        window=None,
        label=label,
        failure=None if label else "unparsed",
        decided_by="vote" if label else "nobody",
        **given,
    )


def make(claims: list[ReportClaim], triage: bool = False, text: str = TEXT):
    return report(case=Case(id="x", response=text), documents=[], claims=claims, stamp={}, triage=triage)


def with_labels(labels: list[str | None], *, triage: bool = False):
    return make(
        [claim(i, label, *((20, 31) if i % 2 else (0, 19))) for i, label in enumerate(labels)], triage=triage
    )


@given(st.lists(LABEL, max_size=12))
def test_counts_add_up_and_coverage_is_their_share(labels):
    result = with_labels(labels)
    assert sum(result.counts.values()) == len(result.claims) == len(labels)
    undecided = labels.count(None)
    assert result.coverage == pytest.approx(1 - undecided / len(labels) if labels else 0)


@given(st.lists(LABEL, max_size=12))
def test_a_triage_with_anything_undecided_is_never_faithful(labels):
    result = with_labels(labels, triage=True)
    assert labels or (result.verdict, result.coverage) == ("undecided", 0)
    held = {claim.sentence for claim in result.claims}
    if None in labels or held != {0, 1}:
        assert result.verdict != "faithful"
    assert (result.verdict == "hallucinated") == bool({"contradicting", "fabricated"} & {*labels})


@given(st.lists(LABEL, min_size=1, max_size=6))
def test_adding_a_wrong_claim_makes_a_sentence_wrong(labels):
    assert sentence_label([*labels, "contradicting"]) == "contradicting"


def test_the_sentence_rule():
    expected = {
        (): "no_fact",
        ("no_fact", "no_fact"): "no_fact",
        ("no_fact", "explicitly_supported"): "explicitly_supported",
        ("implicitly_supported", "explicitly_supported"): "implicitly_supported",
        ("fabricated", None): "fabricated",
        ("explicitly_supported", None): None,
        ("ambiguous", None): None,
        (None, "no_fact"): None,
    }
    assert {labels: sentence_label(labels) for labels in expected} == expected


def test_the_outcome_rule():
    assert with_labels(["fabricated", None]).verdict == "hallucinated"
    assert with_labels(["explicitly_supported", None]).verdict == "undecided"
    assert with_labels(["ambiguous", "out_dependent", "no_fact"]).verdict == "faithful"
    assert with_labels([]).verdict == "undecided", "nobody read it"


def test_a_claim_over_sentences_counts_in_each_and_a_wrong_one_where_it_names_words_or_nobody_read():
    wrong = [claim(0, "contradicting", 0, 31, errors=(Error(span=DOCUMENT.span(2, 6)),))]
    over = [claim(0, "ambiguous", 0, 31), claim(1, "explicitly_supported", 20, 31)]
    for claims, triage, labels, verdict in (
        (over, False, ["ambiguous", "ambiguous"], "faithful"),
        (wrong, True, ["contradicting", None], "hallucinated"),
        (wrong, False, ["contradicting", "implicitly_supported"], "hallucinated"),
    ):
        result = make(claims, triage)
        assert ([sentence.label for sentence in result.sentences], result.verdict) == (labels, verdict)


@pytest.mark.parametrize("least", LABELS)
def test_sentences_that_are_faithful_enough_have_at_least_that_label(least):
    result = make([claim(0, "implicitly_supported"), claim(1, "fabricated", 20, 31)])
    rank = LABELS.index(least)
    assert len(sentences_at_least(result, least)) == (rank <= 1) + (
        rank <= LABELS.index("implicitly_supported")
    )
    assert sentences_at_least(make([claim(0, None, 0, 31)]), least) == []


def test_the_price_weighs_what_is_written_five_times_and_a_call_counts_once():
    call = Call(id="1", purpose="judge", endpoint="e", model="m", prompt_hash="h", prompt_characters=1000)
    written = call.model_copy(update={"answer_characters": 30})
    assert price(usage([written]), 500) == (1000 + 5 * 30) / 500
    assert price(total_usage([usage([written]), usage([written])]), 1000) == price(usage([written]), 500)
    again = [written.model_copy(update={"bought": bought}) for bought in (False, True, False)]
    assert distinct(again) == [written], "bought if this run bought it"
    assert price(usage([]), 500) == 0
    assert price(usage([written]), 0) is None
    assert price(usage([call]), 500) is None, "an old answer's length isn't known"
    assert usage([call, call.model_copy(update={"prompt_tokens": 5})]).prompt_tokens == 5


def test_the_work_grows_with_the_claims_not_with_their_square():
    claims = claims_of(*["Rain fell."] * 1000)
    told = [reported_claim(one, [], Decision(label="no_fact", decided_by="vote"), "") for one in claims]
    assert_linear(lambda size: make(told[:size], text="\n".join(["Rain fell."] * size)), 500)


def contradicting(question_id: str, *places: tuple[int, int]) -> Judgement:
    errors = tuple(Error(span=DOCUMENT.span(*place), correction="so") for place in places)
    given = {"claim_id": "c", "judge": "a", "round": "place", "label": "contradicting", "errors": errors}
    return Judgement(question_id=question_id, **given)


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 10)), max_size=3), min_size=1, max_size=4)
)
def test_one_place_has_one_correction_of_whoever_named_it_first(said):
    judgements = [
        contradicting("q", *((start, start + length) for start, length in places)) for places in said
    ]
    spans = [error.span for error in named_errors(judgements)]
    assert all(one.end <= other.start for one, other in itertools.pairwise(spans))
    first = next((error.span for judgement in judgements for error in judgement.errors), None)
    assert (first in spans) == (first is not None)


SOURCE = "Thea lit the lamp. Thea sold the boat to her father."


@pytest.mark.parametrize(
    ("sentences", "known"),
    [
        (["I hope this helps!", "  HERE’S A SUMMARY: ", "希望對您有幫助。", "以上就是全部內容"], True),
        (["I hope this shows how Thea poisoned her father.", "Thank you for reading how Thea died."], False),
        (["In summary, Thea died.", "希望这说明了西娅毒死了父亲。", "Of course.", "当然。", "", "..."], False),
    ],
)  # fmt: skip
def test_a_courtesy_is_a_set_phrase_unless_it_tells_a_fact(sentences: list[str], known: bool) -> None:
    assert [is_set_phrase(sentence) for sentence in sentences] == [known] * len(sentences)


@given(st.sampled_from(sorted(_set_phrases())), st.text(alphabet="abcxyz火水", min_size=1))
def test_no_phrase_with_a_word_more_is_one(phrase: str, more: str) -> None:
    longer = f"{phrase} {more}"
    assert not is_set_phrase(longer) or longer in _set_phrases()


def check(response: str, label: str = "no_fact", **settings: bool) -> Report:
    judge = ScriptedJudge("scripted", label)
    return Verifier(judges=[judge], decomposer=WholeSentences(), **settings).verify(SOURCE, response)


def test_a_response_that_states_no_fact_is_undecided_and_says_why() -> None:
    for response in ("I hope this shows how Thea poisoned her father.", "Thea is hope. Hope is Thea."):
        report = check(response)
        assert report.verdict == "undecided"
        assert exit_code(report) == 3
        assert "no sentence states a fact, so nothing was checked" in report.markdown()


def test_a_fact_beside_what_states_none_is_checked() -> None:
    judge = ScriptedJudge(
        "j", lambda question, claim: "no_fact" if "hope" in claim.text else "explicitly_supported"
    )
    report = Verifier(judges=[judge], decomposer=WholeSentences()).verify(
        SOURCE, "Thea is hope. Thea lit the lamp."
    )
    assert report.verdict == "faithful"
    assert "; 1 states no fact" in report.markdown()
    assert exit_code(report) == 3


@pytest.mark.parametrize(
    ("response", "label", "settings", "code", "says"),
    [
        ("Thea is hope.", "no_fact", {"may_state_no_fact": True}, 0, "in 1 sentences"),
        ("Thea lit the lamp. I hope this helps!", "explicitly_supported", {}, 0, "in 2 sentences"),
        ("Thea lit the lamp.", "explicitly_supported", {}, 0, "in 1 sentences"),
    ],
)
def test_exit_0_under_check_means_that_the_source_bears_it_out(
    response: str, label: str, settings: dict[str, bool], code: int, says: str
) -> None:
    report = check(response, label, **settings)
    assert report.verdict == "faithful", "what the evaluation counts stays"
    assert exit_code(report) == code
    assert says in report.markdown()


def test_a_decision_may_say_on_which_quotes_it_rests() -> None:
    (about,), (one, other) = claims_of("A lamp stood there."), (DOCUMENT.span(0, 6), DOCUMENT.span(7, 12))
    said = contradicting("q", (0, 6)).model_copy(update={"quotes": (one, other)})
    for evidence, told in (((other,), (other,)), ((), (one, other))):
        decision = Decision(label="contradicting", decided_by="vote", evidence=evidence)
        assert reported_claim(about, [said], decision, "q").evidence == told


def test_words_that_a_later_answer_withdrew_are_not_called_wrong() -> None:
    def errors(*judgements: Judgement) -> list[tuple[int, int]]:
        about = Claim(id="c", index=0, sentence=0, text=TEXT[:19], origin=DOCUMENT.span(0, 19))
        settled = Decision(label="contradicting", decided_by="vote")
        return [(e.span.start, e.span.end) for e in reported_claim(about, judgements, settled, "last").errors]

    first = contradicting("first", (0, 6))
    assert errors(first, contradicting("last", (7, 12))) == [(7, 12)]
    assert errors(first, contradicting("last")) == [(0, 6)], "the last answer names none"


def test_what_saved_pages_alone_bear_out_is_named_beside_a_source() -> None:
    report = check("Thea lit the lamp.", "explicitly_supported")
    claim = report.claims[0].model_copy(update={"label": "out_dependent"})
    by_pages = report.model_copy(update={"claims": (claim,)})
    assert not_borne_out(by_pages).pages == (0,)
    assert exit_code(by_pages) == 3
    assert "1 rests on saved pages alone" in by_pages.markdown()
    sourceless = by_pages.model_copy(update={"documents": by_pages.documents[:1]})
    assert exit_code(sourceless) == 0
