"""Kill -9 at random moments: no call whose answer was committed is asked again."""

import json
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from fakes import ChatServer
from reader import Reply

CALLS, CONCURRENCY = 150, 10
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
    model = Model(OpenAIChat("m", address, "none"), ledger, Limits(concurrency={CONCURRENCY}))
    prompts = [Prompt("", f"{{n}}", "0" * 16, "en", "") for n in range({CALLS})]
    answers = await asyncio.gather(*(model.ask(prompt, Word, purpose="t") for prompt in prompts))
    await ledger.close()
    await model.close()
    print(" ".join(answer.value.word for answer in answers), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def committed(path: Path) -> set[str]:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            rows = db.execute("SELECT answer FROM calls").fetchall()
    except sqlite3.OperationalError:
        return set()
    return {json.loads(json.loads(answer)["text"])["word"] for (answer,) in rows}


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.heavy)])
def test_committed_answers_are_never_asked_again(tmp_path: Path, kills: int) -> None:
    path, draw = tmp_path / "ledger.sqlite", random.Random(kills)
    lost = 0
    with ChatServer(lambda asked: Reply(json.dumps({"word": asked.user})), delay_s=0.05) as server:
        command = [sys.executable, "-c", WORK, server.address, str(path)]
        for _ in range(kills):
            kept, before = committed(path), len(server.asked)
            until = before + draw.randint(1, CALLS // kills)
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            while child.poll() is None and len(server.asked) < until:
                time.sleep(0.005)
            child.kill()
            child.wait()
            asked, after = [one.user for one in server.asked[before:]], committed(path)
            assert kept.isdisjoint(asked)
            lost += sum(word not in after for word in asked)
        kept, before = committed(path), len(server.asked)
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert kept.isdisjoint(one.user for one in server.asked[before:])
    assert ended.stdout.split() == [str(n) for n in range(CALLS)]
    assert len(server.asked) - CALLS == lost <= kills * CONCURRENCY
