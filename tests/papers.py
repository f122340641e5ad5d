"""A scripted server that answers the papers' forms, and what was asked of it: for tests of the protocols."""

import asyncio
from pathlib import Path
from typing import Any

from fakes import ChatServer

from longproof import Verifier
from longproof.agent.types import Report
from longproof.inputs import case_of, documents_of


def seats(server: ChatServer, count: int) -> list[str]:
    """So many models at one server, told apart by name."""
    return [f"openai:m{n}@{server.address}" for n in range(count)]


def traced(verifier: Verifier, source: Any, response: str, **case: Any) -> tuple[Report, list[list[str]]]:
    """The report, and the nodes that each claim group passed inside `check`, in their order."""

    async def go() -> tuple[Report, list[list[str]]]:
        given = await verifier.input_of(documents_of(source), case_of(response, **case))
        report, groups = None, dict[tuple[str, ...], list[str]]()
        stream = verifier.graph.astream(
            given, context=verifier.settings, stream_mode="updates", subgraphs=True
        )
        async for namespace, update in stream:
            for node, values in update.items():
                if namespace:
                    groups.setdefault(namespace, []).append(node)
                if node == "report":
                    report = values["report"]
        await verifier.close()
        assert isinstance(report, Report)
        return report, list(groups.values())

    return asyncio.run(go())


def verifier(server: ChatServer, home: Path, protocol: str, count: int = 1, **settings: Any) -> Verifier:
    """A verifier with so many models of this server."""
    return Verifier(judges=seats(server, count), protocol=protocol, home=str(home), timeout_s=5, **settings)
