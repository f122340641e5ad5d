"""Rates of judges from votes alone, as laws: symmetric in classes and judges, near the truth, never certain."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.trust.reliability import convicts, counted, fit, reliability_of, unidentifiable
from longproof.agent.types import Judgement

SENSITIVITY, SPECIFICITY = {"a": 0.9, "b": 0.8, "c": 0.7}, {"a": 0.999, "b": 0.99, "c": 0.97}
VOTE = st.dictionaries(st.sampled_from("abcd"), st.booleans(), max_size=4)
CLAIMS = st.lists(VOTE, min_size=1, max_size=60)


def simulated(claims: int, wrong: float, seed: int = 0) -> list[dict[str, bool]]:
    draw = random.Random(seed)
    found = []
    for _ in range(claims):
        rates = (
            SENSITIVITY if draw.random() < wrong else {name: 1 - rate for name, rate in SPECIFICITY.items()}
        )
        found.append({name: draw.random() < rate for name, rate in rates.items()})
    return found


@given(CLAIMS)
def test_where_all_votes_change_sides_the_two_rates_change_places(claims: list[dict[str, bool]]) -> None:
    table = counted(claims)
    turned = fit(1 - table.patterns, table.counts)
    found = fit(table.patterns, table.counts)
    assert turned.sensitivity == pytest.approx(found.specificity, abs=1e-3)
    assert turned.specificity == pytest.approx(found.sensitivity, abs=1e-3)
    assert turned.prevalence == pytest.approx(1 - found.prevalence, abs=1e-3)


@given(CLAIMS, st.permutations("abcd"), st.randoms(use_true_random=False))
def test_neither_the_judges_names_nor_the_order_of_claims_matters(
    claims: list[dict[str, bool]], names: list[str], order: random.Random
) -> None:
    other = dict(zip("abcd", names, strict=True))
    mixed = [{other[name]: vote for name, vote in votes.items()} for votes in claims]
    order.shuffle(mixed)
    if not any(claims):
        return
    first, second = reliability_of(claims), reliability_of(mixed)
    for name, rates in first.of.items():
        assert second.of[other[name]].sensitivity == pytest.approx(rates.sensitivity, abs=1e-3)
        assert second.of[other[name]].specificity == pytest.approx(rates.specificity, abs=1e-3)
    assert unidentifiable(claims) == unidentifiable(mixed)


@pytest.mark.parametrize("wrong", [0.05, 0.3])
def test_simulated_rates_are_found_again(wrong: float) -> None:
    found = reliability_of(simulated(20_000, wrong))
    assert found.prevalence == pytest.approx(wrong, abs=0.01)
    for name, rates in found.of.items():
        assert rates.sensitivity == pytest.approx(SENSITIVITY[name], abs=0.05)
        assert rates.specificity == pytest.approx(SPECIFICITY[name], abs=0.003)


def test_votes_that_are_missing_by_what_the_first_judge_said_change_little() -> None:
    """As a cascade leaves them: the others read what the first convicts, and a part of what it clears."""
    claims = simulated(20_000, 0.1)
    left = [votes if votes["a"] or n % 5 == 0 else {"a": votes["a"]} for n, votes in enumerate(claims)]
    assert unidentifiable(left) is None
    for name, rates in reliability_of(left).of.items():
        assert rates.sensitivity == pytest.approx(SENSITIVITY[name], abs=0.1)
        assert rates.specificity == pytest.approx(SPECIFICITY[name], abs=0.01)


@given(CLAIMS)
def test_no_rate_is_ever_certain(claims: list[dict[str, bool]]) -> None:
    for rates in reliability_of([*claims, {"a": True}]).judges:
        assert 0 < rates.sensitivity < 1
        assert 0 < rates.specificity < 1


def test_what_votes_cannot_tell_is_named() -> None:
    full = simulated(200, 0.2)
    assert unidentifiable(full) is None
    assert (
        unidentifiable([])
        == unidentifiable([{"a": True, "b": False}] * 99)
        == "fewer than three judges voted"
    )
    assert "only 19 claims" in str(unidentifiable(full[:19]))
    many = [{f"{judge}{n}": vote for n in range(5) for judge, vote in votes.items()} for votes in full]
    assert unidentifiable(many) == "more than twelve judges voted"
    splits = [votes if votes["a"] != votes["b"] else {"a": votes["a"], "b": votes["b"]} for votes in full * 5]
    assert unidentifiable(splits) == "the third judge was only asked where two disagreed"
    shown = [votes if votes["a"] else {"a": False} for votes in full]
    assert unidentifiable(shown) == "who else was asked depends on how a judge voted"
    strict = [{"a": n < 30, "b": n < 45, "c": n < 60} for n in range(200)]
    assert (
        unidentifiable(strict)
        == "whatever a milder judge convicts a stricter one does too, as if by one rule"
    )
    assert unidentifiable([*strict, {"a": True, "b": False, "c": False}]) is None
    assert unidentifiable([dict.fromkeys("abc", False)] * 50) == "no claim is called wrong by most judges"
    assert unidentifiable([dict.fromkeys("abc", True)] * 50) == "no claim is called right by most judges"


@pytest.mark.parametrize(
    ("said", "whole", "vote"),
    [
        ("contradicting", False, True),
        ("fabricated", True, True),
        ("not_found", True, True),
        ("not_found", False, None),
        ("fabricated", False, None),
        ("out_dependent", True, False),
        ("ambiguous", False, False),
        ("explicitly_supported", False, False),
    ],
)
def test_not_found_convicts_only_where_everything_was_read(said: Any, whole: bool, vote: bool | None) -> None:
    judgement = Judgement(claim_id="c", judge="a", round="source", question_id="q", label=said)
    assert convicts(judgement, read_whole=whole) is vote
    failed = judgement.model_copy(update={"label": None, "failure": "timeout"})
    assert convicts(failed, read_whole=True) is None
