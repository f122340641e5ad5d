"""The ledger: committed before it is read, asked once, nobody else's file; and exported, as a recording."""

import asyncio
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from seam import PROMPT

from longproof.agent.models.answers import Message, Raw
from longproof.agent.models.ledger import Ledger, LedgerFailed, Line, Recorder, Replay
from longproof.retrieval.types import BadInput

ANSWER = Raw(text="an answer", finish="stop", prompt_tokens=10, completion_tokens=3, cached_tokens=4)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def using(path: Path | None, use: Callable[[Ledger], Awaitable[Any]], **how: Any) -> Any:
    async def run() -> Any:
        ledger = await Ledger.open(path, **how)
        try:
            return await use(ledger)
        finally:
            await ledger.close()

    return asyncio.run(run())


async def buy(ledger: Ledger, key: str, ask: Any = ANSWER, slots: Any = None) -> tuple[Raw, bool]:
    asked = partial(asyncio.sleep, 0, ask) if isinstance(ask, Raw) else ask
    message = Message(PROMPT, {}, endpoint="http://h/v1", model="m", key=key)
    return await ledger.answer(message, lambda _: asked(), slots or asyncio.Semaphore(1))


def execute(path: Path, statement: str, *values: str) -> list[Any]:
    """Execute a statement as another process would."""
    with sqlite3.connect(path) as other:
        return other.execute(statement, values).fetchall()


def test_an_answer_is_kept_as_it_came(tmp_path: Path) -> None:
    path = tmp_path / "new" / "ledger.sqlite"
    odd = Raw(text="a \x00 NUL, a lone \ud800, 字", refusal=None)
    assert using(path, lambda ledger: buy(ledger, "k", odd)) == (odd, True)
    assert using(path, lambda ledger: ledger.get("k")) == odd
    assert using(path, lambda ledger: ledger.get("other")) is None


def test_the_slot_is_held_until_the_answer_is_on_disk(path: Path) -> None:
    async def use(ledger: Ledger) -> None:
        slots = asyncio.Semaphore(1)

        async def asked(before: int) -> Raw:
            assert execute(path, "SELECT count(*) FROM calls") == [(before,)]
            return ANSWER

        await asyncio.gather(*(buy(ledger, str(n), partial(asked, n), slots) for n in range(10)))

    using(path, use)


def test_who_waits_while_the_ledger_fails_is_not_asked_for_and_who_comes_later_is(path: Path) -> None:
    asked_for: list[str] = []

    async def use(ledger: Ledger) -> None:
        slots = asyncio.Semaphore(2)

        async def asked(key: str) -> Raw:
            asked_for.append(key)
            await asyncio.sleep(0.01)
            return ANSWER

        full = "BEFORE INSERT ON calls BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        execute(path, f"CREATE TRIGGER full {full}")
        buying = (buy(ledger, key, partial(asked, key), slots) for key in "0123456789")
        ended = await asyncio.gather(*buying, return_exceptions=True)
        execute(path, "DROP TRIGGER full")
        assert [type(one) for one in ended] == [LedgerFailed] * 10
        assert len(asked_for) == 2
        assert (await buy(ledger, "later", ANSWER, slots))[1]

    using(path, use)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_ledger_that_was_removed_or_replaced_is_noticed_at_the_next_write(
    path: Path, replaced: bool
) -> None:
    def remove() -> None:
        path.unlink()
        if replaced:
            path.write_bytes(b"")

    async def use(ledger: Ledger) -> None:
        await buy(ledger, "first", ANSWER)
        remove()
        with pytest.raises(LedgerFailed, match="removed or replaced while it was open"):
            await buy(ledger, "second", ANSWER)

    using(path, use)


def test_what_raises_is_not_kept_and_reaches_every_waiter() -> None:
    async def use(ledger: Ledger) -> tuple[list[type], Raw | None]:
        async def asked() -> Raw:
            await asyncio.sleep(0.02)
            raise TimeoutError

        raised = await asyncio.gather(*(buy(ledger, "k", asked) for _ in range(3)), return_exceptions=True)
        return [type(error) for error in raised], await ledger.get("k")

    assert using(None, use) == ([TimeoutError] * 3, None)


def test_closing_waits_for_calls_that_are_under_way(path: Path) -> None:
    async def use(ledger: Ledger) -> None:
        began = asyncio.Event()

        async def answer() -> Raw:
            began.set()
            return await asyncio.sleep(0.2, ANSWER)

        task = asyncio.create_task(buy(ledger, "k", answer))
        await began.wait()
        task.cancel()

    using(path, use)
    assert using(path, lambda ledger: ledger.get("k")) == ANSWER


