"""Intervals of judges' rates: they hold the truth, follow responses, and grant nobody certainty."""

import random

from longproof.evaluation.metrics.reliability import trust

SENSITIVITY, SPECIFICITY = (0.9, 0.8, 0.7), (0.999, 0.99, 0.97)


def simulated(responses: int, claims: int, seed: int) -> tuple[list[dict[str, bool]], list[int], list[bool]]:
    draw = random.Random(seed)
    votes, of, gold = [], [], []
    for response in range(responses):
        for _ in range(claims):
            wrong = draw.random() < 0.05
            rates = zip(SENSITIVITY, SPECIFICITY, strict=True)
            votes.append({f"j{n}": draw.random() < (s if wrong else 1 - c) for n, (s, c) in enumerate(rates)})
            of.append(response)
            gold.append(wrong)
    return votes, of, gold


def test_nine_intervals_in_ten_hold_the_true_rate_and_the_gold_beside_them() -> None:
    held = []
    for seed in range(20):
        found = trust(*simulated(20, 50, seed), draws=200)
        assert found.why_not is None
        assert [one.gold.hallucinated + one.gold.faithful for one in found.judges] == [1000] * 3
        for one, sensitivity, specificity in zip(found.judges, SENSITIVITY, SPECIFICITY, strict=True):
            for estimate, true in ((one.sensitivity, sensitivity), (one.specificity, specificity)):
                assert estimate.interval.low <= estimate.value <= estimate.interval.high
                held.append(estimate.interval.low <= true <= estimate.interval.high)
    assert sum(held) >= 0.9 * len(held)


def test_perfect_agreement_is_no_certainty() -> None:
    claims = [dict.fromkeys("abc", n < 5) for n in range(100)]
    found = trust(claims, [n // 10 for n in range(100)])
    assert (found.kappa.value, found.flips.value) == (1.0, 0.0)
    for one in found.judges:
        assert one.sensitivity.interval.low < 0.7
        assert one.specificity.interval.low < 0.98


def test_claims_of_one_response_are_drawn_together() -> None:
    """All claims of a response alike: as many as there are, they say no more than one."""
    claims = [{"a": n < 30, "b": n < 30, "c": n < 20} for n in range(100)]
    alone, together = trust(claims, range(100)), trust(claims, [n // 10 for n in range(100)])
    assert alone.prevalence is not None
    assert together.prevalence is not None
    low, high, _ = alone.prevalence.interval
    wide_low, wide_high, _ = together.prevalence.interval
    assert wide_high - wide_low > 1.5 * (high - low)


def test_votes_that_tell_no_rates_still_have_their_agreement() -> None:
    found = trust([{"a": True, "b": True}, {"a": False, "b": True}, {}], ["r"] * 3)
    assert (found.claims, found.judges, found.prevalence) == (2, [], None)
    assert found.why_not == "fewer than three judges voted"
    assert found.flips.value == 0.5
