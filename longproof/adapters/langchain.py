"""Longproof as a LangChain Runnable, and as a tool for agents.

Knows: what goes in and out. Does not know: how anything is checked. Give each a `Verifier`; two with different
settings live side by side. After async use, `await verifier.close()` on the same event loop lets go of connections.
"""

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from longproof.adapters import brief_of
from longproof.agent.types import Task
from longproof.verifier import Report, Verifier

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool


class ToolInput(BaseModel):
    """An agent's question to the tool, where the source is fixed."""

    response: str = Field(description="The text to check: what is claimed.")
    task: Task = Field(default="summary", description="What the text is.")
    context: str = Field(default="", description="The question or the turns before, if any.")


class SourceInput(ToolInput):
    """An agent's question to the tool, with the source."""

    source: str = Field(default="", description="The text to be faithful to.")


def runnable(verifier: Verifier) -> "Runnable[dict[str, Any], Report]":
    """`{"source", "response", "task"?, "context"?, "case_id"?}` in, a `Report` out.

    The nodes and every judge's answer are runs of their own in `astream_events` and in traces. Raises BadInput for
    keys that aren't known.
    """
    from langchain_core.runnables import RunnableLambda

    return RunnableLambda(
        lambda asked: verifier.verify(**asked), lambda asked: verifier.averify(**asked), name="longproof"
    )


def tool(verifier: Verifier, source: str | None = None) -> "BaseTool":
    """A tool that tells an agent what does not hold, and how much is undecided, as short JSON (a `Brief`).

    Its artifact is the whole `Report`. `source` fixes the text to be faithful to: then the agent is not asked for it.
    """
    from langchain_core.tools import StructuredTool

    fixed: dict[str, Any] = {} if source is None else {"source": source}

    def check(**asked: Any) -> tuple[str, Report]:
        report = verifier.verify(**asked, **fixed)
        return brief_of(report).model_dump_json(), report

    async def acheck(**asked: Any) -> tuple[str, Report]:
        report = await verifier.averify(**asked, **fixed)
        return brief_of(report).model_dump_json(), report

    return StructuredTool.from_function(
        check,
        acheck,
        name="longproof",
        description="Check, claim by claim, whether a text is faithful to a source; says what is wrong and where, "
        "and what is undecided: that is no pass.",
        args_schema=ToolInput if fixed else SourceInput,
        response_format="content_and_artifact",
    )
