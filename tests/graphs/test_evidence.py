"""What each question shows: whole lines that only grow, for claims that belong together."""

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

from counted import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import Claim, Look, Question
from longproof.graphs.evidence.places import CLAIMS, SPARSE, claim_groups, place_claims
from longproof.graphs.evidence.search import TOGETHER, group_claims, widen, with_snippets
from longproof.graphs.evidence.sources import Sources, merge
from longproof.graphs.state import ClaimState
from longproof.retrieval.types import Document

TEXT = "\n".join(
    f"On day {n} the keeper of hill {n} counted {n * 7} sheep and wrote it down." for n in range(1200)
)
SOURCES = Sources([Document.of(TEXT)], 5500)
TWO = Sources([Document.of("One. Two. Three. Four. Five."), Document.of("Six. Seven. Eight.")], 5500)
RESPONSE = Document.of("The keeper of hill 700 counted 4900 sheep.")
PLACE = st.tuples(st.integers(0, 2), st.integers(0, 300), st.integers(0, 100)).map(
    lambda p: (p[0], p[1], p[1] + p[2])
)
WITHIN = st.tuples(st.integers(0, 1), st.integers(0, 17), st.integers(1, 12)).map(
    lambda p: (p[0], p[1], p[1] + p[2])
)
LOOKS: tuple[Look, ...] = ("place", "window", "search", "scan")


def claims(count: int = 1) -> list[Claim]:
    origin = RESPONSE.span(0, len(RESPONSE.text))
    return [Claim(id=f"c{i}", index=i, sentence=0, text=RESPONSE.text, origin=origin) for i in range(count)]


def states(count: int = 1, **fields: Any) -> list[ClaimState]:
    return [ClaimState(claim=claim, **fields) for claim in claims(count)]


def grown(sources: Sources, looks: Sequence[Sequence[Any]], count: int = 1) -> list[Question]:
    """The questions about claims that are looked at in these places, one look after the other."""
    held = states(count)
    for n, places in enumerate(looks):
        question = widen(held, sources, sources.lines_in(places), LOOKS[min(n, 3)])
        held = [one.with_question(question) if question else one for one in held]
    return list(held[0].asked)


def numbers_of(question: Question) -> list[int]:
    return [number for added in question.lines for number in added]


@given(st.lists(PLACE, max_size=12))
def test_merged_places_are_in_order_apart_and_cover_the_same_text(places):
    merged = merge(places)
    covered = {(n, i) for n, start, end in places for i in range(start, end)}
    assert {(n, i) for n, start, end in merged for i in range(start, end)} == covered
    assert all(a[0] < b[0] or a[2] < b[1] for a, b in pairwise(merged))


@given(st.lists(st.lists(WITHIN, max_size=3), min_size=1, max_size=5))
def test_what_was_shown_stays_where_it_stood_and_what_is_new_comes_behind_it(looks):
    asked = grown(TWO, looks)
    assert all(later.lines[: len(one.lines)] == one.lines for one, later in pairwise(asked))
    numbers = [numbers_of(question) for question in asked]
    assert all(len(one) == len(set(one)) for one in numbers), "no line is shown twice"
    assert all(set(one) < set(later) for one, later in pairwise(numbers)), "each question shows something new"
    wanted = TWO.lines_in(chain.from_iterable(looks))
    assert set(numbers[-1]) == set(wanted), "whole lines, and all that were looked at"
    assert len({question.id for question in asked}) == len(asked)


@given(st.lists(st.lists(WITHIN, max_size=4), min_size=1, max_size=5))
def test_the_look_is_named_source_exactly_where_every_line_is_shown(looks):
    for question in grown(TWO, looks):
        assert (question.look == "source") == (len(numbers_of(question)) == TWO.number_of_lines)


def test_claims_of_one_question_are_asked_about_together_when_more_is_shown():
    first, second = grown(SOURCES, [[(0, 0, 3000)], [(0, 0, 9000)]], 3)
    assert first.claim_ids == second.claim_ids == ("c0", "c1", "c2")


def placed(places: Sequence[tuple[int, int]], **fields: Any) -> list[ClaimState]:
    """A claim for each window."""
    return [
        one.model_copy(update={"around": SOURCES.lines_in([(0, *place)]), **fields})
        for one, place in zip(states(len(places)), places, strict=True)
    ]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), max_size=30))
def test_no_claim_is_lost_among_the_questions_and_neighbours_windows_touch(at):
    windows = [(1000 * start, 1000 * (start + length)) for start, length in at]
    made = group_claims(placed(windows), CLAIMS, SOURCES)
    assert [one.claim.index for one in chain.from_iterable(made)] == list(range(len(at)))
    for one, other in chain.from_iterable(pairwise(group) for group in made):
        assert set(one.around) & set(other.around)


@given(st.lists(st.integers(1, 5000), max_size=30))
def test_what_was_found_for_the_claims_of_one_question_is_not_too_long(sizes):
    found = [SOURCES.lines_in([(0, 0, size)]) for size in sizes]
    held = [one.model_copy(update={"found": at}) for one, at in zip(states(len(sizes)), found, strict=True)]
    made = group_claims(held, CLAIMS, SOURCES)
    assert [one for group in made for one in group] == held
    for group in made:
        assert len(group) == 1 or sum(SOURCES.characters_of(one.found) for one in group) <= TOGETHER


def test_a_question_has_at_most_so_many_claims_and_those_of_another_are_not_among_them():
    held = placed([(0, 9000)] * 95)
    assert [len(group) for group in group_claims(held, CLAIMS, SOURCES)] == [CLAIMS] * 2 + [95 - 2 * CLAIMS]
    (question,) = grown(SOURCES, [[(0, 0, 3000)]])
    held = [held[0].model_copy(update={"asked": (question,)}), *held[1:5]]
    assert [len(group) for group in group_claims(held, CLAIMS, SOURCES)] == [1, 4]


def test_snippets_stand_behind_all_that_was_shown():
    *_, last = grown(SOURCES, [[(0, 0, 3000)], [(0, 9000, 9900)]], 3)
    page = Document.of("A page says so.")
    asked = with_snippets(states()[0].with_question(last), SOURCES, [page.span(0, 15)])
    assert asked.lines == last.lines
    assert asked.numbers[-1] == -1
    assert (asked.pages[0].source_id, asked.claim_ids, asked.look) == (page.id, ("c0",), "pages")


def test_without_a_source_claims_still_share_groups():
    held, groups = place_claims(states(90), RESPONSE.text, (), Sources([], 5500))
    assert {(one.window, one.place, one.around) for one in held} == {(None, (), ())}
    assert [len(group) for group in groups] == [CLAIMS] * 2 + [90 - 2 * CLAIMS]


def test_the_work_to_group_grows_with_the_claims_not_with_their_square():
    origin = RESPONSE.span(0, 3)
    many = [Claim(id=f"c{n}", index=n, sentence=n, text="The", origin=origin) for n in range(2000)]
    windows = [(0, 100 * n, 100 * n + 3000) for n in range(len(many))]
    assert_linear(lambda size: claim_groups(many[:size], windows[:size], SPARSE), 1000)
    held = [ClaimState(claim=claim, around=(0, 1, 2)) for claim in many]
    assert_linear(lambda size: group_claims(held[:size], CLAIMS, SOURCES), 1000)
