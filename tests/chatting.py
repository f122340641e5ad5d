"""A language model without a server: a script answers each prompt, and what was sent is kept."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from reader import FENCED

from longproof.agent.models.answers import Raw
from longproof.agent.models.clients import Message
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Limits
from longproof.agent.models.model import Model
from longproof.agent.types import Claim
from longproof.retrieval.types import Document, Line

T = TypeVar("T")


class Said(NamedTuple):
    """One prompt as it was sent: its parts by name."""

    user: str

    def lines(self, name: str) -> dict[str, str]:
        """The lines `123| text` of this part, by what stands before the stroke."""
        return dict(re.findall(r"^(\w+)\| (.*)$", self.part(name), re.MULTILINE))

    def part(self, name: str) -> str:
        return "\n".join(text for _, called, text in FENCED.findall(self.user) if called == name)


Script = Callable[[Said], dict[str, Any] | str]


class Chatting:
    """A client whose answers a script writes: a form, or a text that is none. It takes no schema, so that each
    request is sent once."""

    has_schema, endpoint, model = False, "http://chatting/v1", "m"

    def __init__(self, script: Script | Sequence[dict[str, Any] | str]) -> None:
        self._script = script
        self.sent: list[Said] = []

    async def send(self, message: Message) -> Raw:
        self.sent.append(Said(message.user))
        script = self._script
        answer = script(self.sent[-1]) if callable(script) else script[len(self.sent) - 1]
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return Raw(text=text, finish="stop")

    async def close(self) -> None:
        """Nothing to close."""


async def asking(chat: Chatting, ask: Callable[[Model], Awaitable[T]]) -> T:
    """What comes of asking this client's model, over a ledger in memory."""
    ledger = await Ledger.open(None)
    try:
        return await ask(Model(chat, ledger, Limits(), first_wait_s=0.001))
    finally:
        await ledger.close()


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
