"""Sentences find their windows one by one, response by response; claims that belong together share a question, which
shows whole lines that only grow."""

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from counted import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import Claim, Look, Question
from longproof.graphs.evidence.places import (
    CLAIMS,
    DENSE,
    OVERLAP,
    PLACE,
    SHOWN_WHOLE,
    SHOWN_WHOLE_IF_DENSE,
    SPARSE,
    about_the_whole,
    claim_groups,
    evidence_shown,
    locate_sentences,
    parts_of,
    place_claims,
    sure,
    windows,
)
from longproof.graphs.evidence.search import TOGETHER, group_claims, widen, with_snippets
from longproof.graphs.evidence.sources import Place, Sources, merge
from longproof.graphs.state import ClaimState
from longproof.prompts import Language
from longproof.retrieval.align import viterbi
from longproof.retrieval.types import Document, Window

EVIDENCE = 9000
BOOK = "\n".join(
    f"On day {n} the keeper of hill {n} counted {n * 7} sheep and wrote it down." for n in range(1200)
)
SOURCES = Sources([Document.of(BOOK)], 5500)
TWO = Sources([Document.of(BOOK), Document.of("Another, short.")], 5500)
SHORT = Sources([Document.of("One. Two. Three. Four. Five."), Document.of("Six. Seven. Eight.")], 5500)
LOOKS: tuple[Look, ...] = ("place", "window", "search", "scan")


def places(documents: int, most: int, length: st.SearchStrategy[int]) -> st.SearchStrategy[Place]:
    """Places of such a length, up to these numbers of a document and of a character."""
    drawn = st.tuples(st.integers(0, documents), st.integers(0, most), length)
    return drawn.map(lambda at: (at[0], at[1], at[1] + at[2]))


WITHIN = places(1, 17, st.integers(1, 12))
MATRICES = st.integers(1, 12).flatmap(
    lambda rows: st.lists(
        st.lists(st.floats(0, 50), min_size=9, max_size=9), min_size=rows, max_size=rows
    ).map(np.array)
)


def ids(count: int) -> list[str]:
    return [f"{n}" for n in range(count)]


def states(count: int = 1, **fields: Any) -> list[ClaimState]:
    origin = Document.of("It is told.").span(0, 11)
    return [
        ClaimState(claim=Claim(id=f"c{n}", index=n, sentence=n, text=origin.text, origin=origin), **fields)
        for n in range(count)
    ]


def telling(hill: int) -> str:
    return f"The keeper of hill {hill} counted {hill * 7} sheep on day {hill}."


@given(st.lists(places(2, 20_000, st.just(PLACE)), max_size=60))
def test_every_claim_is_in_one_group_in_order_with_its_piece_within_bounds(pieces):
    made = claim_groups(ids(len(pieces)), pieces, EVIDENCE)
    assert list(chain.from_iterable(made)) == ids(len(pieces))
    for group in made:
        assert 1 <= len(group) <= CLAIMS
        shown = merge(pieces[int(id_)] for id_ in group)
        assert sum(end - start for _, start, end in shown) <= EVIDENCE


@given(
    st.lists(st.integers(0, 1000), max_size=20, unique=True).map(sorted),
    st.lists(st.integers(0, 1000), max_size=8),
)
def test_parts_hold_every_sentence_once_and_none_reaches_over_a_beginning(starts, begins):
    parts = parts_of(starts, begins)
    assert list(chain.from_iterable(parts)) == list(range(len(starts)))
    for part in parts:
        assert len(part) > 0
        assert not any(starts[part.start] < begin <= starts[part.stop - 1] for begin in begins)


@given(MATRICES, st.sets(st.integers(1, 11)))
def test_parts_are_aligned_as_if_each_were_alone(matrix, cuts):
    sentences = [telling(n) for n in range(len(matrix))]
    parts = parts_of(range(len(matrix)), sorted(cuts))
    found = windows(matrix, sentences, parts)
    alone = [window for part in parts for window in viterbi(matrix[part.start : part.stop])]
    assert [(w.first, w.last, w.centre) for w in found] == [(w.first, w.last, w.centre) for w in alone]


@given(st.lists(st.integers(0, 1199), min_size=1, max_size=6), st.booleans())
def test_pieces_lie_inside_their_documents_and_their_windows_places_meet_them(hills, twice):
    sources = TWO if twice else SOURCES
    for at in locate_sentences([telling(hill) for hill in hills], [range(len(hills))], sources):
        number, start, end = at.piece
        assert 0 <= start < end <= len(sources.documents[number].text)
        assert end - start == min(PLACE, len(sources.documents[number].text))
        assert any(n == number and a < end and start < b for n, a, b in sources.places(at.window))


