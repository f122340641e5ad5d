"""Documents of other libraries are sources."""

import pytest
from langchain_core.documents import Document as LangChainDocument

from longproof import Verifier
from longproof.inputs import documents_of

SOURCE = "The keeper of hill 7 counted 49 sheep. The miller slept."


def test_a_langchain_document_is_a_source():
    source = LangChainDocument(page_content=SOURCE, metadata={"source": "hills.txt", "title": "Hills"})
    (document,) = documents_of(source)
    assert (document.text, document.title, document.uri) == (SOURCE, "Hills", "hills.txt")
    assert Verifier().verify([source], "The miller slept.").claims


@pytest.mark.heavy
def test_a_llamaindex_document_is_a_source():
    schema = pytest.importorskip("llama_index.core.schema", reason="needs the extra `llama-index`")
    (document,) = documents_of(schema.Document(text=SOURCE, metadata={"file_name": "hills"}))
    assert (document.text, document.title) == (SOURCE, "hills")
