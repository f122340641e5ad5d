"""Stand-ins for what costs money or time: a scripted chat-completions server on loopback.

`ChatServer(script)` answers on a thread of its own, over real sockets; `ChatServer(script).transport()` answers in
process, without any. A script is a function of what was asked (a `Reader`, say), or a list of replies, which
complains when it runs out.
"""

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Literal, Self

import httpx2
from reader import PROSE, Asked, Reply, Said, reply_of

Script = Callable[[Asked], Said] | Sequence[Said]


class ChatServer:
    """A chat-completions server.

    `schema`: what it makes of a JSON schema; `usage`: whether it counts tokens; `stream`: whether it streams, does
    so without `stream_options`, or answers whole whatever is asked. `sent` counts characters of answers that left it.
    """

    def __init__(
        self,
        script: Script,
        *,
        schema: Literal["known", "rejected", "ignored"] = "known",
        usage: bool = True,
        stream: Literal["known", "uncounted", "rejected", "ignored"] = "known",
        delay_s: float = 0.0,
    ) -> None:
        self._script, self._schema, self._usage, self._delay_s = script, schema, usage, delay_s
        self._stream = stream
        self.sent = 0
        self.asked: list[Asked] = []
        self.answered: list[Asked] = []
        self.most_at_once = self._at_once = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self.address = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def transport(self) -> httpx2.AsyncBaseTransport:
        """Carries requests to this server without a socket; the server need not be started."""
        return _InProcess(self)

    async def reply(self, body: dict[str, Any], key: str, headers: Any = None) -> tuple[Asked, Reply]:
        """Note what is asked, and wait as long as the reply does."""
        asked = Asked(len(self.asked), body, key, headers or {})
        self.asked.append(asked)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            reply = self._reply(asked)
            await asyncio.sleep(reply.delay_s + self._delay_s)
            if reply.hang:
                await (self._stop.wait() if self._thread.is_alive() else asyncio.Future())
            if reply.status == 200 and not reply.snap:
                self.answered.append(asked)
        finally:
            self._at_once -= 1
        return asked, reply

    def streams(self, asked: Asked, reply: Reply) -> bool:
        """True if this reply goes out as a stream of events."""
        wanted = bool(asked.body.get("stream")) and self._stream != "ignored"
        return wanted and reply.status == 200 and reply.raw is None

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**24, backlog=512)
        port = server.sockets[0].getsockname()[1]
        self.address = f"http://127.0.0.1:{port}/v1"
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = re.search(r"content-length: (\d+)", head)
                body = await reader.readexactly(int(length[1]) if length else 0)
                key = re.search(r"authorization: bearer (.*)\r", head)
                await self._answer(json.loads(body), key[1] if key else "", writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            writer.close()

    async def _answer(self, body: dict[str, Any], key: str, writer: asyncio.StreamWriter) -> None:
        asked, reply = await self.reply(body, key)
        if self.streams(asked, reply):
            await self._send_stream(asked, reply, writer)
            return
        kind = "application/json" if reply.raw is None else "text/html"
        await _write(writer, reply, self.whole(asked, reply), kind)

    async def _send_stream(self, asked: Asked, reply: Reply, writer: asyncio.StreamWriter) -> None:
        """The answer as server-sent events, seven characters each."""
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        writer.write(head)
        async for event in self.events(asked, reply):
            _write_chunk(writer, event)
            await writer.drain()
        _write_chunk(writer, "")
        await writer.drain()

    def whole(self, asked: Asked, reply: Reply) -> bytes:
        """The body of a reply that goes out at once."""
        return reply.raw if reply.raw is not None else json.dumps(self._content(asked, reply)).encode()

    async def events(self, asked: Asked, reply: Reply) -> AsyncIterator[str]:
        """The events of a reply, and what happens in their middle."""
        events = list(self._events(asked, reply))
        for number, event in enumerate(events):
            if number == len(events) // 2 and (reply.halfway or reply.snap):
                if reply.snap:
                    raise ConnectionResetError
                if reply.halfway == "errs":
                    error = {"message": "out of memory", "code": 503, **reply.error}
                    yield f"data: {json.dumps({'error': error})}\n\n"
                return
            yield event
            self.sent += 7

    def _events(self, asked: Asked, reply: Reply) -> Iterator[str]:
        whole = self._content(asked, reply)
        thoughts = reply.extra.get("reasoning_content") or ""
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None if reply.text is None else ""}]
        deltas += [{"reasoning_content": piece} for piece in re.findall(r"(?s).{1,7}", thoughts)]
        deltas += [{"content": piece} for piece in re.findall(r"(?s).{1,7}", reply.text or "")]
        if reply.refusal:
            deltas.append({"refusal": reply.refusal})
        yield ": this line keeps the connection open\n\n"
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        for choice in [*choices, {"index": 0, "delta": {}, "finish_reason": reply.finish}]:
            yield f"data: {json.dumps({**whole, 'choices': [choice], 'usage': None}, ensure_ascii=False)}\n\n"
        if asked.body.get("stream_options", {}).get("include_usage") and self._usage:
            yield f"data: {json.dumps({**whole, 'choices': []})}\n\n"
        yield "data: [DONE]\n\n"

    def _reply(self, asked: Asked) -> Reply:
        if asked.body.get("stream") and self._stream == "rejected":
            error = {"message": "verify first", "param": "stream", "code": "unsupported_value"}
            return Reply(status=400, error=error)
        if "stream_options" in asked.body and self._stream == "uncounted":
            return Reply(status=422, error={"message": "body.stream_options: extra fields not permitted"})
        if asked.schema is not None and self._schema == "rejected":
            return Reply(status=400, error={"message": "response_format is not supported"})
        if asked.schema is not None and self._schema == "ignored":
            return PROSE
        if callable(self._script):
            return reply_of(self._script(asked))
        if asked.number >= len(self._script):
            return Reply(status=403, error={"message": "the script has no more replies"})
        return reply_of(self._script[asked.number])

    def _content(self, asked: Asked, reply: Reply) -> dict[str, Any]:
        if reply.status != 200:
            return {"error": {"message": "no", "type": "error", **reply.error}}
        message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal, **reply.extra}
        prompt = (len(asked.system) + len(asked.user)) // 4
        answer = len(reply.text or reply.refusal or "") // 4
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": answer,
            "total_tokens": prompt + answer,
            "prompt_tokens_details": {"cached_tokens": prompt // 2},
        }
        return {
            "id": f"chatcmpl-{asked.number}",
            "object": "chat.completion",
            "created": 0,
            "model": asked.body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
            **({"usage": usage} if self._usage else {}),
        }


