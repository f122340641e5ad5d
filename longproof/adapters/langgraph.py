"""Longproof as a node of somebody else's graph, whatever that graph's state and context look like.

Knows: under which names the host keeps texts and wants the report. Streams, the drawing's inside, checkpoints and a
person's interrupt pass through to the host. Does not know: the host.
"""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda

from longproof.agent.types import Report, Task
from longproof.graphs.verifier import Verifier, run
from longproof.graphs.verify import VerifyGraph
from longproof.inputs import case_of, documents_of
from longproof.retrieval.types import BadInput


def node(
    verifier: Verifier,
    *,
    source: str = "source",
    response: str = "response",
    context: str | None = None,
    report: str = "report",
    task: Task = "summary",
) -> Runnable[Mapping[str, Any], dict[str, Any]]:
    """A node that reads `state[source]` and `state[response]` and writes the report, as JSON, to `state[report]`.

    `state[source]` is one source or a list of them; `context` names the key of the question, if there is one. The
    host's graph may be run by `invoke` or `ainvoke`; its checkpointer, if any, must be an async one in both cases.
    With `arbiter="person"` it needs one: the interrupt is the host's. Raises BadInput where the state lacks a key
    that is read; one that is written must be in the host's schema, else LangGraph drops the report without a word.
    """

    async def write_report(graph: VerifyGraph, state: Mapping[str, Any]) -> dict[str, Any]:
        if missing := [key for key in (source, response, context) if key and key not in state]:
            raise BadInput(
                f"the state has no {' and no '.join(map(repr, missing))}, only {', '.join(state) or 'nothing'}: "
                "name its keys in node(verifier, source=…, response=…, context=…)"
            )
        asked = state[context] if context else ""
        case = case_of(state[response], task=task, context=asked)
        given = await verifier.input_of(documents_of(state[source]), case)
        ended = await graph.ainvoke(given, {"recursion_limit": 1000}, context=verifier.settings)
        return {report: Report.model_validate(ended["report"]).model_dump(mode="json")}

    async def once(graph: VerifyGraph, state: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return await write_report(graph, state)
        finally:
            await verifier.close()

    # Each names the graph: that is where LangGraph looks for what it draws inside the node.
    def check(state: Mapping[str, Any]) -> dict[str, Any]:
        return run(once(verifier.graph, state))

    async def acheck(state: Mapping[str, Any]) -> dict[str, Any]:
        return await write_report(verifier.graph, state)

    return RunnableLambda(check, acheck, name="longproof")
