"""Longproof as a LlamaIndex evaluator, and around a query engine whose answers it annotates.

Knows: LlamaIndex's names for source, response and context. Does not know: how anything is checked.
The base classes are only there once LlamaIndex is, so the classes are made in the functions that need them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from longproof.adapters.brief import HOLDS, brief_of
from longproof.agent.types import Report
from longproof.retrieval.types import BadInput
from longproof.verifier import Verifier

if TYPE_CHECKING:
    from llama_index.core import QueryBundle
    from llama_index.core.base.base_query_engine import BaseQueryEngine
    from llama_index.core.evaluation import BaseEvaluator

MISSING = "LlamaIndex is not installed: pip install 'longproof[llama-index]'"


def evaluator(verifier: Verifier) -> "BaseEvaluator":
    """An evaluator of (query, response, contexts). Raises BadInput where LlamaIndex or a text is missing.

    `passing`: the response is faithful; None where that is undecided, which also makes the result invalid. `score`:
    share of claims that hold; None where anything is undecided. `feedback`: a `Brief` as JSON.
    """
    try:
        from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
    except ImportError as error:
        raise BadInput(MISSING) from error

    class Evaluator(BaseEvaluator):
        def _get_prompts(self) -> dict[str, Any]:
            return {}

        def _update_prompts(self, prompts: dict[str, Any]) -> None:
            pass

        def evaluate(
            self,
            query: str | None = None,
            response: str | None = None,
            contexts: Sequence[str] | None = None,
            **_: Any,
        ) -> EvaluationResult:
            report = verifier.verify(*_texts(response, contexts), **_about(query))
            return EvaluationResult(query=query, response=response, contexts=contexts, **_result(report))

        async def aevaluate(
            self,
            query: str | None = None,
            response: str | None = None,
            contexts: Sequence[str] | None = None,
            **_: Any,
        ) -> EvaluationResult:
            report = await verifier.averify(*_texts(response, contexts), **_about(query))
            return EvaluationResult(query=query, response=response, contexts=contexts, **_result(report))

    return Evaluator()


def checked_engine(engine: "BaseQueryEngine", verifier: Verifier) -> "BaseQueryEngine":
    """The same query engine; its answers carry the report on themselves, as JSON, in `metadata["longproof"]`.

    What was retrieved is the source. Raises BadInput where LlamaIndex is missing.
    """
    try:
        from llama_index.core.base.base_query_engine import BaseQueryEngine
    except ImportError as error:
        raise BadInput(MISSING) from error

    class Checked(BaseQueryEngine):
        def _get_prompt_modules(self) -> dict[str, Any]:
            return {"engine": engine}

        def _query(self, query_bundle: "QueryBundle") -> Any:
            answer = engine.query(query_bundle)
            report = verifier.verify(*_answered(answer), **_about(query_bundle.query_str))
            return _annotated(answer, report)

        async def _aquery(self, query_bundle: "QueryBundle") -> Any:
            answer = await engine.aquery(query_bundle)
            report = await verifier.averify(*_answered(answer), **_about(query_bundle.query_str))
            return _annotated(answer, report)

    return Checked(callback_manager=None)


def _texts(response: str | None, contexts: Sequence[str] | None) -> tuple[list[str], str]:
    if not response or not contexts:
        raise BadInput("there is nothing to check: give a response and the contexts that it rests on")
    return list(contexts), response


def _about(query: str | None) -> dict[str, Any]:
    return {"task": "answer", "context": query or ""}


def _answered(answer: Any) -> tuple[list[str], str]:
    return [node.get_content() for node in answer.source_nodes], str(answer)


def _annotated(answer: Any, report: Report) -> Any:
    answer.metadata = {**(answer.metadata or {}), "longproof": report.model_dump(mode="json")}
    return answer


def _result(report: Report) -> dict[str, Any]:
    short, undecided = brief_of(report), report.verdict == "undecided"
    hold = sum(claim.label in HOLDS for claim in report.claims)
    return {
        "passing": None if undecided else report.verdict == "faithful",
        "score": None if undecided or short.undecided else hold / len(report.claims),
        "feedback": short.model_dump_json(),
        "invalid_result": undecided,
        "invalid_reason": f"undecided: {short.summary}" if undecided else None,
    }
