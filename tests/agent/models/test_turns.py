"""Processes that share a ledger ask once; one that dies or stops keeps nobody waiting for good."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes import Asked, ChatServer, Reply

from longproof.agent.models.answers import Raw
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.turns import Turns

CALLS, CONCURRENCY = 120, 8
WORK = f"""
import asyncio, random, sys
from pathlib import Path
from longproof.agent.models.clients import OpenAIChat
from longproof.agent.models.answers import Form
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Limits, Rates
from longproof.agent.models.model import Model
from longproof.prompts import Prompt

class Word(Form):
    word: str

async def main(address, path, seed):
    ledger = await Ledger.open(Path(path))
    model = Model(OpenAIChat("m", address), ledger, Limits(Rates(concurrency={CONCURRENCY})))
    prompts = [Prompt("", f"{{n}}", "0" * 16, "en") for n in range({CALLS})]
    random.Random(seed).shuffle(prompts)
    answers = await asyncio.gather(*(model.ask(prompt, Word, purpose="t") for prompt in prompts))
    await ledger.close()
    await model.close()
    print(sorted(int(answer.value.word) for answer in answers), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""
HOLD = """
import sys, time
from pathlib import Path
from longproof.agent.models.turns import Turns
import asyncio

async def main():
    async with Turns(Path(sys.argv[1])).of("k"):
        print("held", flush=True)
        time.sleep(60)

asyncio.run(main())
"""


def echo(asked: Asked) -> Reply:
    return Reply(json.dumps({"word": asked.user}), delay_s=0.02)


def python(program: str, *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("orders", [(0, 0), (1, 2, 3)])
def test_processes_on_one_ledger_pay_once(tmp_path: Path, orders: tuple[int, ...]) -> None:
    path = tmp_path / "ledger.sqlite"
    with ChatServer(echo) as server:
        working = [python(WORK, server.address, path, order) for order in orders]
        outputs = [child.communicate(timeout=120)[0] for child in working]
    assert [json.loads(output) for output in outputs] == [list(range(CALLS))] * len(orders)
    assert len(server.asked) == CALLS


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
def test_who_dies_gives_the_turn_away(tmp_path: Path, way: signal.Signals) -> None:
    path = tmp_path / "turns"

    async def take() -> float:
        began = time.monotonic()
        async with Turns(path).of("other key"):
            assert time.monotonic() - began < 20
        asyncio.get_running_loop().call_later(0.2, holding.send_signal, way)
        async with Turns(path).of("k"):
            return time.monotonic() - began

    with python(HOLD, path) as holding:
        assert holding.stdout is not None
        assert holding.stdout.readline() == "held\n"
        assert 0.1 < asyncio.run(take()) < 30


def test_who_is_stopped_holds_nobody_up_for_good(tmp_path: Path) -> None:
    path = tmp_path / "turns"

    async def take() -> float:
        began = time.monotonic()
        async with Turns(path).of("k", longest_s=0.5):
            return time.monotonic() - began

    with python(HOLD, path) as holding:
        assert holding.stdout is not None
        assert holding.stdout.readline() == "held\n"
        holding.send_signal(signal.SIGSTOP)
        assert 0.4 < asyncio.run(take()) < 30
        holding.kill()


def test_a_ledger_in_memory_has_no_turns(tmp_path: Path) -> None:
    async def use() -> str | None:
        ledger = await Ledger.open(None)

        async def asked() -> Raw:
            return Raw(text="paid")

        entry = await ledger.buy("k", asked, asyncio.Semaphore(1), endpoint="e", model="m")
        await ledger.close()
        return entry.raw.text

    assert asyncio.run(use()) == "paid"
