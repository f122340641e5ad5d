"""The graph that checks one response against its sources, every step a node.

Knows: what happens after what: read, decompose, align, a `Send` for each claim group into check; search and scan,
once for all claims that are still open, and check again; confirm, once for all convictions; review, report.
Does not know: how a step does its work, or what happens next to a claim (policy).
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast
from typing import Protocol as Interface

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from longproof.graphs.check import NODES, CheckNodes
from longproof.graphs.confirm import ConfirmNode
from longproof.graphs.evidence.search import SearchNodes
from longproof.graphs.nodes import Nodes, after_confirm, after_join, after_review, after_search, fan_out
from longproof.graphs.protocol import Protocol
from longproof.graphs.resources import Pool
from longproof.graphs.settings import Settings, settings_of
from longproof.graphs.state import Checked, CheckState, State, VerifyInput, VerifyOutput

VerifyGraph = CompiledStateGraph[Any, Settings, VerifyInput, VerifyOutput]
"""The product's graph, or a paper's, which has a state of its own."""
Saver = BaseCheckpointSaver[str]
CheckGraph = CompiledStateGraph[CheckState, Settings, CheckState, Checked]


class Method(NamedTuple):
    """A protocol, and how the graph that runs it is built over a pool of resources for this protocol."""

    protocol: Protocol
    graph: Callable[[Pool, Saver | None], VerifyGraph]


def check_graph(pool: Pool) -> CheckGraph:
    """One claim group: look, ask, count; wider, to the arbiter, to saved pages; then the wrong words."""
    nodes = CheckNodes(pool)
    builder = StateGraph(CheckState, context_schema=Settings, output_schema=Checked)
    builder.add_node("gather", nodes.gather)
    builder.add_node("judge", nodes.judge)
    builder.add_node("vote", nodes.vote)
    builder.add_node("arbitrate", nodes.arbitrate)
    builder.add_node("consult", nodes.consult)
    builder.add_node("localise", nodes.localise)
    builder.add_conditional_edges(START, nodes.route, [*NODES.values(), "localise"])
    builder.add_edge("gather", "judge")
    builder.add_edge("judge", "vote")
    builder.add_conditional_edges("vote", nodes.route, ["gather", "arbitrate", "consult", "localise"])
    builder.add_conditional_edges("arbitrate", nodes.route, ["consult", "localise"])
    builder.add_conditional_edges("consult", nodes.route, ["judge", "arbitrate", "localise"])
    builder.add_edge("localise", END)
    return builder.compile(name="check")


class CheckNode(Interface):
    """What stands in the graph for `check`."""

    async def __call__(self, state: CheckState, runtime: Runtime[Settings]) -> Checked:
        """One claim group, checked."""


def check_node(pool: Pool) -> CheckNode:
    """`check` for one claim group, once one of the run's places is free.

    Unbounded fan-out is half as slow again, and spreads a budget over so many groups that none is finished.
    """
    check = check_graph(pool)

    async def in_its_place(state: CheckState, runtime: Runtime[Settings]) -> Checked:
        resources = await pool.get(settings_of(runtime.context))
        # A run that goes on from here with other settings has another plan.
        planned: CheckState = {**state, "plan": resources.plan(state["case"])}
        async with resources.groups:
            found = cast("Checked", await check.ainvoke(planned))
        # LangGraph copies all writes that wait at each write; most groups have claims and nothing else.
        return cast("Checked", {name: value for name, value in found.items() if value})

    return in_its_place


def verify_graph(
    pool: Pool | None = None,
    checkpointer: Saver | None = None,
    example: Callable[[], VerifyInput] | None = None,
) -> VerifyGraph:
    """The whole graph over a pool of resources; by default one of its own.

    `example` is what an empty input stands for; without it, an empty input is refused.
    """
    pool = pool or Pool()
    nodes, wide = Nodes(pool, example=example), SearchNodes(pool)
    builder = StateGraph(State, context_schema=Settings, input_schema=VerifyInput, output_schema=VerifyOutput)
    builder.add_node("read", nodes.read)
    builder.add_node("decompose", nodes.decompose)
    builder.add_node("align", nodes.align)
    builder.add_node("check", check_node(pool))
    builder.add_node("join", nodes.join)
    builder.add_node("search", wide.search)
    builder.add_node("scan", wide.scan)
    builder.add_node("confirm", ConfirmNode(pool).confirm)
    builder.add_node("review", nodes.review)
    builder.add_node("report", nodes.report)
    builder.add_edge(START, "read")
    builder.add_edge("read", "decompose")
    builder.add_edge("decompose", "align")
    builder.add_conditional_edges("align", fan_out, ["check", "join"])
    builder.add_edge("check", "join")
    builder.add_conditional_edges("join", after_join, ["search", "scan", "confirm", "review"])
    builder.add_conditional_edges("search", after_search, ["check", "join"])
    builder.add_conditional_edges("scan", after_search, ["check", "join"])
    builder.add_conditional_edges("confirm", after_confirm, ["check", "join"])
    builder.add_conditional_edges("review", after_review, ["check", "report"])
    builder.add_edge("report", END)
    return builder.compile(name="verify", checkpointer=checkpointer)
