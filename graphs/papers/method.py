"""What the papers' graphs share: units instead of claims, one question a unit, and the steps after the vote.

Knows: a sentence, a segment or the whole response is judged at once; a panel that is split goes to an arbiter or a
person, as in the product. Does not know: what any paper asks.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph

from longproof.agent.types import Case, Claim, Decomposed, Sentence
from longproof.graphs.check import CheckNodes
from longproof.graphs.nodes import Nodes
from longproof.graphs.policy import Policy, next_step
from longproof.graphs.protocol import Protocol
from longproof.graphs.resources import Pool
from longproof.graphs.settings import Settings
from longproof.graphs.state import State, VerifyInput, VerifyOutput
from longproof.graphs.verify import Saver, VerifyGraph
from longproof.retrieval.text.chunking import segments
from longproof.retrieval.types import Document, Span

Steps = Mapping[str, Callable[..., Any]]
"""Nodes by name, in order."""


def paper(name: str, summary: str, cites: str, **settings: object) -> Protocol:
    """A protocol whose judges see all of the source at once and are asked as a paper asks: once, about one thing."""
    usual: dict[str, object] = {
        "rounds": ("source",),
        "claims_a_question": 1,
        "guards": "paper",
        "consult": "never",
        "localises": False,
    }
    return Protocol.model_validate({"name": name, "summary": summary, "cites": cites, **usual, **settings})


def paper_graph(steps: Steps, nodes: Nodes, check: CheckNodes, saver: Saver | None = None) -> VerifyGraph:
    """The steps of a paper in order; a split panel to the arbiter or to a person; then the report.

    Most papers show all of the source: `align` is for the reader of the report, who sees where a unit comes from.
    """
    builder = StateGraph(State, context_schema=Settings, input_schema=VerifyInput, output_schema=VerifyOutput)
    before = START
    for name, node in steps.items():
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    builder.add_node("arbitrate", check.arbitrate)
    builder.add_node("review", nodes.review)
    builder.add_node("report", nodes.report)
    builder.add_conditional_edges(before, check.route, {"arbitrate": "arbitrate", "localise": "review"})
    builder.add_edge("arbitrate", "review")
    builder.add_edge("review", "report")
    builder.add_edge("report", END)
    return builder.compile(name="verify", checkpointer=saver)


def each_unit(
    unit: Literal["sentence", "segment", "response"], policy: Policy = next_step
) -> Callable[[Pool, Saver | None], VerifyGraph]:
    """A graph that asks about each unit of the response once, against what the protocol shows; `policy` decides."""

    def graph(pool: Pool, saver: Saver | None = None) -> VerifyGraph:
        nodes, check = Nodes(pool, decomposer=Units(unit), policy=policy), CheckNodes(pool, policy)
        steps: Steps = {
            "read": nodes.read,
            "split": nodes.decompose,
            "align": nodes.align,
            "show": check.gather,
            "judge": check.judge,
            "vote": check.vote,
        }
        return paper_graph(steps, nodes, check, saver)

    return graph


class Units:
    """A decomposer that takes nothing apart: every unit of the response is one claim. Costs no call.

    `segment_characters` bounds segments (LongNovel, seed 004, Appendix D).
    """

    def __init__(
        self, unit: Literal["sentence", "segment", "response"], segment_characters: int = 150
    ) -> None:
        self.name = f"whole {unit}s"
        self._unit, self._size = unit, segment_characters

    async def decompose(self, case: Case, sentences: Sequence[Span]) -> Decomposed:
        """Claims in text order, ids `c0`, `c1`, …; each is about the sentence in which it starts."""
        units = self._units(case.response, sentences)
        ends = [span.end for span in sentences]
        claims = [
            Claim(id=f"c{n}", index=n, sentence=bisect_right(ends, unit.start), text=unit.text, origin=unit)
            for n, unit in enumerate(units)
        ]
        return Decomposed([Sentence(index=n, span=span) for n, span in enumerate(sentences)], claims, [])

    def _units(self, response: str, sentences: Sequence[Span]) -> list[Span]:
        document = Document.of(response)
        if self._unit == "segment":
            return [document.span(start, end) for start, end in segments(response, self._size)]
        if self._unit == "response":
            return [document.span(sentences[0].start, sentences[-1].end)] if sentences else []
        return list(sentences)
