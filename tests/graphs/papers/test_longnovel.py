"""LongNovel: segments are aligned by meaning, over several sources, where an embedder is given."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from fakes import ChatServer
from letters import Letters
from papers import verifier
from reader import Reader

from longproof.graphs.papers.longnovel import NO
from longproof.retrieval.text.chunking import BLOCK
from longproof.retrieval.types import Document


@pytest.mark.skipif(find_spec("faiss") is None, reason="the extra `dense` is not installed")
def test_an_embedder_aligns_segments_by_meaning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block of two sources is full of one letter; no word of the response stands in any of them."""
    monkeypatch.setattr("longproof.graphs.run.embedder", lambda name, _: Letters())
    sources = [Document.of("".join(f"{letter}z" * (BLOCK // 2) for letter in part)) for part in ("ab", "cd")]
    response = " ".join(f"{(2 * letter + ' ') * 55}so.".capitalize() for letter in "ac")
    with ChatServer(Reader(Narrative={"has_hallucination": NO, "details": []})) as server:
        report = verifier(server, tmp_path, "longnovel-rag", embedder="e5").verify(sources, response)
    windows = [claim.window for claim in report.claims if claim.window]
    assert [window.source_id for window in windows] == [source.id for source in sources]
