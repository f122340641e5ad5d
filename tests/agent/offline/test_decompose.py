import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.offline.decompose import OfflineDecomposer, states_fact
from longproof.agent.types import Case
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document


@pytest.mark.parametrize("text", ["你好！", "Thanks!", "# Summary", "Here is the summary:", "……", ""])
def test_what_states_no_fact(text: str):
    assert not states_fact(text)


@pytest.mark.parametrize(
    "text",
    [
        "他走了。",
        "Rain fell.",
        "他问：“你好吗？”说完走了。",
        "他为什么走了？",
        "# The keeper drowned",
        "Of course.",
    ],
)
def test_every_other_text_is_asked_about(text: str):
    assert states_fact(text)


@given(st.text(alphabet="他走了，。；“”、 abcAND,;.but which 1了\n", max_size=120))
def test_each_sentence_that_states_a_fact_is_one_claim_word_for_word(text: str):
    response = Document.of(text)
    spans = [response.span(start, end) for start, end in sentences(text)]
    made = asyncio.run(OfflineDecomposer().decompose(Case(id="x", response=text), spans))
    assert [claim.id for claim in made.claims] == [f"c{i}" for i in range(len(made.claims))]
    assert [sentence.span for sentence in made.sentences] == spans
    stating = [sentence for sentence in made.sentences if sentence.states_fact]
    assert [(claim.sentence, claim.origin) for claim in made.claims] == [(s.index, s.span) for s in stating]
    assert all(claim.text == claim.origin.text for claim in made.claims)
