"""A scripted server that answers the papers' forms, and what was asked of it: for tests of the protocols."""

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

from fakes import ChatServer
from reader import Asked

from longproof import Verifier
from longproof.agent.types import Report
from longproof.inputs import case_of, documents_of


def asked_for(server: ChatServer, form: str) -> list[Asked]:
    """The requests for one form, in the order in which they came."""
    return [asked for asked in server.asked if asked.form == form]


def seats(server: ChatServer, count: int) -> list[str]:
    """So many models at one server, told apart by name."""
    return [f"openai:m{n}@{server.address}" for n in range(count)]


class Traced(NamedTuple):
    """A report, the nodes that the case passed, and those that each claim group passed inside `check`."""

    report: Report
    path: list[str]
    groups: list[list[str]]


def traced(verifier: Verifier, source: Any, response: str, **case: Any) -> Traced:
    """The report and the nodes on the way to it, in their order. A paper's graph has no claim groups."""

    async def go() -> Traced:
        given = await verifier.input_of(documents_of(source), case_of(response, **case))
        report, path, groups = None, list[str](), dict[tuple[str, ...], list[str]]()
        stream = verifier.graph.astream(
            given, context=verifier.settings, stream_mode="updates", subgraphs=True
        )
        async for namespace, update in stream:
            for node, values in update.items():
                (groups.setdefault(namespace, []) if namespace else path).append(node)
                if node == "report":
                    report = values["report"]
        await verifier.close()
        assert isinstance(report, Report)
        return Traced(report, path, list(groups.values()))

    return asyncio.run(go())


def verifier(server: ChatServer, home: Path, protocol: str, count: int = 1, **settings: Any) -> Verifier:
    """A verifier with so many models of this server."""
    return Verifier(judges=seats(server, count), protocol=protocol, home=str(home), timeout_s=5, **settings)
