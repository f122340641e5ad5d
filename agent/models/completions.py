"""What a chat-completions server sends, whole or as a stream, and what is kept of it.

Knows: the parts of a completion that we use, server-sent events, when a stream was cut, when a stream only repeats
itself. Both ways give the same `Raw`; reasoning that is sent apart from the answer is not kept. The `openai` client's
stream doesn't tell whether the server ended it, so a cut answer and one without a finish reason would look alike.
Does not know: how anything is sent, or what an answer means.
"""

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, NamedTuple

from longproof.agent.models.answers import LONGEST, TAIL, Raw, runs_away
from longproof.agent.models.responses import MOST_BYTES, Broken, TooLong, is_stream

if TYPE_CHECKING:
    from httpx2 import Response

OVER_LIMIT = "length"
"""How a server names an answer that ran into its limit."""
MOST_TOKENS = 10**9
"""A count beyond this is none."""
_CHECK_EVERY = 500
"""Characters between two checks of whether a stream repeats itself."""


class _Chunk(NamedTuple):
    """One event of a stream. `finish` is what it says of the end, of whatever type."""

    delta: dict[str, Any]
    finish: Any
    usage: Any


async def completion(response: "Response") -> Raw:
    """What is kept of a response, which is closed then: a stream if it is one, whatever was asked for.

    A stream that only repeats itself, and an answer beyond all measure, is left as if it had run into its limit.
    Raises Broken where it ends before its answer does, or says that something went wrong; ValueError where there is
    no completion.
    """
    gathered = _Gathered()
    try:
        if not is_stream(response):
            return _whole(_loaded(await response.aread()))
        async for event in _events(response.aiter_bytes()):
            if event == b"[DONE]":
                return gathered.raw()
            gathered.add(_chunk(event))
            if gathered.too_long or gathered.runs_away():
                return gathered.raw(OVER_LIMIT)
        if not gathered.ended:
            raise Broken("the stream ended in the middle")
        return gathered.raw()
    except TooLong:
        return gathered.raw(OVER_LIMIT)
    except Broken:
        if gathered.ended:
            return gathered.raw()
        raise
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


def count(said: Any) -> int | None:
    """A number of tokens as somebody says it; None where it is none: negative, broken, a word, beyond all measure."""
    if isinstance(said, float) and said.is_integer():
        said = int(said)
    sound = isinstance(said, int) and not isinstance(said, bool) and 0 <= said <= MOST_TOKENS
    return said if sound else None


def word(said: Any) -> str | None:
    """A text; None where it is none, or empty."""
    return said if isinstance(said, str) and said else None


def mapping(said: Any) -> dict[str, Any]:
    """A JSON object; an empty one where it is none."""
    return said if isinstance(said, dict) else {}


class _Gathered:
    """A completion that is still coming."""

    def __init__(self) -> None:
        self.ended = False
        """Whether the server gave a reason for the end."""
        self._finish: str | None = None
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._length = 0
        self._usage: Any = None
        self._tail, self._unchecked = "", 0

    def add(self, chunk: _Chunk) -> None:
        """One more piece."""
        self._usage = chunk.usage or self._usage
        self.ended = self.ended or chunk.finish is not None
        self._finish = word(chunk.finish) or self._finish
        text, refusal = text_of(chunk.delta.get("content")), word(chunk.delta.get("refusal"))
        if text is not None:
            self._texts.append(text)
        if refusal:
            self._refusals.append(refusal)
        self._length += len(text or "") + len(refusal or "")
        thought = chunk.delta.get("reasoning_content") or chunk.delta.get("reasoning")
        said = (text_of(thought) or "") + (text or "")
        self._tail = (self._tail + said)[-TAIL:]
        self._unchecked += len(said)

    @property
    def too_long(self) -> bool:
        """Whether more came than is ever read."""
        return self._length > LONGEST

    def runs_away(self) -> bool:
        """Whether what was said last, thoughts included, only repeats itself. Checks now and then."""
        if self._unchecked < _CHECK_EVERY:
            return False
        self._unchecked = 0
        return runs_away(self._tail)

    def raw(self, finish: str | None = None) -> Raw:
        """All that came."""
        text = "".join(self._texts) if self._texts else None
        return _kept(text, "".join(self._refusals) or None, finish or self._finish, self._usage)


def _loaded(data: bytes) -> Any:
    """JSON as a server sends it; bytes that are no text are marked. Raises ValueError where it is none."""
    try:
        return json.loads(data.decode(json.detect_encoding(data), "replace"), parse_int=_whole_number)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _whole_number(digits: str) -> int | None:
    """A number of more digits than any count has is none: Python refuses to read the longest."""
    return int(digits) if len(digits) < 20 else None


def _whole(body: Any) -> Raw:
    """What is kept of a body that came at once. Raises ValueError where it is no completion."""
    choices = mapping(body).get("choices")
    if not isinstance(choices, list):
        raise ValueError("it has no choices")
    choice = mapping(choices[0]) if choices else {}
    said = mapping(choice.get("message"))
    return _kept(
        text_of(said.get("content")),
        word(said.get("refusal")),
        word(choice.get("finish_reason")),
        body.get("usage"),
    )


def _chunk(event: bytes) -> _Chunk:
    """One event. Raises Broken where it is half a one or names an error, ValueError where it is no completion's."""
    try:
        body = _loaded(event)
    except json.JSONDecodeError as error:
        raise Broken(f"the stream ended in the middle: {error}") from error
    if not isinstance(body, dict):
        raise ValueError("its stream holds something else")
    if wrong := body.get("error"):
        code = mapping(wrong).get("code")
        said = mapping(wrong).get("message") or wrong
        raise Broken(str(said), code if isinstance(code, int) else None)
    choices = body.get("choices")
    part = mapping(choices[0]) if isinstance(choices, list) and choices else {}
    return _Chunk(mapping(part.get("delta")), part.get("finish_reason"), body.get("usage"))


async def _events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of each event. Lines end with a line feed alone: answers hold other line breaks.

    Raises TooLong for an event beyond all measure.
    """
    rest: list[bytes] = []
    length = 0
    async for piece in pieces:
        *lines, last = piece.split(b"\n")
        if lines:
            lines[0] = b"".join([*rest, lines[0]])
            rest, length = [], 0
        for line in lines:
            if line.startswith(b"data:"):
                yield line.removeprefix(b"data:").strip()
        rest.append(last)
        length += len(last)
        if length > MOST_BYTES:
            raise TooLong
    whole = b"".join(rest)
    if whole.startswith(b"data:"):
        yield whole.removeprefix(b"data:").strip()


def _kept(text: str | None, refusal: str | None, finish: str | None, usage: Any) -> Raw:
    """An answer that arrived is kept, whatever its metadata is; what is odd of that is unknown."""
    counted = mapping(usage)
    return Raw(
        text=text,
        refusal=refusal,
        finish=finish,
        prompt_tokens=count(counted.get("prompt_tokens")),
        completion_tokens=count(counted.get("completion_tokens")),
        cached_tokens=count(mapping(counted.get("prompt_tokens_details")).get("cached_tokens")),
    )
