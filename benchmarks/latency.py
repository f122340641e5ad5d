"""The wall time of many calls beside the ideal, calls x latency / concurrency; of a short check beside the plain
question.

    PYTHONPATH=tests python benchmarks/latency.py --calls 1800 --latency 1 --concurrency 64
    PYTHONPATH=tests python benchmarks/latency.py --short --latency .2

A server on loopback (tests/fakes.py), in a process of its own, answers after a fixed time; the ledger is a file on
disk. Measures the seam alone, not a model. Of many calls, the second pass over the same ledger asks nothing and
shows what a resumed run costs; the first call goes alone: 1 latency is lost.
"""

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

from fakes import ChatServer
from reader import Reader

from longproof import Verifier
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
    model = Model(OpenAIChat("m", address, "none"), ledger, Limits(concurrency=concurrency))
    prompts = [
        Prompt("Say a word.", f"Word number {n}: " + "x" * 8000, "0" * 16, "en", "") for n in range(calls)
    ]
    began = time.perf_counter()
    answers = await asyncio.gather(*(model.ask(prompt, Word, purpose="benchmark") for prompt in prompts))
    took = time.perf_counter() - began
    if not all(answer.value for answer in answers):
        raise SystemExit("some calls failed: " + str({answer.failure for answer in answers}))
    await ledger.close()
    await model.close()
    return took


async def short_checks(address: str, rounds: int) -> dict[str, float]:
    """The median seconds of a check and of the plain question about the same short texts, asked in turns."""
    facts = [f"On day {n} the keeper of lamp {n} wrote the number {n * 7} into the book." for n in range(220)]
    took: dict[str, list[float]] = {"longproof": [], "plain": []}
    for n in range(rounds + 1):
        for protocol, seconds in took.items():
            with tempfile.TemporaryDirectory() as home:
                verifier = Verifier(judges=[f"openai:m@{address}"], protocol=protocol, home=home)
                began = time.perf_counter()
                report = await verifier.averify(f"{n} {' '.join(facts)}", " ".join(facts[n : n + 5]))
                # The first round imports what a process imports once.
                seconds += [time.perf_counter() - began] if n else []
                await verifier.close()
            assert (report.verdict, report.usage.calls) == ("faithful", 1), "one call is enough"
    return {protocol: median(seconds) for protocol, seconds in took.items()}


def serve(latency: float, line: Connection) -> None:
    """Tell the address, wait for a word, tell how many calls came and how many at once."""
    script = Reader(WrongSentences={"wrong": []}, Word={"word": "lamp"})
    with ChatServer(script, delay_s=latency) as server:
        line.send(server.address)
        line.recv()
        line.send((len(server.asked), server.most_at_once))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=1800)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds an answer takes")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--short", action="store_true", help="one short check beside the plain question")
    told = parser.parse_args()
    ideal = told.calls * told.latency / told.concurrency
    line, far_end = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(told.latency, far_end))
    server.start()
    if told.short:
        took = asyncio.run(short_checks(line.recv(), 10))
        line.send("enough")
        ratio = took["longproof"] / took["plain"]
        print(json.dumps({"latency": told.latency, **took, "check_over_plain": round(ratio, 3)}))
        return
    with tempfile.TemporaryDirectory() as folder:
        address, path = line.recv(), Path(folder) / "ledger.sqlite"
        spent = time.process_time()
        first = asyncio.run(one_pass(address, path, told.calls, told.concurrency))
        spent = time.process_time() - spent
        again = asyncio.run(one_pass(address, path, told.calls, told.concurrency))
    line.send("enough")
    asked, most = line.recv()
    server.join()
    measured = {"ideal_s": ideal, "wall_s": first, "wall_over_ideal": first / ideal, "cpu_s": spent}
    rounded = {name: round(value, 2) for name, value in (measured | {"again_s": again}).items()}
    print(json.dumps({**vars(told), **rounded, "asked": asked, "most_at_once": most}))


if __name__ == "__main__":
    main()
