"""The seam to models, against a chat server on loopback that misbehaves in every way that we know of."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from fakes import (
    BUSY,
    DOWN,
    EMPTY,
    HANGS,
    ILL,
    PAGE,
    PROSE,
    REFUSAL,
    SNAPS,
    Asked,
    ChatServer,
    Reply,
    Script,
    always,
)

from longproof.agent.models.answers import Form
from longproof.agent.models.clients import LangChainChat, OpenAIChat
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Budget, Limits, Rates
from longproof.agent.models.model import Answer, Learned, Model
from longproof.agent.types import Failure
from longproof.prompts import Prompt
from longproof.retrieval.types import BadInput

PROMPT = Prompt("You say what colour things are.", "Which colour is the sky?", "0" * 16, "en")


class Colour(Form):
    """A colour, with the reason first."""

    reason: str
    colour: str


GOOD = '{"reason": "It is day.", "colour": "blue"}'
Use = Callable[[Model, Ledger], Awaitable[Any]]


def using(
    server: ChatServer,
    use: Use,
    *,
    path: Path | None = None,
    limits: Limits | None = None,
    retry_failed: bool = False,
    **settings: Any,
) -> Any:
    """Run `use` with a model on this server, on an event loop of its own."""

    async def run() -> Any:
        ledger = await Ledger.open(path, retry_failed=retry_failed)
        model = Model(
            OpenAIChat("m", server.address),
            ledger,
            limits or Limits(),
            **{"timeout_s": 5.0, "first_wait_s": 0.01, **settings},
        )
        try:
            return await use(model, ledger)
        finally:
            await ledger.close()
            await model.close()

    return asyncio.run(run())


async def ask(model: Model, ledger: Ledger | None = None, **how: Any) -> Answer[Colour]:
    return await model.ask(PROMPT, Colour, purpose="test", **how)


def answer(script: Script, **settings: Any) -> Answer[Colour]:
    with ChatServer(script) as server:
        return using(server, ask, **settings)


def test_an_answer_is_a_value_with_its_call_and_the_servers_own_numbers() -> None:
    with ChatServer([Reply(GOOD)]) as server:
        got: Answer[Colour] = using(server, ask)
    assert got.value == Colour(reason="It is day.", colour="blue")
    assert got.failure is None
    (call,) = got.calls
    sent = len(PROMPT.system) + len(PROMPT.user)
    assert (call.prompt_tokens, call.completion_tokens, call.cached_tokens) == (
        sent // 4,
        len(GOOD) // 4,
        sent // 8,
    )
    assert (call.prompt_characters, call.bought, call.endpoint) == (sent, True, server.address)
    assert call.answer_characters == len(GOOD)
    assert got.call_id == call.id


def test_a_server_without_usage_leaves_the_counts_unknown() -> None:
    with ChatServer([Reply(GOOD)], usage=False) as server:
        got = using(server, ask)
    assert got.value.colour == "blue"
    assert got.calls[0].prompt_tokens is got.calls[0].completion_tokens is got.calls[0].cached_tokens is None


def test_the_request_carries_the_schema_the_temperature_and_a_limit() -> None:
    with ChatServer([Reply(GOOD)]) as server:
        using(server, lambda model, _: ask(model, temperature=0.6), max_tokens=77)
    (asked,) = server.asked
    assert asked.schema is not None
    assert asked.schema["required"] == ["reason", "colour"]
    assert asked.schema["additionalProperties"] is False
    assert (asked.body["temperature"], asked.body["max_tokens"]) == (0.6, 77)


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (PROSE, "unparsed"),
        (EMPTY, "unparsed"),
        (Reply(None), "unparsed"),
        (Reply('{"colour": "blue"}'), "unparsed"),
        (Reply("[1, 2]"), "unparsed"),
        (REFUSAL, "refused"),
        (Reply(None, refusal="I won't."), "refused"),
        (Reply(GOOD, finish="content_filter"), "refused"),
        (Reply(GOOD[:20], finish="length"), "truncated"),
        (Reply(GOOD[:20]), "truncated"),
        (Reply("<think>It could be blue, or it could", finish="stop"), "truncated"),
        (Reply("The sky. " * 300), "truncated"),
        (PAGE, "unavailable"),
        (Reply(raw=b"[]"), "unavailable"),
        (Reply(status=401, error={"message": "who are you?"}), "unavailable"),
        (Reply(status=404, error={"message": "no such model"}), "unavailable"),
        (Reply(status=429, error={"message": "pay", "code": "insufficient_quota"}), "unavailable"),
        (Reply(status=400, error={"message": "too many", "code": "context_length_exceeded"}), "too_long"),
        (Reply(status=400, error={"message": "maximum context length is 8192 tokens"}), "too_long"),
        (Reply(status=400, error={"message": "the request exceeds the available context size"}), "too_long"),
        (Reply(status=429, headers={"retry-after": "7200"}), "unavailable"),
    ],
)
def test_what_is_no_answer_is_a_named_failure(reply: Reply, failure: Failure) -> None:
    got = answer(always(reply))
    assert (got.value, got.failure) == (None, failure)


def test_a_server_that_hangs_is_left_in_time_and_not_asked_again() -> None:
    with ChatServer([HANGS]) as server:
        got = using(server, ask, timeout_s=0.3)
    assert (got.failure, len(server.asked)) == ("timeout", 1)
    assert got.calls[0].failure == "timeout"


@pytest.mark.parametrize("fault", [BUSY, DOWN, SNAPS])
def test_passing_trouble_is_waited_out(fault: Reply) -> None:
    with ChatServer([fault, fault, Reply(GOOD)]) as server:
        got = using(server, ask)
    assert got.value.colour == "blue"
    assert len(server.asked) == 3
    assert len(got.calls) == 1


def test_retries_end() -> None:
    with ChatServer(always(BUSY)) as server:
        got = using(server, ask)
    assert got.failure == "unavailable"
    assert "429" in got.detail
    assert len(server.asked) == 6


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with ChatServer([]) as server:
        pass
    got = using(server, ask, first_wait_s=0.001)
    assert (got.failure, got.calls) == ("unavailable", ())
    assert "no connection" in got.detail


def test_retry_after_is_honoured_for_all_callers() -> None:
    def script(asked: Asked) -> Reply:
        return Reply(status=429, headers={"retry-after": "0.4"}) if asked.number == 0 else Reply(GOOD)

    async def use(model: Model, ledger: Ledger) -> float:
        began = asyncio.get_running_loop().time()
        await asyncio.gather(*(ask(model, sample=n) for n in range(3)))
        return asyncio.get_running_loop().time() - began

    with ChatServer(script) as server:
        assert using(server, use) >= 0.4
    assert len(server.asked) == 4


@pytest.mark.parametrize("schema", ["rejected", "broken", "ignored"])
def test_without_json_schema_the_form_is_described_in_the_prompt_from_then_on(schema: Any) -> None:
    async def use(model: Model, ledger: Ledger) -> list[Answer[Colour]]:
        return [await ask(model, sample=n) for n in range(3)]

    with ChatServer(always(Reply(GOOD)), schema=schema) as server:
        got = using(server, use)
    assert [a.value.colour for a in got] == ["blue"] * 3
    assert [asked.schema is not None for asked in server.asked] == [True, False, False, False]
    assert json.loads(server.asked[1].parts("schema")[0])["title"] == "Colour"


def test_many_callers_find_out_about_the_schema_once() -> None:
    async def use(model: Model, ledger: Ledger) -> list[Answer[Colour]]:
        return list(await asyncio.gather(*(ask(model, sample=n) for n in range(20))))

    with ChatServer(always(Reply(GOOD)), schema="ignored") as server:
        got = using(server, use)
    assert all(a.value for a in got)
    assert len(server.asked) == 21


def test_an_overlong_prompt_does_not_speak_against_the_schema() -> None:
    def script(asked: Asked) -> Reply:
        return Reply(status=400, error={"message": "too long"}) if asked.number < 2 else Reply(GOOD)

    async def use(model: Model, ledger: Ledger) -> list[Answer[Colour]]:
        return [await ask(model, sample=n) for n in range(2)]

    with ChatServer(script) as server:
        first, second = using(server, use)
    assert (first.failure, second.value.colour) == ("unavailable", "blue")
    assert server.asked[2].schema is not None


def test_parameters_that_a_model_does_not_take_are_left_out() -> None:
    def script(asked: Asked) -> Reply:
        for name in ("max_tokens", "temperature"):
            if name in asked.body:
                return Reply(status=400, error={"param": name, "code": "unsupported_value", "message": name})
        return Reply(GOOD)

    async def use(model: Model, ledger: Ledger) -> list[Answer[Colour]]:
        return [await ask(model, sample=n) for n in range(2)]

    with ChatServer(script) as server:
        got = using(server, use)
    assert [a.value.colour for a in got] == ["blue", "blue"]
    assert len(server.asked) == 4
    assert "max_completion_tokens" in server.asked[-1].body


def test_a_paid_answer_is_never_paid_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with ChatServer([Reply(GOOD)]) as server:
        first = using(server, ask, path=path)
        second = using(server, ask, path=path)
    assert len(server.asked) == 1
    assert second.value == first.value
    assert second.calls == (first.calls[0].model_copy(update={"bought": False}),)


def test_a_paid_answer_in_the_other_form_is_never_paid_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def use(model: Model, ledger: Ledger) -> list[Answer[Colour]]:
        return list(await asyncio.gather(*(ask(model, sample=n) for n in range(5))))

    with ChatServer(always(Reply(GOOD)), schema="ignored") as server:
        first = using(server, use, path=path)
        paid = len(server.asked)
        second = using(server, use, path=path)
    assert len(server.asked) == paid
    assert [a.value for a in second] == [a.value for a in first]
    assert [[c.id for c in a.calls] for a in second] == [[c.id for c in a.calls] for a in first]


def test_the_same_question_at_once_is_asked_once() -> None:
    async def use(model: Model, ledger: Ledger) -> list[Answer[Colour]]:
        return list(await asyncio.gather(*(ask(model) for _ in range(10))))

    with ChatServer(always(Reply(GOOD, delay_s=0.1))) as server:
        got = using(server, use)
    assert len(server.asked) == 1
    assert sum(a.calls[0].bought for a in got) == 1


def test_samples_are_asked_apart() -> None:
    async def use(model: Model, ledger: Ledger) -> Any:
        return [await ask(model, sample=n) for n in range(3)]

    with ChatServer([Reply(GOOD)] * 3) as server:
        using(server, use)
    assert len(server.asked) == 3


def test_a_server_that_is_silent_for_a_while_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    with ChatServer(always(HANGS)) as server:
        told = {"timeout_s": 0.3, "slow_s": 0.05}
        using(server, lambda model, _: asyncio.gather(ask(model, _), ask(model, _)), **told)
        assert caplog.messages == [
            f"{server.address} has not answered for 0.05 s; a call is given up after 0.3 s"
        ]


def test_timeouts_and_refused_connections_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with ChatServer([HANGS, Reply(GOOD)]) as server:
        assert using(server, ask, path=path, timeout_s=0.2).failure == "timeout"
        assert using(server, ask, path=path).value.colour == "blue"


def test_failed_answers_are_kept_and_asked_again_on_demand(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def use(model: Model, ledger: Ledger) -> Answer[Colour]:
        got = await ask(model)
        if got.failure:
            await model.mark(got.call_id, got.failure)
        return got

    with ChatServer([REFUSAL, Reply(GOOD)]) as server:
        assert using(server, use, path=path).failure == "refused"
        assert using(server, use, path=path).failure == "refused"
        assert len(server.asked) == 1
        assert using(server, use, path=path, retry_failed=True).value.colour == "blue"
        assert using(server, use, path=path).value.colour == "blue"


def test_the_budget_stops_asking_and_the_ledger_stays_free(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def use(model: Model, ledger: Ledger) -> list[Failure | None]:
        return [(await ask(model, sample=n)).failure for n in range(4)]

    with ChatServer(always(Reply(GOOD))) as server:
        first = Limits(budget=Budget(max_calls=2))
        assert using(server, use, path=path, limits=first) == [None, None, "over_budget", "over_budget"]
        assert (first.budget.calls, len(first.budget.refused)) == (2, 2)
        assert using(server, use, path=path, limits=Limits(budget=Budget(max_calls=2))) == [None] * 4
    assert len(server.asked) == 4


def test_the_token_budget_counts_what_the_server_counted() -> None:
    async def use(model: Model, ledger: Ledger) -> list[Failure | None]:
        return [(await ask(model, sample=n)).failure for n in range(4)]

    limits = Limits(budget=Budget(max_tokens=60))
    with ChatServer(always(Reply(GOOD))) as server:
        assert using(server, use, limits=limits) == [None, None, None, "over_budget"]
    each = (len(PROMPT.system) + len(PROMPT.user)) // 4 + len(GOOD) // 4
    assert limits.budget.tokens == 3 * each


def test_unanswered_calls_are_not_paid_from_the_budget() -> None:
    limits = Limits(budget=Budget(max_calls=5))
    got = answer(always(Reply(status=401)), limits=limits)
    assert (got.failure, limits.budget.calls, limits.budget.tokens) == ("unavailable", 0, 0)


def test_no_more_calls_at_once_than_allowed() -> None:
    async def use(model: Model, ledger: Ledger) -> Any:
        return await asyncio.gather(*(ask(model, sample=n) for n in range(20)))

    with ChatServer(always(Reply(GOOD)), delay_s=0.03) as server:
        using(server, use, limits=Limits(Rates(concurrency=4)))
    assert len(server.asked) == 20
    assert server.most_at_once == 4


def test_a_cancelled_caller_does_not_cancel_a_paid_call(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def use(model: Model, ledger: Ledger) -> None:
        task = asyncio.create_task(ask(model))
        await asyncio.sleep(0.15)
        task.cancel()

    with ChatServer([Reply(GOOD, delay_s=0.4)]) as server:
        using(server, use, path=path)
        assert using(server, ask, path=path).value.colour == "blue"
    assert len(server.asked) == 1


def test_keys_go_only_where_they_belong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-secret")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("LONGPROOF_API_KEY", raising=False)
    with ChatServer(always(Reply(GOOD))) as server:
        using(server, ask)
        monkeypatch.setenv("LONGPROOF_API_KEY", "lp-secret")
        using(server, ask)
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        using(server, ask)
    assert [asked.key for asked in server.asked] == ["none", "lp-secret", "sk-openai-secret"]
    assert OpenAIChat("m").endpoint == server.address


def test_a_key_that_the_server_repeats_stays_out_of_the_detail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGPROOF_API_KEY", "lp-secret")
    got = answer(always(Reply(status=401, error={"message": "bad key lp-secret"})))
    assert "bad key" in got.detail
    assert "lp-secret" not in got.detail


def test_keys_are_not_in_the_ledger(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LONGPROOF_API_KEY", "lp-secret")
    answer(always(Reply(GOOD)), path=tmp_path / "ledger.sqlite")
    for file in tmp_path.iterdir():
        assert b"lp-secret" not in file.read_bytes()


@pytest.mark.parametrize("address", ["ftp://h/v1", "localhost:8000", "http://u:p@h/v1", "http://h/v1?key=1"])
def test_a_bad_address_is_bad_input(address: str) -> None:
    with pytest.raises(BadInput):
        OpenAIChat("m", address)


def test_openai_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(BadInput, match="OPENAI_API_KEY"):
        OpenAIChat("m")


def test_lone_surrogates_are_sent_as_question_marks() -> None:
    async def use(model: Model, ledger: Ledger) -> Answer[Colour]:
        return await model.ask(PROMPT._replace(user="sky \ud800"), Colour, purpose="test")

    with ChatServer([Reply(GOOD)]) as server:
        assert using(server, use).value is not None
    assert server.asked[0].user == "sky ?"


def langchain(responses: list[Any]) -> Any:
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel

    return FakeMessagesListChatModel(responses=responses)


def test_a_langchain_model_takes_the_same_place() -> None:
    from langchain_core.messages import AIMessage

    usage = {
        "input_tokens": 9,
        "output_tokens": 3,
        "total_tokens": 12,
        "input_token_details": {"cache_read": 4},
    }
    parts = [{"type": "text", "text": GOOD}]
    chat = LangChainChat(langchain([AIMessage(content=parts, usage_metadata=usage)]))

    async def run() -> Answer[Colour]:
        ledger = await Ledger.open(None)
        got = await ask(Model(chat, ledger, Limits()))
        await ledger.close()
        return got

    got = asyncio.run(run())
    assert got.value is not None
    assert got.value.colour == "blue"
    call = got.calls[0]
    assert (call.prompt_tokens, call.completion_tokens, call.cached_tokens) == (9, 3, 4)


def test_whatever_a_langchain_model_raises_is_a_failure() -> None:
    chat = LangChainChat(langchain([]))

    async def run() -> Answer[Colour]:
        ledger = await Ledger.open(None)
        got = await ask(Model(chat, ledger, Limits(), first_wait_s=0.001))
        await ledger.close()
        return got

    got = asyncio.run(run())
    assert got.failure == "unavailable"
    assert "IndexError" in got.detail


def test_a_500_from_a_server_that_knows_the_schema_is_waited_out() -> None:
    async def use(model: Model, ledger: Ledger) -> list[Answer[Colour]]:
        return [await ask(model, sample=n) for n in range(2)]

    with ChatServer([Reply(GOOD), ILL, Reply(GOOD)]) as server:
        got = using(server, use)
    assert all(a.value for a in got)
    assert all(asked.schema for asked in server.asked)


@pytest.mark.parametrize(("knows", "at_once"), [(True, 3), (False, 2)])
def test_what_was_learned_of_a_model_spares_the_next_run_the_lonely_first_call(knows: bool, at_once: int):
    learned = Learned()

    async def together(model: Model, ledger: Ledger) -> list[Answer[Colour]]:
        prompts = [PROMPT._replace(user=f"What about {n}?") for n in range(3)]
        return await asyncio.gather(*(model.ask(p, Colour, purpose="test") for p in prompts))

    with ChatServer(always(Reply(GOOD)), delay_s=0.1) as server:
        using(server, ask, learned=learned)
        assert all(a.value for a in using(server, together, learned=learned if knows else Learned()))
    assert server.most_at_once == at_once


class Shape(Form):
    """Another form."""

    reason: str
    shape: str


def test_a_server_that_takes_one_forms_schema_may_refuse_anothers():
    def script(asked: Asked) -> Reply:
        wanted = json.dumps(asked.body.get("response_format", {}))
        if "shape" in wanted:
            return ILL
        told = asked.body["messages"][-1]["content"]
        return Reply('{"reason": "It is.", "shape": "round"}' if "shape" in told else GOOD)

    async def both(model: Model, ledger: Ledger) -> list[Any]:
        first = await ask(model)
        return [first.value, (await model.ask(PROMPT, Shape, purpose="test")).value]

    with ChatServer(script) as server:
        assert [type(value) for value in using(server, both)] == [Colour, Shape]