def test_responses_that_tell_of_far_apart_places_are_each_found_with_the_piece_that_shows_it():
    hills = [1100, 40, 700, 300]
    found = locate_sentences([telling(hill) for hill in hills], [range(n, n + 1) for n in range(4)], SOURCES)
    assert all(at.sure for at in found)
    for hill, at in zip(hills, found, strict=True):
        assert f"keeper of hill {hill} counted" in BOOK[at.piece[1] : at.piece[2]]


def test_a_sentence_of_few_words_follows_the_one_before_it():
    sentences = [telling(100), "He wrote.", telling(900), "He wrote."]
    found = locate_sentences(sentences, [range(4)], SOURCES)
    assert [at.window.centre for at in found[1::2]] == [at.window.centre for at in found[::2]]
    assert not any(at.sure for at in found[1::2])


def test_a_place_is_sure_by_belief_and_words():
    window, less = (Window(first=0, last=2, centre=1, confidence=belief) for belief in (0.9, 0.6))
    assert sure("The keeper of the hill counted his sheep.", window)
    assert not sure("The keeper of the hill counted his sheep.", less)
    assert not sure("He wept.", window)
    assert sure("王冕画的荷花十分逼真。", window)
    assert not sure("她哭了。", window)


OF_THE_WHOLE = (
    "Jo never marries.", "Anne is always polite to Mrs. Lynde.", "All through the book, Tom lies.",
    "Nick sees Gatsby for the first time at night.", "He is the only person who comes to the funeral.",
    "She refuses him three times.", "Ada writes to Tom on several occasions.", "他从未见过海。", "他一直住在南京。",
    "这是两人第一次见面。", "她是唯一的证人。", "周进先后考了三次。", "他终生未娶。", "全书以王冕的故事开头。",
)  # fmt: skip
OF_ONE_PLACE = (
    "Laurie proposes marriage to Jo.", "Tom says “I never lie” to Ada.", "He owns only a small farm.",
    "The house is twice as big as the barn.", "The room is ten times larger than his own.",
    "第二回转到山东汶上县。", "第三次科举在秋天。", "他一直走到天亮。", "他說：“我從不說謊。”",
    "他从头到尾说了一遍。", "他送给秦老二十四两银子。",
)  # fmt: skip


def test_claims_about_the_whole_are_told_from_those_about_one_place() -> None:
    assert [claim for claim in OF_THE_WHOLE if not about_the_whole(claim)] == []
    assert [claim for claim in OF_ONE_PLACE if about_the_whole(claim)] == []


@given(st.integers(1, 10**7), st.integers(1, 10**5), st.sampled_from(["en", "zh"]))
def test_a_long_source_is_shown_the_cheaper_way(source: int, sentences: int, language: Language) -> None:
    along, places = OVERLAP * source, PLACE * sentences
    shown = evidence_shown(source, sentences, language)
    if source <= SHOWN_WHOLE or (
        along <= places and sentences <= CLAIMS and source <= SHOWN_WHOLE_IF_DENSE[language]
    ):
        assert shown == source
    else:
        assert shown == (DENSE if along <= places else SPARSE)


def grown(sources: Sources, looks: Sequence[Sequence[Any]], count: int = 1) -> list[Question]:
    """The questions about claims that are looked at in these places, one look after the other."""
    held = states(count)
    for n, look in enumerate(looks):
        question = widen(held, sources, sources.lines_in(look), LOOKS[min(n, 3)])
        held = [one.with_question(question) if question else one for one in held]
    return list(held[0].asked)


def numbers_of(question: Question) -> list[int]:
    return [number for added in question.lines for number in added]


@given(st.lists(places(2, 300, st.integers(0, 100)), max_size=12))
def test_merged_places_are_in_order_apart_and_cover_the_same_text(given_places):
    merged = merge(given_places)
    covered = {(n, i) for n, start, end in given_places for i in range(start, end)}
    assert {(n, i) for n, start, end in merged for i in range(start, end)} == covered
    assert all(a[0] < b[0] or a[2] < b[1] for a, b in pairwise(merged))