def test_a_good_answer_is_never_replaced(path: Path) -> None:
    """Another process may have been faster: its answer stands, and both use it."""

    async def use(ledger: Ledger) -> tuple[Raw, bool]:
        async def asked() -> Raw:
            answer = ANSWER.model_dump_json(exclude_none=True)
            execute(path, "INSERT INTO calls VALUES ('k', 'e', 'm', ?, NULL)", answer)
            return ANSWER.model_copy(update={"text": "too late"})

        return await buy(ledger, "k", asked)

    assert using(path, use)[0] == ANSWER


def test_what_was_paid_while_a_call_waited_for_its_place_is_not_asked_for(path: Path) -> None:
    async def use(ledger: Ledger) -> tuple[Raw, bool]:
        slots = asyncio.Semaphore(0)
        waiting = asyncio.create_task(buy(ledger, "k", AsyncMock(side_effect=AssertionError), slots))
        await asyncio.sleep(0.02)
        answer = ANSWER.model_dump_json(exclude_none=True)
        execute(path, "INSERT INTO calls VALUES ('k', 'e', 'm', ?, NULL)", answer)
        slots.release()
        return await waiting

    assert using(path, use) == (ANSWER, False)


def test_who_waited_for_what_another_ledger_asked_again_has_asked_again(path: Path) -> None:
    async def use(ledger: Ledger) -> list[Raw | None]:
        await buy(ledger, "k")
        await ledger.mark("k", "refused")
        both = [await Ledger.open(path, retry_failed=True) for _ in range(2)]
        anew = partial(asyncio.sleep, 0.05, ANSWER)
        assert sorted(
            [bought for _, bought in await asyncio.gather(*(buy(one, "k", anew) for one in both))]
        ) == [False, True]
        await ledger.mark("k", "refused")
        kept = [await one.get("k") for one in both]
        for one in both:
            await one.close()
        return kept

    assert using(path, use) == [ANSWER] * 2


def test_one_process_pays_once_on_however_many_event_loops(path: Path) -> None:
    keys = [str(n) for n in range(14)]
    asked_for: list[str] = []

    async def use(ledger: Ledger) -> list[bool]:
        async def asked(key: str) -> Raw:
            asked_for.append(key)
            await asyncio.sleep(0.02)
            return ANSWER

        slots = asyncio.Semaphore(1)
        buying = (buy(ledger, key, partial(asked, key), slots) for key in keys)
        return [bought for _, bought in await asyncio.gather(*buying)]

    with ThreadPoolExecutor(8) as threads:
        bought = list(threads.map(lambda _: using(path, use), range(8)))
    assert sorted(asked_for) == sorted(keys)
    assert sum(map(sum, bought)) == len(keys)


def test_who_waits_for_what_another_ledger_pays_leaves_its_place_to_others(path: Path) -> None:
    async def use(ledger: Ledger) -> None:
        other, slots = await Ledger.open(path), asyncio.Semaphore(1)
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def slow() -> Raw:
            begun.set()
            await go_on.wait()
            return ANSWER

        paying = asyncio.create_task(buy(other, "slow", slow))
        await begun.wait()
        waiting = asyncio.create_task(buy(ledger, "slow", slow, slots))
        await asyncio.sleep(0.02)
        assert (await asyncio.wait_for(buy(ledger, "other", ANSWER, slots), 5))[1]
        go_on.set()
        assert [(await paying)[1], (await waiting)[1]] == [True, False]
        await other.close()

    using(path, use)


@pytest.mark.parametrize("stops", [False, True])
def test_who_waits_for_one_that_fails_or_stops_at_another_ledger_asks_itself(path: Path, stops: bool) -> None:
    async def use(ledger: Ledger) -> None:
        begun = asyncio.Event()

        async def fail() -> Raw:
            begun.set()
            await asyncio.sleep(0.05)
            raise TimeoutError

        other = await Ledger.open(path)
        failing = asyncio.create_task(buy(other, "k", fail))
        await begun.wait()
        waiting = asyncio.create_task(buy(ledger, "k"))
        await asyncio.sleep(0.02)
        for task in other._buying if stops else ():
            task.cancel()
        assert (await waiting)[1]
        with suppress(TimeoutError, asyncio.CancelledError):
            await failing
        await other.close()

    using(path, use)


