"""Scores of places against sets of characters."""

from hypothesis import given
from hypothesis import strategies as st

from longproof.evaluation.metrics.spans import character_counts, character_scores, mistake_scores

PLACE = st.tuples(st.integers(0, 30), st.integers(0, 10)).map(lambda at: (at[0], at[0] + at[1]))
PLACES = st.lists(PLACE, max_size=4)


@given(st.lists(st.tuples(PLACES, PLACES), max_size=8))
def test_precision_and_recall_swap_with_the_sides(
    rows: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]],
) -> None:
    gold, predicted = [g for g, _ in rows], [p for _, p in rows]
    for score in (character_scores, mistake_scores):
        here, there = score(gold, predicted), score(predicted, gold)
        assert (here.precision, here.recall, here.f1) == (there.recall, there.precision, there.f1)


@given(st.lists(PLACES, min_size=1, max_size=8))
def test_the_gold_itself_is_perfect_or_undefined(gold: list[list[tuple[int, int]]]) -> None:
    scores = character_scores(gold, gold)
    assert scores.f1 in (1.0, None)
    assert (scores.f1 is None) == (scores.n_gold == 0)


def test_overlapping_places_count_once() -> None:
    scores = character_scores([[(0, 4), (2, 6)]], [[(3, 9)]])
    assert character_counts([(0, 4), (2, 6)], [(3, 9)]) == (3, 3, 3, 0, 0)
    assert (scores.n_gold, scores.n_predicted) == (6, 6)
    assert (scores.precision, scores.recall, scores.f1) == (0.5, 0.5, 0.5)


def test_undecided_marks_nothing_and_is_counted() -> None:
    scores = character_scores([[(0, 4)], []], [None, []])
    assert (scores.recall, scores.precision, scores.coverage) == (0.0, None, 0.5)


def test_one_character_is_enough_for_a_mistake() -> None:
    scores = mistake_scores([[(0, 4), (10, 12)]], [[(3, 5), (20, 21)]])
    assert (scores.precision, scores.recall) == (0.5, 0.5)
    assert mistake_scores([[(0, 4)]], [[(4, 5)]]).recall == 0.0
