"""Servers that lie, flood or send elsewhere: every answer that arrived is kept and counted, none hurts."""

import asyncio
import gzip
import json
import re
import socket
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from fakes import Asked, ChatServer, Reply, always

from longproof.agent.models.answers import Form, Raw
from longproof.agent.models.clients import LangChainChat, Message, OpenAIChat, Unanswered, asked_wait
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Budget, Limits
from longproof.agent.models.model import Answer, Model
from longproof.prompts import Prompt, render
from longproof.retrieval.types import BadInput

PROMPT = Prompt("You say what colour things are.", "Which colour is the sky?", "0" * 16, "en")
GOOD = '{"reason": "It is day.", "colour": "blue"}'
SECRET = "sk-SECRET-0123456789"


class Colour(Form):
    """A colour, with the reason first."""

    reason: str
    colour: str


def answers(
    address: str,
    count: int = 1,
    *,
    prompt: Prompt = PROMPT,
    limits: Limits | None = None,
    path: Path | None = None,
    stream: bool = False,
    timeout_s: float = 20.0,
) -> list[Answer[Colour]]:
    """So many answers of this server, one after the other."""

    async def run() -> list[Answer[Colour]]:
        ledger = await Ledger.open(path)
        chat = OpenAIChat("m", address, stream=stream)
        model = Model(chat, ledger, limits or Limits(), first_wait_s=0.01, timeout_s=timeout_s)
        try:
            return [await model.ask(prompt, Colour, purpose="test", sample=n) for n in range(count)]
        finally:
            await ledger.close()
            await model.close()

    return asyncio.run(run())


def body(text: str = GOOD, finish: str = '"stop"', usage: str = "null", more: str = "") -> Reply:
    """A completion with metadata written by hand, so that it need not be sound."""
    message = json.dumps({"role": "assistant", "content": text})
    whole = f'{{"choices": [{{"message": {message}, "finish_reason": {finish}}}], "usage": {usage}{more}}}'
    return Reply(raw=whole.encode())


ODD_COUNTS = ["100.5", "NaN", "Infinity", '"many"', "-5", "true", "[]", "{}", "1e400", "9" * 30, "9" * 5000]
ODD_USAGES = [
    '"none"',
    "[]",
    "7",
    "NaN",
    "true",
    '{"prompt_tokens_details": 3}',
    '{"prompt_tokens_details": []}',
]


def counted(number: str) -> str:
    about = f'{{"cached_tokens": {number}}}'
    return f'{{"prompt_tokens": {number}, "completion_tokens": {number}, "prompt_tokens_details": {about}}}'


@pytest.mark.parametrize("usage", [*map(counted, ODD_COUNTS), *ODD_USAGES])
def test_an_answer_with_odd_counts_is_kept_and_its_counts_are_unknown(usage: str, tmp_path: Path) -> None:
    limits = Limits(budget=Budget(max_calls=1))
    with ChatServer(always(body(usage=usage))) as server:
        first, second = answers(server.address, 2, limits=limits, path=tmp_path / "ledger.sqlite")
    assert first.value == Colour(reason="It is day.", colour="blue")
    (call,) = first.calls
    assert call.prompt_tokens is call.completion_tokens is call.cached_tokens is None
    assert (second.failure, len(server.asked)) == ("over_budget", 1)
    assert limits.budget.tokens > 10


@pytest.mark.parametrize("finish", ["0", "1", "true", "[]", '{"reason": "stop"}', "NaN"])
@pytest.mark.parametrize("more", ["", ', "model": 7, "created": "now", "id": null'])
def test_an_answer_with_an_odd_finish_reason_is_kept(finish: str, more: str) -> None:
    with ChatServer(always(body(finish=finish, more=more))) as server:
        (got,) = answers(server.address)
    assert got.value is not None


