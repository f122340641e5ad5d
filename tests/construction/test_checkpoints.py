"""The constructions' states survive a strict checkpoint on disk: stopped in one process, finished in another."""

import os
import subprocess
import sys
from pathlib import Path

from fakes import ChatServer
from scripted_writer import novel, writer

STAGE = """
import asyncio, sys
from pathlib import Path
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from longproof.construction import halueval, longnovel, probe
from longproof.construction.graph import ConstructInput, construction_graph
from longproof.graphs.resources import Pool
from longproof.graphs.settings import Settings
from longproof.indexes.documents import DocumentStore
from longproof.retrieval.loaders import read_document

home, address, *stops = sys.argv[1:]
made_by = {"halueval": halueval.HALUEVAL, "longnovel": longnovel.LONGNOVEL, "probe": probe.PROBE}

async def go(kind, before, home):
    pool = Pool()
    async with AsyncSqliteSaver.from_conn_string(f"{home}/threads.sqlite") as saver:
        graph = construction_graph(pool, made_by[kind])
        graph.checkpointer = saver
        settings = Settings(judges=[f"openai:m@{address}"], home=home)
        config = {"configurable": {"thread_id": kind}}
        given = None
        if before:
            store = DocumentStore(Path(home) / "documents")
            ref = store.put(read_document(Path(home) / "source.txt"))
            given = ConstructInput(sources=[ref], out=f"{home}/set", cases=20)
        done = await graph.ainvoke(given, config, context=settings, interrupt_before=[before] if before else [])
        print((done or {}).get("result"))
    await pool.close()

for stop in stops:
    kind, before = stop.split(":")
    asyncio.run(go(kind, before, f"{home}/{kind}"))
"""
ROWS = '{"knowledge": "The ferry left at nine.", "question": "When?", "right_answer": "At nine."}\n'
ARTICLE = "Ferrol is a market town on the river Lune. It received its charter in 1206. It has a tower."


def stage(*arguments: str) -> str:
    """What a process of its own prints. Fails on anything that it warns of."""
    done = subprocess.run(
        [sys.executable, "-c", STAGE, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
    )
    assert done.returncode == 0, done.stderr
    assert "msgpack" not in done.stderr
    return done.stdout.strip()


KINDS = {"longnovel": (novel(3, 50).text, "write"), "probe": (ARTICLE, "claims"), "halueval": (ROWS, "write")}


def test_stopped_constructions_are_finished_by_another_process(tmp_path: Path):
    for kind, (text, _) in KINDS.items():
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "source.txt").write_text(text, encoding="utf-8")
    with ChatServer(writer()) as server:
        first = stage(str(tmp_path), server.address, *(f"{kind}:{stop}" for kind, (_, stop) in KINDS.items()))
        last = stage(str(tmp_path), server.address, *(f"{kind}:" for kind in KINDS))
    assert first.splitlines() == ["None"] * len(KINDS)
    for kind, done in zip(KINDS, last.splitlines(), strict=True):
        assert f"construction='{kind}'" in done
        assert "made=0" not in done
