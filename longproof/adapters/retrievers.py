"""Our passages of a source for other people's retrieval chains: LangChain's and LlamaIndex's retrievers.

Knows: their names for a passage, its score and its place. Offsets are ours, exact, in the metadata; theirs are not
used. Does not know: how passages are found. Their base classes are imported in the functions that need them.
"""

from typing import TYPE_CHECKING, Any

from longproof.adapters.llamaindex import MISSING
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.verifier import Source, documents_of
from longproof.retrieval.text.chunking import BLOCK
from longproof.retrieval.types import BadInput, Hit

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever as LangChainRetriever
    from llama_index.core.retrievers import BaseRetriever as LlamaRetriever


def langchain(*sources: Source, k: int = 5) -> "LangChainRetriever":
    """The k best passages of these sources, as LangChain documents with their exact places in the metadata."""
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    opened = _opened(sources)

    class Passages(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
            hits = opened.search(query, k)
            return [Document(page_content=hit.span.text, metadata=hit_metadata(hit)) for hit in hits]

    return Passages()


def llamaindex(*sources: Source, k: int = 5) -> "LlamaRetriever":
    """The same for LlamaIndex. Raises BadInput where it is not installed."""
    try:
        from llama_index.core.retrievers import BaseRetriever
        from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
    except ImportError as error:
        raise BadInput(MISSING) from error
    opened = _opened(sources)

    class Passages(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            hits = opened.search(query_bundle.query_str, k)
            return [NodeWithScore(node=_node(hit, TextNode), score=hit.score) for hit in hits]

    return Passages()


def hit_metadata(hit: Hit) -> dict[str, Any]:
    """The exact place of a hit: `source.text[start:end]` is its text."""
    span = hit.span
    return {"source_id": span.source_id, "start": span.start, "end": span.end, "rank": hit.rank}


def _node(hit: Hit, made: Any) -> Any:
    return made(id_=f"{hit.span.source_id}:{hit.span.start}", text=hit.span.text, metadata=hit_metadata(hit))


def _opened(sources: tuple[Source, ...]) -> Sources:
    return Sources([document for source in sources for document in documents_of(source)], BLOCK)
