"""Agreement of judges, and intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import LABELS, Label
from longproof.evaluation.metrics.statistics import bootstrap_interval, fleiss_kappa

FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
"""Ten items, fourteen raters, five categories: the worked example whose kappa is 0.210."""


def test_fleiss_worked_example() -> None:
    votes = [[LABELS[label] for label, n in enumerate(row) for _ in range(n)] for row in FLEISS]
    scores = fleiss_kappa(votes)
    assert scores.value == pytest.approx(0.210, abs=5e-4)
    assert (scores.n, scores.coverage) == (10, 1.0)


def test_failures_are_no_vote_and_lower_the_coverage() -> None:
    scores = fleiss_kappa(
        [
            ["fabricated", "fabricated", None],
            ["not_found", "not_found", "timeout"],
            ["fabricated", None, None],
        ]
    )
    assert (scores.value, scores.n, scores.coverage) == (1.0, 3, 2 / 3)
    assert fleiss_kappa([["fabricated", "fabricated"]]).value is None
    assert fleiss_kappa([]).coverage is None


@given(st.lists(st.lists(st.sampled_from(LABELS[:3]), min_size=2, max_size=4), min_size=1, max_size=30))
def test_kappa_does_not_depend_on_order(votes: list[list[Label]]) -> None:
    shuffled = [row[::-1] for row in votes][::-1]
    assert fleiss_kappa(votes).value == pytest.approx(fleiss_kappa(shuffled).value)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def test_interval_is_seeded_and_holds_the_mean() -> None:
    values = [float(i % 3) for i in range(60)]
    interval = bootstrap_interval(_mean, values)
    assert interval == bootstrap_interval(_mean, values)
    assert interval is not None
    assert interval[0] < 1.0 < interval[1]
    assert bootstrap_interval(_mean, []) is None


def test_an_interval_of_a_mostly_undefined_statistic_is_none() -> None:
    assert bootstrap_interval(lambda items: 1.0 if "rare" in items else None, ["rare"] + ["x"] * 9) is None
