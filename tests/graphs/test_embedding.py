"""Progress of embedding goes to the run that embeds."""

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from letters import Letters
from scripted import ScriptedJudge

from longproof import Verifier
from longproof.retrieval.dense import Embeddings


class Telling(Letters):
    """Tells how many passages it embeds."""

    def embed(self, texts: Any, *, query: bool = False, progress: Any = None) -> Embeddings:
        if progress:
            progress(len(texts), len(texts))
        return super().embed(texts, query=query)


@pytest.mark.skipif(find_spec("faiss") is None, reason="the extra `dense` is not installed")
def test_of_two_runs_at_once_each_hears_of_its_own_passages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longproof.graphs.run.embedder", lambda name, _: Telling())
    verifier = Verifier([ScriptedJudge("j", "not_found")], embedder="e5", home=str(tmp_path))
    heard: dict[int, set[Any]] = {}

    async def check(blocks: int) -> None:
        def hear(event: Any) -> None:
            if event["node"] == "embed":
                heard.setdefault(blocks, set()).add(event["passages"])

        source = " ".join(
            f"On day {n} the keeper of gate {blocks} sold {n + 3} lamps." for n in range(blocks)
        )
        await verifier.averify(source, "A dragon swallowed seven bishops.", progress=hear)

    async def check_both() -> None:
        await asyncio.gather(check(400), check(900))
        await verifier.close()

    asyncio.run(check_both())
    assert len(heard[400]) == 1
    assert len(heard[900]) == 1
    assert max(heard[400]) < max(heard[900])
