"""The server of answers by hand: a request is a file, its answer another; the same request is asked once."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from disputing import disputing
from reader import Asked
from scripts import benchmark

from longproof import Verifier

FOLDER = Path(__file__).parents[2] / "benchmarks" / "answer_by_hand"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    box = tmp_path / "box"
    command = [sys.executable, str(FOLDER / "server.py"), str(box), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield box, server.stdout.readline().strip()
        server.terminate()


def read_and_answer(box: Path, stop: threading.Event) -> None:
    """A reader who answers whatever comes."""
    listing = benchmark("answer_by_hand/waiting")
    while not stop.is_set():
        for path in [*listing.waiting(box, 2, 0), *listing.waiting(box, 2, 1)]:
            system, user, schema = _parts(path)
            told = [{"role": "system", "content": system}, {"role": "user", "content": user}]
            body = {"model": "reader", "messages": told, "response_format": json.loads(schema)}
            draft = box / "outbox" / f"{path.stem}.tmp"
            draft.write_text(disputing(Asked(0, body, "")).text or "", "utf-8")
            draft.rename(draft.with_suffix(".txt"))
        time.sleep(0.05)


def _parts(path: Path) -> tuple[str, str, str]:
    text = path.read_text("utf-8").removeprefix("######## SYSTEM ########\n")
    system, _, rest = text.partition("\n\n######## USER ########\n")
    user, _, schema = rest.partition("\n\n######## THE ANSWER'S SCHEMA ########\n")
    return system, user, schema


def test_readers_answer_a_check_and_are_asked_once(served: tuple[Path, str], tmp_path: Path) -> None:
    box, address = served
    stop = threading.Event()
    reader = threading.Thread(target=read_and_answer, args=(box, stop))
    reader.start()
    try:
        for home in ("one", "two"):
            asks = Verifier([f"openai:reader@{address}"], home=str(tmp_path / home), timeout_s=30)
            report = asks.verify("Ada sold the boat to Tom. The lamp was lit at nine.", "Tom sold the boat.")
            assert report.claims[0].label is not None
    finally:
        stop.set()
        reader.join()
    asked = list((box / "inbox").glob("*.md"))
    assert len(asked) == len((box / "log.jsonl").read_text("utf-8").splitlines())
    assert {path.stem for path in asked} == {path.stem for path in (box / "outbox").glob("*.txt")}
