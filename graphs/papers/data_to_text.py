"""The data-to-text task (seed 001): a JSON record against an article, in five steps, then exact hallucinated spans.

Knows: that judges see the record as the JSON that was given, not as a line for each fact.
"""

from langgraph.runtime import Runtime

from longproof.graphs.check import CheckNodes
from longproof.graphs.nodes import Nodes
from longproof.graphs.papers.method import Steps, Units, paper, paper_graph
from longproof.graphs.resources import Pool
from longproof.graphs.settings import Settings
from longproof.graphs.state import State
from longproof.graphs.verify import Method, Saver, VerifyGraph
from longproof.indexes.documents import DocumentRef, DocumentStore


class RecordNodes(Nodes):
    """The product's nodes, over records as they were given."""

    async def as_given(self, state: State, runtime: Runtime[Settings]) -> State:
        """The sources as JSON."""
        store = (await self.resources(runtime)).store
        sources = [_raw(ref, store) for ref in state["sources"]]
        ids = tuple(ref.id for ref in sources)
        return {"sources": sources, "case": state["case"].model_copy(update={"source_ids": ids})}


def data_to_text_graph(pool: Pool, saver: Saver | None = None) -> VerifyGraph:
    """The record as JSON, the article whole, one prompt of five steps; the listed spans are the errors."""
    nodes, check = RecordNodes(pool, decomposer=Units("response")), CheckNodes(pool)
    steps: Steps = {
        "read": nodes.read,
        "as_given": nodes.as_given,
        "split": nodes.decompose,
        "align": nodes.align,
        "show": check.gather,
        "judge": check.judge,
        "vote": check.vote,
    }
    return paper_graph(steps, nodes, check, saver)


def _raw(ref: DocumentRef, store: DocumentStore) -> DocumentRef:
    if ref.raw_id is None:
        return ref
    size = len(store.text(ref.raw_id))
    return DocumentRef(id=ref.raw_id, kind=ref.kind, title=ref.title, uri=ref.uri, characters=size)


DATA_TO_TEXT = paper(
    "data-to-text",
    "A JSON record against an article: five steps, then the exact hallucinated spans.",
    "001",
    unit="response",
    prompt="data_to_text",
    guards="ours",
    needs=("models", "record"),
)
METHODS = (Method(DATA_TO_TEXT, data_to_text_graph),)
