"""The ledger: committed before it is read, asked once, booked to its run, and nobody else's file."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from longproof.agent.models.answers import Raw
from longproof.agent.models.ledger import Ledger, LedgerFailed, content_key
from longproof.agent.models.prices import Tokens
from longproof.retrieval.types import BadInput

ANSWER = Raw(text="an answer", finish="stop", prompt_tokens=10, completion_tokens=3, cached_tokens=4)


def using(path: Path | None, use: Callable[[Ledger], Awaitable[Any]], **how: Any) -> Any:
    async def run() -> Any:
        ledger = await Ledger.open(path, **how)
        try:
            return await use(ledger)
        finally:
            await ledger.close()

    return asyncio.run(run())


async def buy(ledger: Ledger, key: str, raw: Raw = ANSWER, *, delay_s: float = 0.0) -> tuple[Raw, bool]:
    async def asked() -> Raw:
        await asyncio.sleep(delay_s)
        return raw

    return await ledger.buy(key, asked, asyncio.Semaphore(1), endpoint="http://h/v1", model="m")


def test_an_answer_is_kept_as_it_came(tmp_path: Path) -> None:
    path = tmp_path / "new" / "ledger.sqlite"
    odd = Raw(text="a \x00 NUL, a lone \ud800, 字", refusal=None)
    assert using(path, lambda ledger: buy(ledger, "k", odd)) == (odd, True)
    assert using(path, lambda ledger: ledger.get("k")) == odd
    assert using(path, lambda ledger: ledger.get("other")) is None


def test_an_answer_is_on_disk_before_it_is_returned(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def use(ledger: Ledger) -> int:
        await buy(ledger, "k")
        with sqlite3.connect(path) as other:
            return int(other.execute("SELECT count(*) FROM calls").fetchone()[0])

    assert using(path, use) == 1


def test_the_slot_is_held_until_the_answer_is_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def use(ledger: Ledger) -> None:
        slots = asyncio.Semaphore(1)

        async def asked() -> Raw:
            with sqlite3.connect(path) as other:
                kept = other.execute("SELECT count(*) FROM calls").fetchone()[0]
            assert kept == len(seen)
            seen.append(1)
            return ANSWER

        seen: list[int] = []
        await asyncio.gather(*(ledger.buy(str(n), asked, slots, endpoint="e", model="m") for n in range(10)))

    using(path, use)


def test_who_waits_while_the_ledger_fails_is_not_asked_for_and_who_comes_later_is(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    asked_for: list[str] = []

    async def use(ledger: Ledger) -> None:
        slots = asyncio.Semaphore(2)

        async def bought(key: str) -> tuple[Raw, bool]:
            async def asked() -> Raw:
                asked_for.append(key)
                await asyncio.sleep(0.01)
                return ANSWER

            return await ledger.buy(key, asked, slots, endpoint="e", model="m")

        with sqlite3.connect(path) as other:
            full = "BEFORE INSERT ON purchases BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
            other.execute(f"CREATE TRIGGER full {full}")
        ended = await asyncio.gather(*map(bought, "0123456789"), return_exceptions=True)
        assert all(isinstance(one, LedgerFailed) for one in ended)
        assert len(asked_for) == 2
        other.execute("DROP TRIGGER full")
        other.close()
        assert (await bought("later"))[1]

    using(path, use)


def test_two_buyers_at_once_pay_once() -> None:
    calls = []

    async def use(ledger: Ledger) -> list[tuple[Raw, bool]]:
        async def asked() -> Raw:
            calls.append(1)
            await asyncio.sleep(0.05)
            return ANSWER

        slots = asyncio.Semaphore(5)
        return list(
            await asyncio.gather(*(ledger.buy("k", asked, slots, endpoint="e", model="m") for _ in range(5)))
        )

    entries = using(None, use)
    assert len(calls) == 1
    assert [bought for _, bought in entries] == [True, False, False, False, False]


def test_what_raises_is_not_kept_and_reaches_every_waiter() -> None:
    async def use(ledger: Ledger) -> list[Any]:
        async def asked() -> Raw:
            await asyncio.sleep(0.02)
            raise TimeoutError

        slots = asyncio.Semaphore(5)
        bought = [ledger.buy("k", asked, slots, endpoint="e", model="m") for _ in range(3)]
        got = await asyncio.gather(*bought, return_exceptions=True)
        return [*got, await ledger.get("k")]

    *raised, kept = using(None, use)
    assert [type(error) for error in raised] == [TimeoutError] * 3
    assert kept is None


def test_closing_waits_for_calls_that_are_under_way(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def use(ledger: Ledger) -> None:
        task = asyncio.create_task(buy(ledger, "k", delay_s=0.2))
        await asyncio.sleep(0.05)
        task.cancel()

    using(path, use)
    assert using(path, lambda ledger: ledger.get("k")) == ANSWER


def test_failed_answers_come_back_unless_they_are_to_be_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    better = ANSWER.model_copy(update={"text": "better"})

    async def fail(ledger: Ledger) -> None:
        await buy(ledger, "k")
        await ledger.mark("k", "refused")

    using(path, fail)
    assert using(path, lambda ledger: ledger.get("k")) == ANSWER

    async def again(ledger: Ledger) -> list[Any]:
        before = await ledger.get("k")
        bought = await buy(ledger, "k", better)
        await ledger.mark("k", "refused")
        return [before, bought, await ledger.get("k")]

    before, bought, after = using(path, again, retry_failed=True)
    assert (before, bought) == (None, (better, True))
    assert after == better


def test_a_good_answer_is_never_replaced(tmp_path: Path) -> None:
    """Another process may have been faster: its answer stands, and both use it."""
    path = tmp_path / "ledger.sqlite"

    async def use(ledger: Ledger) -> tuple[Raw, bool]:
        async def asked() -> Raw:
            with sqlite3.connect(path) as other:
                answer = (ANSWER.model_dump_json(exclude_none=True),)
                other.execute("INSERT INTO calls VALUES ('k', 'e', 'm', ?, NULL)", answer)
            return ANSWER.model_copy(update={"text": "too late"})

        return await ledger.buy("k", asked, asyncio.Semaphore(1), endpoint="e", model="m")

    assert using(path, use)[0] == ANSWER


def test_one_process_pays_once_on_however_many_event_loops_and_who_waits_holds_no_place(
    tmp_path: Path,
) -> None:
    path, keys = tmp_path / "ledger.sqlite", [str(n) for n in range(14)]
    asked_for: list[str] = []

    async def use(ledger: Ledger) -> list[bool]:
        async def asked(key: str) -> Raw:
            asked_for.append(key)
            await asyncio.sleep(0.02)
            return ANSWER

        slots = asyncio.Semaphore(1)
        buying = (ledger.buy(key, partial(asked, key), slots, endpoint="e", model="m") for key in keys)
        return [bought for _, bought in await asyncio.gather(*buying)]

    with ThreadPoolExecutor(8) as threads:
        bought = list(threads.map(lambda _: using(path, use), range(8)))
    assert sorted(asked_for) == sorted(keys)
    assert sum(map(sum, bought)) == len(keys)

    async def aside(ledger: Ledger) -> None:
        """While another ledger of this process pays for `slow`, whoever waits for it leaves its place to `other`."""
        other, slots, go_on = await Ledger.open(path), asyncio.Semaphore(1), asyncio.Event()

        async def slow() -> Raw:
            await go_on.wait()
            return ANSWER

        paying = asyncio.create_task(other.buy("slow", slow, asyncio.Semaphore(1), endpoint="e", model="m"))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(ledger.buy("slow", slow, slots, endpoint="e", model="m"))
        await asyncio.sleep(0)
        assert (await ledger.buy("other", partial(asyncio.sleep, 0, ANSWER), slots, endpoint="e", model="m"))[
            1
        ]
        go_on.set()
        assert [(await paying)[1], (await waiting)[1]] == [True, False]
        await other.close()

    using(path, aside)


def test_who_waits_for_one_that_fails_or_stops_at_another_ledger_asks_itself(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def use(ledger: Ledger) -> None:
        async def fail() -> Raw:
            await asyncio.sleep(0.01)
            raise TimeoutError

        async def good() -> Raw:
            return ANSWER

        for stop in (False, True):
            other = await Ledger.open(path)
            failing = asyncio.create_task(
                other.buy(f"{stop}", fail, asyncio.Semaphore(1), endpoint="e", model="m")
            )
            await asyncio.sleep(0)
            waiting = asyncio.create_task(
                ledger.buy(f"{stop}", good, asyncio.Semaphore(1), endpoint="e", model="m")
            )
            await asyncio.sleep(0)
            if stop:
                for task in other._buying:
                    task.cancel()
            assert (await waiting)[1]
            with suppress(TimeoutError, asyncio.CancelledError):
                await failing
            await other.close()

    using(path, use)


@pytest.mark.parametrize("way", ["deleted", "emptied", "replaced"])
def test_a_ledger_that_goes_away_in_the_middle_is_named_before_more_is_paid(tmp_path: Path, way: str) -> None:
    path = tmp_path / "ledger.sqlite"
    asked_for: list[int] = []

    async def use(ledger: Ledger) -> None:
        async def asked() -> Raw:
            asked_for.append(1)
            return ANSWER

        await ledger.buy("k", asked, asyncio.Semaphore(1), endpoint="e", model="m")
        if way == "emptied":
            os.truncate(path, 0)
        else:
            path.unlink()
        if way == "replaced":
            path.write_bytes(b"something else")
        with pytest.raises(LedgerFailed, match=r"emptied, moved or deleted|can't be used"):
            await ledger.buy("l", asked, asyncio.Semaphore(1), endpoint="e", model="m")

    with suppress(LedgerFailed):
        using(path, use)
    assert len(asked_for) == 1


def test_a_call_that_a_closing_event_loop_never_began_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def stop_at_once() -> None:
        async def buy_later() -> None:
            await asyncio.sleep(0)
            await buy(ledger, "k")

        ledger = await Ledger.open(path)
        buying.append(asyncio.create_task(buy_later()))
        await asyncio.sleep(0)

    buying: list[asyncio.Task[None]] = []
    asyncio.run(stop_at_once())
    assert using(path, lambda ledger: asyncio.wait_for(buy(ledger, "k"), 5))[1]


def test_a_ledger_that_is_locked_while_it_is_opened_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    sqlite3.connect(path).close()
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE t (x)")
    other.execute("DROP TABLE t")
    other.execute("BEGIN EXCLUSIVE")
    letting_go = threading.Timer(0.3, other.execute, ["COMMIT"])
    letting_go.start()
    assert using(path, lambda ledger: ledger.runs()) == []
    letting_go.join()
    other.close()


def test_a_ledger_that_stays_locked_is_named_after_a_while(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    using(path, lambda ledger: ledger.runs())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BadInput, match="locked"):
        asyncio.run(asyncio.wait_for(Ledger.open(path, busy_s=0.2), 5))
    other.close()


def test_runs_are_listed_with_their_state_and_what_they_paid(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    def run(name: str, keys: list[str], state: Any) -> None:
        async def use(ledger: Ledger) -> None:
            await ledger.start_run(name, {"source": "novel.txt"}, name)
            for key in keys:
                if await ledger.get(key) is None:
                    await buy(ledger, key)
            if state:
                await ledger.end_run(state)

        using(path, use)

    run("one", ["a", "b"], "interrupted")
    run("one", ["a", "b", "c"], "done")
    run("two", ["a", "d"], None)
    runs = {run.run_id: run for run in using(path, lambda ledger: ledger.runs())}
    assert (runs["one"].state, runs["one"].calls, runs["one"].by_model) == (
        "done",
        3,
        (Tokens("m", 30, 9, 12),),
    )
    assert (runs["two"].state, runs["two"].calls, runs["two"].by_model) == (
        "running",
        1,
        (Tokens("m", 10, 3, 4),),
    )
    assert runs["one"].asked == {"source": "novel.txt", "begun_with": "one"}
    assert runs["two"].ended is None


def test_a_name_belongs_to_what_its_run_was_begun_with(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def use(ledger: Ledger) -> None:
        await ledger.start_run("one", {}, "a case")
        await ledger.end_run("done")
        with pytest.raises(BadInput, match="'one' was begun with another"):
            await ledger.start_run("one", {}, "another case")
        (run,) = await ledger.runs()
        assert run.state == "done"
        await ledger.start_run("one", {}, "a case")

    using(path, use)


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE calls (x)")
    before = path.read_bytes()
    with pytest.raises(BadInput, match="something else"):
        using(path, lambda ledger: ledger.runs())
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary\n" * 100)
    with pytest.raises(BadInput, match="not a database"):
        using(path, lambda ledger: ledger.runs())
    assert path.read_text().startswith("dear diary")


def test_a_ledger_of_another_layout_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    using(path, lambda ledger: ledger.runs())
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 99")
    with pytest.raises(BadInput, match="layout 99"):
        using(path, lambda ledger: ledger.runs())


def test_a_damaged_ledger_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def fill(ledger: Ledger) -> None:
        for n in range(50):
            await buy(ledger, str(n), Raw(text="x" * 2000))

    using(path, fill)
    data = bytearray(path.read_bytes())
    data[8192:40000] = b"\x55" * (40000 - 8192)
    path.write_bytes(bytes(data))
    with pytest.raises(BadInput, match=r"damaged|malformed"):
        using(path, lambda ledger: ledger.runs())


@pytest.mark.parametrize("answer", ["7", "'{'", "'{\"text\": 1}'", f"'{'[' * 50_000}'"])
def test_a_changed_answer_is_named(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "ledger.sqlite"
    using(path, lambda ledger: buy(ledger, "k"))
    with sqlite3.connect(path) as other:
        other.execute(f"UPDATE calls SET answer = {answer}")
    with pytest.raises(BadInput, match="tampered"):
        using(path, lambda ledger: ledger.get("k"))


@pytest.mark.parametrize("asked", ["7", "'{'", f"'{'[' * 50_000}'"])
def test_a_changed_run_is_named(tmp_path: Path, asked: str) -> None:
    path = tmp_path / "ledger.sqlite"
    using(path, lambda ledger: ledger.start_run("one", {}, ""))
    with sqlite3.connect(path) as other:
        other.execute(f"UPDATE runs SET asked = {asked}")
    with pytest.raises(BadInput, match="tampered"):
        using(path, lambda ledger: ledger.runs())


def test_a_place_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput):
        using(tmp_path / "file" / "ledger.sqlite", lambda ledger: ledger.runs())
    with pytest.raises(BadInput):
        using(tmp_path, lambda ledger: ledger.runs())


def test_a_ledger_belongs_to_its_event_loop() -> None:
    kept: list[Ledger] = []

    async def open_it() -> None:
        kept.append(await Ledger.open(None))

    asyncio.run(open_it())
    with pytest.raises(RuntimeError, match="event loop"):
        asyncio.run(kept[0].get("k"))


def test_keys_depend_on_all_that_was_asked_and_on_nothing_else() -> None:
    asked = {"model": "m", "sample": 0, "user": "字 \ud800"}
    assert content_key(asked) == content_key(dict(reversed(asked.items())))
    assert len({content_key({**asked, name: "x"}) for name in asked} | {content_key(asked)}) == 4
