"""A node of somebody else's graph, with its own state, context and checkpointer."""

import asyncio
from dataclasses import dataclass

import pytest
from embedded import RESPONSE, SOURCE, by_terminal, plain
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command
from scripted import ScriptedJudge, WholeSentences
from typing_extensions import TypedDict

from longproof import BadInput, Verifier
from longproof.adapters.langgraph import node


class HostState(TypedDict, total=False):
    book: str
    answer: str
    check: dict
    source: str


@dataclass
class HostContext:
    user: str = "Ada"


def host(verifier, checkpointer=None):
    builder = StateGraph(HostState, context_schema=HostContext)
    verify = node(verifier, source="book", response="answer", report="check")
    builder.add_sequence([("write", lambda state: {"answer": RESPONSE}), ("verify", verify)])
    builder.add_edge(START, "write")
    return builder.compile(checkpointer=checkpointer)


def test_a_host_gets_the_terminals_report_with_await_and_without_inside_a_running_loop_too(tmp_path):
    graph = host(Verifier())

    async def run_twice():
        awaited = await graph.ainvoke({"book": SOURCE}, context=HostContext())
        return awaited, graph.invoke({"book": SOURCE}, context=HostContext())

    for ended in asyncio.run(run_twice()):
        assert plain(ended["check"]) == by_terminal(tmp_path)
    assert "verify:align" in graph.get_graph(xray=True).nodes


def test_a_state_without_the_texts_is_told_what_it_has():
    with pytest.raises(BadInput, match=r"no 'book', only answer.*node\("):
        host(Verifier()).invoke({"source": SOURCE}, context=HostContext())


@pytest.mark.parametrize("asynchronous", [True, False])
def test_a_persons_interrupt_is_the_hosts(asynchronous):
    words = ["contradicting", "explicitly_supported", "not_found"]
    judges = [ScriptedJudge(f"j{i}", word) for i, word in enumerate(words)]
    graph = host(Verifier(judges, arbiter="person", decomposer=WholeSentences()), InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}

    async def run(given):
        if asynchronous:
            return await graph.ainvoke(given, thread, context=HostContext())
        return graph.invoke(given, thread, context=HostContext())

    async def decide():
        (asked,) = (await run({"book": SOURCE}))["__interrupt__"]
        decisions = [{"claim_id": one["claim_id"], "label": "ambiguous"} for one in asked.value]
        return await run(Command(resume={"name": "Ines", "decisions": decisions}))

    claims = asyncio.run(decide())["check"]["claims"]
    assert {claim["decided_by"] for claim in claims} == {"person"}
    assert all(len(judge.heard) == 1 for judge in judges)
