"""How an answer is drawn: what is said is sent and part of the key; what isn't said changes no old key."""

import asyncio

from fakes import Asked, ChatServer, Reply

from longproof.agent.models.clients import OpenAIChat
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Limits
from longproof.agent.models.model import Model
from longproof.construction.versions import Written
from longproof.prompts import Prompt

PROMPT = Prompt("Be brief.", "Say something.", "0" * 16, "en")


def drawn(server: ChatServer, **drawing: float) -> tuple[str | None, dict]:
    async def ask() -> str | None:
        ledger = await Ledger.open(None)
        model = Model(OpenAIChat("m", server.address), ledger, Limits(), max_tokens=100)
        answer = await model.ask(PROMPT, Written, purpose="test", **drawing)
        await ledger.close()
        await model.close()
        return answer.call_id

    return asyncio.run(ask()), server.asked[-1].body


def test_what_is_said_is_sent_and_nothing_else():
    with ChatServer(lambda asked: Reply('{"text": "x"}')) as server:
        _, plain = drawn(server)
        _, said = drawn(server, temperature=1.0, top_p=1.0, max_tokens=256)
    assert "top_p" not in plain
    assert (plain["temperature"], plain["max_tokens"]) == (0.0, 100)
    assert (said["temperature"], said["top_p"], said["max_tokens"]) == (1.0, 1.0, 256)


def test_every_part_of_the_drawing_is_part_of_the_key():
    with ChatServer(lambda asked: Reply('{"text": "x"}')) as server:
        keys = [drawn(server, **d)[0] for d in ({}, {"top_p": 1.0}, {"top_p": 0.9}, {"max_tokens": 7})]
        same = drawn(server, max_tokens=100)[0]
    assert len(set(keys)) == 4
    assert same == keys[0]


def test_a_server_that_refuses_top_p_is_asked_without():
    def script(asked: Asked) -> Reply:
        if "top_p" in asked.body:
            error = {"message": "no top_p", "code": "unsupported_parameter", "param": "top_p"}
            return Reply(status=400, error=error)
        return Reply('{"text": "x"}')

    with ChatServer(script) as server:
        call, body = drawn(server, temperature=1.0, top_p=1.0)
    assert call is not None
    assert "top_p" not in body
