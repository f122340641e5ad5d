"""Which claims are checked together, and what each round shows them: in order, within the budget, or everything."""

from collections.abc import Sequence
from itertools import chain, pairwise
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import CLAIMS_A_QUESTION, Claim
from longproof.graphs.evidence import GROUP_BLOCKS, Aligned, aligned, evidence, groups, merge, questions
from longproof.graphs.sources import Sources
from longproof.retrieval.types import Document, Window

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


SHORT = Document.of("x" * 100)
SEGMENTS = [(i * 10, i * 10 + 9) for i in range(10)]
CENTRES = st.lists(st.integers(0, 30), min_size=10, max_size=10)


def claim(index: int, start: int, document: Document = SHORT) -> Claim:
    return Claim(id=f"c{index}", index=index, sentence=0, text="x", origin=document.span(start, start + 1))


def window(segment: int, centre: int) -> Window:
    first, last = max(centre - 1, 0), centre + 1
    return Window(segment=segment, first=first, last=last, centre=centre, similarity=1, step=0, confidence=1)


def grouped(starts: Sequence[int], centres: Sequence[int]) -> list[list[Aligned]]:
    windows = [window(i, centre) for i, centre in enumerate(centres)]
    return groups(aligned([claim(i, start) for i, start in enumerate(starts)], SEGMENTS, windows))


@given(st.lists(st.integers(0, 98), max_size=20).map(sorted), CENTRES)
def test_every_claim_has_the_window_of_the_segment_in_which_it_starts(starts, centres):
    made = aligned(
        [claim(i, start) for i, start in enumerate(starts)],
        SEGMENTS,
        [window(i, centre) for i, centre in enumerate(centres)],
    )
    assert [one.claim.origin.start for one in made] == starts
    assert [one.window.segment for one in made] == [start // 10 for start in starts]


@given(st.lists(st.integers(0, 98), max_size=40).map(sorted), CENTRES)
def test_no_claim_is_lost_among_the_groups_and_their_order_stays(starts, centres):
    made = list(chain.from_iterable(grouped(starts, centres)))
    assert [one.claim.index for one in made] == list(range(len(starts)))


@given(st.lists(st.integers(0, 98), min_size=1, max_size=40).map(sorted), CENTRES)
def test_a_group_fits_one_question_and_its_neighbours_share_blocks(starts, centres):
    for group in grouped(starts, centres):
        held = [one.window for one in group]
        assert len(group) <= CLAIMS_A_QUESTION
        assert max(w.last for w in held) - min(w.first for w in held) < GROUP_BLOCKS
        assert all(a.first <= b.last and b.first <= a.last for a, b in pairwise(held))


def test_neighbours_whose_windows_overlap_are_checked_together():
    made = grouped([0, 10, 20], [3, 4, 9, 0, 0, 0, 0, 0, 0, 0])
    assert [len(group) for group in made] == [2, 1]


def test_without_a_source_there_are_no_windows_and_claims_still_share_questions():
    made = aligned([claim(n, n) for n in range(10)], SEGMENTS, [])
    assert {one.window for one in made} == {None}
    assert [len(group) for group in groups(made)] == [8, 2]


def test_the_time_to_group_grows_with_the_claims_not_with_their_square():
    document = Document.of("x" * 300_000)
    starts = range(0, 300_000, 10)
    many = [claim(n, start, document) for n, start in enumerate(starts)]
    windows = [window(n, n // 10) for n in range(len(many))]
    started = process_time()
    groups(aligned(many, [(start, start + 9) for start in starts], windows))
    assert process_time() - started < 5
