"""Clients of language models: a chat-completions server, or any LangChain chat model.

Knows: how a message is sent through the `openai` client, whole or as a stream, what is kept of an answer, and which
errors mean what. What a server can do is found out by trying, never from a model's name.
Does not know: retries, limits, the ledger, or what an answer means.
"""

import asyncio
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from longproof.agent.models.addresses import place_and_key
from longproof.agent.models.answers import OVER_LIMIT, Raw, known_finish, token_count
from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import Failure
from longproof.prompts import Prompt
from longproof.retrieval.server_headers import remove_foreign_headers
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.text.redact import one_line

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx2 import AsyncBaseTransport, Request
    from langchain_core.language_models import BaseChatModel
    from openai import APIStatusError, AsyncOpenAI, AsyncStream
    from openai.types.chat import ChatCompletionChunk

LANGCHAIN = "langchain:"
"""The beginning of a LangChain model's endpoint."""
REACH_S = 10.0
_DETAIL = 300
_CONTEXT = re.compile(r"context (?:length|size|window)|maximum (?:context|input|model) length", re.IGNORECASE)
"""Servers' words for what a prompt may be too long for."""


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


class TooLong(Exception):
    """A response goes on beyond its limit."""


class Broken(Exception):
    """An answer ended before its end, or is an error in the place of one. `status` is the one that it names."""

    def __init__(self, detail: str, status: object = None) -> None:
        super().__init__(detail)
        self.status = status if isinstance(status, int) else None


