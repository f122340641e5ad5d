"""The reading plan follows from sizes alone, and the dearer way is never chosen."""

from hypothesis import given
from hypothesis import strategies as st

from longproof.graphs.evidence.places import OVERLAP, PLACE, WHOLE, reading_plan

SIZE = st.integers(1, 10**7)


@given(SIZE, st.integers(1, 10**5))
def test_a_short_source_is_shown_whole_and_a_long_one_the_cheaper_way(source: int, sentences: int) -> None:
    plan = reading_plan(source, sentences)
    along, places = OVERLAP * source, PLACE * sentences
    assert (plan.way == "whole") == (source <= WHOLE)
    if plan.way == "along":
        assert along <= places
    if plan.way == "places":
        assert places < along


@given(SIZE, st.integers(1, 10**5))
def test_more_sentences_never_turn_a_source_that_is_read_along_into_places(
    source: int, sentences: int
) -> None:
    if reading_plan(source, sentences).way == "along":
        assert reading_plan(source, sentences + 1).way == "along"
