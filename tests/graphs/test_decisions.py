"""The three ways of counting, as laws: any order, failures decide nothing, one piece or one dispute is enough."""

from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import LABELS, Failure, JudgeLabel, Judgement
from longproof.agent.vote import COARSE, SIDES, on_menu, vote
from longproof.graphs.decisions import (
    NOT_AUDITED,
    Rule,
    accepted,
    by_consensus,
    by_labels,
    by_pieces,
    disputes,
    not_audited,
)
from longproof.graphs.state import Asked

CONSENSUS = 0.75
VOTE = st.sampled_from(["pass", "fail", "timeout"])
PIECES = st.lists(st.lists(VOTE, min_size=4, max_size=4), min_size=1, max_size=4)


def asked(id_: str) -> Asked:
    return {"id": id_, "claim_ids": ["c0"], "places": [], "round": "source", "prompt": "evaluate"}


def judgement(
    question: str, judge: int, label: JudgeLabel | None, failure: Failure | None = None
) -> Judgement:
    return Judgement(
        claim_id="c0",
        judge=f"j{judge}",
        round="source",
        question_id=question,
        label=label,
        failure=failure if label is None else None,
    )


def voted(question: str, words: list[str]) -> list[Judgement]:
    labels: dict[str, JudgeLabel | None] = {
        "pass": "explicitly_supported",
        "fail": "fabricated",
        "timeout": None,
    }
    return [judgement(question, n, labels[word], "timeout") for n, word in enumerate(words)]


def rule(given_label: str = "no_fact", **changes: object) -> Rule:
    usual = Rule(CONSENSUS, SIDES, "source", lambda claim, side: 1, False, {"c0": given_label})  # type: ignore[dict-item]
    return usual._replace(**changes)  # type: ignore[arg-type]


@given(PIECES)
def test_a_piece_is_accepted_from_three_of_four_on_and_one_is_enough(words: list[list[str]]) -> None:
    questions = [asked(f"q{n}") for n in range(len(words))]
    judgements = [j for n, row in enumerate(words) for j in voted(f"q{n}", row)]
    stands = by_pieces(questions, judgements, rule())["c0"]
    taken = [row for row in words if row.count("pass") >= 3]
    assert len(accepted(questions, judgements, CONSENSUS)) == len(taken)
    could = [row for row in words if row.count("timeout") and row.count("pass") + row.count("timeout") >= 3]
    if taken:
        assert (stands["standing"], stands["label"]) == ("decided", "explicitly_supported")
    elif could:
        assert (stands["standing"], stands["label"], stands["failure"]) == ("failed", None, "timeout")
    else:
        assert (stands["standing"], stands["label"]) == ("decided", "fabricated")


@given(PIECES, st.randoms())
def test_the_order_of_pieces_and_judges_is_irrelevant(words: list[list[str]], random: object) -> None:
    questions = [asked(f"q{n}") for n in range(len(words))]
    judgements = [j for n, row in enumerate(words) for j in voted(f"q{n}", row)]
    before = by_pieces(questions, judgements, rule())["c0"]
    random.shuffle(judgements)  # type: ignore[attr-defined]
    after = by_pieces(questions, judgements, rule())["c0"]
    assert before == after


@given(st.sampled_from(LABELS), st.lists(st.sampled_from([*LABELS, None]), min_size=1, max_size=5))
def test_one_dispute_flags_and_failures_alone_flag_too(
    label: JudgeLabel, said: list[JudgeLabel | None]
) -> None:
    judgements = [judgement("q0", n, one, "timeout") for n, one in enumerate(said)]
    stands = by_labels([asked("q0")], judgements, rule(label))["c0"]
    words = [one for one in said if one is not None]
    if not words:
        assert (stands["standing"], stands["failure"]) == ("failed", "timeout")
    elif any(disputes(label, one) for one in words):  # type: ignore[arg-type]
        assert (stands["standing"], stands["failure"]) == ("failed", "disputed")
    else:
        assert (stands["standing"], stands["label"]) == ("decided", label)


def test_a_label_disputes_the_other_sides() -> None:
    assert not disputes("explicitly_supported", "implicitly_supported")
    assert disputes("explicitly_supported", "fabricated")
    assert disputes("fabricated", "contradicting")
    assert not disputes("no_fact", "fabricated")
    assert disputes("no_fact", "contradicting")


def test_what_people_see_differently_is_not_audited() -> None:
    claims = [{"id": f"c{n}", "sentence": n} for n in range(len(LABELS))]
    left = not_audited(claims, LABELS)
    assert [stands["label"] for stands in left.values()] == [x for x in LABELS if x in NOT_AUDITED]
    assert {stands["decided_by"] for stands in left.values()} == {"rule"}


def test_where_answers_are_coarse_wrong_is_wrong() -> None:
    judgements = [judgement("q0", 0, "contradicting"), judgement("q0", 1, "fabricated")]
    assert vote(judgements, consensus=1).label is None
    assert vote(judgements, consensus=1, sides=COARSE).label == "contradicting"
    apart = by_consensus([asked("q0")], judgements, rule(consensus=1))["c0"]
    together = by_consensus([asked("q0")], judgements, rule(consensus=1, sides=COARSE))["c0"]
    assert (apart["standing"], together["label"]) == ("split", "contradicting")


@given(st.sampled_from([*LABELS, "not_found"]), st.sets(st.sampled_from(LABELS), min_size=1))
def test_a_menu_never_turns_right_into_wrong(said: JudgeLabel, menu: set[JudgeLabel]) -> None:
    made = on_menu(judgement("q0", 0, said), menu)  # type: ignore[arg-type]
    if made.label is None:
        assert made.failure == "off_menu"
        return
    assert made.label in menu
    if said != "no_fact":
        assert COARSE[made.label] == COARSE[said]
