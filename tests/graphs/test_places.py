"""How many stretches are checked at once, and who hears of the judges' calls."""

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from scripted import ScriptedArbiter, ScriptedJudge, WholeSentences

from longproof import Verifier
from longproof.agent.types import Answered
from longproof.graphs.resources import STRETCHES

COUNT = 2 * STRETCHES + 5
SOURCE = "".join(f"Keeper {n} sold boat {n} at the harbour. " for n in range(COUNT))
TAIL = "which the book of the house sets down with care and in a plain hand, as it does all that it sets down"
RESPONSE = " ".join(f"Keeper {n} sold boat {n}, {TAIL}." for n in range(COUNT))


class Slow(ScriptedJudge):
    """Answers when so many wait for it, and a little later; knows how many it was asked at once."""

    def __init__(self, awaited: int = STRETCHES) -> None:
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
    """Sentence by sentence, each a stretch of its own."""
    return Verifier(
        judges=[judge],
        arbiter=ScriptedArbiter("fabricated"),
        decomposer=WholeSentences(),
        protocol="verigray",
        cache=False,
        **settings,
    )


@pytest.mark.parametrize(("concurrency", "most"), [(1, STRETCHES), (STRETCHES, 2 * STRETCHES)])
def test_so_many_stretches_are_checked_at_once_and_no_more(concurrency: int, most: int) -> None:
    judge = Slow(most)
    report = verifier(judge, concurrency=concurrency).verify(SOURCE, RESPONSE)
    assert judge.most == most
    assert len(report.claims) == len(judge.heard) == COUNT
    assert report.coverage == 1


def test_a_cancelled_run_keeps_no_place() -> None:
    judge = Slow()
    checks = verifier(judge)

    async def twice() -> int:
        first = asyncio.create_task(checks.averify(SOURCE, RESPONSE))
        await judge.all_in.wait()
        first.cancel()
        await asyncio.wait([first])
        report = await asyncio.wait_for(checks.averify(SOURCE, RESPONSE), timeout=60)
        await checks.close()
        return len(report.claims)

    assert asyncio.run(twice()) == COUNT


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
    assert listener.names.count("judge one") == 2
    assert {"gather", "judge", "vote", "localise"} <= set(listener.names)
