"""What each round shows: places in the sources, in order, within the budget, and everything when it fits."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import Claim
from longproof.graphs.gather import evidence, merge, questions
from longproof.graphs.sources import Sources
from longproof.retrieval.types import Document

TEXT = "\n".join(
    f"On day {n} the keeper of hill {n} counted {n * 7} sheep and wrote it down." for n in range(1200)
)
SOURCES = Sources([Document.of(TEXT)], 5500)
RESPONSE = Document.of("The keeper of hill 700 counted 4900 sheep.")
PLACE = st.tuples(st.integers(0, 2), st.integers(0, 300), st.integers(0, 100)).map(
    lambda p: (p[0], p[1], p[1] + p[2])
)


def claims(count: int = 1) -> list[Claim]:
    origin = RESPONSE.span(0, len(RESPONSE.text))
    return [Claim(id=f"c{i}", index=i, sentence=0, text=RESPONSE.text, origin=origin) for i in range(count)]


def size(places):
    return sum(end - start for _, start, end in places)


@given(st.lists(PLACE, max_size=12))
def test_merged_places_are_in_order_apart_and_cover_the_same_text(places):
    merged = merge(places)
    covered = {(n, i) for n, start, end in places for i in range(start, end)}
    assert {(n, i) for n, start, end in merged for i in range(start, end)} == covered
    assert all(a[0] < b[0] or a[2] < b[1] for a, b in pairwise(merged))


def test_passages_stay_near_the_window_and_within_the_budget():
    window = [(0, 38500, 55000)]
    shown = evidence(claims(), SOURCES, window, "passages", 2000)
    assert 0 < size(shown) <= 2000
    assert all(start < 55400 and end > 38100 for _, start, end in shown)


def test_the_book_round_finds_the_passage_wherever_it_is():
    shown = evidence(claims(), SOURCES, [(0, 0, 5500)], "book", 2000)
    assert any("hill 700 counted 4900" in TEXT[start:end] for _, start, end in shown)


def test_the_window_round_shows_the_window():
    assert evidence(claims(), SOURCES, [(0, 5500, 11000)], "window", 2000) == [(0, 5500, 11000)]


def test_a_source_that_fits_is_shown_whole_and_named_so():
    short = Sources([Document.of("A short source."), Document.of("And another.")], 5500)
    (question,) = questions(claims(), short, {"c0": [(0, 0, 15)]}, "book", budget=2000)
    assert question.round == "source"
    assert [span.text for span in question.shown] == ["A short source.", "And another."]


def test_claims_share_questions_of_nearly_equal_size():
    windows = {claim.id: [(0, 0, 5500)] for claim in claims(17)}
    made = questions(claims(17), SOURCES, windows, "window", budget=2000)
    assert [len(q.claim_ids) for q in made] == [6, 5, 6]
    assert [i for q in made for i in q.claim_ids] == [c.id for c in claims(17)]
    assert len({q.id for q in made}) == 3


def test_nothing_to_search_shows_nothing():
    (question,) = questions(claims(), Sources([], 5500), {}, "passages", budget=2000)
    assert question.shown == ()
