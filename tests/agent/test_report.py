"""The sentence rule, the outcome rule, and numbers that add up."""

import pytest
from counted import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.report import outcome, price, report, sentence_label, total_usage, usage
from longproof.agent.types import LABELS, Call, Case, Claim, Error, Sentence, Verdict
from longproof.retrieval.types import Document

LABEL = st.one_of(st.sampled_from(LABELS), st.none())
TEXT = "A lamp stood there. It was lit."
DOCUMENT = Document.of(TEXT)


def claims(count: int) -> list[Claim]:
    spans = [DOCUMENT.span(0, 19), DOCUMENT.span(20, 31)]
    return [
        Claim(id=f"c{i}", index=i, sentence=i % 2, text=spans[i % 2].text, origin=spans[i % 2])
        for i in range(count)
    ]


def verdicts(labels: list[str | None]) -> list[Verdict]:
    return [
        Verdict(claim_id=f"c{i}", label=label, decided_by="vote" if label else "nobody")
        for i, label in enumerate(labels)
    ]


def made(labels: list[str | None], n_claims: int | None = None, *, triage: bool = False):
    return report(
        case=Case(id="x", response=TEXT),
        documents=[],
        sentences=[
            Sentence(index=i, span=DOCUMENT.span(a, b)) for i, (a, b) in enumerate([(0, 19), (20, 31)])
        ],
        claims=claims(len(labels) if n_claims is None else n_claims),
        verdicts=verdicts(labels),
        windows={},
        stamp={},
        triage=triage,
    )


@given(st.lists(LABEL, max_size=12))
def test_counts_add_up_and_coverage_is_their_share(labels):
    result = made(labels)
    assert sum(result.counts.values()) == len(result.claims) == len(labels)
    undecided = labels.count(None)
    assert result.coverage == pytest.approx(1 - undecided / len(labels) if labels else 0)


@given(st.lists(LABEL, max_size=12))
def test_a_triage_with_anything_undecided_is_never_faithful(labels):
    result = made(labels, triage=True)
    held = {claim.sentence for claim in result.claims}
    if None in labels or held != {0, 1}:
        assert result.verdict != "faithful"
    assert (result.verdict == "hallucinated") == bool({"contradicting", "fabricated"} & {*labels})


@pytest.mark.parametrize("triage", [True, False])
def test_a_response_without_claims_is_undecided(triage):
    result = made([], triage=triage)
    assert (result.verdict, result.coverage) == ("undecided", 0)


@given(st.lists(LABEL, min_size=1, max_size=6))
def test_adding_a_wrong_claim_makes_a_sentence_wrong(labels):
    assert sentence_label([*labels, "contradicting"]) == "contradicting"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([], "no_fact"),
        (["no_fact", "no_fact"], "no_fact"),
        (["no_fact", "explicitly_supported"], "explicitly_supported"),
        (["implicitly_supported", "explicitly_supported"], "implicitly_supported"),
        (["fabricated", None], "fabricated"),
        (["explicitly_supported", None], None),
        (["ambiguous", None], None),
        ([None, "no_fact"], None),
    ],
)
def test_the_sentence_rule(labels, expected):
    assert sentence_label(labels) == expected


def test_the_outcome_rule():
    assert outcome(["fabricated", None]) == "hallucinated"
    assert outcome(["explicitly_supported", None]) == "undecided"
    assert outcome(["ambiguous", "out_dependent", "no_fact"]) == "faithful"
    assert outcome([]) == "faithful"


def test_no_claim_leaves_the_denominator():
    with pytest.raises(ValueError, match="exactly one verdict"):
        made(["fabricated"], n_claims=2)


def test_a_claim_that_runs_over_sentences_counts_in_each_of_them():
    sentences = [Sentence(index=n, span=DOCUMENT.span(*place)) for n, place in enumerate([(0, 19), (20, 31)])]
    long = Claim(id="c0", index=0, sentence=0, text=TEXT, origin=DOCUMENT.span(0, 31))
    own = Claim(id="c1", index=1, sentence=1, text="It was lit.", origin=DOCUMENT.span(20, 31))
    given = verdicts(["ambiguous", "explicitly_supported"])
    result = report(
        case=Case(id="x", response=TEXT),
        documents=[],
        sentences=sentences,
        claims=[long, own],
        verdicts=given,
        windows={},
        stamp={},
    )
    assert [sentence.label for sentence in result.sentences] == ["ambiguous", "ambiguous"]


@pytest.mark.parametrize(("triage", "other"), [(True, None), (False, "implicitly_supported")])
def test_what_a_wrong_claim_does_not_name_is_borne_out_only_where_somebody_read_it(triage, other):
    sentences = [Sentence(index=n, span=DOCUMENT.span(*place)) for n, place in enumerate([(0, 19), (20, 31)])]
    claim = Claim(id="c0", index=0, sentence=0, text=TEXT, origin=DOCUMENT.span(0, 31))
    error = Error(span=DOCUMENT.span(2, 6))
    result = report(
        case=Case(id="x", response=TEXT),
        documents=[],
        sentences=sentences,
        claims=[claim],
        verdicts=[Verdict(claim_id="c0", label="contradicting", decided_by="vote", errors=(error,))],
        windows={},
        stamp={},
        triage=triage,
    )
    assert [sentence.label for sentence in result.sentences] == ["contradicting", other]
    assert result.verdict == "hallucinated"


def test_the_time_grows_with_the_claims_not_with_their_square():
    document = Document.of("x" * 5000)
    spans = [document.span(start, start + 4) for start in range(0, 5000, 5)]
    claims = [Claim(id=f"c{n}", index=n, sentence=n, text="x", origin=span) for n, span in enumerate(spans)]
    sentences = [Sentence(index=n, span=span) for n, span in enumerate(spans)]
    given = verdicts(["no_fact"] * len(claims))
    assert_linear(
        lambda size: report(
            case=Case(id="x", response=document.text),
            documents=[],
            sentences=sentences[:size],
            claims=claims[:size],
            verdicts=given[:size],
            windows={},
            stamp={},
        ),
        500,
    )


def test_unknown_token_counts_add_nothing():
    call = Call(id="1", purpose="judge", endpoint="e", model="m", prompt_hash="h", prompt_characters=10)
    assert usage([call, call.model_copy(update={"prompt_tokens": 5})]).prompt_tokens == 5
    assert usage([call, call]).prompt_characters == 20


def test_the_price_weighs_what_is_written_five_times():
    call = Call(id="1", purpose="judge", endpoint="e", model="m", prompt_hash="h", prompt_characters=1000)
    written = call.model_copy(update={"answer_characters": 30})
    assert price(usage([written]), 500) == (1000 + 5 * 30) / 500
    assert price(total_usage([usage([written]), usage([written])]), 1000) == price(usage([written]), 500)
    assert price(usage([]), 500) == 0
    assert price(usage([written]), 0) is None


def test_without_the_answers_lengths_there_is_no_price():
    old = Call(id="1", purpose="judge", endpoint="e", model="m", prompt_hash="h", prompt_characters=1000)
    assert old.answer_characters is None
    assert price(usage([old]), 500) is None
