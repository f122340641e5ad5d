"""The graph that checks one response against its sources, every step a node.

Knows: what happens after what: read, decompose, align, a `Send` for each claim group into check; search and scan,
once for all claims that are still open, and check again; confirm, once for all convictions; review, report.
Does not know: how a step does its work, or what happens next to a claim (policy).
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from longproof.graphs import check
from longproof.graphs.confirm import confirm
from longproof.graphs.evidence.search import scan_sources, search_sources
from longproof.graphs.nodes import (
    Example,
    after_confirm,
    after_join,
    after_review,
    after_search,
    align,
    fan_out,
    join,
    read,
    report,
    review,
)
from longproof.graphs.protocol import Protocol
from longproof.graphs.run import Pool, Run
from longproof.graphs.settings import Settings
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
    """One claim group: look, ask, count; taken apart, wider, to the arbiter, to saved pages; then the wrong words."""
    node, route = pool.node, pool.edge(check.route)
    builder = StateGraph(CheckState, context_schema=Settings, output_schema=Checked)
    builder.add_node("decompose", node(check.decompose))
    builder.add_node("gather", node(check.gather))
    builder.add_node("judge", node(check.judge))
    builder.add_node("vote", node(check.vote))
    builder.add_node("arbitrate", node(check.arbitrate))
    builder.add_node("consult", node(check.consult))
    builder.add_node("localise", node(check.localise_errors))
    builder.add_conditional_edges(START, route, [*check.NODES.values(), "localise"])
    builder.add_conditional_edges("decompose", route, ["gather", "judge", "arbitrate", "consult", "localise"])
    builder.add_conditional_edges(
        "gather", route, ["gather", "judge", "decompose", "arbitrate", "consult", "localise"]
    )
    builder.add_edge("judge", "vote")
    builder.add_conditional_edges("vote", route, ["decompose", "gather", "arbitrate", "consult", "localise"])
    builder.add_conditional_edges("arbitrate", route, ["gather", "consult", "localise"])
    builder.add_conditional_edges("consult", route, ["decompose", "judge", "arbitrate", "localise"])
    builder.add_edge("localise", END)
    return builder.compile(name="check")


def check_step(pool: Pool) -> Callable[[CheckState, Run], Awaitable[Checked]]:
    """`check` for one claim group, once one of the run's places is free.

    Without a bound a run takes half as long again, and a budget is spread over so many groups that none is finished.
    """
    graph = check_graph(pool)

    async def check_group(state: CheckState, run: Run) -> Checked:
        async with run.session.groups:
            found = await graph.ainvoke(state)
        # LangGraph copies all writes that wait at each write; most groups have claims and nothing else.
        return cast("Checked", {name: value for name, value in found.items() if value})

    return check_group


def verify_graph(
    pool: Pool | None = None, checkpointer: Saver | None = None, example: Example | None = None
) -> VerifyGraph:
    """The whole graph over a pool; by default one of its own.

    `example` is what an empty input stands for; without it, an empty input is refused.
    """
    pool = pool or Pool()
    node, edge = pool.node, pool.edge
    builder = StateGraph(State, context_schema=Settings, input_schema=VerifyInput, output_schema=VerifyOutput)
    builder.add_node("read", pool.door(partial(read, example=example)), input_schema=VerifyInput)
    builder.add_node("align", node(align))
    builder.add_node("check", node(check_step(pool)), input_schema=CheckState)
    builder.add_node("join", node(join))
    builder.add_node("search", node(search_sources))
    builder.add_node("scan", node(scan_sources))
    builder.add_node("confirm", node(confirm))
    builder.add_node("review", node(review))
    builder.add_node("report", node(report))
    builder.add_edge(START, "read")
    builder.add_edge("read", "align")
    builder.add_conditional_edges("align", edge(fan_out), ["check", "join"])
    builder.add_edge("check", "join")
    builder.add_conditional_edges("join", edge(after_join), ["check", "search", "scan", "confirm", "review"])
    builder.add_conditional_edges("search", edge(after_search), ["check", "join"])
    builder.add_conditional_edges("scan", edge(after_search), ["check", "join"])
    builder.add_conditional_edges("confirm", edge(after_confirm), ["check", "join"])
    builder.add_conditional_edges("review", edge(after_review), ["check", "report"])
    builder.add_edge("report", END)
    return builder.compile(name="verify", checkpointer=checkpointer)
