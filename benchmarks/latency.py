"""The wall time of many calls beside the ideal: calls x latency / concurrency.

A server on loopback (tests/fakes.py), in a process of its own, answers after a fixed time; the ledger is a file on
disk. Measures the seam alone (limits, ledger, client, reading of answers), not a model. From the project's root:

    PYTHONPATH=tests python benchmarks/latency.py --calls 1800 --latency 1 --concurrency 64

Prints one line of JSON. The second pass over the same ledger asks nothing and shows what a resumed run costs; the
first call goes alone (what the server can do is found out once): 1 latency is lost.
"""

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from fakes import ChatServer
from reader import Reader

from longproof.agent.models.answers import Form
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Limits
from longproof.agent.models.model import Model
from longproof.agent.models.openai_chat import OpenAIChat
from longproof.prompts import Prompt


class Word(Form):
    """A form as small as can be."""

    word: str


async def one_pass(address: str, path: Path, calls: int, concurrency: int) -> float:
    """Seconds that it takes to ask all calls over this ledger."""
    ledger = await Ledger.open(path)
    model = Model(OpenAIChat("m", address), ledger, Limits(concurrency=concurrency))
    prompts = [Prompt("Say a word.", f"Word number {n}: " + "x" * 8000, "0" * 16, "en") for n in range(calls)]
    began = time.perf_counter()
    answers = await asyncio.gather(*(model.ask(prompt, Word, purpose="benchmark") for prompt in prompts))
    took = time.perf_counter() - began
    if not all(answer.value for answer in answers):
        raise SystemExit("some calls failed: " + str({answer.failure for answer in answers}))
    await ledger.close()
    await model.close()
    return took


def serve(latency: float, line: Connection) -> None:
    """Tell the address, wait for a word, tell how many calls came and how many at once."""
    script = Reader(Word={"word": "lamp"})
    with ChatServer(script, delay_s=latency) as server:
        line.send(server.address)
        line.recv()
        line.send((len(server.asked), server.most_at_once))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=1800)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds an answer takes")
    parser.add_argument("--concurrency", type=int, default=64)
    told = parser.parse_args()
    ideal = told.calls * told.latency / told.concurrency
    line, far_end = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(told.latency, far_end))
    server.start()
    with tempfile.TemporaryDirectory() as folder:
        address, path = line.recv(), Path(folder) / "ledger.sqlite"
        spent = time.process_time()
        first = asyncio.run(one_pass(address, path, told.calls, told.concurrency))
        spent = time.process_time() - spent
        again = asyncio.run(one_pass(address, path, told.calls, told.concurrency))
    line.send("enough")
    asked, most = line.recv()
    server.join()
    measured = {
        **vars(told),
        "ideal_s": round(ideal, 2),
        "wall_s": round(first, 2),
        "wall_over_ideal": round(first / ideal, 3),
        "cpu_s": round(spent, 2),
        "asked": asked,
        "most_at_once": most,
        "again_s": round(again, 2),
    }
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
