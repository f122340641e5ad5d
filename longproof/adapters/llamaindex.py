"""Longproof as a LlamaIndex evaluator.

Knows: LlamaIndex's names for source, response and context. Does not know: how anything is checked.
The base class is only there once LlamaIndex is, so the class is made in the function that needs it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from longproof.adapters import HOLDS, brief_of
from longproof.agent.types import Report
from longproof.retrieval.types import BadInput
from longproof.verifier import Verifier

if TYPE_CHECKING:
    from llama_index.core.evaluation import BaseEvaluator


def evaluator(verifier: Verifier) -> "BaseEvaluator":
    """An evaluator of (query, response, contexts). Raises BadInput where LlamaIndex or a text is missing.

    `passing`: the response is faithful; None where that is undecided, which also makes the result invalid. `score`:
    share of claims that hold; None where anything is undecided. `feedback`: a `Brief` as JSON.
    """
    try:
        from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
    except ImportError as error:
        raise BadInput("LlamaIndex is not installed: pip install 'longproof[llama-index]'") from error

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
            report = verifier.verify(**_arguments(query, response, contexts))
            return EvaluationResult(query=query, response=response, contexts=contexts, **_result(report))

        async def aevaluate(
            self,
            query: str | None = None,
            response: str | None = None,
            contexts: Sequence[str] | None = None,
            **_: Any,
        ) -> EvaluationResult:
            report = await verifier.averify(**_arguments(query, response, contexts))
            return EvaluationResult(query=query, response=response, contexts=contexts, **_result(report))

    return Evaluator()


def _arguments(query: str | None, response: str | None, contexts: Sequence[str] | None) -> dict[str, Any]:
    """The arguments of a check. Raises BadInput where there is nothing to check, or nothing to check against."""
    if not response or not contexts:
        raise BadInput("there is nothing to check: give a response, and the contexts that it rests on")
    return {"source": list(contexts), "response": response, "task": "answer", "context": query or ""}


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
