"""How many claim groups are checked at once, and who hears of the judges' calls."""

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from scripted import ScriptedJudge, WholeSentences

from longproof import Verifier
from longproof.agent.models.limits import Traffic
from longproof.agent.types import Answered
from longproof.graphs.evidence.places import CLAIMS
from longproof.graphs.run import GROUPS, Pool
from longproof.graphs.settings import Settings

SOURCE = "Keepers sold boats at the harbour."


def response(groups: int) -> str:
    """Claims that share the one window of a short source: so many full groups."""
    return " ".join(f"Keeper {n} sold boat {n}." for n in range(groups * CLAIMS))


class Slow(ScriptedJudge):
    """Answers when so many wait for it, and a little later; knows how many it was asked at once."""

    def __init__(self, awaited: int = GROUPS) -> None:
        super().__init__("slow", "explicitly_supported")
        self.awaited, self.now, self.most = awaited, 0, 0
        self.all_in = asyncio.Event()

    async def judge(self, question: Any, claims: Any, case: Any) -> Answered:
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now >= self.awaited:
            self.all_in.set()
        await self.all_in.wait()
        await asyncio.sleep(0.02)
        self.now -= 1
        return await super().judge(question, claims, case)


def verifier(judge: ScriptedJudge, **settings: Any) -> Verifier:
    return Verifier([judge], decomposer=WholeSentences(), cache=False, **settings)


@pytest.mark.parametrize(("concurrency", "most"), [(1, GROUPS), (GROUPS, 2 * GROUPS)])
def test_so_many_groups_are_checked_at_once_and_no_more(concurrency: int, most: int) -> None:
    judge = Slow(most)
    report = verifier(judge, concurrency=concurrency).verify(SOURCE, response(most + 5))
    assert judge.most == most
    assert (len(report.claims), len(judge.heard)) == ((most + 5) * CLAIMS, most + 5)
    assert report.coverage == 1


def test_a_cancelled_run_keeps_no_place() -> None:
    judge = Slow()
    checks = verifier(judge)
    told = response(GROUPS + 5)

    async def twice() -> int:
        first = asyncio.create_task(checks.averify(SOURCE, told))
        await judge.all_in.wait()
        first.cancel()
        await asyncio.wait([first])
        report = await asyncio.wait_for(checks.averify(SOURCE, told), timeout=60)
        await checks.close()
        return len(report.claims)

    assert asyncio.run(twice()) == (GROUPS + 5) * CLAIMS


class Listener(AsyncCallbackHandler):
    """Notes the name of every run that begins."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def on_chain_start(self, *args: Any, name: str = "", **kwargs: Any) -> None:
        self.names.append(name)


def test_who_listens_hears_of_each_judges_call() -> None:
    listener = Listener()
    checks = verifier(ScriptedJudge("judge one", "explicitly_supported"))

    async def heard() -> None:
        given = {"source": "One boat sank.", "response": "One boat sank. A boat sank."}
        await checks.graph.ainvoke(given, config={"callbacks": [listener]}, context=checks.settings)
        await checks.close()

    asyncio.run(heard())
    assert listener.names.count("judge one") == 1
    assert {"gather", "judge", "vote", "localise"} <= set(listener.names)


def test_two_who_close_a_pool_at_once_each_find_it_closed(tmp_path) -> None:
    async def close_twice() -> None:
        pool = Pool([ScriptedJudge("a", "not_found")])
        for name in ("one", "two"):
            await pool.session(Settings(home=str(tmp_path / name)))
        await asyncio.gather(pool.close(), pool.close())
        assert pool.traffic() == Traffic()

    asyncio.run(close_twice())
