"""The terminal, in this process."""

import pytest

from longproof.cli import main


def run(*arguments: object) -> int:
    """Run a command; its exit code."""
    with pytest.raises(SystemExit) as stop:
        main([str(one) for one in arguments])
    return int(stop.value.code or 0)
