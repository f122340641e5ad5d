"""The laws of the vote: order is irrelevant, one more vote for the winner keeps it, failures are no votes."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import LABELS, JudgeLabel, Judgement
from longproof.agent.vote import FAITHFULNESS, SIDES, final_label, may_decide, vote

LABEL = st.sampled_from(get_args(JudgeLabel))
OUTCOME = st.one_of(LABEL, st.none())


def judgement(label: str | None, judge: str = "j") -> Judgement:
    failure = None if label else "timeout"
    return Judgement(
        claim_id="c0", judge=judge, round="window", question_id="q", label=label, failure=failure
    )


def tally(labels: list[str | None], consensus: float = 2 / 3):
    return vote([judgement(label, f"j{i}") for i, label in enumerate(labels)], consensus=consensus)


@given(st.lists(OUTCOME, max_size=9).flatmap(lambda xs: st.tuples(st.just(xs), st.permutations(xs))))
def test_the_order_of_judges_is_irrelevant(lists):
    given_order, shuffled = lists
    assert tally(given_order) == tally(shuffled)


@given(st.lists(OUTCOME, max_size=9), st.floats(0.1, 1))
def test_one_more_voice_for_the_winner_keeps_the_winner(labels, consensus):
    before = tally(labels, consensus)
    if before.label is not None:
        after = tally([*labels, before.label], consensus)
        assert (after.side, after.label) == (before.side, before.label)


@given(st.integers(0, 9))
def test_all_failed_is_undecided(size):
    result = tally([None] * size)
    assert result == (None, None, 0)


@given(st.lists(OUTCOME, min_size=1, max_size=8))
def test_a_failure_is_no_voice_but_stays_in_the_denominator(labels):
    assert tally([*labels, None], 1.0).label is None
    assert tally([*labels, None]).votes == tally(labels).votes


def test_two_of_three_reach_two_thirds_and_two_of_four_do_not():
    assert tally(["contradicting", "contradicting", "explicitly_supported"]).label == "contradicting"
    assert tally(["contradicting", "contradicting", "explicitly_supported", None]).label is None


def test_the_side_comes_before_the_label():
    labels = [
        "explicitly_supported",
        "implicitly_supported",
        "contradicting",
        "contradicting",
        "implicitly_supported",
    ]
    assert tally(labels, 0.6).label == "implicitly_supported"


def test_a_tie_inside_a_side_goes_to_the_less_faithful():
    assert tally(["explicitly_supported", "implicitly_supported"]).label == "implicitly_supported"
    assert tally(["fabricated", "out_dependent"]).label == "fabricated"


def test_every_judge_label_has_a_side_and_a_place():
    assert set(SIDES) == set(FAITHFULNESS) == set(get_args(JudgeLabel))
    assert {final_label(label) for label in get_args(JudgeLabel)} == set(LABELS)


def test_nobody_says_nowhere_before_having_looked():
    for round_ in ("place", "window"):
        assert not may_decide("not_found", round_, last=False)
    assert not may_decide("contradicted", "place", last=False)
    assert not may_decide("ambiguous", "place", last=False)
    assert may_decide("contradicted", "window", last=False)
    assert may_decide("supported", "place", last=False)
    assert may_decide("no_fact", "place", last=False)
    assert may_decide("not_found", "source", last=True)
