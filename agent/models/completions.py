"""What a chat-completions server sends, whole or as a stream, and what is kept of it.

Knows: the parts of a completion that we use, server-sent events, when a stream was cut, when a stream only repeats
itself. Both ways give the same `Raw`; reasoning that is sent apart from the answer is not kept. The `openai` client's
stream doesn't tell whether the server ended it, so a cut answer and one without a finish reason would look alike.
Does not know: how anything is sent, or what an answer means.
"""

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from longproof.agent.models.answers import TAIL, Raw, runs_away

if TYPE_CHECKING:
    from httpx2 import Response

OVER_LIMIT = "length"
"""How a server names an answer that ran into its limit."""
_CHECK_EVERY = 500
"""Characters between two checks of whether a stream repeats itself."""


class Broken(Exception):
    """A stream that ended before its answer did. `status` is the HTTP status that an error in it named."""

    def __init__(self, detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.status = status


class _Loose(BaseModel):
    """Parts of a completion that we use; servers leave out and add others."""

    model_config = ConfigDict(extra="ignore")


class _Details(_Loose):
    cached_tokens: int | None = None


class _Usage(_Loose):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Message(_Loose):
    content: Any = None
    refusal: str | None = None


class _Choice(_Loose):
    message: _Message = _Message()
    finish_reason: str | None = None


class _Completion(_Loose):
    choices: list[_Choice]
    usage: _Usage | None = None


class _Delta(_Message):
    reasoning: Any = None
    reasoning_content: Any = None


class _Part(_Loose):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(_Loose):
    choices: list[_Part] = []
    usage: _Usage | None = None
    error: Any = None


async def completion(response: "Response") -> Raw:
    """What is kept of a response, which is closed then: a stream if it is one, whatever was asked for.

    A stream that only repeats itself is left as if it had run into its limit, which it would. Raises Broken where it
    ends before its answer does, or says that something went wrong; ValueError where there is no completion.
    """
    from httpx2 import HTTPError

    gathered = _Gathered()
    try:
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            return _whole(json.loads(await response.aread()))
        async for event in _events(response.aiter_bytes()):
            if event == b"[DONE]":
                return gathered.raw()
            gathered.add(_chunk(event))
            if gathered.runs_away():
                return gathered.raw(OVER_LIMIT)
        if not gathered.finish:
            raise Broken("the stream ended in the middle")
        return gathered.raw()
    except HTTPError as error:
        if gathered.finish:
            return gathered.raw()
        raise Broken(str(error) or type(error).__name__) from error
    finally:
        await response.aclose()


def text_of(content: Any) -> str | None:
    """The text of a message's content: a string, or a list of parts of which those of text count."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") if isinstance(part, dict) else part for part in content]
    return "".join(part for part in parts if isinstance(part, str))


class _Gathered:
    """A completion that is still coming."""

    def __init__(self) -> None:
        self.finish: str | None = None
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._usage: _Usage | None = None
        self._tail, self._unchecked = "", 0

    def add(self, chunk: _Chunk) -> None:
        """One more piece."""
        self._usage = chunk.usage or self._usage
        part = chunk.choices[0] if chunk.choices else _Part()
        self.finish = part.finish_reason or self.finish
        delta = part.delta or _Delta()
        text = text_of(delta.content)
        if text is not None:
            self._texts.append(text)
        if delta.refusal:
            self._refusals.append(delta.refusal)
        said = (text_of(delta.reasoning_content or delta.reasoning) or "") + (text or "")
        self._tail = (self._tail + said)[-TAIL:]
        self._unchecked += len(said)

    def runs_away(self) -> bool:
        """Whether what was said last, thoughts included, only repeats itself. Checks now and then."""
        if self._unchecked < _CHECK_EVERY:
            return False
        self._unchecked = 0
        return runs_away(self._tail)

    def raw(self, finish: str | None = None) -> Raw:
        """All that came."""
        text = "".join(self._texts) if self._texts else None
        return _kept(text, "".join(self._refusals) or None, finish or self.finish, self._usage)


def _whole(body: Any) -> Raw:
    """What is kept of a body that came at once. Raises ValueError where it is no completion."""
    completion = _Completion.model_validate(body)
    choice = completion.choices[0] if completion.choices else _Choice()
    said = choice.message
    return _kept(text_of(said.content), said.refusal, choice.finish_reason, completion.usage)


def _chunk(event: bytes) -> _Chunk:
    """One event. Raises Broken where it is half a one or names an error, ValueError where it is no completion's."""
    try:
        chunk = _Chunk.model_validate(json.loads(event))
    except json.JSONDecodeError as error:
        raise Broken(f"the stream ended in the middle: {error}") from error
    if chunk.error:
        said = chunk.error if isinstance(chunk.error, dict) else {"message": chunk.error}
        code = said.get("code")
        raise Broken(str(said.get("message") or said), code if isinstance(code, int) else None)
    return chunk


async def _events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of each event. Lines end with a line feed alone: answers hold other line breaks."""
    rest = b""
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line.removeprefix(b"data:").strip()
    if rest.startswith(b"data:"):
        yield rest.removeprefix(b"data:").strip()


def _kept(text: str | None, refusal: str | None, finish: str | None, usage: _Usage | None) -> Raw:
    counted = usage or _Usage()
    details = counted.prompt_tokens_details
    return Raw(
        text=text,
        refusal=refusal,
        finish=finish,
        prompt_tokens=counted.prompt_tokens,
        completion_tokens=counted.completion_tokens,
        cached_tokens=details.cached_tokens if details else None,
    )
