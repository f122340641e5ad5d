import asyncio
import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.offline.decompose import OfflineDecomposer, clauses, states_fact
from longproof.agent.types import Case
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in clauses(text)]


def test_chinese_is_cut_at_commas_and_short_pieces_stay_with_their_neighbour():
    assert cut("次日，范进回家报信，丈人带着酒来道贺。") == ["次日，范进回家报信", "丈人带着酒来道贺。"]


def test_commas_inside_quotation_marks_and_titles_do_not_cut():
    assert cut("他说“天气很好，我们走吧”就离开了这座城。") == ["他说“天气很好，我们走吧”就离开了这座城。"]


def test_english_is_cut_before_conjunctions_and_relatives_alone():
    text = "The old captain sold his red boat, and his daughter moved to the city, which was far away."
    assert cut(text) == [
        "The old captain sold his red boat",
        "and his daughter moved to the city",
        "which was far away.",
    ]
    assert cut("He bought apples, pears and plums.") == ["He bought apples, pears and plums."]


@pytest.mark.parametrize(
    "text",
    ["你好！", "他为什么走了？", "Thanks!", "# Results", "Here are some methods:", "……", "Is it so?", ""],
)
def test_what_states_no_fact(text: str):
    assert not states_fact(text)


@pytest.mark.parametrize("text", ["他走了。", "Rain fell.", "他问：“你好吗？”说完走了。"])
def test_what_states_a_fact(text: str):
    assert states_fact(text)


@given(st.text(alphabet="他走了，。；“”、 abcAND,;.but which 1了\n", max_size=120))
def test_claims_keep_every_word_of_a_fact_stating_sentence_in_order(text: str):
    response = Document.of(text)
    spans = [response.span(start, end) for start, end in sentences(text)]
    made = asyncio.run(OfflineDecomposer().decompose(Case(id="x", response=text), spans))
    assert [claim.id for claim in made.claims] == [f"c{i}" for i in range(len(made.claims))]
    assert [sentence.span for sentence in made.sentences] == spans
    for sentence in made.sentences:
        own = [claim for claim in made.claims if claim.sentence == sentence.index]
        assert bool(own) == sentence.states_fact
        if own:
            assert re.findall(r"\w", "".join(c.text for c in own)) == re.findall(r"\w", sentence.span.text)
    for claim in made.claims:
        assert claim.text == claim.origin.text == text[claim.origin.start : claim.origin.end]


def test_marks_alone_take_no_longer_than_words():
    started = process_time()
    assert clauses("Ada ran" + "; " * 100_000) == [(0, 7)]
    assert process_time() - started < 5
