"""A chat-completions server (OpenAI, vLLM, Ollama, llama.cpp) over HTTP.

Knows: how a message is sent; the parameters that this server refused, which is found out by trying, never from a
model's name; when an answer broke off; one limit of bytes for a response; which errors mean what.
Does not know: retries, limits, the ledger, or what an answer means.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from httpx2 import AsyncBaseTransport, AsyncClient, HTTPError, Limits, Response

from longproof.agent.models.addresses import place_and_key
from longproof.agent.models.answers import Raw
from longproof.agent.models.clients import Message, Unanswered, asked_wait
from longproof.retrieval.text.redact import one_line

MOST_BYTES = 32 << 20
"""Of a response no more is read."""
_CONTEXT = re.compile(r"context (?:length|size|window)|maximum (?:context|input|model) length", re.IGNORECASE)
"""Servers' words for what a prompt may be too long for."""
_LEFT_OUT = ("max_tokens", "temperature", "top_p")
"""Parameters that are renamed or left out where a server says that it doesn't take them."""


class OpenAIChat:
    """One model at one server."""

    has_schema = True

    def __init__(
        self,
        model: str,
        address: str | None = None,
        *,
        by_owner: bool = True,
        needs_key: bool = True,
        transport: AsyncBaseTransport | None = None,
    ) -> None:
        """`by_owner` and `needs_key`: see `addresses`. `transport` carries the requests, in the place of the network.

        Raises BadInput where the address is none, or the key that OpenAI itself needs is not set.
        """
        self.model, self.by_owner = model, by_owner
        self.endpoint, self._key = place_and_key(address, by_owner=by_owner, needs_key=needs_key)
        self._refused: set[str] = set()
        """Parameters that the server refused."""
        # Answers come uncompressed, so that the limit counts what is kept in memory.
        headers = {"authorization": f"Bearer {self._key}", "accept-encoding": "identity"}
        self._client = AsyncClient(
            transport=transport,
            headers=headers,
            timeout=None,
            follow_redirects=False,
            limits=Limits(max_connections=1000, max_keepalive_connections=100),
        )

    async def send(self, message: Message) -> Raw:
        """Send one request. A parameter that the server refuses is left out from then on. Raises Unanswered."""
        body = self._body(message)
        response, data = await self._post(body)
        if response.is_success:
            return self._read(data)
        told = _error_in(data)
        if self._adapts(response, told, body):
            return await self.send(message)
        words = _words_of(response, told)
        full = told.get("code") == "context_length_exceeded" or _CONTEXT.search(words) is not None
        raise self._unanswered(
            f"{self.endpoint} answered HTTP {response.status_code}{words}",
            failure="too_long" if full and response.status_code in (400, 413) else "unavailable",
            status=response.status_code,
            wait_s=asked_wait(response.headers),
            final=told.get("code") == "insufficient_quota",
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _body(self, message: Message) -> dict[str, Any]:
        """The request, without what the server refused before."""
        limit = "max_completion_tokens" if "max_tokens" in self._refused else "max_tokens"
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": message.system},
                {"role": "user", "content": message.user},
            ],
            limit: message.max_tokens,
            "temperature": message.temperature,
        }
        if message.top_p is not None:
            body["top_p"] = message.top_p
        if message.schema is not None:
            named = {"name": message.schema.get("title", "answer"), "strict": True, "schema": message.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        return {name: value for name, value in body.items() if name not in self._refused}

    async def _post(self, body: dict[str, Any]) -> tuple[Response, bytes]:
        """The response and its bytes, up to the limit. Raises Unanswered where it doesn't come, or breaks off."""
        begun, data = False, bytearray()
        try:
            async with self._client.stream(
                "POST", f"{self.endpoint}/chat/completions", json=body
            ) as response:
                begun = True
                async for piece in response.aiter_bytes():
                    data += piece
                    if len(data) > MOST_BYTES:
                        raise self._broken(f"it is longer than {MOST_BYTES:,} bytes", final=True)
        except HTTPError as error:
            words = str(error) or type(error).__name__
            if begun:
                raise self._broken(words) from error
            raise self._unanswered(f"no connection to {self.endpoint}: {words}") from error
        return response, bytes(data)

    def _read(self, data: bytes) -> Raw:
        """What is needed of an answer. Raises Unanswered where it is an error, whatever stands beside it, or none."""
        try:
            completion = json.loads(data.decode("utf-8", "replace"))
            wrong = completion.get("error")
            if not wrong:
                return _raw(completion)
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            told = f"{self.endpoint} sent no chat completion: {error}"
            raise self._unanswered(told, final=True) from error
        named = wrong if isinstance(wrong, dict) else {"message": wrong}
        code = named.get("code")
        status = code if isinstance(code, int) else None
        raise self._broken(str(named.get("message") or wrong), status=status)

    def _adapts(self, response: Response, told: Mapping[str, Any], sent: Mapping[str, Any]) -> bool:
        """True if the server refused a parameter of this body that can be done without; it is left out from now on.

        Another request may have found it out meanwhile: what counts is what was sent.
        """
        parameter = told.get("param")
        unsupported = response.status_code == 400 and str(told.get("code")).startswith("unsupported")
        if unsupported and parameter in _LEFT_OUT and parameter in sent:
            self._refused.add(parameter)
            return True
        return False

    def _broken(self, words: str, **more: Any) -> Unanswered:
        """The failure of an answer that had begun, and may be billed."""
        return self._unanswered(f"the answer of {self.endpoint} broke off: {words}", billed=True, **more)

    def _unanswered(self, detail: str, **more: Any) -> Unanswered:
        """The failure, told without the key: servers quote it in errors."""
        return Unanswered(one_line(detail, self._key), **more)


def _raw(completion: Mapping[str, Any]) -> Raw:
    """Keep of an answer what is needed, whatever its metadata are."""
    choice = completion["choices"][0]
    usage = _table(completion.get("usage"))
    return Raw(
        text=choice["message"].get("content") or None,
        refusal=choice["message"].get("refusal") or None,
        finish=choice.get("finish_reason"),
        prompt_tokens=usage.get("prompt_tokens"),
        completion_tokens=usage.get("completion_tokens"),
        cached_tokens=_table(usage.get("prompt_tokens_details")).get("cached_tokens"),
    )


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _error_in(data: bytes) -> Mapping[str, Any]:
    """The error that a body tells, as a table; a body in another form is its message."""
    text = data.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = text
    told = body.get("error", body) if isinstance(body, dict) else text
    return told if isinstance(told, dict) else {"message": str(told)}


def _words_of(response: Response, told: Mapping[str, Any]) -> str:
    """A server's own words about its error, after a colon."""
    to = response.headers.get("location")
    if response.status_code < 400 and to:
        return f", a redirect to {to}, which is not followed: name the address itself"
    message = told.get("message")
    return f": {message}" if isinstance(message, str) and message else ""
