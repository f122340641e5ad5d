"""The constructions' states survive a strict checkpoint on disk: stopped in one process, finished in another."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
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

kind, source, home, address, before = sys.argv[1:]
made_by = {"halueval": halueval.HALUEVAL, "longnovel": longnovel.LONGNOVEL, "probe": probe.PROBE}[kind]

async def go():
    pool = Pool()
    async with AsyncSqliteSaver.from_conn_string(f"{home}/threads.sqlite") as saver:
        graph = construction_graph(pool, made_by)
        graph.checkpointer = saver
        settings = Settings(judges=[f"openai:m@{address}"], home=home)
        config = {"configurable": {"thread_id": kind}}
        given = None
        if before:
            store = DocumentStore(Path(home) / "documents")
            ref = store.put(read_document(Path(source)))
            given = ConstructInput(sources=[ref], out=f"{home}/set", cases=20)
        done = await graph.ainvoke(given, config, context=settings, interrupt_before=[before] if before else [])
        print((done or {}).get("result"))
    await pool.close()

asyncio.run(go())
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


@pytest.mark.parametrize(
    ("kind", "text", "stops"),
    [
        ("longnovel", novel(3, 50).text, ("write",)),
        ("probe", ARTICLE, ("claims",)),
        ("halueval", ROWS, ("write",)),
    ],
    ids=["longnovel", "probe", "halueval"],
)
def test_a_stopped_construction_is_finished_by_another_process(kind, text, stops, tmp_path: Path):
    source = tmp_path / "source.txt"
    source.write_text(text, encoding="utf-8")
    for stop in stops:
        (tmp_path / stop).mkdir()
    with ChatServer(writer()) as server:
        first = [stage(kind, str(source), str(tmp_path / stop), server.address, stop) for stop in stops]
        last = [stage(kind, str(source), str(tmp_path / stop), server.address, "") for stop in stops]
    assert first == ["None"] * len(stops)
    assert all(f"construction='{kind}'" in one and "made=0" not in one for one in last)
