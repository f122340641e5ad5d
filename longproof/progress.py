"""How far a check has come, on stderr.

Knows: what the stations say as they are passed. Does not know: what they do.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def shown() -> Iterator[Callable[[dict[str, Any]], None]]:
    """A bar on stderr while the block runs, on a terminal alone; call what it gives with each station's word."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)

        def hear(word: dict[str, Any]) -> None:
            if word["station"] == "decompose":
                bar.update(task, description="claims checked", total=word["claims"])
            elif word["station"] == "checked":
                bar.advance(task, word["claims"])

        yield hear
