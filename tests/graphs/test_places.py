"""Sentences find their windows one by one, response by response; claims are read together where they are told."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripts import benchmark

from longproof.agent.types import Claim
from longproof.graphs.evidence.places import (
    CLAIMS,
    DENSE,
    OVERLAP,
    PLACE,
    SPARSE,
    WHOLE,
    WHOLE_IF_DENSE,
    about_the_whole,
    claim_groups,
    evidence_shown,
    locate_sentences,
    parts_of,
    sure,
    windows,
)
from longproof.graphs.evidence.sources import Sources, merge
from longproof.prompts import Language
from longproof.retrieval.align import viterbi
from longproof.retrieval.types import Document, Window

EVIDENCE = 9000
BOOK = "\n".join(
    f"On day {n} the keeper of hill {n} counted {n * 7} sheep and wrote it down." for n in range(1200)
)
SOURCES = Sources([Document.of(BOOK)], 5500)
TWO = Sources([Document.of(BOOK), Document.of("Another, short.")], 5500)
LENGTH = 20_000
PLACES = st.lists(
    st.builds(lambda n, start: (n, start, start + PLACE), st.integers(0, 2), st.integers(0, LENGTH)),
    max_size=60,
)
MATRICES = st.integers(1, 12).flatmap(
    lambda rows: st.lists(
        st.lists(st.floats(0, 50), min_size=9, max_size=9), min_size=rows, max_size=rows
    ).map(np.array)
)


def claims(count: int) -> list[Claim]:
    origin = Document.of("It is told.").span(0, 11)
    return [Claim(id=f"c{n}", index=n, sentence=n, text=origin.text, origin=origin) for n in range(count)]


def told(hill: int) -> str:
    return f"The keeper of hill {hill} counted {hill * 7} sheep on day {hill}."


@given(PLACES)
def test_every_claim_is_in_one_group_in_order_with_its_piece_within_bounds(pieces):
    given_claims = claims(len(pieces))
    made = claim_groups(given_claims, pieces, EVIDENCE)
    assert list(chain.from_iterable(made)) == given_claims
    for group in made:
        assert 1 <= len(group) <= CLAIMS
        shown = merge([pieces[claim.index] for claim in group])
        assert sum(end - start for _, start, end in shown) <= EVIDENCE


def test_claims_told_side_by_side_share_one_long_piece_and_claims_far_apart_a_question():
    dense = claim_groups(claims(8), [(0, 800 * n, 800 * n + PLACE) for n in range(8)], EVIDENCE)
    assert [len(group) for group in dense] == [8]
    sparse = claim_groups(claims(4), [(0, 50_000 * n, 50_000 * n + PLACE) for n in range(4)], EVIDENCE)
    assert [len(group) for group in sparse] == [3, 1]


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
    sentences = [told(n) for n in range(len(matrix))]
    parts = parts_of(range(len(matrix)), sorted(cuts))
    found = windows(matrix, sentences, parts)
    alone = [window for part in parts for window in viterbi(matrix[part.start : part.stop])]
    assert [(w.first, w.last, w.centre) for w in found] == [(w.first, w.last, w.centre) for w in alone]


@given(st.lists(st.integers(0, 1199), min_size=1, max_size=6), st.booleans())
def test_pieces_lie_inside_their_documents_and_their_windows_places_meet_them(hills, twice):
    sources = TWO if twice else SOURCES
    for at in locate_sentences([told(hill) for hill in hills], [range(len(hills))], sources):
        number, start, end = at.piece
        assert 0 <= start < end <= len(sources.documents[number].text)
        assert end - start == min(PLACE, len(sources.documents[number].text))
        assert any(n == number and a < end and start < b for n, a, b in sources.places(at.window))


def test_responses_that_tell_of_far_apart_places_are_each_found_with_the_piece_that_shows_it():
    hills = [1100, 40, 700, 300]
    found = locate_sentences([told(hill) for hill in hills], [range(n, n + 1) for n in range(4)], SOURCES)
    assert all(at.sure for at in found)
    for hill, at in zip(hills, found, strict=True):
        assert f"keeper of hill {hill} counted" in BOOK[at.piece[1] : at.piece[2]]


def test_a_sentence_of_few_words_follows_the_one_before_it():
    sentences = [told(100), "He wrote.", told(900), "He wrote."]
    found = locate_sentences(sentences, [range(4)], SOURCES)
    assert [at.window.centre for at in found[1::2]] == [at.window.centre for at in found[::2]]
    assert not any(at.sure for at in found[1::2])


def test_a_place_is_sure_by_belief_and_words():
    window = Window(first=0, last=2, centre=1, confidence=0.9)
    assert sure("The keeper of the hill counted his sheep.", window)
    assert not sure(
        "The keeper of the hill counted his sheep.", window.model_copy(update={"confidence": 0.6})
    )
    assert not sure("He wept.", window)
    assert sure("王冕画的荷花十分逼真。", window)
    assert not sure("她哭了。", window)


@pytest.mark.parametrize(
    "claim",
    [
        "Jo never marries.",
        "Anne is always polite to Mrs. Lynde.",
        "All through the book, Tom lies about the boat.",
        "Nick sees Gatsby for the first time at night.",
        "He is the only person who comes to the funeral.",
        "She refuses him three times.",
        "Ada writes to Tom on several occasions.",
        "他从未见过海。",
        "他一直住在南京。",
        "他一直很穷。",
        "这是两人第一次见面。",
        "她是唯一的证人。",
        "周进先后考了三次。",
        "他終生未娶。",
        "全书以王冕的故事开头。",
    ],
)
def test_claims_about_the_whole_are_known(claim):
    assert about_the_whole(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "Laurie proposes marriage to Jo.",
        "Tom says “I never lie” to Ada.",
        "The house is twice as big as the barn.",
        "In the end she sells the boat.",
        "He owns only a small farm.",
        "The room is ten times larger than his own.",
        "第二回转到山东汶上县。",
        "第三次科举在秋天。",
        "他一直走到天亮。",
        "他說：“我從不說謊。”",
        "他从头到尾说了一遍。",
        "他送给秦老二十四两银子。",
    ],
)
def test_claims_about_one_place_are_not_taken_for_claims_about_the_whole(claim):
    assert not about_the_whole(claim)


@pytest.mark.parametrize("kind", ["dense", "first sentences"])
def test_running_text_of_a_novel_is_held_by_the_windows(kind: str, data: Path) -> None:
    alignment = benchmark("alignment")
    book = alignment.chinese(data)
    for every in (1, 2, 3, 5):
        recall, shown = alignment.shares_shown(
            book, alignment.thinned_out(book.summaries[kind], every), "sentences"
        )
        assert recall == 1.0 or (kind, every) == ("dense", 5)
        assert recall >= 0.99
        assert shown <= 3.2


@given(st.integers(1, 10**7), st.integers(1, 10**5), st.sampled_from(["en", "zh"]))
def test_a_short_source_is_shown_whole_and_a_long_one_the_cheaper_way(
    source: int, sentences: int, language: Language
) -> None:
    along, places = OVERLAP * source, PLACE * sentences
    shown = evidence_shown(source, sentences, language)
    if source <= WHOLE or (along <= places and sentences <= CLAIMS and source <= WHOLE_IF_DENSE[language]):
        assert shown == source
    else:
        assert shown == (DENSE if along <= places else SPARSE)
