"""In LlamaIndex: an evaluator, and a query engine that annotates its answers."""

import asyncio
import json

import pytest
from embedded import RESPONSE, SOURCE, by_terminal, plain

pytest.importorskip("llama_index.core", reason="needs the extra `llama-index`")
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import Response
from llama_index.core.schema import NodeWithScore, TextNode
from scripted import ScriptedJudge, WholeSentences

from longproof import Verifier
from longproof.adapters.llamaindex import checked_engine, evaluator
from longproof.retrieval.types import BadInput

pytestmark = pytest.mark.heavy
QUERY = "What happened?"


class Engine(BaseQueryEngine):
    """Finds the source, and answers with the response."""

    def _get_prompt_modules(self):
        return {}

    def _query(self, query_bundle):
        return Response(RESPONSE, source_nodes=[NodeWithScore(node=TextNode(text=SOURCE))])

    async def _aquery(self, query_bundle):
        return self._query(query_bundle)


@pytest.fixture
def expected(tmp_path):
    (tmp_path / "question.txt").write_text(QUERY, "utf-8")
    return by_terminal(tmp_path, "--task", "answer", "--context", str(tmp_path / "question.txt"))


def test_an_answer_carries_the_terminals_report(expected):
    answer = checked_engine(Engine(None), Verifier()).query(QUERY)
    assert str(answer) == RESPONSE
    assert plain(answer.metadata["longproof"]) == expected


def test_asynchronously_too(expected):
    async def ask():
        verifier = Verifier()
        answer = await checked_engine(Engine(None), verifier).aquery(QUERY)
        await verifier.close()
        return answer

    assert plain(asyncio.run(ask()).metadata["longproof"]) == expected


def test_an_evaluator_gives_no_score_where_a_model_is_needed_and_says_why(expected):
    result = evaluator(Verifier()).evaluate_response(query=QUERY, response=Engine(None).query(QUERY))
    assert not result.passing
    assert result.score is None
    said = json.loads(result.feedback)
    assert said["verdict"] == expected["verdict"]
    assert said["claims"] == len(expected["claims"])


def labelled(label):
    """A judge who says this of the first claim and supports the others."""
    return ScriptedJudge("j", lambda question, claim: label if claim.index == 0 else "explicitly_supported")


@pytest.mark.parametrize(
    ("label", "passing", "score", "invalid"),
    [
        ("explicitly_supported", True, 1.0, False),
        ("contradicting", False, 2 / 3, False),
        ("timeout", None, None, True),
    ],
)
def test_a_pass_is_never_given_where_something_is_wrong_or_undecided(label, passing, score, invalid):
    result = evaluator(Verifier([labelled(label)], decomposer=WholeSentences())).evaluate(
        QUERY, RESPONSE, [SOURCE]
    )
    assert (result.passing, result.score, result.invalid_result) == (passing, score, invalid)


def test_wrong_and_undecided_together_fail_without_a_score():
    judge = ScriptedJudge("j", lambda question, claim: "timeout" if claim.index else "contradicting")
    result = evaluator(Verifier([judge], decomposer=WholeSentences())).evaluate(QUERY, RESPONSE, [SOURCE])
    assert (result.passing, result.score, result.invalid_result) == (False, None, False)
    assert json.loads(result.feedback)["undecided"] == 2


def test_a_sentence_without_a_claim_is_no_pass_without_a_model():
    result = evaluator(Verifier()).evaluate(QUERY, "What a day? Ada lit the lamp at nine.", [SOURCE])
    assert (result.passing, result.score, result.invalid_result) == (None, None, True)
    assert "1 needs a model" in result.invalid_reason


def test_the_evaluator_asynchronously():
    async def ask():
        verifier = Verifier([labelled("explicitly_supported")], decomposer=WholeSentences())
        result = await evaluator(verifier).aevaluate(QUERY, RESPONSE, [SOURCE])
        await verifier.close()
        return result

    result = asyncio.run(ask())
    assert (result.passing, result.score, result.invalid_result) == (True, 1.0, False)


def test_nothing_to_check_is_refused():
    with pytest.raises(BadInput, match="contexts"):
        evaluator(Verifier()).evaluate(QUERY, RESPONSE, [])
