"""The seam to models on a scripted server in process: one question, one small form."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from fakes import ChatServer, Script

from longproof.agent.models.addresses import place_and_key
from longproof.agent.models.answers import Chat, Form, Message, Raw
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Limits
from longproof.agent.models.model import Answer, Model
from longproof.agent.models.openai_chat import OpenAIChat
from longproof.agent.types import Claim
from longproof.prompts import Prompt
from longproof.retrieval.types import Document, Line

ADDRESS = "http://models.test/v1"
PROMPT = Prompt("You say what colour things are.", "Which colour is the sky?", "0" * 16, "en", "")
GOOD = '{"reason": "It is day.", "colour": "blue"}'


class Colour(Form):
    """A colour, with the reason first."""

    reason: str
    colour: str


Use = Callable[[Model], Awaitable[Any]]


def using(
    server: ChatServer | Chat,
    use: Use,
    *,
    path: Path | None = None,
    limits: Limits | None = None,
    retry_failed: bool = False,
    stream: bool = False,
    **settings: Any,
) -> Any:
    """Use a model on this server, or of this client, on an event loop of its own."""

    async def run() -> Any:
        ledger = await Ledger.open(path, retry_failed=retry_failed)
        chat: Chat = server if not isinstance(server, ChatServer) else openai_chat(server, stream=stream)
        settings_ = {"timeout_s": 5.0, "first_wait_s": 0.001, **settings}
        model = Model(chat, ledger, limits or Limits(), **settings_)
        try:
            return await use(model)
        finally:
            await ledger.close()
            await model.close()

    return asyncio.run(run())


def openai_chat(server: ChatServer, *, stream: bool) -> OpenAIChat:
    """A client of this server, in process."""
    return OpenAIChat("m", *place_and_key(ADDRESS), stream=stream, transport=server.transport())


async def ask(model: Model, **how: Any) -> Answer[Colour]:
    """One question."""
    return await model.ask(PROMPT, Colour, purpose="test", **how)


def asks(count: int) -> Callable[[Model], Awaitable[list[Answer[Colour]]]]:
    """So many samples, one after the other."""

    async def use(model: Model) -> list[Answer[Colour]]:
        return [await ask(model, sample=n) for n in range(count)]

    return use


def answers(script: Script, count: int = 1, **how: Any) -> tuple[Sequence[Answer[Colour]], ChatServer]:
    """So many answers of a server with this script, and the server."""
    server = ChatServer(script)
    return using(server, asks(count), **how), server


def answer(script: Script, **how: Any) -> Answer[Colour]:
    """The answer of a server with this script."""
    return answers(script, **how)[0][0]


def raw(server: ChatServer, *, stream: bool = False) -> Raw:
    """One answer as it is kept."""

    async def run() -> Raw:
        chat = openai_chat(server, stream=stream)
        try:
            return await chat.send(Message(PROMPT, {"max_tokens": 100, "temperature": 0.0}))
        finally:
            await chat.close()

    return asyncio.run(run())


def lines_of(*texts: str) -> list[Line]:
    """One source of these lines, numbered from 0."""
    document = Document.of("\n".join(texts))
    starts = [sum(len(text) + 1 for text in texts[:n]) for n in range(len(texts))]
    spans = (document.span(start, start + len(text)) for start, text in zip(starts, texts, strict=True))
    return [Line(number, span) for number, span in enumerate(spans)]


def claims_of(*texts: str) -> list[Claim]:
    """Claims c0, c1, … of a response of these sentences."""
    return [
        Claim(id=f"c{n}", index=n, sentence=n, text=span.text, origin=span) for n, span in lines_of(*texts)
    ]
