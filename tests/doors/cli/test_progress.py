"""What a bar, or lines where there is no terminal, say of what is under way."""

import time

import pytest

from longproof.agent.models.limits import Traffic
from longproof.agent.types import Usage
from longproof.graphs.runner import RunProgress
from longproof.progress import (
    check_progress,
    embedding_text,
    looking_text,
    run_text,
    show_progress,
    traffic_text,
)


def test_progress_is_told_in_words() -> None:
    assert looking_text({"node": "search", "claims": 1}) == "searching the source for 1 claim"
    embedding = {"node": "embed", "done": 30, "passages": 90, "seconds": 31.0}
    assert embedding_text(embedding) == "embedding passages, 0:01:02 left"
    told = looking_text({"node": "scan", "claims": 3, "pieces": 1200})
    assert told == "reading all of the source for 3 claims, in 1,200 pieces"
    assert looking_text({"node": "confirm", "claims": 1, "asked": 0}) == "confirming that 1 claim is wrong"
    assert traffic_text(Traffic()) == ""
    told = traffic_text(Traffic(calls=3, tokens=12345, waiting=2, retries=1))
    assert told == "3 calls, 12,345 tokens; 2 waiting for the server; 1 second try"
    at = RunProgress(3, 10, 1, Usage(calls=1200, prompt_tokens=5000, completion_tokens=50), 3725.0)
    assert run_text(at) == "1,200 calls, 5,050 tokens paid; 1 failed; 1:02:05 left"


def test_progress_takes_what_every_node_tells() -> None:
    with check_progress(Traffic) as progress:
        for node in ("align", "decompose", "search", "checked", "scan", "confirm", "checked"):
            progress({"node": node, "claims": 2, "parts": 2, "pieces": 3})
        progress({"node": "embed", "done": 1, "passages": 3, "seconds": 0.5})


def test_without_a_terminal_what_is_waited_for_is_told_in_plain_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with check_progress(lambda: Traffic(calls=3, tokens=1200, waiting=2), 0.02) as progress:
        progress({"node": "align", "claims": 5})
        progress({"node": "decompose", "claims": 1, "parts": 2})
        progress({"node": "checked", "claims": 4})
        time.sleep(0.3)
    told = capsys.readouterr().err.splitlines()
    assert 2 <= len(told) <= 5, "each line waits twice as long as the one before"
    assert "checking claims, 4 of 7; 3 calls, 1,200 tokens; 2 waiting for the server" in told[0]


def test_lines_go_on_where_a_look_at_the_traffic_fails(capsys: pytest.CaptureFixture[str]) -> None:
    looks: list[Traffic | None] = [None, Traffic()]

    def traffic() -> Traffic:
        look = looks.pop(0) if looks else Traffic(calls=3, tokens=1200)
        if look is None:
            raise RuntimeError("changed meanwhile")
        return look

    with show_progress("", traffic, 0.02):
        time.sleep(0.3)
    told = capsys.readouterr().err.splitlines()
    assert told
    assert all("3 calls, 1,200 tokens" in line for line in told)
