"""Stand-ins for what costs money or time: a scripted chat-completions server on loopback.

`ChatServer(script)` answers on a thread of its own, over real sockets; `ChatServer(script).transport()` answers in
process, without any. A script is a function of what was asked, or a
list of replies, which complains when it runs out. `well` reads prompts of this project and answers them correctly in
the plainest sense; the other replies are the ways in which servers and models fail.
"""

import asyncio
import json
import random
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import httpx2

NUMBERED = re.compile(r"^P?\d+\| ", re.MULTILINE)
FENCED = re.compile(r"<<<([0-9a-f]{8}) (\w+)\n(.*?)\n\1>>>", re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """One request as the server got it. `number` counts from 0."""

    number: int
    body: dict[str, Any]
    key: str

    @property
    def system(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def schema(self) -> dict[str, Any] | None:
        form = self.body.get("response_format")
        return form["json_schema"]["schema"] if form else None

    def parts(self, name: str) -> list[str]:
        """The fenced texts of this name."""
        return [text for _, called, text in FENCED.findall(self.user) if called == name]

    def items(self, name: str) -> list[dict[str, Any]]:
        """The JSON lines of the fenced part of this name; claims listed under their sentence as one item each."""
        rows = [row for part in self.parts(name) for row in part.splitlines()]
        if rows and rows[0].startswith("S| "):
            return list(_claims(rows))
        return [json.loads(row) for row in rows]

    def lines(self) -> dict[str, str]:
        """The numbered lines of evidence and pages, by their number as it is shown."""
        rows = [
            row for name in ("evidence", "pages") for part in self.parts(name) for row in part.splitlines()
        ]
        return dict(row.split("| ", 1) for row in rows if NUMBERED.match(row))

    def said(self, name: str) -> list[str]:
        """The fenced texts of this name without the numbers of their lines."""
        return [NUMBERED.sub("", text) for text in self.parts(name)]

    @property
    def form(self) -> str:
        """The title of the form asked for, by schema or in the prompt."""
        wanted = self.schema or json.loads(self.parts("schema")[-1])
        return str(wanted["title"])


@dataclass(frozen=True)
class Reply:
    """What the server does. `hang`: never answers. `snap`: breaks the connection inside the body.

    `halfway`: what a stream does in its middle instead of going on.
    """

    text: str | None = ""
    status: int = 200
    finish: str | None = "stop"
    delay_s: float = 0.0
    refusal: str | None = None
    error: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    hang: bool = False
    snap: bool = False
    halfway: Literal["", "stalls", "ends", "errs"] = ""
    extra: dict[str, Any] = field(default_factory=dict)


def _claims(rows: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The claims of a judge's prompt, each with its sentence."""
    sentence = ""
    for name, text in (row.split("| ", 1) for row in rows):
        if name == "S":
            sentence = text
        else:
            yield {"claim": name, "text": sentence if text == "=" else text, "passage": sentence}


LETTERS = {"explicitly_supported": "E", "implicitly_supported": "I"}


def answer_of(asked: Asked, findings: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Findings with `quotes` in the judge's form: what is supported as short strings, all else with words.

    A quote is cited by the line shown that it stands in, or as it is. Findings name claim, quotes and label at least.
    """
    shown, answer = asked.lines(), dict[str, Any](short=[], rest=[])
    for finding in findings:
        lines = [cited(quote, shown) for quote in finding["quotes"]]
        if finding["label"] in LETTERS:
            said = f"{finding['claim']} {LETTERS[finding['label']]} {'; '.join(lines)}"
            answer["short"].append(said.strip())
            continue
        rest = {"reason": "", "readings": [], "kind": "none", "wrong": "", "correction": "", **finding}
        answer["rest"].append(
            {k: v for k, v in rest.items() if k not in ("quotes", "holds")} | {"lines": lines}
        )
    return answer


def cited(quote: str, shown: Mapping[str, str]) -> str:
    """The line that a quote stands in, or that stands in the quote, by number and beginning; else the quote."""
    bare = " ".join(quote.split())
    fits = (n for n, text in shown.items() if bare and (bare in text or (len(text) > 8 and text in bare)))
    number = next(fits, None)
    return quote if number is None else f"{number} {shown[number][:16]}"


Script = Callable[[Asked], Reply] | Sequence[Reply]


class ChatServer:
    """A chat-completions server. It lists no models, which is an answer too.

    `schema`: what it makes of a JSON schema; `usage`: whether it counts tokens; `stream`: whether it streams, does
    so without `stream_options`, or answers whole whatever is asked. `sent` counts characters of answers that left it.
    """

    def __init__(
        self,
        script: Script,
        *,
        schema: Literal["known", "rejected", "broken", "ignored"] = "known",
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

    async def reply(self, body: dict[str, Any], key: str) -> tuple[Asked, Reply]:
        """Note what is asked, and wait as long as the reply does."""
        asked = Asked(len(self.asked), body, key)
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
        """Whether this reply goes out as a stream of events."""
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
                if head.startswith("get "):
                    await _write(writer, Reply(), b'{"object": "list", "data": []}', "application/json")
                    continue
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
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
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
                if reply.halfway == "stalls":
                    await (self._stop.wait() if self._thread.is_alive() else asyncio.Future())
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
        if asked.schema is not None and self._schema == "broken":
            return Reply(status=500, error={"message": "internal error"})
        if asked.schema is not None and self._schema == "ignored":
            return PROSE
        if callable(self._script):
            return self._script(asked)
        if asked.number >= len(self._script):
            return Reply(status=403, error={"message": "the script has no more replies"})
        return self._script[asked.number]

    def _content(self, asked: Asked, reply: Reply) -> dict[str, Any]:
        if reply.status != 200:
            return {"error": {"message": "no", "type": "error", **reply.error}}
        message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal, **reply.extra}
        prompt = (len(asked.system) + len(asked.user)) // 4
        answer = len(reply.text or "") // 4
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
        if request.method == "GET":
            return httpx2.Response(200, json={"object": "list", "data": []})
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        asked, reply = await self._server.reply(json.loads(request.content), key)
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


def well(asked: Asked) -> Reply:
    """A correct answer to any prompt of this project."""
    return Reply(json.dumps(FORMS[asked.form](asked), ensure_ascii=False))


def findings(asked: Asked, **changes: Any) -> dict[str, Any]:
    """A finding for each claim: supported where the evidence has most of its words, else not found."""
    evidence = asked.said("evidence") + asked.said("pages")
    return answer_of(asked, [{**_finding(item, evidence), **changes} for item in asked.items("claims")])


def sentences(asked: Asked) -> dict[str, Any]:
    """Each sentence as one claim; questions state no fact."""
    found = []
    for item in asked.items("sentences"):
        fact = not item["text"].rstrip().endswith(("?", "？"))
        found += taken(item, [item["text"]] if fact else [])
    return {"claims": found}


def taken(item: dict[str, Any], claims: Sequence[str]) -> list[str]:
    """The form's strings for a sentence's claims, each perhaps with ` @ ` and the words that it comes from."""
    return [f"{item['sentence']} {claim}" for claim in claims or ["-"]]


def places(asked: Asked) -> dict[str, Any]:
    """The first word of each claim's part of its sentence is wrong."""
    found = []
    for item in asked.items("claims"):
        about = {"reason": "It is not so.", "kind": "event", "correction": "nothing"}
        found.append(placed(item, item.get("words", item["sentence"]).split()[0], **about))
    return {"places": found}


def placed(item: dict[str, Any], wrong: str, **about: str) -> dict[str, Any]:
    """The form's entry for a claim with these wrong words in its sentence."""
    return {"claim": item["claim"], "where": "here", "wrong": wrong, **about}


def searching(asked: Asked) -> dict[str, Any]:
    """Each claim is done with the new passages' lines that have most of its words; the others are searched for in
    their own words."""
    shown = _lines(asked, "passages")
    bearing = {name: _bearing(text, shown) for name, text in _lines(asked, "claims").items()}
    return {
        "claims": [f"{name} done {'; '.join(cited)}" for name, cited in bearing.items() if cited],
        "find": [f"{name} {text}" for name, text in _lines(asked, "claims").items() if not bearing[name]],
        "read": [],
    }


def notes(asked: Asked) -> dict[str, Any]:
    """The lines of the piece that have most of a claim's words, and its last line."""
    shown = _lines(asked, "piece")
    bearing = {name: _bearing(text, shown) for name, text in _lines(asked, "claims").items()}
    number, last = list(shown.items())[-1]
    return {
        "notes": [f"{name} {'; '.join(cited)}" for name, cited in bearing.items() if cited],
        "last": f"{number} {last[:12]}",
    }


def choice(asked: Asked) -> dict[str, Any]:
    """The statement that denies nothing, where the evidence has most of its words; else neither."""
    plain = min(asked.parts("statements"), key=len)
    finding = _finding({"claim": "", "text": plain}, asked.said("evidence") + asked.said("pages"))
    first = asked.parts("statements").index(plain) == 0
    return {
        "lines": [cited(quote, asked.lines()) for quote in finding["quotes"]],
        "reason": finding["reason"],
        "answer": "neither" if not finding["quotes"] else "first" if first else "second",
    }


FORMS: dict[str, Callable[[Asked], dict[str, Any]]] = {
    "StatementChoice": choice,
    "Findings": findings,
    "Sentences": sentences,
    "Places": places,
    "SearchTurn": searching,
    "ScanNotes": notes,
}


def _lines(asked: Asked, name: str) -> dict[str, str]:
    """The lines `123| text` of this part."""
    return {
        number: text
        for part in asked.parts(name)
        for number, text in re.findall(r"^(C?\d+)\| (.*)$", part, re.MULTILINE)
    }


def _bearing(text: str, shown: dict[str, str]) -> list[str]:
    words = _words(text)
    return [
        f"{number} {line.split(';')[0][:12]}"
        for number, line in shown.items()
        if words and len(words & _words(line)) >= 0.8 * len(words)
    ]


def _finding(item: dict[str, Any], evidence: Sequence[str]) -> dict[str, Any]:
    words = _words(item["text"])
    pieces = [piece for text in evidence for piece in re.split(r"(?<=[.!?。！？])\s*", text) if piece]
    best = max(pieces, key=lambda piece: len(words & _words(piece)), default="")
    held = bool(words) and len(words & _words(best)) >= 0.8 * len(words)
    return {
        "claim": item["claim"],
        "quotes": [best.strip()] if held else [],
        "reason": "The quote says so." if held else "Nothing shown deals with it.",
        "label": "explicitly_supported" if held else "not_found",
    }


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.lower()))


PROSE = Reply("The claims look fine to me. All in all this is INCORRECT only in its tone, otherwise CORRECT.")
REFUSAL = Reply("I'm sorry, but I can't help with that.")
EMPTY = Reply("")
BUSY = Reply(status=429, headers={"retry-after": "0"}, error={"message": "slow down"})
ILL = Reply(status=500, error={"message": "internal error"})
DOWN = Reply(status=503, error={"message": "overloaded"})
HANGS = Reply(hang=True)
SNAPS = Reply("{}", snap=True)
PAGE = Reply(raw=b"<html><body>502 Bad Gateway</body></html>")


def denying(word: str) -> Callable[[Asked], Reply]:
    """Answers well, but what holds this word contradicts the first line of the evidence."""

    def script(asked: Asked) -> Reply:
        if asked.form != "Findings":
            return well(asked)
        evidence, said = asked.said("evidence"), []
        for item in asked.items("claims"):
            finding = _finding(item, evidence + asked.said("pages"))
            if word in item["text"]:
                quote = evidence[0].strip().split("\n")[0]
                finding |= {"label": "contradicting", "quotes": [quote], "wrong": word}
            said.append(finding)
        return Reply(json.dumps(answer_of(asked, said), ensure_ascii=False))

    return script


def cut(asked: Asked) -> Reply:
    """A good answer, cut off in the middle by the token limit."""
    text = well(asked).text or ""
    return Reply(text[: len(text) // 2], finish="length")


def cut_silently(asked: Asked) -> Reply:
    """A good answer, cut off by a server that doesn't say so."""
    return Reply((well(asked).text or "")[:-12])


def repeating(asked: Asked) -> Reply:
    """The model repeats one sentence."""
    return Reply("The story goes on and on. " * 200)


def inventing(asked: Asked) -> Reply:
    """Every claim supported, by quotes that nobody wrote."""
    said = findings(
        asked, quotes=["as the old ferryman swore by the seven lamps"], label="explicitly_supported"
    )
    return Reply(json.dumps(said))


def stingy(asked: Asked) -> Reply:
    """All items but the last."""
    answer = FORMS[asked.form](asked)
    last = max((name for name in answer if answer[name]), key=list(answer).index, default=None)
    return Reply(json.dumps({name: items[:-1] if name == last else items for name, items in answer.items()}))


def always(reply: Reply) -> Callable[[Asked], Reply]:
    """The same reply to everything."""
    return lambda asked: reply


def faulty(share: float, *, seed: int = 0) -> Callable[[Asked], Reply]:
    """Answers well, but for this share of calls, which fail in all ways in turn."""
    kinds: list[Script] = [cut, cut_silently, repeating, inventing, stingy]
    kinds += [always(r) for r in (PROSE, REFUSAL, EMPTY, BUSY, ILL, DOWN, HANGS, SNAPS, PAGE)]
    draw = random.Random(seed)

    def script(asked: Asked) -> Reply:
        if draw.random() >= share:
            return well(asked)
        kind = draw.choice(kinds)
        assert callable(kind)
        return kind(asked)

    return script
