"""Clients of language models: a chat-completions server, or any LangChain chat model.

Knows: how a prompt is sent, which errors mean what, and which key may be sent where. What a server can do is found
out by trying, never from a model's name.
Does not know: retries, limits, the ledger, or what an answer means.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from longproof.agent.models.answers import Raw
from longproof.agent.models.completions import Broken, completion, text_of
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

NO_KEY = "none"
LANGCHAIN = "langchain:"
"""How the endpoint of a LangChain model begins."""
DEFAULT_ADDRESS = "https://api.openai.com/v1"
_DETAIL = 300
REACH_S = 10.0


class Message(NamedTuple):
    """One request. `schema` is None where the form is described in the prompt instead; `top_p` None: not sent."""

    system: str
    user: str
    temperature: float
    max_tokens: int
    schema: dict[str, Any] | None = None
    top_p: float | None = None


class Unanswered(Exception):
    """No answer came back. `status` is the server's HTTP status; None: there was no connection, or it broke.

    `wait_s` is how long the server asks to wait; `final`: asking again is no use.
    """

    def __init__(
        self, detail: str, *, status: int | None = None, wait_s: float | None = None, final: bool = False
    ) -> None:
        super().__init__(detail[:_DETAIL])
        self.status, self.wait_s, self.final = status, wait_s, final


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


class OpenAIChat:
    """A chat-completions server (OpenAI, vLLM, Ollama, llama.cpp) through the `openai` client.

    The client's own retries are off: it can't ask again for a stream that broke, nor tell the rate limiter to wait.
    """

    has_schema = True

    def __init__(self, model: str, address: str | None = None, *, stream: bool = False) -> None:
        """With `stream`, answers come as a stream, and one that only repeats itself is cut off.

        Raises BadInput where the address is none, or the key that OpenAI itself needs is not set.
        """
        from openai import AsyncOpenAI

        self.model = model
        self.endpoint, self._key = place_and_key(address)
        self._client = AsyncOpenAI(api_key=self._key, base_url=self.endpoint, max_retries=0, timeout=None)
        self._limit_name = "max_tokens"
        self._takes_temperature = True
        self._stream = self._counts_streams = stream

    async def send(self, message: Message) -> Raw:
        """Send one request. A parameter that the server refuses is left out from then on."""
        from openai import APIError

        try:
            return await self._create(message)
        except Broken as error:
            detail = f"the answer of {self.endpoint} broke off: {error}"
            raise Unanswered(self._clean(detail), status=error.status) from error
        except (APIError, ValueError) as error:
            if self._adapted(error):
                return await self.send(message)
            raise self._unanswered(error, "sent no chat completion") from error

    async def reach(self) -> None:
        """List the models, which costs nothing. Raises Unanswered where the server can't."""
        from openai import APIError

        try:
            await self._client.models.list(timeout=REACH_S)
        except (APIError, ValueError) as error:
            raise self._unanswered(error, "named no models") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _create(self, message: Message) -> Raw:
        """What is kept of the completion. An answer in one piece is taken where a stream was asked for, too.

        All but the messages goes as `extra_body`, and the raw response is taken: else the client copies the schema
        on the way out and parses the body on the way back, which is half of the time that a call costs us.
        """
        body: dict[str, Any] = {self._limit_name: message.max_tokens}
        if self._takes_temperature:
            body["temperature"] = message.temperature
            if message.top_p is not None:
                body["top_p"] = message.top_p
        if message.schema is not None:
            named = {"name": message.schema.get("title", "answer"), "strict": True, "schema": message.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        if self._counts_streams:
            body["stream_options"] = {"include_usage": True}
        response = await self._client.chat.completions.with_raw_response.create(
            model=self.model,
            messages=[
                {"role": "system", "content": without_surrogates(message.system, "?")},
                {"role": "user", "content": without_surrogates(message.user, "?")},
            ],
            extra_body=body,
            stream=self._stream,
        )
        return await completion(response.http_response)

    def _adapted(self, error: Exception) -> bool:
        """Whether the server refused a parameter that can be renamed or left out; if so, it is from now on."""
        from openai import APIStatusError

        if not isinstance(error, APIStatusError):
            return False
        if (
            self._counts_streams
            and 400 <= error.status_code < 500
            and "stream_options" in error.response.text
        ):
            self._counts_streams = False
            return True
        if error.status_code != 400 or not str(error.code).startswith("unsupported"):
            return False
        if error.param == "max_tokens" and self._limit_name == "max_tokens":
            self._limit_name = "max_completion_tokens"
            return True
        if error.param in ("temperature", "top_p") and self._takes_temperature:
            self._takes_temperature = False
            return True
        if error.param == "stream" and self._stream:
            self._stream = self._counts_streams = False
            return True
        return False

    def _unanswered(self, error: Exception, otherwise: str) -> Unanswered:
        """What an error of the client says. `otherwise`: what the server did if it was no HTTP error."""
        from openai import APIConnectionError, APIStatusError

        if isinstance(error, APIStatusError):
            said = error.body.get("message") if isinstance(error.body, dict) else None
            return Unanswered(
                self._clean(f"{self.endpoint} answered HTTP {error.status_code}: {said or error.message}"),
                status=error.status_code,
                wait_s=asked_wait(error.response.headers),
                final=error.code == "insufficient_quota",
            )
        if isinstance(error, APIConnectionError):
            return Unanswered(self._clean(f"no connection to {self.endpoint}: {error.__cause__ or error}"))
        return Unanswered(self._clean(f"{self.endpoint} {otherwise}: {error}"), final=True)

    def _clean(self, detail: str) -> str:
        """The detail on one line, without the key: servers quote it in errors."""
        hidden = detail if self._key == NO_KEY else detail.replace(self._key, "…")
        return " ".join(hidden.split())


class LangChainChat:
    """Any LangChain chat model, as the caller configured it: our temperature and limits are not sent."""

    has_schema = False

    def __init__(self, model: "BaseChatModel") -> None:
        self._model = model
        configured = (
            model._get_llm_string()
        )  # what LangChain's own cache goes by: names and parameters, no keys
        self.model = f"{type(model).__name__}:{sha256(configured.encode()).hexdigest()[:16]}"
        self.endpoint = LANGCHAIN + model._llm_type

    async def send(self, message: Message) -> Raw:
        """One call of the model."""
        try:
            answer = await self._model.ainvoke([("system", message.system), ("human", message.user)])
        except Exception as error:
            # Integrations raise errors of their own; all are failures of this call.
            raise Unanswered(" ".join(f"{type(error).__name__}: {error}".split())) from error
        return _raw_of_langchain(answer)

    async def close(self) -> None:
        """Nothing to close: the model is the caller's."""


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait (`retry-after-ms`, or `retry-after` in seconds or as a date)."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        asked = headers.get("retry-after", "")
        if not asked:
            return None
        if asked[0].isdigit():
            return float(asked)
        return max(0.0, (parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def place_and_key(address: str | None) -> tuple[str, str]:
    """The address, and the key that may be sent there.

    `OPENAI_API_KEY` goes to OpenAI, or where `OPENAI_BASE_URL` points; any other address gets `LONGPROOF_API_KEY`
    if it is set, else the word `none`: a key is never sent to a server that it wasn't meant for.
    """
    own = os.environ.get("OPENAI_BASE_URL") or DEFAULT_ADDRESS
    place = (address or own).rstrip("/")
    parts = urlsplit(place)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(f"{place!r} is no address of a server: write http://HOST:PORT/v1")
    if parts.username or parts.password or parts.query:
        raise BadInput(
            f"keys come from the environment: name {parts.hostname} without user, password or query"
        )
    if place != own.rstrip("/"):
        return place, os.environ.get("LONGPROOF_API_KEY") or NO_KEY
    key = os.environ.get("OPENAI_API_KEY")
    if not key and place == DEFAULT_ADDRESS:
        raise BadInput(
            "OPENAI_API_KEY is not set: set it, or name a server as openai:MODEL@http://HOST:PORT/v1"
        )
    return place, key or NO_KEY


def _raw_of_langchain(answer: "AIMessage") -> Raw:
    usage: Mapping[str, Any] = answer.usage_metadata or {}
    details: Mapping[str, Any] = usage.get("input_token_details") or {}
    about = answer.response_metadata
    refusal = answer.additional_kwargs.get("refusal")
    return Raw(
        text=text_of(answer.content),
        refusal=str(refusal) if refusal else None,
        finish=str(about.get("finish_reason") or about.get("stop_reason") or "") or None,
        prompt_tokens=usage.get("input_tokens"),
        completion_tokens=usage.get("output_tokens"),
        cached_tokens=details.get("cache_read"),
    )
