"""Reading what a chat-completions server answers, whole or as a stream.

Knows: the parts of a completion that are kept, when an answer broke off, when a stream only repeats itself, and one
limit of bytes for a response. Imports the `openai` client, which takes half a second.
Does not know: how anything is sent, or what an answer means.
"""

import json
from collections.abc import AsyncIterator
from typing import cast

from httpx2 import AsyncByteStream, HTTPError, Response
from openai import APIError, AsyncStream
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from longproof.agent.models.answers import (
    LONGEST,
    OVER_LIMIT,
    TAIL,
    Raw,
    known_finish,
    runs_away,
    token_count,
)
from longproof.agent.models.clients import Broken, TooLong

MOST_BYTES = 32 << 20
"""Of a response no more is read. A streamed word comes with some 300 bytes about it."""
_CHECK_EVERY = 500
"""Characters between two checks of whether a stream repeats itself."""


async def bound(response: Response) -> None:
    """Let no more of this response be read than the limit; a client calls it before it reads the body."""
    response.stream = _Bounded(response)


class _Bounded(AsyncByteStream):
    """The body of a response, up to the limit. Beyond it an answer is too long; an error just ends there."""

    def __init__(self, response: Response) -> None:
        self._stream = cast(AsyncByteStream, response.stream)
        self._answered = response.status_code < 300

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        try:
            async for piece in self._stream:
                yield piece[:left]
                left -= len(piece)
                if left < 0:
                    break
        except HTTPError as error:
            if self._answered:
                raise Broken(str(error) or type(error).__name__) from error
        if left < 0 and self._answered:
            raise TooLong

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()


def read_completion(data: bytes) -> Raw:
    """Read an answer that came at once. Raises Broken where it is an error, whatever stands beside it."""
    completion = ChatCompletion.construct(**json.loads(data.decode("utf-8", "replace")))
    if wrong := (completion.model_extra or {}).get("error"):
        raise _broken_by(wrong)
    choice = completion.choices[0]
    return _raw(choice.message.content, choice.message.refusal, choice.finish_reason, completion.usage)


async def read_stream(stream: AsyncStream[ChatCompletionChunk]) -> Raw:
    """Read all of a streamed answer. One that only repeats itself, or is too long to be read, is left at its limit.

    Raises Broken where it ends without a reason, or is an error.
    """
    text, refusal, tail, unchecked = "", "", "", 0
    finish: str | None = None
    usage: object = None
    async with stream:
        try:
            async for chunk in stream:
                usage = chunk.usage or usage
                if not chunk.choices:
                    continue
                delta, finish = chunk.choices[0].delta, chunk.choices[0].finish_reason or finish
                text += delta.content or ""
                refusal += delta.refusal or ""
                thought = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
                news = (thought or "") + (delta.content or "")
                tail, unchecked = (tail + news)[-TAIL:], unchecked + len(news)
                if len(text) + len(refusal) > LONGEST or (unchecked > _CHECK_EVERY and runs_away(tail)):
                    return _raw(text, refusal, OVER_LIMIT, usage)
                unchecked %= _CHECK_EVERY
        except APIError as error:
            raise _broken_by(error.body) from error
        except ValueError as error:
            raise Broken(f"the stream ended in the middle: {error}") from error
    if finish is None:
        raise Broken("the stream ended in the middle")
    return _raw(text, refusal, finish, usage)


def _raw(text: str | None, refusal: str | None, finish: str | None, usage: object) -> Raw:
    """An answer that arrived is kept, whatever its metadata is; what is odd of that is unknown."""
    details = getattr(usage, "prompt_tokens_details", None)
    return Raw(
        text=text or None,
        refusal=refusal or None,
        finish=known_finish(finish),
        prompt_tokens=token_count(getattr(usage, "prompt_tokens", None)),
        completion_tokens=token_count(getattr(usage, "completion_tokens", None)),
        cached_tokens=token_count(getattr(details, "cached_tokens", None)),
    )


def _broken_by(error: object) -> Broken:
    """The failure that an error in the place of an answer names."""
    if not isinstance(error, dict):
        return Broken(str(error))
    return Broken(str(error.get("message") or error), error.get("code"))
