"""Risk over coverage, as laws: between the best order and chance, and a threshold that keeps its risk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.evaluation.metrics.selective import risk_curve, risk_from, threshold

EXAMPLES = st.lists(
    st.tuples(st.none() | st.sampled_from([0.1, 0.5, 0.9, 0.99]), st.booleans()), min_size=1, max_size=40
)


def columns(examples: list[tuple[float | None, bool]]) -> tuple[list[float | None], list[bool]]:
    return [sure for sure, _ in examples], [right for _, right in examples]


@given(EXAMPLES)
def test_no_order_of_the_same_errors_is_better_than_the_best(
    examples: list[tuple[float | None, bool]],
) -> None:
    sure, right = columns(examples)
    curve = risk_curve(sure, right)
    if curve.area is None or curve.best is None:
        assert set(sure) == {None}
        return
    assert -1e-9 <= curve.best <= curve.area + 1e-9 <= 1 + 2e-9
    decided = [(one, good) for one, good in examples if one is not None]
    assert curve.points[-1][1:] == pytest.approx(
        (len(decided) / len(examples), sum(not good for _, good in decided) / len(decided))
    )
    told = risk_curve([None if one is None else float(good) for one, good in examples], right)
    assert told.area == pytest.approx(curve.best)


@given(EXAMPLES, st.sampled_from([0.0, 0.05, 0.3]))
def test_a_threshold_keeps_its_risk_where_it_was_chosen(
    examples: list[tuple[float | None, bool]], most: float
) -> None:
    sure, right = columns(examples)
    least = threshold(sure, right, most)
    if least is None:
        assert all(risk > most for _, _, risk in risk_curve(sure, right).points)
        return
    found = risk_from(sure, right, least)
    assert found.value is not None
    assert found.value <= most + 1e-9


def test_equally_sure_examples_are_accepted_together() -> None:
    curve = risk_curve([0.9, 0.9, 0.5, None], [True, False, True, True])
    assert curve.points == [(0.9, 0.5, 0.5), (0.5, 0.75, pytest.approx(1 / 3))]
    assert curve.area == pytest.approx((0.5 + 0.5 + 1 / 3) / 3)
    assert threshold([0.9, 0.9], [True, False], 0.2) is None
