"""Units without a decomposer: nothing of the response gets lost, and each is about the sentence where it starts."""

import asyncio
from time import process_time
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import Case, Decomposed
from longproof.graphs.papers.method import Units
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document

Unit = Literal["sentence", "segment", "response"]
TEXT = (
    "Ada sold the boat. Tom bought it for ninety pounds! Was it worth that?\n第二天他们去了渡口。没有人说话。"
)


def units(unit: Unit, text: str = TEXT, size: int = 60) -> Decomposed:
    document = Document.of(text)
    spans = [document.span(start, end) for start, end in sentences(text)]
    return asyncio.run(Units(unit, size).decompose(Case(id="x", response=text), spans))


@pytest.mark.parametrize(("unit", "count"), [("sentence", 5), ("segment", 3), ("response", 1)])
def test_so_many_units(unit: Unit, count: int) -> None:
    made = units(unit)
    assert len(made.claims) == count
    assert len(made.sentences) == 5
    assert made.calls == []


@given(
    st.text(alphabet="ab .!?。！\n我", min_size=1, max_size=80),
    st.sampled_from(["sentence", "segment", "response"]),
)
def test_every_sentence_lies_in_exactly_one_unit(text: str, unit: Unit) -> None:
    made = units(unit, text, 20)
    for sentence in made.sentences:
        holding = [
            c
            for c in made.claims
            if c.origin.start <= sentence.span.start and sentence.span.end <= c.origin.end
        ]
        assert len(holding) == 1
    for claim in made.claims:
        assert text[claim.origin.start : claim.origin.end] == claim.text
        span = made.sentences[claim.sentence].span
        assert span.start <= claim.origin.start < span.end


def test_the_time_grows_with_the_units_not_with_their_square() -> None:
    started = process_time()
    assert len(units("sentence", "Ada ran. " * 30_000).claims) == 30_000
    assert process_time() - started < 20
