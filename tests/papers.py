"""A scripted server that answers the papers' forms, and what was asked of it: for tests of the protocols."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fakes import FORMS, Asked, ChatServer, Reply

from longproof import Verifier
from longproof.agent.types import Report

Answer = Callable[[Asked], dict[str, Any]]


def answers(**by_form: Answer | dict[str, Any]) -> Callable[[Asked], Reply]:
    """Answers each form as it is told to; forms of our own as well as can be."""

    def script(asked: Asked) -> Reply:
        said = by_form.get(asked.form) or FORMS[asked.form]
        return Reply(json.dumps(said(asked) if callable(said) else said, ensure_ascii=False))

    return script


def asked_for(server: ChatServer, form: str) -> list[Asked]:
    """The requests for one form, in the order in which they came."""
    return [asked for asked in server.asked if asked.form == form]


def seats(server: ChatServer, count: int) -> list[str]:
    """So many models at one server, told apart by name."""
    return [f"openai:m{n}@{server.address}" for n in range(count)]


def traced(verifier: Verifier, source: Any, response: str, **case: Any) -> tuple[Report, list[list[str]]]:
    """The report, and the stations that each stretch passed, in their order."""

    async def go() -> tuple[Report, list[list[str]]]:
        given = await verifier.input_of(source, response, **case)
        report, paths = None, dict[tuple[str, ...], list[str]]()
        stream = verifier.graph.astream(
            given, context=verifier.settings, stream_mode="updates", subgraphs=True
        )
        async for namespace, update in stream:
            for node, values in update.items():
                if namespace:
                    paths.setdefault(namespace, []).append(node)
                elif node == "report":
                    report = Report.model_validate(values["report"])
        await verifier.close()
        assert report is not None
        return report, list(paths.values())

    return asyncio.run(go())


def verifier(server: ChatServer, home: Path, protocol: str, count: int = 1, **settings: Any) -> Verifier:
    """A verifier with so many models of this server."""
    return Verifier(judges=seats(server, count), protocol=protocol, home=str(home), timeout_s=5, **settings)
