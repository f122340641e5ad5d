"""Answers that come piece by piece: the same as whole ones, whatever happens to the stream."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from fakes import BUSY, DOWN, HANGS, PAGE, PROSE, REFUSAL, Asked, ChatServer, Reply, Script, always

from longproof.agent.models.answers import Form, Raw, runs_away
from longproof.agent.models.clients import Message, OpenAIChat
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Limits
from longproof.agent.models.model import Answer, Model
from longproof.prompts import Prompt

PROMPT = Prompt("You say what colour things are.", "Which colour is the sky?", "0" * 16, "en")


class Colour(Form):
    """A colour, with the reason first."""

    reason: str
    colour: str


GOOD = '{"reason": "It is day.", "colour": "blue"}'
LINES = json.dumps({"reason": "a\u2028b\x85c\x0bd", "colour": "蓝 🌊"}, ensure_ascii=False)
ROUND = "The story goes on and on. "
Use = Callable[[Model], Awaitable[Any]]


def using(
    server: ChatServer, use: Use, *, stream: bool = True, path: Path | None = None, **settings: Any
) -> Any:
    async def run() -> Any:
        ledger = await Ledger.open(path)
        chat = OpenAIChat("m", server.address, stream=stream)
        model = Model(chat, ledger, Limits(), **{"timeout_s": 5.0, "first_wait_s": 0.01, **settings})
        try:
            return await use(model)
        finally:
            await ledger.close()
            await model.close()

    return asyncio.run(run())


async def ask(model: Model) -> Answer[Colour]:
    return await model.ask(PROMPT, Colour, purpose="test")


def raw(server: ChatServer, *, stream: bool) -> Raw:
    async def run() -> Raw:
        chat = OpenAIChat("m", server.address, stream=stream)
        try:
            return await chat.send(Message("s", "u", 0.0, 100))
        finally:
            await chat.close()

    return asyncio.run(run())


@pytest.mark.parametrize(
    "reply",
    [
        Reply(GOOD),
        Reply(LINES),
        Reply(None),
        Reply(""),
        PROSE,
        REFUSAL,
        Reply(None, refusal="I won't."),
        Reply(GOOD, finish="content_filter"),
        Reply(GOOD[:20], finish="length"),
        Reply(GOOD, finish=None),
        Reply(GOOD, extra={"reasoning_content": "Let me see. The sky is not red."}),
        Reply("<think>It could be</think>" + GOOD),
        Reply(ROUND * 100),
    ],
)
@pytest.mark.parametrize("usage", [True, False])
def test_a_streamed_answer_is_the_whole_one(reply: Reply, usage: bool) -> None:
    with ChatServer(always(reply), usage=usage) as server:
        assert raw(server, stream=True) == raw(server, stream=False)
    assert [asked.body.get("stream", False) for asked in server.asked] == [True, False]


def test_streams_are_asked_to_count() -> None:
    with ChatServer(always(Reply(GOOD))) as server:
        (call,) = using(server, ask).calls
        using(server, ask, stream=False)
    sent = len(PROMPT.system) + len(PROMPT.user)
    assert (call.prompt_tokens, call.completion_tokens) == (sent // 4, len(GOOD) // 4)
    assert [asked.body.get("stream_options") for asked in server.asked] == [{"include_usage": True}, None]


@pytest.mark.parametrize(
    "fault", [Reply(GOOD, snap=True), Reply(GOOD, halfway="ends"), Reply(GOOD, halfway="errs"), BUSY, DOWN]
)
def test_a_stream_that_is_cut_is_asked_for_again(fault: Reply) -> None:
    with ChatServer([fault, fault, Reply(GOOD)]) as server:
        got = using(server, ask)
    assert got.value == Colour(reason="It is day.", colour="blue")
    assert (len(server.asked), len(got.calls)) == (3, 1)


@pytest.mark.parametrize(
    "fault", [Reply(GOOD, snap=True), Reply(GOOD, halfway="ends"), Reply(GOOD, halfway="errs")]
)
def test_streams_that_are_always_cut_are_the_same_failure_as_a_cut_connection(fault: Reply) -> None:
    with ChatServer(always(Reply(GOOD, snap=True))) as server:
        whole = using(server, ask, stream=False, first_wait_s=0.001)
    with ChatServer(always(fault)) as server:
        got = using(server, ask, first_wait_s=0.001)
    assert (got.value, got.failure, got.calls) == (None, "unavailable", ())
    assert got.failure == whole.failure
    assert "broke off" in got.detail


def test_an_error_inside_a_stream_is_named() -> None:
    with ChatServer(always(Reply(GOOD, halfway="errs", error={"code": 401}))) as server:
        got = using(server, ask)
    assert (got.failure, len(server.asked)) == ("unavailable", 1)
    assert "out of memory" in got.detail


@pytest.mark.parametrize("fault", [HANGS, Reply(GOOD, halfway="stalls")])
def test_the_deadline_stands_round_the_whole_stream(fault: Reply) -> None:
    with ChatServer([fault]) as server:
        got = using(server, ask, timeout_s=0.3)
    assert (got.failure, len(server.asked)) == ("timeout", 1)


def test_a_page_instead_of_a_stream_is_unavailable() -> None:
    with ChatServer(always(PAGE)) as server:
        got = using(server, ask)
    assert (got.failure, len(server.asked)) == ("unavailable", 1)


@pytest.mark.parametrize(
    ("stream", "asked"), [("known", 2), ("uncounted", 3), ("rejected", 3), ("ignored", 2)]
)
def test_what_a_server_does_not_know_of_streams_is_found_out_once(stream: Any, asked: int) -> None:
    async def use(model: Model) -> list[Answer[Colour]]:
        return [await model.ask(PROMPT, Colour, purpose="test", sample=n) for n in range(2)]

    with ChatServer(always(Reply(GOOD)), stream=stream) as server:
        got = using(server, use)
    assert [answer.value is not None for answer in got] == [True, True]
    assert len(server.asked) == asked
    assert server.asked[-1].body["stream"] is (stream != "rejected")
    assert ("stream_options" in server.asked[-1].body) is (stream not in ("rejected", "uncounted"))


@pytest.mark.parametrize("schema", ["rejected", "broken", "ignored"])
def test_the_form_goes_into_the_prompt_of_streams_too(schema: Any) -> None:
    with ChatServer(always(Reply(GOOD)), schema=schema) as server:
        assert using(server, ask).value is not None
    assert [asked.schema is not None for asked in server.asked] == [True, False]


def test_streamed_or_not_is_one_entry_of_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with ChatServer([Reply(GOOD)]) as server:
        first = using(server, ask, path=path)
        second = using(server, ask, path=path, stream=False)
    assert (first.value, first.call_id) == (second.value, second.call_id)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply(ROUND * 20_000),
        Reply('{"reason": "It is' + "\n" * 400_000),
        Reply('{"reason": "ja ' + "ja " * 100_000),
        Reply(None, extra={"reasoning_content": "Wait. " * 80_000}),
    ],
)
def test_an_answer_that_only_repeats_itself_is_not_heard_out(reply: Reply) -> None:
    with ChatServer(always(reply)) as server:
        got = using(server, ask)
    assert (got.value, got.failure) == (None, "truncated")
    assert server.sent < 300_000


def test_an_answer_that_goes_on_after_a_refrain_is_heard_out() -> None:
    thought = "<think>" + "-" * 3000 + ROUND * 100 + "Now then.</think>"
    with ChatServer([Reply(thought + GOOD)]) as server:
        assert using(server, ask).value is not None


def test_only_what_fills_the_tail_runs_away() -> None:
    assert runs_away(("ab" * 5000)[-4000:])
    assert not runs_away("ab" * 100)
    assert not runs_away("".join(f"{n} " for n in range(5000))[-4000:])


def faulty_stream() -> Script:
    kinds = [Reply(GOOD), Reply(GOOD, snap=True), Reply(GOOD, halfway="ends"), Reply(GOOD[:9]), PROSE]

    def script(asked: Asked) -> Reply:
        return kinds[asked.number % len(kinds)]

    return script


def test_among_faults_every_question_ends_in_a_value_or_a_failure() -> None:
    async def use(model: Model) -> list[Answer[Colour]]:
        asks = (model.ask(PROMPT, Colour, purpose="test", sample=n) for n in range(40))
        return list(await asyncio.gather(*asks))

    with ChatServer(faulty_stream()) as server:
        got = using(server, use)
    assert all((answer.value is None) != (answer.failure is None) for answer in got)
