"""The terminal, in this process."""

import pytest

from longproof.cli import main

SOURCE = "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds.\n" * 3
VERIFY = ("verify", "--source", "source.txt", "--response", "response.txt")
BATCH, EVALUATE = ("batch", "cases.jsonl", "--out", "out"), ("evaluate", "cases.jsonl", "--out", "out")
CHECKS = (VERIFY, BATCH, EVALUATE)
"""The commands that check, in the folder of the fixture `files`."""


def run(*arguments: object) -> int:
    """Run a command; its exit code."""
    with pytest.raises(SystemExit) as stop:
        main([str(one) for one in arguments])
    return int(stop.value.code or 0)


def verify(*more: object, source: object = "source.txt", response: object = "response.txt") -> int:
    """Run `longproof verify`; its exit code."""
    return run("verify", "--source", source, "--response", response, *more)
