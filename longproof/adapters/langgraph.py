"""Longproof as a node of somebody else's graph, whatever that graph's state and context look like.

Knows: under which names the host keeps texts and wants the report. Streams, the drawing's inside, checkpoints and a
person's interrupt pass through to the host. Does not know: the host.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from longproof.agent.types import Report
from longproof.graphs.verifier import Verifier


def node(
    verifier: Verifier,
    *,
    source: str = "source",
    response: str = "response",
    context: str | None = None,
    report: str = "report",
    task: str = "summary",
) -> Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]:
    """A node that reads `state[source]` and `state[response]` and writes the report, as JSON, to `state[report]`.

    `state[source]` is one source or a list of them; `context` names the key of the question, if there is one.
    With `arbiter="person"` the host's graph needs a checkpointer: the interrupt is the host's.
    """

    async def longproof(state: Mapping[str, Any]) -> dict[str, Any]:
        given = await verifier.input_of(
            state[source], state[response], task=task, context=state[context] if context else ""
        )
        ended = await verifier.graph.ainvoke(given, {"recursion_limit": 1000}, context=verifier.settings)
        return {report: Report.model_validate(ended["report"]).model_dump(mode="json")}

    return longproof