def test_a_call_that_a_loop_never_began_holds_nobody_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stop_at_once() -> None:
        async def buy_later() -> None:
            await asyncio.sleep(0)
            await buy(ledger, "k")

        ledger = await Ledger.open(path)
        monkeypatch.setattr(ledger, "get", AsyncMock(return_value=None))
        buying.append(asyncio.create_task(buy_later()))
        await asyncio.sleep(0)

    buying: list[asyncio.Task[None]] = []
    asyncio.run(stop_at_once())
    assert using(path, lambda ledger: asyncio.wait_for(buy(ledger, "k"), 5))[1]


def test_a_ledger_that_is_locked_while_it_is_opened_is_waited_for(path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE t (x)")
    other.execute("DROP TABLE t")
    other.execute("BEGIN EXCLUSIVE")
    letting_go = threading.Timer(0.3, other.execute, ["COMMIT"])
    letting_go.start()
    assert using(path, lambda ledger: ledger.get("k")) is None
    letting_go.join()
    other.close()


def test_a_ledger_that_stays_locked_is_named_after_a_while(path: Path) -> None:
    using(path, lambda ledger: ledger.get("k"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BadInput, match="locked"):
        asyncio.run(asyncio.wait_for(Ledger.open(path, busy_s=0.2), 5))
    other.close()


def test_a_name_belongs_to_what_its_run_was_begun_with(path: Path) -> None:
    using(path, lambda ledger: ledger.start_run("one", "a case"))
    with pytest.raises(BadInput, match="'one' was begun with another"):
        using(path, lambda ledger: ledger.start_run("one", "another case"))
    using(path, lambda ledger: ledger.start_run("one", "a case"))
    execute(path, "UPDATE runs SET asked = '{}'")
    using(path, lambda ledger: ledger.start_run("one", "an edition before may not have said it"))


def make_later(path: Path) -> None:
    using(path, lambda ledger: ledger.get("k"))
    execute(path, "PRAGMA user_version = 99")


def make_damaged(path: Path) -> None:
    long = Raw(text="x" * 2000)
    lines = [Line(key=f"{n:064}", purpose="judge", model="m", answer=long) for n in range(50)]
    using(path, lambda ledger: ledger.fill(lines))
    data = bytearray(path.read_bytes())
    data[8192:40000] = b"\x55" * (40000 - 8192)
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("make", "told"),
    [(partial(execute, statement="CREATE TABLE calls (x)"), "something else"),
     (lambda path: path.write_text("dear diary\n" * 100), "not a database"),
     (make_later, "layout 99"), (make_damaged, r"damaged|malformed"), (Path.mkdir, "can't use")],
)  # fmt: skip
def test_what_is_no_ledger_of_ours_is_named_and_left_alone(path: Path, make: Any, told: str) -> None:
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(BadInput, match=told):
        using(path, lambda ledger: ledger.get("k"))
    assert (path.read_bytes() if path.is_file() else b"") == before


@pytest.mark.parametrize("answer", ["7", "'{'", "'{\"text\": 1}'", f"'{'[' * 50_000}'"])
def test_a_changed_answer_is_named(path: Path, answer: str) -> None:
    using(path, lambda ledger: buy(ledger, "k"))
    execute(path, f"UPDATE calls SET answer = {answer}")
    with pytest.raises(BadInput, match="tampered"):
        using(path, lambda ledger: ledger.get("k"))


ANY_TEXT = st.text(st.characters(codec=None), max_size=30)
"""Halves of characters, too: JSON can name them, and a server that cuts an answer may send one."""


@example(text="\ud83d", refusal=None)
@given(text=ANY_TEXT, refusal=st.none() | ANY_TEXT)
def test_what_is_recorded_is_what_is_replayed(tmp_path_factory: Any, text: str, refusal: str | None) -> None:
    path = tmp_path_factory.mktemp("recording") / "r.gz"
    answered, lost = (
        Message(PROMPT, {}, model=model, purpose="judge", key=letter * 64)
        for model, letter in [("模型", "a"), ("m", "b")]
    )
    answer, recorder = Raw(text=text, refusal=refusal, prompt_tokens=0), Recorder()
    recorder.note(answered, answer)
    recorder.note(lost, failure="timeout")
    recorder.write(path, {"example": "三国"})
    replay = Replay.open(path)
    assert replay.header.run == {"example": "三国"}
    kept = [(line.model, line.answer, line.lost) for line in replay.lines.values()]
    assert kept == [("模型", answer, ()), ("m", None, ("timeout",))]
