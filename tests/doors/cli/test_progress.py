"""The words of lines, where there is no terminal, on what is under way."""

import time
from collections import Counter

import pytest

from longproof.agent.models.limits import Traffic
from longproof.agent.types import Usage
from longproof.graphs.runner import RunProgress
from longproof.progress import check_progress, embedding_progress, run_progress


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longproof.progress.LINES_S", 0.02)


def is_told(capsys: pytest.CaptureFixture[str], wanted: str) -> bool:
    """True once a line says this."""
    for _ in range(3000):
        if f" s: {wanted}\n" in capsys.readouterr().err:
            return True
        time.sleep(0.01)
    return False


def test_a_run_tells_what_was_paid_and_what_failed_and_how_long_it_takes(capsys):
    with run_progress("cases") as progress:
        paid = Usage(calls=1200, prompt_tokens=5000, completion_tokens=50)
        progress(RunProgress(3, 10, Counter(), 1, paid, 2, 3725.0))
        assert is_told(capsys, "cases: 1,200 calls, 5,050 tokens paid; 1 failed; 1:02:05 left, 3 of 10")
        progress(RunProgress(3, 10, Counter(), 1, paid, 2, 3725.0, lambda: Traffic(7, 900, 2)))
        said = "cases; 1 failed; 1:02:05 left, 3 of 10; 7 calls, 900 tokens; 2 waiting for the server"
        assert is_told(capsys, said)
    with embedding_progress() as progress:
        progress(90, 90)
        assert is_told(capsys, "embedding passages, 0:00:00 left, 90 of 90")


def test_what_every_node_tells_is_told_in_plain_lines(capsys):
    with check_progress(lambda: Traffic(calls=3, tokens=1200, waiting=2, retries=1)) as progress:
        progress({"node": "align", "claims": 5})
        progress({"node": "decompose", "claims": 1, "parts": 2})
        for node in ("decompose", "checked", "scan"):
            progress({"node": node})  # an event that gives no numbers changes none
        for node in ("judge", "search", "checked", "scan", "confirm", "checked", "checked"):
            progress({"node": node, "claims": 2, "parts": 2, "pieces": 3})
        asked = "3 calls, 1,200 tokens; 2 waiting for the server; 1 asked again"
        assert is_told(capsys, f"checking claims, 4 of 7; {asked}")
        progress({"node": "embed", "done": 30, "passages": 90, "seconds": 31.0})
        assert is_told(capsys, f"embedding passages, 0:01:02 left, 30 of 90; claims, 4 of 7; {asked}")