@given(st.lists(st.lists(WITHIN, max_size=3), min_size=1, max_size=5))
def test_what_was_shown_stays_where_it_stood_and_what_is_new_comes_behind_it(looks):
    asked = grown(SHORT, looks)
    assert all(later.lines[: len(one.lines)] == one.lines for one, later in pairwise(asked))
    numbers = [numbers_of(question) for question in asked]
    assert all(len(one) == len(set(one)) for one in numbers), "no line is shown twice"
    assert all(set(one) < set(later) for one, later in pairwise(numbers)), "each question shows something new"
    wanted = SHORT.lines_in(chain.from_iterable(looks))
    assert set(numbers[-1]) == set(wanted), "whole lines, and all that were looked at"
    assert len({question.id for question in asked}) == len(asked)


@given(st.lists(st.lists(WITHIN, max_size=4), min_size=1, max_size=5))
def test_the_look_is_named_source_exactly_where_every_line_is_shown(looks):
    for question in grown(SHORT, looks):
        assert (question.look == "source") == (len(numbers_of(question)) == SHORT.number_of_lines)


def claims_at(at: Sequence[tuple[int, int]], field: str = "around") -> list[ClaimState]:
    """A claim for each place, whose lines this field names."""
    held = zip(states(len(at)), at, strict=True)
    return [one.model_copy(update={field: SOURCES.lines_in([(0, *place)])}) for one, place in held]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), max_size=30))
def test_no_claim_is_lost_among_the_questions_and_neighbours_windows_touch(at):
    windows = [(1000 * start, 1000 * (start + length)) for start, length in at]
    made = group_claims(claims_at(windows), SOURCES)
    assert [one.claim.index for one in chain.from_iterable(made)] == list(range(len(at)))
    for one, other in chain.from_iterable(pairwise(group) for group in made):
        assert set(one.around) & set(other.around)


@given(st.lists(st.integers(1, 5000), max_size=30))
def test_what_was_found_for_the_claims_of_one_question_is_not_too_long(sizes):
    held = claims_at([(0, size) for size in sizes], "found")
    made = group_claims(held, SOURCES)
    assert list(chain.from_iterable(made)) == held
    for group in made:
        assert len(group) == 1 or sum(SOURCES.characters_of(one.found) for one in group) <= TOGETHER


def test_a_question_has_at_most_so_many_claims_and_those_of_another_are_not_among_them():
    held = claims_at([(0, 9000)] * 95)
    assert [len(group) for group in group_claims(held, SOURCES)] == [CLAIMS] * 2 + [95 - 2 * CLAIMS]
    (question,) = grown(SOURCES, [[(0, 0, 3000)]])
    held = [held[0].model_copy(update={"asked": (question,)}), *held[1:5]]
    assert [len(group) for group in group_claims(held, SOURCES)] == [1, 4]


def test_snippets_stand_behind_all_that_was_shown():
    first, last = grown(SOURCES, [[(0, 0, 3000)], [(0, 9000, 9900)]], 3)
    assert first.claim_ids == last.claim_ids == ("c0", "c1", "c2"), "they stay together when more is shown"
    page = Document.of("A page says so.")
    asked = with_snippets(states()[0].with_question(last), SOURCES, [page.span(0, 15)])
    assert asked.lines == last.lines
    assert asked.numbers[-1] == -1
    assert (asked.pages[0].source_id, asked.claim_ids, asked.look) == (page.id, ("c0",), "pages")


def test_without_a_source_claims_still_share_groups():
    held, groups = place_claims(states(90), "It is told.", (), Sources([], 5500))
    assert {(one.window, one.place, one.around) for one in held} == {(None, (), ())}
    assert [len(group) for group in groups] == [CLAIMS] * 2 + [90 - 2 * CLAIMS]


def test_the_work_to_group_grows_with_the_claims_not_with_their_square():
    many, held = ids(2000), states(2000, around=(0, 1, 2))
    pieces = [(0, 100 * n, 100 * n + 3000) for n in range(len(many))]
    assert_linear(lambda size: claim_groups(many[:size], pieces[:size], SPARSE), 1000)
    assert_linear(lambda size: group_claims(held[:size], SOURCES), 1000)


def test_several_short_responses_that_are_checked_together_are_of_no_sure_place():
    told_twice = f"{telling(40)} {telling(900)}"
    for parts, sure_of in (((), True), ((0, len(telling(40)) + 1), False)):
        held, groups = place_claims(states(2), told_twice, parts, SOURCES)
        assert [one.sure for one in held] == [sure_of] * 2
        assert list(chain.from_iterable(groups)) == (["c0", "c1"] if sure_of else [])
