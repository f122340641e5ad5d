"""A chat-completions server (OpenAI, vLLM, Ollama, llama.cpp) through the `openai` client.

Knows: how a message is sent, whole or as a stream; the parameters that this server refused, found out by trying,
never from a model's name; when an answer broke off; one limit of bytes for a response; which errors mean what.
Imports the client, which takes half a second.
Does not know: retries, limits, the ledger, or what an answer means.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, cast

from httpx2 import AsyncBaseTransport, AsyncByteStream, HTTPError, Request, Response
from openai import APIError, APIStatusError, AsyncOpenAI, AsyncStream, DefaultAsyncHttpxClient
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from longproof.agent.models.answers import Chat, Message, Raw, Unanswered, refused_request
from longproof.retrieval.text.redact import one_line, remove_foreign_headers

MOST_BYTES = 32 << 20
"""Of a response no more is read. A streamed word comes with some 300 bytes about it."""
_LEFT_OUT = frozenset({"max_tokens", "temperature", "top_p", "stream", "stream_options"})
"""Parameters that are renamed or left out where a server says that it doesn't take them."""


class OpenAIChat(Chat):
    """One model at one server."""

    has_schema = True

    def __init__(
        self,
        model: str,
        endpoint: str,
        key: str,
        *,
        stream: bool = False,
        transport: AsyncBaseTransport | None = None,
    ) -> None:
        """`endpoint` and `key` are those of `place_and_key`. With `stream`, answers come as a stream. `transport`
        carries requests in the place of the network.
        """
        self.model, self.endpoint, self._key = model, endpoint, key
        self._refused = set() if stream else {"stream"}
        """Parameters that the server refused; and `stream`, where nobody wants one."""
        hooks: dict[str, list[Any]] = {"request": [self._remove_headers], "response": [_bound]}
        http = DefaultAsyncHttpxClient(transport=transport, follow_redirects=False, event_hooks=hooks)
        # Its own retries are off: it can't ask again for a stream that broke, nor tell the rate limiter to wait.
        # Answers come uncompressed, so that the limit counts what is kept in memory.
        self._client = AsyncOpenAI(
            api_key=key,
            base_url=endpoint,
            max_retries=0,
            timeout=None,
            http_client=http,
            default_headers={"accept-encoding": "identity"},
        )

    async def send(self, message: Message) -> Raw:
        """Send one request. A parameter that the server refuses is left out from then on. Raises Unanswered."""
        body, (system, user) = self._body(message), message.texts
        try:
            # The body goes as `extra_body`: else the client copies the schema on the way out.
            response = await self._client.chat.completions.with_raw_response.create(
                model=self.model,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                extra_body=body,
                stream="stream" in body,
            )
            # An answer in one piece is taken where a stream was asked for, too.
            kind = response.headers.get("content-type", "").lower()
            if "stream" in body and kind.startswith("text/event-stream"):
                return await _read_stream(cast("AsyncStream[ChatCompletionChunk]", response.parse()))
            data = await response.http_response.aread()
            completion = ChatCompletion.construct(**json.loads(data.decode("utf-8", "replace")))
            if wrong := (completion.model_extra or {}).get("error"):
                raise _broken(wrong)
            choice, usage = completion.choices[0], completion.usage
            return _raw(choice.message.content, choice.message.refusal, choice.finish_reason, usage)
        except Exception as error:
            # Whatever an answer breaks is a failure of this call.
            if isinstance(error, APIStatusError) and self._adapts(error, body):
                return await self.send(message)
            raise self._failure_of(error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _remove_headers(self, request: Request) -> None:
        remove_foreign_headers(request, self.endpoint, self._key)

    def _body(self, message: Message) -> dict[str, Any]:
        """All of the request but its messages, without what the server refused before."""
        body: dict[str, Any] = dict(message.sampling)
        if "max_tokens" in self._refused:
            body["max_completion_tokens"] = body["max_tokens"]
        if message.schema is not None:
            named = {"name": message.schema.get("title", "answer"), "strict": True, "schema": message.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        if "stream" not in self._refused:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return {name: value for name, value in body.items() if name not in self._refused}

    def _adapts(self, error: APIStatusError, sent: dict[str, Any]) -> bool:
        """True if the server refused a parameter that was sent and can be left out, as it is from now on."""
        named: set[str] = set()
        if error.status_code == 400 and str(error.code).startswith("unsupported"):
            named.add(str(error.param))
        if "stream_options" in error.response.text:
            named.add("stream_options")
        refused = named & _LEFT_OUT & sent.keys()
        self._refused |= refused
        return bool(refused)

    def _failure_of(self, error: Exception) -> Unanswered:
        """The outcome of a request that failed so, told without the key: servers quote it in errors."""
        # What the client meets while it reads, it wraps.
        broken = error if isinstance(error, Unanswered) else error.__cause__
        if isinstance(broken, Unanswered):
            failure = replace(broken, detail=f"the answer of {self.endpoint} broke off: {broken.detail}")
        elif isinstance(error, APIStatusError):
            words, headers, spent = _detail(error), error.response.headers, error.code == "insufficient_quota"
            told = f"{self.endpoint} answered HTTP {error.status_code}{words}"
            named = f"{error.code}{words}"
            failure = refused_request(told, error.status_code, headers, named, final=spent)
        elif isinstance(error, APIError):
            why = str(error.__cause__ or "") or error
            failure = Unanswered(f"no connection to {self.endpoint}: {why}")
        else:
            # Other errors quote the answer.
            words = str(error) if isinstance(error, json.JSONDecodeError) else type(error).__name__
            no_completion = f"{self.endpoint} sent no chat completion: {words}"
            failure = Unanswered(no_completion, final=True, malformed=True)
        return replace(failure, detail=one_line(failure.detail, self._key))


def _broken(error: object, *, final: bool = False) -> Unanswered:
    """The outcome of an answer that had begun and broke off, or is an error, whose status is taken from it."""
    told = error if isinstance(error, dict) else {}
    status = told.get("code") if isinstance(told.get("code"), int) else None
    return Unanswered(str(told.get("message") or error), status=status, final=final, billed=True)


async def _bound(response: Response) -> None:
    """Let no more of this response be read than the limit."""
    response.stream = _Bounded(cast(AsyncByteStream, response.stream))


class _Bounded(AsyncByteStream):
    """The body of a response, up to the limit."""

    def __init__(self, stream: AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        try:
            async for piece in self._stream:
                yield piece
                left -= len(piece)
                if left < 0:
                    raise _broken(f"it is longer than {MOST_BYTES:,} bytes", final=True)
        except HTTPError as error:
            raise _broken(str(error) or type(error).__name__) from error

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()


async def _read_stream(stream: AsyncStream[ChatCompletionChunk]) -> Raw:
    """Read all of a streamed answer. Raises Unanswered where it ends without a reason, or is an error."""
    text, refusal = "", ""
    finish: str | None = None
    usage: object = None
    async with stream:
        try:
            async for chunk in stream:
                usage = chunk.usage or usage
                if chunk.choices:
                    delta, finish = chunk.choices[0].delta, chunk.choices[0].finish_reason or finish
                    text += delta.content or ""
                    refusal += delta.refusal or ""
        except APIError as error:
            raise _broken(error.body) from error
        except ValueError as error:
            raise _broken(f"the stream ended in the middle: {error}") from error
    if finish is None:
        raise _broken("the stream ended in the middle")
    return _raw(text, refusal, finish, usage)


def _raw(text: str | None, refusal: str | None, finish: str | None, usage: object) -> Raw:
    """Keep of an answer what is needed, whatever its metadata are."""
    return Raw(
        text=text or None,
        refusal=refusal or None,
        finish=finish,
        prompt_tokens=getattr(usage, "prompt_tokens", None),
        completion_tokens=getattr(usage, "completion_tokens", None),
        cached_tokens=getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None),
    )


def _detail(error: APIStatusError) -> str:
    """A server's own words about its error, after a colon."""
    to = error.response.headers.get("location")
    if error.status_code < 400 and to:
        return f", a redirect to {to}, which is not followed: name the address itself"
    text = error.body.get("message") if isinstance(error.body, dict) else error.message
    return f": {text}" if isinstance(text, str) and text else ""
