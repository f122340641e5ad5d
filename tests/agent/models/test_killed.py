"""Kill -9 at random moments: no call whose answer was committed is asked again."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from fakes import ChatServer
from reader import Asked, Reply

CALLS, CONCURRENCY, KILLS = 150, 10, 20
WORK = f"""
import asyncio, sys
from pathlib import Path
from longproof.agent.models.openai_chat import OpenAIChat
from longproof.agent.models.answers import Form
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Limits
from longproof.agent.models.model import Model
from longproof.prompts import Prompt

class Word(Form):
    word: str

async def main(address, path):
    ledger = await Ledger.open(Path(path))
    model = Model(OpenAIChat("m", address), ledger, Limits(concurrency={CONCURRENCY}))
    prompts = [Prompt("", f"{{n}}", "0" * 16, "en") for n in range({CALLS})]
    answers = await asyncio.gather(*(model.ask(prompt, Word, purpose="t") for prompt in prompts))
    await ledger.close()
    await model.close()
    print(" ".join(answer.value.word for answer in answers), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def committed(path: Path) -> set[str]:
    if not path.exists():
        return set()
    with closing(sqlite3.connect(path)) as db:
        if not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            return set()
        rows = db.execute("SELECT answer FROM calls").fetchall()
    return {json.loads(json.loads(answer)["text"])["word"] for (answer,) in rows}


def echo(asked: Asked) -> Reply:
    return Reply(json.dumps({"word": asked.user}))


@pytest.mark.heavy
def test_committed_answers_are_never_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    draw = random.Random(KILLS)
    again = lost = 0
    with ChatServer(echo, delay_s=0.05) as server:

        def start() -> subprocess.Popen[str]:
            return subprocess.Popen(
                [sys.executable, "-c", WORK, server.address, str(path)], stdout=subprocess.PIPE, text=True
            )

        for _ in range(KILLS):
            kept, before = committed(path), len(server.asked)
            child = start()
            until = draw.randint(1, max(1, CALLS // KILLS))
            while child.poll() is None and len(server.asked) - before < until:
                time.sleep(0.005)
            if child.poll() is None:
                os.kill(child.pid, signal.SIGKILL)
            child.communicate()
            again += sum(asked.user in kept for asked in server.asked[before:])
            lost += sum(asked.user not in committed(path) for asked in server.asked[before:])
        kept, before = committed(path), len(server.asked)
        output, _ = start().communicate(timeout=60)
        again += sum(asked.user in kept for asked in server.asked[before:])
    assert output.split() == [str(n) for n in range(CALLS)]
    print(
        f"{KILLS} kills: {again} committed answers asked again, {len(server.asked) - CALLS} calls lost in flight"
    )
    assert again == 0
    assert len(server.asked) - CALLS == lost <= KILLS * CONCURRENCY
