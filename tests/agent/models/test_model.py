"""The seam to models: what is asked for how, kept, retried, paid and named."""

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fakes import ChatServer
from hypothesis import given
from hypothesis import strategies as st
from reader import BUSY, DOWN, EMPTY, HANGS, ILL, PAGE, PROSE, REFUSAL, SNAPS, Asked, Reply, always
from seam import ADDRESS, GOOD, PROMPT, Colour, Use, answer, answers, ask, asks, using

from longproof.agent.models.answers import Form
from longproof.agent.models.limits import Limiter, Limits, Traffic, estimate_tokens
from longproof.agent.models.model import RETRIES, Answer, Asker, Model, Refused, by_number
from longproof.agent.types import Failure
from longproof.prompts import Prompt


def test_an_answer_is_a_value_with_its_call_and_the_servers_own_numbers() -> None:
    got = answer([Reply(GOOD)])
    assert (got.value, got.failure) == (Colour(reason="It is day.", colour="blue"), None)
    (call,) = got.calls
    sent = len(PROMPT.system) + len(PROMPT.user)
    counts = (call.prompt_tokens, call.completion_tokens, call.cached_tokens, call.answer_characters)
    assert counts == (sent // 4, len(GOOD) // 4, sent // 8, len(GOOD))
    assert (call.bought, call.endpoint, call.id) == (True, ADDRESS, got.call_id)
    assert call.prompt_characters > sent, "the form's schema is read, too"


def test_every_part_of_how_an_answer_is_drawn_is_sent_and_part_of_its_key() -> None:
    ways: list[dict[str, Any]] = [{}, {"top_p": 1.0}, {"top_p": 0.9}, {"max_tokens": 7}, {"temperature": 0.5}]

    async def use(model: Model) -> list[str | None]:
        return [(await ask(model, **way)).call_id for way in [*ways, {"max_tokens": 8192}]]

    server = ChatServer(always(Reply(GOOD)))
    *keys, same = using(server, use)
    assert (len(set(keys)), same) == (len(ways), keys[0])
    for way, asked in zip(ways, server.asked, strict=True):
        assert way.items() <= asked.body.items()
        assert ("top_p" in asked.body) is ("top_p" in way)
    assert (server.asked[0].body["temperature"], server.asked[0].body["max_tokens"]) == (0.0, 8192)
    wanted = server.asked[0].schema
    assert wanted is not None
    assert (wanted["required"], wanted["additionalProperties"]) == (["reason", "colour"], False)


@pytest.mark.parametrize(
    ("reply", "failure"),
    [(PROSE, "unparsed"), (EMPTY, "unparsed"), (Reply('{"colour": "blue"}'), "unparsed"),
     (REFUSAL, "refused"), (Reply(GOOD, finish="content_filter"), "refused"),
     (Reply(GOOD, finish="ERROR"), "truncated"), (Reply(GOOD[:20], finish="length"), "truncated"),
     (PAGE, "unavailable"), (Reply(raw=b'{"choices": []}'), "unavailable"),
     (Reply(raw=b'{"choices": ' + b"[" * 100_000), "unavailable"),
     (Reply(status=400, error={"message": "too many", "code": "context_length_exceeded"}), "too_long"),
     (Reply(status=429, headers={"retry-after": "7200"}), "unavailable")],
)  # fmt: skip
def test_what_is_no_answer_is_a_named_failure(reply: Reply, failure: Failure) -> None:
    got = answer(always(reply))
    assert (got.value, got.failure) == (None, failure)


def test_an_answer_that_was_shown_as_foreign_text_is_none() -> None:
    """Whoever wrote the source wrote it, not the model."""
    written = '{"reason": "The source says so.", "colour": "green"}'
    for foreign, found in ((written, "unparsed"), ("", None)):
        prompt = PROMPT._replace(user=f"{PROMPT.user}\n{written}", foreign=foreign)
        server = ChatServer(always(Reply(written)))
        got = using(server, lambda model, prompt=prompt: model.ask(prompt, Colour, purpose="test"))
        assert got.failure == found


def test_a_server_that_hangs_is_left_in_time_and_not_asked_again() -> None:
    (got,), server = answers([HANGS], timeout_s=0.3)
    assert (got.failure, got.calls[0].failure, len(server.asked)) == ("timeout", "timeout", 1)


CUT = [Reply(GOOD, snap=True), Reply(GOOD, halfway="ends"), Reply(GOOD, halfway="errs")]
FAULTS = [(fault, False) for fault in (BUSY, DOWN, SNAPS, ILL)] + [(cut, True) for cut in (*CUT, BUSY, DOWN)]


@pytest.mark.parametrize(("fault", "stream"), FAULTS)
def test_passing_trouble_is_waited_out_and_costs_no_schema(fault: Reply, stream: bool) -> None:
    (got,), server = answers([fault, fault, Reply(GOOD)], stream=stream)
    assert [asked.schema is not None for asked in server.asked] == [True] * 3
    assert (got.failure, len(got.calls)) == (None, 1)


def test_retry_after_is_honoured_for_all_callers() -> None:
    def script(asked: Asked) -> Reply:
        return Reply(status=429, headers={"retry-after": "0.4"}) if asked.number == 0 else Reply(GOOD)

    began = time.monotonic()
    assert answer(script).value is not None
    assert time.monotonic() - began >= 0.4


@pytest.mark.parametrize("status", [400, 415, 422, 501])
def test_a_server_that_refuses_a_schema_is_asked_in_words_from_then_on(status: int) -> None:
    got, server = answers(lambda asked: Reply(GOOD, status=status if asked.schema else 200), 3)
    assert all(one.value for one in got)
    assert [asked.schema is not None for asked in server.asked] == [True, False, False, False]
    assert json.loads(server.asked[1].parts("schema")[0])["title"] == "Colour"


@pytest.mark.parametrize("odd", [EMPTY, PROSE])
def test_an_empty_or_chatty_answer_is_asked_for_in_words_and_the_schema_is_not_given_up(odd: Reply) -> None:
    got, server = answers([odd, *[Reply(GOOD)] * 2], 2)
    assert all(one.value for one in got)
    assert [asked.schema is not None for asked in server.asked] == [True, False, True]
    assert [len(one.calls) for one in got] == [2, 1]


class Colours(Form):
    """The colours that an answer names."""

    named: list[str]


def test_a_server_that_takes_one_forms_schema_may_refuse_anothers() -> None:
    def script(asked: Asked) -> Reply:
        if asked.form == "Colours":
            return Reply('{"named": []}', status=400 if asked.schema else 200)
        return Reply(GOOD)

    async def use(model: Model) -> list[Any]:
        got = [await ask(model), await model.ask(PROMPT, Colours, purpose="test"), await ask(model, sample=1)]
        return [type(one.value) for one in got]

    server = ChatServer(script)
    assert using(server, use) == [Colour, Colours, Colour]
    assert server.asked[-1].schema is not None


def together(count: int) -> Use:
    async def use(model: Model) -> list[Answer[Colour]]:
        return list(await asyncio.gather(*(ask(model, sample=n) for n in range(count))))

    return use


def test_requests_under_way_together_all_find_out_what_a_model_does_not_take() -> None:
    def script(asked: Asked) -> Reply:
        for name in ("max_tokens", "temperature"):
            if name in asked.body:
                error = {"param": name, "code": "unsupported_parameter", "message": name}
                return Reply(status=400, error=error, delay_s=0.01)
        return Reply(GOOD)

    server = ChatServer(script)
    assert all(one.value for one in using(server, together(5)))
    assert len(server.asked) == 15
    assert all(asked.schema for asked in server.asked)
    assert "max_completion_tokens" in server.asked[-1].body


@pytest.mark.parametrize("schema", ["known", "rejected", "ignored"])
def test_a_paid_answer_is_never_paid_again_in_whatever_form(tmp_path: Path, schema: Any) -> None:
    server = ChatServer(always(Reply(GOOD)), schema=schema)
    first = using(server, asks(3), path=tmp_path / "ledger.sqlite")
    paid = len(server.asked)
    second = using(server, asks(3), path=tmp_path / "ledger.sqlite")
    assert len(server.asked) == paid
    for kept, bought in zip(second, first, strict=True):
        assert kept.value == bought.value
        assert list(kept.calls) == [call.model_copy(update={"bought": False}) for call in bought.calls]


def test_an_answer_that_fits_no_form_is_kept_says_so_and_is_asked_for_again_on_demand(tmp_path: Path) -> None:
    async def use(model: Model) -> list[Answer[Colour]]:
        got = []
        for _ in range(2):
            got.append(await ask(model))
            if got[-1].failure:
                await model.mark(str(got[-1].call_id), "refused")
        return got

    def failures(server: ChatServer, **how: bool) -> list[Failure | None]:
        return [one.failure for one in using(server, use, path=tmp_path / "ledger.sqlite", **how)]

    server = ChatServer([REFUSAL])
    assert failures(server) + failures(server) == ["refused"] * 4
    assert len(server.asked) == 1
    assert "is kept and will be given again; --retry-failed" in answer([REFUSAL]).detail
    server = ChatServer([REFUSAL, Reply(GOOD)])
    assert failures(server, retry_failed=True) == ["refused"] * 2
    assert len(server.asked) == 1, "asked once a run"
    assert failures(server, retry_failed=True) + failures(server) == [None] * 4


def test_the_budget_stops_asking_and_the_ledger_stays_free(tmp_path: Path) -> None:
    def failures(limits: Limits) -> list[Failure | None]:
        path = tmp_path / "ledger.sqlite"
        return [one.failure for one in using(server, asks(4), path=path, limits=limits)]

    server, limits = ChatServer(always(Reply(GOOD))), Limits(max_calls=2)
    assert failures(limits) == [None, None, *["over_budget"] * 2]
    assert (limits.calls, len(limits.refused)) == (2, 2)
    assert failures(Limits(max_calls=2)) == [None] * 4
    assert len(server.asked) == 4


def test_the_token_budget_counts_what_the_server_counted() -> None:
    limits = Limits(max_tokens=60)
    got, _ = answers(always(Reply(GOOD)), 4, limits=limits)
    assert [one.failure for one in got] == [None, None, None, "over_budget"]
    each = (len(PROMPT.system) + len(PROMPT.user)) // 4 + len(GOOD) // 4
    assert limits.tokens == 3 * each


@pytest.mark.parametrize("reply", [Reply(status=401), BUSY, PAGE])
def test_unanswered_calls_are_not_paid_from_the_budget(reply: Reply) -> None:
    limits = Limits(max_calls=5)
    got = answer(always(reply), limits=limits)
    assert (got.failure, limits.calls, limits.tokens) == ("unavailable", 0, 0)


@pytest.mark.parametrize("broken", [*CUT[1:], SNAPS])
def test_answers_that_break_off_are_paid(broken: Reply) -> None:
    limits = Limits(max_calls=3)
    got, server = answers(always(broken), 2, limits=limits, stream=True)
    assert [one.failure for one in got] == ["over_budget"] * 2
    assert len(server.asked) == limits.calls == 3


def test_no_more_calls_at_once_than_allowed() -> None:
    server = ChatServer(always(Reply(GOOD)), delay_s=0.03)
    using(server, together(20), limits=Limits(concurrency=4))
    assert (len(server.asked), server.most_at_once) == (20, 4)


def test_what_the_ledger_holds_waits_for_no_place() -> None:
    async def use(model: Model) -> Answer[Colour]:
        await ask(model)
        hanging = asyncio.create_task(ask(model, sample=1))
        await asyncio.sleep(0.05)
        kept = await asyncio.wait_for(ask(model), 2)
        assert not hanging.done()
        for call in model._ledger._buying:
            call.cancel()
        return kept

    server = ChatServer([Reply(GOOD), HANGS])
    assert not using(server, use, limits=Limits(concurrency=1)).calls[0].bought


REFUSING = [Reply(status=status, error={"message": "no such thing"}) for status in (401, 403, 404)]
SPENT = Reply(status=429, error={"message": "pay", "code": "insufficient_quota"})


@pytest.mark.parametrize("reply", [*REFUSING, SPENT], ids=["401", "403", "404", "spent"])
def test_a_server_that_refuses_is_asked_once_and_named(reply: Reply) -> None:
    async def use(model: Model) -> None:
        assert [one.failure for one in await asks(2)(model)] == ["unavailable"] * 2
        with pytest.raises(Refused, match="check the key, the address and the model's name 'm'"):
            model.refuse()
        model.refuse()
        await ask(model)

    server = ChatServer(always(reply))
    using(server, use)
    assert len(server.asked) == 2


def test_a_server_that_sends_pages_is_named_after_the_second_one() -> None:
    async def use(model: Model) -> None:
        await ask(model)
        model.refuse()
        await ask(model, sample=1)
        with pytest.raises(Refused, match="sent no chat completion"):
            model.refuse()

    using(ChatServer(always(PAGE)), use)


FORGED = [{"message": "forged words"}, {"message": {"content": ["forged words"]}}]


@pytest.mark.parametrize("extra", FORGED, ids=["no message", "no text"])
def test_a_malformed_answer_is_not_quoted(extra: dict[str, Any]) -> None:
    body = json.dumps({"choices": [{"index": 0, **extra}], "id": "x"}).encode()

    async def use(model: Model) -> None:
        for sample in range(2):
            await ask(model, sample=sample)
        with pytest.raises(Refused, match=r"sent no chat completion: \w+Error") as refused:
            model.refuse()
        assert "forged" not in str(refused.value)

    using(ChatServer(always(Reply(raw=body))), use)


def test_one_malformed_first_answer_is_a_failure_of_its_call_alone() -> None:
    async def use(model: Model) -> list[Failure | None]:
        failures = [(await ask(model, sample=n)).failure for n in range(2)]
        model.refuse()
        return failures

    assert using(ChatServer([PAGE, Reply(GOOD)]), use) == ["unavailable", None]


def test_a_server_that_is_down_is_told_of_and_waited_for_once(caplog: pytest.LogCaptureFixture) -> None:
    limits = Limits()
    with caplog.at_level(logging.WARNING):
        got, server = answers(always(DOWN), 2, limits=limits)
    assert [one.failure for one in got] == ["unavailable"] * 2
    assert len(server.asked) == (1 + RETRIES) + 1
    (told,) = caplog.messages
    assert f"HTTP 503: overloaded; asking again, up to {RETRIES} times" in told
    assert limits.traffic == Traffic(retries=RETRIES)


ITEMS = {1: "red", 2: "blue", 3: "green"}


class Outcome(NamedTuple):
    """A colour that was named has no failure."""

    failure: Failure | None


def asked_about(*groups: str, **how: Any) -> tuple[dict[int, Outcome], list[Failure | None], list[Asked]]:
    """Outcomes, failures that the ledger keeps of the calls, and requests. The n-th answer names the n-th group."""

    def prompt_of(items: Mapping[int, str]) -> Prompt:
        return Prompt("Name the colours.", " ".join(items.values()), "hash", "en", "")

    def read(answer: Answer[Colours], items: Mapping[int, str], _: Prompt) -> dict[int, Outcome]:
        named = answer.value.named if answer.value else []
        return {n: Outcome(None if item in named else "ungrounded") for n, item in items.items()}

    async def use(model: Model) -> tuple[dict[int, Outcome], list[Failure | None]]:
        outcomes, calls = await Asker(model, **how).ask_about(
            ITEMS, letter="C", purpose="test", form=Colours, prompt_of=prompt_of, read=read
        )
        ledger = model._ledger
        return outcomes, [(await ledger._in_thread(ledger._select, call.id))[1] for call in calls]

    server = ChatServer([Reply(json.dumps({"named": group.split()})) for group in groups])
    outcomes, marks = using(server, use)
    return outcomes, marks, server.asked


def test_only_what_failed_is_asked_about_again_told_why_and_marked_where_it_fails_twice() -> None:
    outcomes, marks, asked = asked_about("red green", "blue")
    assert list(outcomes.items()) == [(n, Outcome(None)) for n in ITEMS]
    assert [one.user.split("\n")[0] for one in asked] == ["red blue green", "blue"]
    assert ("C2: ungrounded" in asked[1].user, "C1" in asked[1].user, marks) == (True, False, [None, None])
    outcomes, marks, _ = asked_about("red", "green")
    assert outcomes == {1: Outcome(None), 2: Outcome("ungrounded"), 3: Outcome(None)}
    assert marks == [None, "ungrounded"]


def test_an_asker_of_one_request_puts_the_form_into_words_and_marks_what_failed() -> None:
    outcomes, marks, (asked,) = asked_about("red green", once=True)
    assert (outcomes[2], asked.schema, marks) == (Outcome("ungrounded"), None, ["ungrounded"])


def test_things_go_by_the_number_in_their_names() -> None:
    named = [("C3", "a"), ("3", "b"), ("[c3]", "c"), ("S 12.", "d"), ("D3", "e"), ("three", "f"), ("３", "g")]
    assert by_number(named) == {3: ["a", "b", "c"], 12: ["d"]}


def test_a_pause_holds_everyone_even_when_it_grows() -> None:
    async def work() -> float:
        limiter, now = Limiter(1), asyncio.get_running_loop().time
        began = now()
        limiter.pause(0.05)
        waiting = [asyncio.create_task(limiter.wait()) for _ in range(3)]
        await asyncio.sleep(0.01)
        limiter.pause(0.1)
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        return now() - began

    assert asyncio.run(work()) >= 0.11


@given(st.integers(0, 20), st.lists(st.integers(0, 50), max_size=40), st.integers(0, 500))
def test_no_reservation_exceeds_the_budget(max_calls: int, asked: list[int], max_tokens: int) -> None:
    limits = Limits(max_calls=max_calls, max_tokens=max_tokens)
    taken = [tokens for n, tokens in enumerate(asked) if limits.take(tokens, "judge", f"call {n}")]
    calls, refused = limits.refused_steps().get("judge", (0, 0))
    assert limits.calls == len(taken) <= max_calls
    assert limits.tokens == sum(taken) <= max_tokens
    assert calls + limits.calls == len(asked)
    assert refused + limits.tokens == sum(asked)


def test_a_budget_of_nothing_counts_what_a_run_would_ask_once_each() -> None:
    limits = Limits(max_calls=0)
    for call in [(10, "judge", "a"), (20, "judge", "b"), (5, "decompose", "c"), (20, "judge", "b")]:
        assert not limits.take(*call)
    assert list(limits.refused_steps().items()) == [("decompose", (1, 5)), ("judge", (2, 30))]


def test_estimates_are_near_what_tokenizers_count() -> None:
    texts = ("", "The old captain walked along the harbour.", "老船长沿着港口走。")
    assert [estimate_tokens(text) for text in texts] == [0, 11, 9]