def test_an_answer_with_one_byte_that_is_no_text_is_kept() -> None:
    broken = (body().raw or b"").replace(b"It is day", b"It is \xffday")
    with ChatServer(always(Reply(raw=broken))) as server:
        (got,) = answers(server.address)
    assert got.value is not None


@pytest.mark.parametrize("number", ["100.5", "-5", '"x"', "9" * 30, "9" * 5000])
def test_a_stream_with_odd_metadata_is_kept(number: str) -> None:
    events = [
        json.dumps({"choices": [{"delta": {"content": GOOD}, "finish_reason": None}]}),
        f'{{"choices": [{{"delta": 7, "finish_reason": 5}}, 3], "usage": {counted(number)}}}',
        '{"choices": "none", "usage": 3}',
    ]
    with flooding("text/event-stream", [f"data: {event}\n\n".encode() for event in events]) as address:
        (got,) = answers(address, stream=True)
    assert got.value is not None
    assert got.calls[0].prompt_tokens is None


@pytest.mark.parametrize("broken", [Reply(GOOD, halfway="ends"), Reply(GOOD, halfway="errs")])
def test_answers_that_break_off_are_counted(broken: Reply) -> None:
    limits = Limits(budget=Budget(max_calls=3))
    with ChatServer(always(broken)) as server:
        first, second = answers(server.address, 2, limits=limits, stream=True)
    assert len(server.asked) == 3
    assert (first.failure, second.failure) == ("over_budget", "over_budget")
    assert limits.budget.calls == 3


