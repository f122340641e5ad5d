"""How far a check or an evaluation has come, on stderr.

Knows: what the nodes, and runs of many cases, say as they go. Does not know: what they do.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longproof.evaluation.run import Progress


@contextmanager
def shown() -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A bar on stderr while the block runs, on a terminal alone; call what it gives with each node's word."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)

        def hear(word: Mapping[str, Any]) -> None:
            if word["node"] == "decompose":
                bar.update(task, description="claims checked", total=word["claims"])
            elif word["node"] == "checked":
                bar.advance(task, word["claims"])

        yield hear


@contextmanager
def scored() -> Iterator[Callable[["Progress"], None]]:
    """A bar on stderr with the running score and what the answers cost; on a terminal alone."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("examples", total=None)

        def hear(word: "Progress") -> None:
            score = "–" if word.score is None else f"{word.score:.1%}"
            spent = word.usage.prompt_tokens + word.usage.completion_tokens
            said = f"accuracy {score}, coverage {word.coverage:.1%}, {spent} tokens"
            bar.update(task, description=said, completed=word.done, total=word.total)

        yield hear


@contextmanager
def counted(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr for so many of so many; on a terminal alone."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
