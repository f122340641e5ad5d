import asyncio
import random

from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.offline import offline_arbiter
from longproof.agent.types import Case, Claim, Judgement, Question
from longproof.retrieval.types import Document

RESPONSE = Document.of("他走了。")
CLAIM = Claim(id="c0", index=0, sentence=0, text="他走了。", origin=RESPONSE.span(0, 4))
QUESTION = Question(id="q", claim_ids=("c0",), shown=(), round="source", prompt="judge")
CASE = Case(id="case", response=RESPONSE.text)
LABELS = ("contradicting", "fabricated", "explicitly_supported", "implicitly_supported", "not_found")


def decide(labels: list[str]) -> Judgement:
    heard = [
        Judgement(claim_id="c0", judge=f"j{i}", round="source", question_id="q", label=label)
        for i, label in enumerate(labels)
    ]
    random.shuffle(heard)
    return asyncio.run(offline_arbiter().arbitrate(QUESTION, [CLAIM], heard, CASE)).judgements[0]


def test_a_located_disagreement_outweighs_the_rest():
    assert (
        decide(["not_found", "contradicting", "implicitly_supported", "implicitly_supported"]).label
        == "contradicting"
    )


def test_a_strict_look_alone_is_no_objection():
    assert decide(["not_found", "implicitly_supported"]).label == "implicitly_supported"
    assert decide(["not_found", "not_found", "implicitly_supported"]).label == "not_found"


@given(st.lists(st.sampled_from(LABELS), min_size=1, max_size=5))
def test_the_order_of_what_is_heard_does_not_matter(labels: list[str]):
    assert decide(labels) == decide(labels)
