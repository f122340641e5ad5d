"""The words of a bar, or of lines where there is no terminal, on what is under way."""

import time

import pytest

from longproof.agent.models.limits import Traffic
from longproof.agent.types import Usage
from longproof.graphs.runner import RunProgress
from longproof.progress import check_progress, embedding_text, run_text, traffic_text


def test_progress_is_told_in_words() -> None:
    assert traffic_text(Traffic()) == ""
    told = traffic_text(Traffic(calls=3, tokens=12345, waiting=2, retries=1))
    assert told == "3 calls, 12,345 tokens; 2 waiting for the server; 1 asked again"
    at = RunProgress(3, 10, 1, Usage(calls=1200, prompt_tokens=5000, completion_tokens=50), 3725.0)
    assert run_text(at) == "1,200 calls, 5,050 tokens paid; 1 failed; 1:02:05 left"
    assert embedding_text(30, 90, 31.0) == "embedding passages, 0:01:02 left"


def test_without_a_terminal_what_every_node_tells_is_told_in_plain_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with check_progress(lambda: Traffic(calls=3, tokens=1200, waiting=2), 0.02) as progress:
        progress({"node": "align", "claims": 5})
        progress({"node": "decompose", "claims": 1, "parts": 2})
        for node in ("judge", "search", "checked", "scan", "confirm", "checked"):
            progress({"node": node, "claims": 2, "parts": 2, "pieces": 3})
        progress({"node": "embed", "done": 1, "passages": 3, "seconds": 0.5})
        progress({"node": "checked", "claims": 2})
        time.sleep(0.3)
    told = capsys.readouterr().err.splitlines()
    assert 2 <= len(told) <= 5, "each line waits twice as long as the one before"
    assert "checking claims, 4 of 7; 3 calls, 1,200 tokens; 2 waiting for the server" in told[0]