class OpenAIChat:
    """A chat-completions server (OpenAI, vLLM, Ollama, llama.cpp) through the `openai` client."""

    has_schema = True

    def __init__(
        self,
        model: str,
        address: str | None = None,
        *,
        stream: bool = False,
        by_owner: bool = True,
        needs_key: bool = True,
        transport: "AsyncBaseTransport | None" = None,
    ) -> None:
        """With `stream`, answers come as a stream, and one that only repeats itself is cut off.

        `by_owner`: whether the owner of the keys named the address, see `addresses`. Without `needs_key`, a key that
        is not set is none: nothing will be sent. `transport` carries the requests, in the place of the network.

        Raises BadInput where the address is none, or the key that OpenAI itself needs is not set.
        """
        # Importing the client and reading certificates takes a second: not while an answer is waited for.
        from longproof.agent.models import responses

        self._responses, self._certificates = responses, _trusted()
        self.model, self.by_owner, self._transport = model, by_owner, transport
        self.endpoint, self._key = place_and_key(address, by_owner=by_owner, needs_key=needs_key)
        self._limit_name = "max_tokens"
        self._takes_temperature = True
        self._stream = self._counts_streams = stream

    async def send(self, message: Message) -> Raw:
        """Send one request. A parameter that the server refuses is left out from then on."""
        from openai import APIConnectionError, APIError

        body = self._body(message)
        try:
            return await self._create(message, body)
        except (APIError, Broken, TooLong) as error:
            cause = error.__cause__ if isinstance(error, APIConnectionError) else error
            if isinstance(cause, TooLong):
                return Raw(finish=OVER_LIMIT)
            if isinstance(cause, Broken):
                raise self._broke_off(cause) from error
            if self._adapts(error, body):
                return await self.send(message)
            raise self._unanswered(error) from error
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise self._no_answer("sent no chat completion", error) from error

    async def reach(self) -> None:
        """List the models, which costs nothing. Raises Unanswered where the server can't."""
        from openai import APIError

        try:
            async with asyncio.timeout(REACH_S):
                await self._client.models.with_raw_response.list()
        except TimeoutError as error:
            raise Unanswered(f"{self.endpoint} named no models within {REACH_S:g} s") from error
        except APIError as error:
            raise self._unanswered(error) from error
        except (ValueError, TooLong) as error:
            raise self._no_answer("named no models", error) from error

    async def close(self) -> None:
        """Close the connections, if there are any."""
        if "_client" in self.__dict__:
            await self._client.close()

    @cached_property
    def _client(self) -> "AsyncOpenAI":
        """The client, made when the first request is sent, so that what is only opened has nothing to close.

        Its own retries are off: it can't ask again for a stream that broke, nor tell the rate limiter to wait.
        """
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        http = DefaultAsyncHttpxClient(
            verify=self._certificates,
            transport=self._transport,
            follow_redirects=False,
            event_hooks={"request": [self._remove_headers], "response": [self._responses.bound]},
        )
        return AsyncOpenAI(
            api_key=self._key,
            base_url=self.endpoint,
            max_retries=0,
            timeout=None,
            http_client=http,
            default_headers={
                "accept-encoding": "identity"
            },  # so that the limit counts what is kept in memory
        )

    async def _remove_headers(self, request: "Request") -> None:
        remove_foreign_headers(request, self.endpoint, self._key)

    def _body(self, message: Message) -> dict[str, Any]:
        """All of the request but its messages, without what the server refused before."""
        body: dict[str, Any] = {"stream": self._stream, self._limit_name: message.max_tokens}
        if self._takes_temperature:
            body["temperature"] = message.temperature
            if message.top_p is not None:
                body["top_p"] = message.top_p
        if message.schema is not None:
            named = {"name": message.schema.get("title", "answer"), "strict": True, "schema": message.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        if self._counts_streams:
            body["stream_options"] = {"include_usage": True}
        return body

    async def _create(self, message: Message, body: dict[str, Any]) -> Raw:
        """Send the message and read the answer. One in one piece is taken where a stream was asked for, too.

        The body goes as `extra_body`: else the client copies the schema on the way out.
        """
        response = await self._client.chat.completions.with_raw_response.create(
            model=self.model,
            messages=[
                {"role": "system", "content": message.system},
                {"role": "user", "content": message.user},
            ],
            extra_body=body,
            stream=body["stream"],
        )
        kind = response.headers.get("content-type", "").lower()
        if body["stream"] and kind.startswith("text/event-stream"):
            return await self._responses.read_stream(
                cast("AsyncStream[ChatCompletionChunk]", response.parse())
            )
        return self._responses.read_completion(await response.http_response.aread())

    def _adapts(self, error: Exception, sent: dict[str, Any]) -> bool:
        """True if the server refused a parameter of this body that can be renamed or left out; it is from now on.

        Another request may have found it out meanwhile: what counts is what was sent.
        """
        from openai import APIStatusError

        if not isinstance(error, APIStatusError) or not 400 <= error.status_code < 500:
            return False
        if "stream_options" in sent and "stream_options" in error.response.text:
            self._counts_streams = False
            return True
        if error.status_code != 400 or not str(error.code).startswith("unsupported"):
            return False
        if error.param == "max_tokens" and "max_tokens" in sent:
            self._limit_name = "max_completion_tokens"
        elif error.param in ("temperature", "top_p") and "temperature" in sent:
            self._takes_temperature = False
        elif error.param == "stream" and sent["stream"]:
            self._stream = self._counts_streams = False
        else:
            return False
        return True

    def _unanswered(self, error: Exception) -> Unanswered:
        """The outcome of a request, by an error of the client."""
        from openai import APIStatusError

        if not isinstance(error, APIStatusError):
            return Unanswered(self._clean(f"no connection to {self.endpoint}: {error.__cause__ or error}"))
        too_long = error.status_code in (400, 413) and (
            error.code == "context_length_exceeded" or bool(_CONTEXT.search(_detail(error)))
        )
        return Unanswered(
            self._clean(f"{self.endpoint} answered HTTP {error.status_code}{_detail(error)}"),
            failure="too_long" if too_long else "unavailable",
            status=error.status_code,
            wait_s=asked_wait(error.response.headers),
            final=error.code == "insufficient_quota",
        )

    def _broke_off(self, error: Broken) -> Unanswered:
        detail = f"the answer of {self.endpoint} broke off: {error}"
        return Unanswered(self._clean(detail), status=error.status, billed=True)

    def _no_answer(self, otherwise: str, error: Exception) -> Unanswered:
        """The outcome where something else came than was asked for."""
        return Unanswered(self._clean(f"{self.endpoint} {otherwise}: {error}"), final=True)

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
            usage: Mapping[str, Any] = answer.usage_metadata or {}
            about = answer.response_metadata
            refusal = answer.additional_kwargs.get("refusal")
            return Raw(
                text=str(answer.text),
                refusal=str(refusal) if refusal else None,
                finish=known_finish(about.get("finish_reason") or about.get("stop_reason")),
                prompt_tokens=token_count(usage.get("input_tokens")),
                completion_tokens=token_count(usage.get("output_tokens")),
                cached_tokens=token_count((usage.get("input_token_details") or {}).get("cache_read")),
            )
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


@cache
def _trusted() -> "SSLContext":
    """Whose certificates are believed. Read once for all clients: it takes tens of milliseconds."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


def _detail(error: "APIStatusError") -> str:
    """A server's own words about its error, after a colon."""
    to = error.response.headers.get("location")
    if error.status_code < 400 and to:
        return f", a redirect to {to}, which is not followed: name the address itself"
    text = error.body.get("message") if isinstance(error.body, dict) else error.message
    return f": {text}" if isinstance(text, str) and text else ""
