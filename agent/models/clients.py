"""Clients of language models: a chat-completions server, or any LangChain chat model.

Knows: how a prompt is sent, which errors mean what, and which key may be sent where. What a server can do is found
out by trying, never from a model's name.
Does not know: retries, limits, the ledger, or what an answer means.
"""

import asyncio
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from longproof.agent.models.addresses import place_and_key
from longproof.agent.models.answers import Raw
from longproof.agent.models.completions import OVER_LIMIT, completion, count, mapping, text_of, word
from longproof.agent.models.responses import Broken, TooLong, bound
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.text.redact import one_line

if TYPE_CHECKING:
    from ssl import SSLContext

    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from openai import APIStatusError

LANGCHAIN = "langchain:"
"""How the endpoint of a LangChain model begins."""
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


_CONTEXT = re.compile(r"context (?:length|size|window)|maximum (?:context|input|model) length", re.IGNORECASE)
"""How servers name what a prompt may be too long for."""


class Unanswered(Exception):
    """No answer came back. `status` is the server's HTTP status; None: there was no connection, or it broke.

    `wait_s` is how long the server asks to wait; `final`: asking again is no use; `begun`: an answer had begun, so
    that it may have been billed; `too_long`: the prompt doesn't fit the model's context.
    """

    def __init__(
        self,
        detail: str,
        *,
        status: int | None = None,
        wait_s: float | None = None,
        final: bool = False,
        begun: bool = False,
        too_long: bool = False,
    ) -> None:
        super().__init__(detail[:_DETAIL])
        self.status, self.wait_s, self.final, self.begun = status, wait_s, final, begun
        self.too_long = too_long


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


@cache
def _trusted() -> "SSLContext":
    """Whose certificates are believed. Read once for all clients: it takes tens of milliseconds."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


class OpenAIChat:
    """A chat-completions server (OpenAI, vLLM, Ollama, llama.cpp) through the `openai` client.

    The client's own retries are off: it can't ask again for a stream that broke, nor tell the rate limiter to wait.
    """

    has_schema = True

    def __init__(
        self,
        model: str,
        address: str | None = None,
        *,
        stream: bool = False,
        by_owner: bool = True,
        needs_key: bool = True,
    ) -> None:
        """With `stream`, answers come as a stream, and one that only repeats itself is cut off.

        `by_owner`: whether the owner of the keys named the address, see `addresses`. Without `needs_key`, a key that
        is not set is none: nothing will be sent.

        Raises BadInput where the address is none, or the key that OpenAI itself needs is not set.
        """
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        self.model, self.by_owner = model, by_owner
        self.endpoint, self._key = place_and_key(address, by_owner=by_owner, needs_key=needs_key)
        self._client = AsyncOpenAI(
            api_key=self._key,
            base_url=self.endpoint,
            max_retries=0,
            timeout=None,
            http_client=DefaultAsyncHttpxClient(
                verify=_trusted(), follow_redirects=False, event_hooks={"response": [bound]}
            ),
        )
        self._limit_name = "max_tokens"
        self._takes_temperature = True
        self._stream = self._counts_streams = stream

    async def send(self, message: Message) -> Raw:
        """Send one request. A parameter that the server refuses is left out from then on."""
        from openai import APIError

        try:
            return await self._create(message)
        except TooLong:
            return Raw(finish=OVER_LIMIT)
        except Broken as error:
            raise self._broke_off(error) from error
        except (APIError, ValueError) as error:
            if isinstance(error.__cause__, TooLong):
                return Raw(finish=OVER_LIMIT)
            if isinstance(error.__cause__, Broken):
                raise self._broke_off(error.__cause__) from error
            if self._adapted(error):
                return await self.send(message)
            raise self._unanswered(error, "sent no chat completion") from error

    async def reach(self) -> None:
        """List the models, which costs nothing. Raises Unanswered where the server can't."""
        from openai import APIError

        try:
            async with asyncio.timeout(REACH_S):
                await self._client.models.with_raw_response.list()
        except TimeoutError as error:
            raise Unanswered(f"{self.endpoint} named no models within {REACH_S:g} s") from error
        except (APIError, ValueError, Broken, TooLong) as error:
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
            return Unanswered(
                self._clean(f"{self.endpoint} answered HTTP {error.status_code}{_said(error)}"),
                status=error.status_code,
                wait_s=asked_wait(error.response.headers),
                final=error.code == "insufficient_quota",
                too_long=_says_too_long(error),
            )
        if isinstance(error, APIConnectionError):
            return Unanswered(self._clean(f"no connection to {self.endpoint}: {error.__cause__ or error}"))
        return Unanswered(self._clean(f"{self.endpoint} {otherwise}: {error}"), final=True)

    def _broke_off(self, error: Broken) -> Unanswered:
        detail = f"the answer of {self.endpoint} broke off: {error}"
        return Unanswered(self._clean(detail), status=error.status, begun=True)

    def _clean(self, detail: str) -> str:
        """The detail on one line, without terminal codes and without the key: servers quote it in errors."""
        return one_line(detail, self._key)


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
            return _raw_of_langchain(answer)
        except Exception as error:
            # Integrations raise errors of their own; all are failures of this call. Their text may hold a key that
            # we don't know, so that only the error's name goes on.
            status = getattr(error, "status_code", None)
            known = f" (HTTP {status})" if isinstance(status, int) else ""
            raise Unanswered(one_line(type(error).__name__ + known)) from error

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
    except (ValueError, TypeError, OverflowError):
        return None


def _said(error: "APIStatusError") -> str:
    """What a server says about its error, after a colon."""
    to = error.response.headers.get("location")
    if error.status_code < 400 and to:
        return f", a redirect to {to}, which is not followed: name the address itself"
    said = error.body.get("message") if isinstance(error.body, dict) else error.message
    return f": {said}" if isinstance(said, str) and said else ""


def _says_too_long(error: "APIStatusError") -> bool:
    """Whether a server says that the prompt is longer than its model's context, as OpenAI, vLLM and llama.cpp do."""
    if error.status_code not in (400, 413):
        return False
    return error.code == "context_length_exceeded" or bool(_CONTEXT.search(_said(error)))


def _raw_of_langchain(answer: "AIMessage") -> Raw:
    usage = mapping(answer.usage_metadata)
    about = mapping(answer.response_metadata)
    refusal = answer.additional_kwargs.get("refusal")
    return Raw(
        text=text_of(answer.content),
        refusal=str(refusal) if refusal else None,
        finish=word(about.get("finish_reason")) or word(about.get("stop_reason")),
        prompt_tokens=count(usage.get("input_tokens")),
        completion_tokens=count(usage.get("output_tokens")),
        cached_tokens=count(mapping(usage.get("input_token_details")).get("cache_read")),
    )
