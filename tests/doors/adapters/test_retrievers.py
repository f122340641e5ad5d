"""Passages for other people's chains: found by us, with exact places; their documents as our sources."""

import pytest
from langchain_core.documents import Document as LangChainDocument

from longproof import Verifier
from longproof.adapters.retrievers import langchain, llamaindex
from longproof.graphs.verifier import documents_of
from longproof.retrieval.types import BadInput, text_id

TOLD = "The keeper of hill {0} counted {1} sheep and wrote it down in the book of hill {0}."
LINES = [TOLD.format(n, n * 7) for n in range(300)]
SOURCE = "\n".join(LINES)


def test_langchain_gets_the_best_passages_with_their_places():
    found = langchain(SOURCE, k=3).invoke("How many sheep did the keeper of hill 211 count?")
    assert len(found) == 3
    assert "hill 211 counted 1477 sheep" in found[0].page_content
    for document in found:
        start, end = document.metadata["start"], document.metadata["end"]
        assert SOURCE[start:end] == document.page_content
        assert document.metadata["source_id"] == text_id(SOURCE)


def test_a_langchain_document_is_a_source():
    source = LangChainDocument(page_content=SOURCE, metadata={"source": "hills.txt", "title": "Hills"})
    (document,) = documents_of(source)
    assert (document.text, document.title, document.uri) == (SOURCE, "Hills", "hills.txt")
    assert Verifier().verify([source], LINES[7]).sentences[0].label == "explicitly_supported"


@pytest.mark.heavy
def test_llamaindex_gets_them_too_and_gives_its_documents():
    schema = pytest.importorskip("llama_index.core.schema", reason="needs the extra `llama-index`")
    found = llamaindex(SOURCE, k=2).retrieve("How many sheep did the keeper of hill 211 count?")
    assert SOURCE[found[0].metadata["start"] : found[0].metadata["end"]] == found[0].text
    (document,) = documents_of(schema.Document(text=SOURCE, metadata={"file_name": "hills"}))
    assert (document.text, document.title) == (SOURCE, "hills")


def test_without_llamaindex_one_line_says_so():
    try:
        import llama_index.core  # noqa: F401
    except ImportError:
        with pytest.raises(BadInput, match="pip install"):
            llamaindex(SOURCE)
