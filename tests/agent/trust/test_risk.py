"""What rates mean for a long text, as laws: the promise is kept, and keeps the strongest convictions."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from longproof.agent.trust.reliability import JudgeRates, Reliability
from longproof.agent.trust.risk import any_of, convictions, passes, strength, thresholds, weakest

RATE = st.floats(0.02, 0.9999)
PANEL = st.lists(st.tuples(RATE, RATE), min_size=1, max_size=5)
CONSENSUS = st.sampled_from([0.3, 0.5, 2 / 3, 1.0])
RISK, CLAIMS = st.floats(0.001, 0.5), st.integers(1, 3000)


def panel(rates: list[tuple[float, float]]) -> Reliability:
    judges = tuple(JudgeRates(judge=f"j{n}", sensitivity=s, specificity=c) for n, (s, c) in enumerate(rates))
    return Reliability(judges=judges, prevalence=0.1, claims=100)


@given(PANEL, CONSENSUS, st.booleans(), RISK, CLAIMS, st.booleans())
def test_the_chance_of_convicting_a_faithful_text_stays_below_the_risk(
    rates: list[tuple[float, float]], consensus: float, arbiter: bool, risk: float, claims: int, every: bool
) -> None:
    known = panel(rates)
    made = thresholds(known, claims, consensus=consensus, arbiter=arbiter, max_risk=risk, confirm_all=every)
    ways = list(convictions(known.judges, consensus, arbiter=arbiter))
    after = {"stands": 1.0, "ask": 1 - weakest(known.judges).specificity, "held": 0.0}
    share = sum(way.if_right * after[made.stage(way.strength)] for way in ways)
    assert any_of(claims, share) <= risk + 1e-6
    assert made.chance == pytest.approx(any_of(claims, share), abs=1e-6)
    assert made.chance_before == pytest.approx(any_of(claims, sum(way.if_right for way in ways)), abs=1e-6)
    assert not every or all(made.stage(way.strength) != "stands" for way in ways)


@given(PANEL, CONSENSUS, st.booleans(), RISK, CLAIMS)
def test_no_weaker_conviction_is_kept_than_one_that_is_not(
    rates: list[tuple[float, float]], consensus: float, arbiter: bool, risk: float, claims: int
) -> None:
    made = thresholds(panel(rates), claims, consensus=consensus, arbiter=arbiter, max_risk=risk)
    order = ("held", "ask", "stands")
    ways = sorted(convictions(panel(rates).judges, consensus, arbiter=arbiter), key=lambda way: way.strength)
    stages = [order.index(made.stage(way.strength)) for way in ways]
    assert stages == sorted(stages)


@given(PANEL, CONSENSUS, st.booleans(), RISK, CLAIMS)
def test_what_is_held_back_in_a_short_text_is_held_back_in_a_longer_one(
    rates: list[tuple[float, float]], consensus: float, arbiter: bool, risk: float, claims: int
) -> None:
    short, long = (
        thresholds(panel(rates), n, consensus=consensus, arbiter=arbiter, max_risk=risk)
        for n in (claims, claims * 2)
    )
    assert long.ask >= short.ask


@given(PANEL, CONSENSUS, st.booleans(), CLAIMS)
def test_where_the_risk_is_small_enough_nothing_is_asked_or_held_back(
    rates: list[tuple[float, float]], consensus: float, arbiter: bool, claims: int
) -> None:
    ways = list(convictions(panel(rates).judges, consensus, arbiter=arbiter))
    risk = min(0.999, any_of(claims, sum(way.if_right for way in ways)) * 1.01 + 1e-9)
    made = thresholds(panel(rates), claims, consensus=consensus, arbiter=arbiter, max_risk=risk)
    assume(risk < 0.999)
    assert all(made.stage(way.strength) == "stands" for way in ways)


@given(PANEL, st.booleans(), st.data())
def test_the_strength_of_votes_does_not_depend_on_their_order(
    rates: list[tuple[float, float]], arbitrated: bool, data: st.DataObject
) -> None:
    known = panel(rates)
    names = data.draw(st.permutations([one.judge for one in known.judges]))
    votes = {name: data.draw(st.booleans()) for name in names}
    backwards = dict(reversed(votes.items()))
    assert strength(known, votes, arbitrated=arbitrated) == pytest.approx(
        strength(known, backwards, arbitrated=arbitrated)
    )


@given(PANEL, st.booleans())
def test_all_votes_of_a_panel_are_decided_once(rates: list[tuple[float, float]], arbiter: bool) -> None:
    """With a simple majority there is no split, and convictions are half of all ways to vote or more."""
    assume(len(rates) % 2)
    ways = list(convictions(panel(rates).judges, 0.5, arbiter=arbiter))
    assert len(ways) == 2 ** (len(rates) - 1)
    assert sum(way.if_right for way in ways) < 1 + 1e-9


def test_the_panel_of_the_benchmark_by_hand() -> None:
    known = panel([(0.9, 0.999), (0.8, 0.99), (0.7, 0.97)])
    two_of_three = 0.001 * 0.01 * 0.97 + 0.001 * 0.99 * 0.03 + 0.999 * 0.01 * 0.03 + 0.001 * 0.01 * 0.03
    ways = list(convictions(known.judges, 2 / 3, arbiter=True))
    assert any_of(1000, sum(way.if_right for way in ways)) == pytest.approx(1 - (1 - two_of_three) ** 1000)
    found = 0.9 * 0.8 + 0.9 * 0.2 * 0.7 + 0.1 * 0.8 * 0.7
    assert passes(1000, ways) == pytest.approx((1 - found) * (1 - two_of_three) ** 999)
    made = thresholds(known, 1000, consensus=2 / 3, arbiter=True, max_risk=0.05)
    weak, strong = {"j0": False, "j1": True, "j2": True}, {"j0": True, "j1": False, "j2": True}
    assert made.stage(strength(known, weak)) == "ask"
    assert made.stage(strength(known, strong)) == "stands"
