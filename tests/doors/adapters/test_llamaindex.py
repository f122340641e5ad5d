"""In LlamaIndex: an evaluator, and a query engine that annotates its answers."""

import asyncio
import json

import pytest
from embedded import RESPONSE, SOURCE, by_terminal

pytest.importorskip("llama_index.core", reason="needs the extra `llama-index`")
from llama_index.core.base.response.schema import Response
from llama_index.core.schema import Document, NodeWithScore, TextNode
from scripted import ScriptedJudge, WholeSentences

from longproof import Verifier
from longproof.adapters.llamaindex import evaluator
from longproof.inputs import documents_of
from longproof.retrieval.types import BadInput

pytestmark = pytest.mark.heavy
QUERY = "What happened?"
ANSWER = Response(RESPONSE, source_nodes=[NodeWithScore(node=TextNode(text=SOURCE))])


def test_an_evaluator_gives_no_score_where_a_model_is_needed_and_says_why(tmp_path):
    verifier = Verifier()

    async def ask():
        result = await evaluator(verifier).aevaluate_response(query=QUERY, response=ANSWER)
        await verifier.close()
        return result

    (tmp_path / "question.txt").write_text(QUERY, "utf-8")
    expected = by_terminal(tmp_path, "--task", "answer", "--context", str(tmp_path / "question.txt"))
    for result in (evaluator(verifier).evaluate_response(query=QUERY, response=ANSWER), asyncio.run(ask())):
        assert not result.passing
        assert result.score is None
        said = json.loads(result.feedback)
        assert (said["verdict"], said["claims"]) == (expected["verdict"], len(expected["claims"]))


@pytest.mark.parametrize(
    ("first", "others", "passing", "score"),
    [
        ("explicitly_supported", "explicitly_supported", True, 1.0),
        ("contradicting", "explicitly_supported", False, 2 / 3),
        ("timeout", "explicitly_supported", None, None),
        ("contradicting", "timeout", False, None),
    ],
)
def test_a_pass_is_never_given_where_something_is_wrong_or_undecided(first, others, passing, score):
    judge = ScriptedJudge("j", lambda question, claim: others if claim.sentence else first)
    made = evaluator(Verifier([judge], decomposer=WholeSentences()))
    result = made.evaluate(QUERY, RESPONSE, [SOURCE])
    assert (result.passing, result.score, result.invalid_result) == (passing, score, passing is None)
    assert bool(result.invalid_reason) == (passing is None)
    undecided = [first, others, others].count("timeout")
    assert json.loads(result.feedback)["undecided"] == undecided


def test_nothing_to_check_is_refused():
    with pytest.raises(BadInput, match="contexts"):
        evaluator(Verifier()).evaluate(QUERY, RESPONSE, [])


def test_a_llamaindex_document_is_a_source():
    (document,) = documents_of(Document(text=SOURCE, metadata={"file_name": "lamps"}))
    assert (document.text, document.title) == (SOURCE, "lamps")
