"""What clients of language models have in common: one request, one answer, or the reason why none came.

Knows: what a request holds, what a failure says, and how a server asks to wait.
Does not know: how a server is spoken to, retries, limits, the ledger, or what an answer means.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from longproof.agent.models.answers import Raw
from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import Failure
from longproof.prompts import Prompt
from longproof.retrieval.text.normalise import without_surrogates

LANGCHAIN, PROVIDER = "langchain:", "provider:"
"""The beginnings of the endpoints of LangChain's models: one that a program made, one that a SPEC names."""
_DETAIL = 300


class Message(NamedTuple):
    """One request."""

    prompt: Prompt
    temperature: float
    max_tokens: int
    schema: dict[str, Any] | None = None
    """None: the prompt describes the form."""
    top_p: float | None = None
    """None: not sent."""
    purpose: str = ""
    key: str = ""
    """Its name in the ledger."""

    @property
    def system(self) -> str:
        """The prompt's system part, as it can be sent."""
        return without_surrogates(self.prompt.system, "?")

    @property
    def user(self) -> str:
        """The prompt's user part, as it can be sent."""
        return without_surrogates(self.prompt.user, "?")

    @property
    def tokens(self) -> int:
        """About how many tokens the prompt has."""
        return estimate_tokens(self.prompt.system) + estimate_tokens(self.prompt.user)


class Unanswered(Exception):
    """No answer came back. `status` is the server's HTTP status; None: there was no connection, or it broke.

    `wait_s` is how long the server asks to wait; `final`: asking again is no use; `billed`: an answer had begun, so
    that it may have been billed.
    """

    def __init__(
        self,
        detail: str,
        *,
        failure: Failure = "unavailable",
        status: int | None = None,
        wait_s: float | None = None,
        final: bool = False,
        billed: bool = False,
    ) -> None:
        super().__init__(detail[:_DETAIL])
        self.failure: Failure = failure
        self.status, self.wait_s, self.final, self.billed = status, wait_s, final, billed


class Chat(Protocol):
    """One model at one endpoint. `has_schema` is false where only the prompt can describe the form."""

    endpoint: str
    model: str
    has_schema: bool

    async def send(self, message: Message) -> Raw:
        """The answer as it came. Raises Unanswered."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait."""
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        return None
