"""Reading what a server sends, up to a limit, whatever it sends and however it is compressed.

Knows: how long answers, streams and errors may be. The limits count bytes after decompression, and decompression
stops with them. Does not know: what an answer holds.
"""

from collections.abc import AsyncIterator

from httpx2 import AsyncByteStream, HTTPError, Response

MOST_BYTES = 8 << 20
"""Of an answer in one piece, and of one event of a stream. An answer that can be read has 400,000 characters."""
MOST_OF_STREAM = 64 << 20
"""Of a whole stream: each word of it comes with some 300 bytes about it."""
MOST_OF_ERROR = 64 << 10


class TooLong(Exception):
    """An answer goes on beyond its limit."""


class Broken(Exception):
    """An answer that ended before its end. `status` is the HTTP status that an error in it named."""

    def __init__(self, detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.status = status


async def bound(response: Response) -> None:
    """Let no more of this response be read than its limit; a client calls it before it reads the body.

    Beyond the limit an answer raises TooLong and an error ends; an answer that breaks off raises Broken.
    """
    coded = Response(response.status_code, headers=response.headers, stream=response.stream)
    response.stream = _Bounded(coded, is_stream(response))
    response.headers.pop("content-encoding", None)
    # As JSON is: the encoding that the server names may be none of text, such as `hex`.
    response.encoding = "utf-8"


def is_stream(response: Response) -> bool:
    """Whether this is a stream of events."""
    return response.headers.get("content-type", "").lower().startswith("text/event-stream")


class _Bounded(AsyncByteStream):
    """The decompressed body of a response, up to its limit."""

    def __init__(self, coded: Response, stream: bool) -> None:
        self._coded = coded
        self._answered = coded.status_code < 300
        self._left = MOST_OF_ERROR if not self._answered else MOST_OF_STREAM if stream else MOST_BYTES

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._coded.aiter_bytes():
                yield piece[: self._left]
                self._left -= len(piece)
                if self._left < 0:
                    break
        except HTTPError as error:
            if self._answered:
                raise Broken(str(error) or type(error).__name__) from error
        if self._left < 0 and self._answered:
            raise TooLong

    async def aclose(self) -> None:
        """Close the connection."""
        await self._coded.aclose()
