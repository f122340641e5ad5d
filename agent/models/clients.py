"""Clients of language models: one request, one answer, or the reason why none came; and any LangChain chat model.

Knows: what a request holds, what is kept of an answer, and what a failure says.
Does not know: how a server is spoken to, retries, limits, the ledger, or what an answer means.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from longproof.agent.models.answers import Raw
from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import Failure
from longproof.prompts import Prompt
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.text.redact import one_line

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

LANGCHAIN = "langchain:"
"""The beginning of a LangChain model's endpoint."""
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


class LangChainChat:
    """Any LangChain chat model, as the caller configured it: our temperature and limits are not sent."""

    has_schema = False

    def __init__(self, model: "BaseChatModel") -> None:
        self._model = model
        # What LangChain's own cache goes by: names and parameters, no keys.
        configured = model._get_llm_string()
        self.model = f"{type(model).__name__}:{sha256(configured.encode()).hexdigest()[:16]}"
        self.endpoint = LANGCHAIN + model._llm_type

    async def send(self, message: Message) -> Raw:
        """Call the model once."""
        try:
            answer = await self._model.ainvoke([("system", message.system), ("human", message.user)])
            usage: Mapping[str, Any] = answer.usage_metadata or {}
            about = answer.response_metadata
            refusal = answer.additional_kwargs.get("refusal")
            return Raw(
                text=str(answer.text),
                refusal=str(refusal) if refusal else None,
                finish=about.get("finish_reason") or about.get("stop_reason"),
                prompt_tokens=usage.get("input_tokens"),
                completion_tokens=usage.get("output_tokens"),
                cached_tokens=(usage.get("input_token_details") or {}).get("cache_read"),
            )
        except Exception as error:
            # Integrations raise errors of their own; all are failures of this call. Their text may hold a key that
            # we don't know, so that only the error's name goes on.
            status = getattr(error, "status_code", None)
            known = f" (HTTP {status})" if isinstance(status, int) else ""
            raise Unanswered(one_line(type(error).__name__ + known)) from error

    async def close(self) -> None:
        """Nothing to close: the model is the caller's."""
