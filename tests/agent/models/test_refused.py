"""A server that answers nothing: one that refuses is asked once, one that is down is waited for once, and told of."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest
from fakes import ChatServer, Reply, always

from longproof.agent.models.answers import Form
from longproof.agent.models.clients import OpenAIChat
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Limits, Traffic
from longproof.agent.models.model import RETRIES, Answer, Model, Refused
from longproof.prompts import Prompt

PROMPT = Prompt("You say what colour things are.", "Which colour is the sky?", "0" * 16, "en")
GOOD = '{"colour": "blue"}'
REFUSALS = [Reply(status=status, error={"message": "no such thing"}) for status in (401, 403, 404)]


class Colour(Form):
    """A colour."""

    colour: str


def using(server: ChatServer, use: Callable[[Model], Awaitable[None]], limits: Limits | None = None) -> None:
    async def run() -> None:
        ledger = await Ledger.open(None)
        model = Model(OpenAIChat("m", server.address), ledger, limits or Limits(), first_wait_s=0.01)
        try:
            await use(model)
        finally:
            await ledger.close()
            await model.close()

    asyncio.run(run())


async def ask(model: Model, sample: int = 0) -> Answer[Colour]:
    return await model.ask(PROMPT, Colour, purpose="test", sample=sample)


async def ask_twice(model: Model) -> None:
    for sample in range(2):
        assert (await ask(model, sample)).failure == "unavailable"


@pytest.mark.parametrize("reply", [*REFUSALS, Reply(raw=b"<html>")], ids=["401", "403", "404", "a page"])
def test_a_server_that_refuses_is_asked_once_and_named(reply: Reply) -> None:
    async def use(model: Model) -> None:
        await ask_twice(model)
        with pytest.raises(Refused, match="check the key, the address and the model's name 'm'"):
            model.refuse()
        model.refuse()
        await ask(model)

    with ChatServer(always(reply)) as server:
        using(server, use)
    assert len(server.asked) == 2


def test_a_refusal_after_an_answer_is_that_calls_own_failure() -> None:
    async def use(model: Model) -> None:
        assert (await ask(model)).value
        assert (await ask(model, 1)).failure == "unavailable"
        model.refuse()

    with ChatServer([Reply(GOOD), Reply(status=403)]) as server:
        using(server, use)


def test_a_server_that_is_down_is_told_of_at_once_and_waited_for_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    limits = Limits()
    with caplog.at_level(logging.WARNING), ChatServer(always(Reply(status=503))) as server:
        using(server, ask_twice, limits=limits)
    assert len(server.asked) == (1 + RETRIES) + 1 + 2, (
        "by schema, then in words; the second call once each way"
    )
    (told,) = caplog.messages
    assert f"HTTP 503: no; asking again, {RETRIES} times within " in told
    assert limits.traffic == Traffic(retries=RETRIES)
