"""How far something has come, on stderr: a bar on a terminal, else a plain line now and then.

Knows: what the nodes of a graph, and runs of many cases, tell as they go. Does not know: what they do.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longproof.agent.models.limits import Traffic
    from longproof.graphs.runner import RunProgress

LINES_S, LONGEST_S = 30.0, 480.0
"""Seconds between two lines where there is no terminal: at first, and at most."""
LOOKS = {
    "search": "searching the source",
    "scan": "reading all of the source",
    "confirm": "confirming what is wrong",
}
"""The nodes that take up claims once more, and what is said while they do."""


@dataclass
class Progress:
    """The work under way, and how much of it is done; `traffic` says what was asked so far."""

    text: str
    done: int = 0
    total: int | None = None
    traffic: "Callable[[], Traffic] | None" = None

    def show(self, done: int, total: int | None, text: str | None = None) -> None:
        """Show this from now on."""
        self.done, self.total, self.text = done, total, text or self.text

    def line(self) -> str:
        """All of it in one line."""
        count = f", {self.done:,}" if self.done or self.total is not None else ""
        count += f" of {self.total:,}" if self.total is not None else ""
        asked = traffic_text(self.traffic()) if self.traffic else ""
        return "; ".join(part for part in (self.text + count, asked) if part)


@contextmanager
def show_progress(
    text: str, traffic: "Callable[[], Traffic] | None" = None, lines_s: float = LINES_S
) -> Iterator[Progress]:
    """Show how far something has come until it ends: a bar, or lines where there is no terminal."""
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    at, console, began, ended = Progress(text, traffic=traffic), Console(stderr=True), monotonic(), Event()

    def row() -> Table:
        """A bar, the time since it began, and the line."""
        row = Table.grid(padding=(0, 1))
        line = Text(at.line(), no_wrap=True, overflow="ellipsis")
        bar = ProgressBar(total=at.total, completed=at.done, width=20)
        row.add_row(bar, _clock_text(monotonic() - began), line)
        return row

    def write_lines() -> None:
        """Write lines until the work has ended: each waits twice as long as the one before."""
        wait = lines_s
        while not ended.wait(wait):
            sys.stderr.write(f"longproof: after {monotonic() - began:,.0f} s: {at.line()}\n")
            wait = min(2 * wait, LONGEST_S)

    if console.is_terminal:
        with Live(console=console, get_renderable=row, transient=True):
            yield at
        return
    thread = Thread(target=write_lines, daemon=True)
    thread.start()
    try:
        yield at
    finally:
        ended.set()
        thread.join()


@contextmanager
def check_progress(
    traffic: "Callable[[], Traffic] | None" = None, lines_s: float = LINES_S
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Show how many claims of one check are checked; call what it gives with what each node tells."""
    with show_progress("reading", traffic, lines_s) as at:

        def update(event: Mapping[str, Any]) -> None:
            node = event["node"]
            if node == "align":
                at.show(0, event["claims"], "checking sentences")
            elif node == "decompose":
                at.show(at.done, (at.total or 0) + event["parts"], "checking claims")
            elif node == "checked":
                at.show(at.done + event["claims"], at.total, "checking claims")
            elif node in LOOKS:
                # These claims are open again, and come back as checked.
                at.show(max(0, at.done - event["claims"]), at.total, f"{LOOKS[node]} for {event['claims']:,}")
            elif node == "embed":
                told = embedding_text(event["done"], event["passages"], event["seconds"])
                at.text = f"{told}, {event['done']:,} of {event['passages']:,}; claims"

        yield update


@contextmanager
def embedding_progress() -> Iterator[Callable[[int, int], None]]:
    """Show how many passages are embedded, with the time left."""
    with show_progress("embedding passages") as at:
        began = monotonic()
        yield lambda done, total: at.show(done, total, embedding_text(done, total, monotonic() - began))


@contextmanager
def run_progress(what: str) -> Iterator[Callable[["RunProgress"], None]]:
    """Show how many of many cases are done, with what was paid and the time left."""
    with show_progress(what) as progress:
        yield lambda at: progress.show(at.done, at.total, f"{what}: {run_text(at)}")


def embedding_text(done: int, total: int, seconds: float) -> str:
    """Tell how long it will take to embed the passages that are left, in words."""
    return f"embedding passages, {_clock_text(seconds / max(1, done) * (total - done))} left"


def traffic_text(at: "Traffic") -> str:
    """Tell what was asked so far, in words; nothing where nobody was asked."""
    parts = [f"{at.calls:,} calls, {at.tokens:,} tokens"] if at.calls else []
    parts += [f"{at.waiting} waiting for the server"] if at.waiting else []
    parts += [f"{at.retries:,} asked again"] if at.retries else []
    return "; ".join(parts)


def run_text(at: "RunProgress") -> str:
    """Tell how far a run over many cases has come: what was paid, what failed, how long it will take."""
    tokens = at.paid.prompt_tokens + at.paid.completion_tokens
    parts = [f"{at.paid.calls:,} calls, {tokens:,} tokens paid"]
    if at.failed:
        parts.append(f"{at.failed} failed")
    if at.seconds_left is not None and at.done < at.total:
        parts.append(f"{_clock_text(at.seconds_left)} left")
    return "; ".join(parts)


def _clock_text(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