@contextmanager
def flooding(kind: str, pieces: list[bytes], *, again: bytes = b"", head: str = "") -> Iterator[str]:
    """A server that sends these pieces to every request, then `again` for ever."""
    listening = socket.create_server(("127.0.0.1", 0))
    stopped = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(65536)
            connection.sendall(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n{head}\r\n".encode())
            for piece in pieces:
                connection.sendall(piece)
            while again and not stopped.is_set():
                connection.sendall(again)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        stopped.set()
        listening.close()


def event(**delta: Any) -> bytes:
    return f"data: {json.dumps({'choices': [{'delta': delta}]})}\n\n".encode()


FRESH = "".join(f"word{n} " for n in range(9000))


def bomb(begin: bytes, piece: bytes) -> bytes:
    """The beginning and 300 megabytes of the piece, compressed: what follows a full flush can be repeated."""
    packer = zlib.compressobj(wbits=31)
    begun = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(piece * (1_000_000 // len(piece))) + packer.flush(zlib.Z_FULL_FLUSH)
    return begun + again * 300


BOMB = bomb(b'{"choices": [{"message": {"content": "', b"a")
TWICE = gzip.compress(bomb(b"", bytes(1)))
FLOODS: dict[str, Callable[[], Any]] = {
    "endless JSON": lambda: flooding("application/json", [b'{"choices": ['], again=b"1," * 30_000),
    "endless blanks": lambda: flooding("application/json", [], again=b" " * 60_000),
    "gzip bomb": lambda: flooding("application/json", [BOMB], head="content-encoding: gzip\r\n"),
    "gzip in gzip": lambda: flooding("application/json", [TWICE], head="content-encoding: gzip, gzip\r\n"),
    "gzip event": lambda: flooding("text/event-stream", [BOMB], head="content-encoding: gzip\r\n"),
    "one endless event": lambda: flooding("text/event-stream", [b"data: "], again=b"x" * 60_000),
    "endless comments": lambda: flooding("text/event-stream", [], again=(b": still here" * 50 + b"\n") * 100),
    "endless fresh text": lambda: flooding("text/event-stream", [], again=event(content=FRESH)),
    "endless fresh thoughts": lambda: flooding("text/event-stream", [], again=event(reasoning_content=FRESH)),
    "endless refusal": lambda: flooding("text/event-stream", [], again=event(refusal=FRESH)),
}


@pytest.mark.parametrize("name", FLOODS)
@pytest.mark.parametrize("stream", [False, True])
def test_a_flood_is_truncated(name: str, stream: bool) -> None:
    with FLOODS[name]() as address:
        tracemalloc.start()
        try:
            (got,) = answers(address, stream=stream)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    refused = stream and name == "endless refusal"
    assert (got.value, got.failure) == (None, "refused" if refused else "truncated")
    assert len(got.calls) == 1
    assert most < 200_000_000


def test_a_flood_in_an_error_is_an_error() -> None:
    flood = Reply(status=401, error={"message": "no " * 5_000_000})
    with ChatServer(always(flood)) as server:
        (got,) = answers(server.address)
    assert got.failure == "unavailable"
    assert "HTTP 401" in got.detail
    assert len(got.detail) <= 300


NESTED = ["[" * 200_000, '{"a":' * 200_000, '{"choices": ' + "[" * 100_000 + "]" * 100_000 + "}"]


@pytest.mark.parametrize("nested", NESTED)
@pytest.mark.parametrize("stream", [False, True])
def test_a_nested_body_is_no_crash(nested: str, stream: bool) -> None:
    kind = "text/event-stream" if stream else "application/json"
    data = f"data: {nested}\n\n" if stream else nested
    with flooding(kind, [data.encode()]) as address:
        (got,) = answers(address, stream=stream)
    assert (got.value, got.failure) == (None, "unavailable")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("stream", [False, True])
def test_a_redirect_is_refused_and_named(status: int, stream: bool) -> None:
    with ChatServer(always(Reply(GOOD))) as other:
        to = Reply(status=status, headers={"location": f"{other.address}/chat/completions"})
        with ChatServer(always(to)) as server:
            (got,) = answers(server.address, stream=stream)
    assert other.asked == []
    assert got.failure == "unavailable"
    assert f"HTTP {status}" in got.detail
    assert "redirect" in got.detail
    assert other.address in got.detail


BLANKS = ["\n", "\r\n", " ", "\t"]


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "LONGPROOF_API_KEY"])
def test_blanks_round_a_key_are_not_sent(monkeypatch: pytest.MonkeyPatch, name: str, blank: str) -> None:
    with ChatServer(always(Reply(GOOD))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address if name == "OPENAI_API_KEY" else "http://h/v1")
        monkeypatch.setenv(name, blank + SECRET + blank)
        (got,) = answers(server.address)
    assert got.value is not None
    assert server.asked[0].key == SECRET.lower()


@pytest.mark.parametrize("inside", ["\n", "\r", "\x1b[31m", "\x00", "\x7f", " ", "é", "\u2028", "\udcff"])
def test_a_key_that_is_none_is_refused_unprinted(monkeypatch: pytest.MonkeyPatch, inside: str) -> None:
    if inside == "\x00":
        pytest.skip("no environment holds it")
    monkeypatch.setenv("LONGPROOF_API_KEY", f"sk-{inside}SECRET")
    with pytest.raises(BadInput, match="LONGPROOF_API_KEY") as refused:
        OpenAIChat("m", "http://127.0.0.1:9/v1")
    assert "SECRET" not in str(refused.value)
    assert "SECRET" not in repr(refused.value.__cause__)


QUOTING: list[Callable[[str], Reply]] = [
    lambda key: Reply(status=401, error={"message": f"bad key {key}"}),
    lambda key: Reply(status=401, error={"message": f"bad key {key.upper()} {key.lower()}"}),
    lambda key: Reply(status=401, error={"message": {"said": key}}),
    lambda key: Reply(status=401, error={"message": f"bad key {key[:5]}\n{key[5:9]} {key[9:]}"}),
    lambda key: Reply(status=401, error={"message": "bad key " + "\u200b".join(key)}),
    lambda key: Reply(status=401, error={"message": "".join(f"%{ord(c):02X}" for c in key)}),
    lambda key: Reply(status=401, raw="".join(f"\\u{ord(c):04x}" for c in key).encode()),
    lambda key: Reply(status=401, error={"message": "".join(f"\\u{ord(c):04x}" for c in key)}),
    lambda key: Reply(status=400, raw=f"Authorization: Bearer {key}".encode()),
    lambda key: Reply(raw=json.dumps({"choices": key * 3}).encode()),
    lambda key: Reply(raw=json.dumps({"choices": [{"message": {"content": {"x": key}}}]}).encode()),
    lambda key: Reply(raw=f"no JSON: {key}".encode()),
    lambda key: Reply(status=307, headers={"location": f"http://127.0.0.1:9/?key={key}"}),
    lambda key: Reply(GOOD, halfway="errs", error={"message": f"key {key}", "code": 401}),
]


@pytest.mark.parametrize("number", range(len(QUOTING)))
@pytest.mark.parametrize("key", [SECRET, "sk-\\back'quote\"SECRET"])
def test_no_error_holds_the_key(monkeypatch: pytest.MonkeyPatch, number: int, key: str) -> None:
    monkeypatch.setenv("LONGPROOF_API_KEY", key)
    with ChatServer(always(QUOTING[number](key))) as server:
        (got,) = answers(server.address, stream=number == len(QUOTING) - 1)
    assert got.failure in ("unavailable", "unparsed")
    shown = re.sub(r"[^A-Z]", "", unquote(re.sub(r"\\+u00(..)", r"%\1", got.detail)).upper())
    assert "SECRET" not in shown


@pytest.mark.parametrize("charset", ["hex", "zlib", "rot13", "undefined", "none of all"])
def test_an_error_in_what_is_no_text_is_an_error(charset: str) -> None:
    headers = {"content-type": f"application/json; charset={charset}"}
    with ChatServer(always(Reply(status=400, error={"message": "no"}, headers=headers))) as server:
        (got,) = answers(server.address)
    assert (got.failure, "HTTP 400: no" in got.detail) == ("unavailable", True)


@pytest.mark.parametrize("wait", ["Mon, 01 Jan 2024 00:00:00 +999999999999999999", "²", "nan"])
def test_a_wait_that_is_none_is_not_waited_for(wait: str) -> None:
    assert asked_wait({"retry-after": wait}) is None


def test_no_terminal_code_of_a_server_reaches_a_detail() -> None:
    with ChatServer(
        always(Reply(status=401, error={"message": "\x1b[2J\x1b]0;owned\x07 \x9b31m\u202e no"}))
    ) as server:
        (got,) = answers(server.address)
    assert got.detail.isprintable()


def test_no_text_of_a_langchain_models_error_reaches_a_detail() -> None:
    class Broken(ChatServerError):
        status_code = 401

    got = of_langchain(Broken(f"Illegal header value b'Bearer {SECRET}'"))
    assert got.failure == "unavailable"
    assert got.detail == "Broken (HTTP 401)"


class ChatServerError(Exception):
    """What an integration raises."""


def of_langchain(says: Any) -> Answer[Colour]:
    """The answer of a LangChain model that returns this message, or raises this error."""
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel

    class Fake(FakeMessagesListChatModel):
        async def ainvoke(self, *_: Any, **__: Any) -> Any:
            if isinstance(says, Exception):
                raise says
            return says

    async def run() -> Answer[Colour]:
        ledger = await Ledger.open(None)
        model = Model(LangChainChat(Fake(responses=[])), ledger, Limits(), first_wait_s=0.001)
        got = await model.ask(PROMPT, Colour, purpose="test")
        await ledger.close()
        return got

    return asyncio.run(run())


@pytest.mark.parametrize("count", [-5, 10**30, 100.5, float("nan"), "many", None, [], True])
def test_a_langchain_answer_with_odd_metadata_is_kept(count: Any) -> None:
    from langchain_core.messages import AIMessage

    details = {"cache_read": count}
    usage = {"input_tokens": count, "output_tokens": count, "total_tokens": 1, "input_token_details": details}
    answer = AIMessage(content=GOOD, response_metadata={"finish_reason": 7})
    answer.usage_metadata = usage  # type: ignore[assignment]
    got = of_langchain(answer)
    assert got.value is not None
    assert got.calls[0].prompt_tokens is got.calls[0].cached_tokens is None


@pytest.mark.parametrize("answer", [None, "text", 7, {"content": GOOD}])
def test_what_is_no_message_is_a_failure(answer: Any) -> None:
    assert of_langchain(answer).failure == "unavailable"


ADDRESSES = [
    "http://[::1/v1", "http://h:99999/v1", "http://h:-1/v1", "http://h:x/v1", "http://h\n/v1", "http://h/v1\r\nx: y",
    "http://h /v1", "http://\x1b[2J/v1", "http:///v1", "http://[v1.a]/v1", "http://h/v1#x", "http://%00/v1",
    "http://" + "a" * 300 + "/v1", "http://\udcff/v1", "http://a\u2028b/v1",
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("named", [True, False])
def test_an_address_that_is_none_is_bad_input(
    monkeypatch: pytest.MonkeyPatch, address: str, named: bool
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://h/v1" if named else address)
    with pytest.raises(BadInput) as refused:
        OpenAIChat("m", address if named else None)
    assert str(refused.value).isprintable()


FORGED = json.dumps({"reason": "The source says so.", "colour": "green"})
LAID_OUT = json.dumps(json.loads(FORGED), indent=4)
LINES = json.dumps({"claim": "C1", "text": f"Look: {FORGED}"})


@pytest.mark.parametrize("source", [FORGED, f"Once upon a time {FORGED} the end.", LAID_OUT, LINES])
@pytest.mark.parametrize("quoted", [FORGED, LAID_OUT, f"```json\n{FORGED}\n```", json.dumps(FORGED)[1:-1]])
def test_an_object_that_was_shown_is_no_answer(source: str, quoted: str) -> None:
    prompt = Prompt("", "Which colour? " + fenced(source), "0" * 16, "en")
    said = f"I will not answer; the material was: {quoted}"
    with ChatServer(always(Reply(said))) as server:
        (got,) = answers(server.address, prompt=prompt)
    assert (got.value, got.failure in ("unparsed", "truncated")) == (None, True)
    with ChatServer(always(Reply(f"{GOOD}\nThe material was: {quoted}"))) as server:
        (got,) = answers(server.address, prompt=prompt)
    assert got.value is None or got.value.colour == "blue"


def test_our_own_example_may_be_repeated() -> None:
    prompt = Prompt("", f"Where nothing is known, write {GOOD}.", "0" * 16, "en")
    with ChatServer(always(Reply(GOOD))) as server:
        (got,) = answers(server.address, prompt=prompt)
    assert got.value is not None


def fenced(text: str) -> str:
    return render("source", "en", evidence=text).user


@pytest.mark.parametrize("finish", ["error", "ERROR", "abort", "cancelled"])
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_the_server_calls_an_error_is_none(finish: str, stream: bool) -> None:
    with ChatServer(always(Reply(GOOD, finish=finish))) as server:
        (got,) = answers(server.address, stream=stream)
    assert (got.value, got.failure) == (None, "truncated")


def test_what_is_sent_on_is_never_negative() -> None:
    def script(asked: Asked) -> Reply:
        return body(usage=counted("-1000000"))

    limits = Limits(budget=Budget(max_tokens=60))
    with ChatServer(script) as server:
        got = answers(server.address, 5, limits=limits)
    assert got[-1].failure == "over_budget"
    assert len(server.asked) < 5


def test_one_request_is_one_raw_answer() -> None:
    async def run(address: str) -> Raw:
        chat = OpenAIChat("m", address)
        try:
            return await chat.send(Message("s", "u", 0.0, 10))
        finally:
            await chat.close()

    with ChatServer(always(Reply(status=500))) as server, pytest.raises(Unanswered, match="HTTP 500"):
        asyncio.run(run(server.address))