class _InProcess(httpx2.AsyncBaseTransport):
    """A `ChatServer` as a transport."""

    def __init__(self, server: ChatServer) -> None:
        self._server = server
        self.closed = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        asked, reply = await self._server.reply(json.loads(request.content), key, request.headers)
        if self._server.streams(asked, reply):
            kind = {"content-type": "text/event-stream"}
            return httpx2.Response(200, headers=kind, stream=_Events(self._server.events(asked, reply)))
        data = self._server.whole(asked, reply)
        kind = {"content-type": "application/json" if reply.raw is None else "text/html"} | reply.headers
        stream = _Events(_pieces(data[: len(data) // 2] if reply.snap else data, snap=reply.snap))
        return httpx2.Response(reply.status, headers=kind, stream=stream)

    async def aclose(self) -> None:
        self.closed += 1


class _Events(httpx2.AsyncByteStream):
    """The body of a response in process; a connection that is reset is what httpx makes of it."""

    def __init__(self, events: AsyncIterator[str | bytes]) -> None:
        self._events = events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for event in self._events:
                yield event if isinstance(event, bytes) else event.encode()
        except ConnectionResetError as error:
            raise httpx2.ReadError("reset") from error


async def _pieces(data: bytes, *, snap: bool) -> AsyncIterator[bytes]:
    for start in range(0, len(data), 65536):
        yield data[start : start + 65536]
    if snap:
        raise ConnectionResetError


def _write_chunk(writer: asyncio.StreamWriter, text: str) -> None:
    data = text.encode()
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


async def _write(writer: asyncio.StreamWriter, reply: Reply, data: bytes, kind: str) -> None:
    head = [f"HTTP/1.1 {reply.status} Whatever", f"content-type: {kind}", f"content-length: {len(data)}"]
    head += [f"{name}: {value}" for name, value in reply.headers.items()]
    writer.write("\r\n".join([*head, "", ""]).encode() + (data[: len(data) // 2] if reply.snap else data))
    await writer.drain()
    if reply.snap:
        raise ConnectionResetError
