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
CUTS = {"align": "checking sentences", "cut": "checking claims"}
"""The nodes that cut the response into what is checked, and what is shown from then on."""
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
    traffic: "Callable[[], Traffic] | None" = None
    done: int = 0
    total: int | None = None

    def show(self, done: int, total: int | None, text: str | None = None) -> None:
        """Show this from now on."""
        self.done, self.total, self.text = done, total, text or self.text

    def line(self) -> str:
        """All of it in one line."""
        parts = [self.text]
        if self.total is not None:
            parts[0] += f", {self.done:,} of {self.total:,}"
        elif self.done:
            parts[0] += f", {self.done:,}"
        at = self.traffic() if self.traffic else None
        if at and at.calls:
            parts.append(f"{at.calls:,} calls, {at.tokens:,} tokens")
        if at and at.waiting:
            parts.append(f"{at.waiting} waiting for the server")
        if at and at.retries:
            parts.append(f"{at.retries:,} asked again")
        return "; ".join(parts)


@contextmanager
def show_progress(text: str, traffic: "Callable[[], Traffic] | None" = None) -> Iterator[Progress]:
    """Show how far something has come until it ends: a bar, or lines where there is no terminal."""
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    at, console, began, ended = Progress(text, traffic), Console(stderr=True), monotonic(), Event()

    def row() -> Table:
        row = Table.grid(padding=(0, 1))
        line = Text(at.line(), no_wrap=True, overflow="ellipsis")
        bar = ProgressBar(total=at.total, completed=at.done, width=20)
        row.add_row(bar, _clock_text(monotonic() - began), line)
        return row

    def write_lines() -> None:
        wait = LINES_S
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
    traffic: "Callable[[], Traffic] | None" = None,
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Show how many claims of one check are checked; call what it gives with what each node tells."""
    with show_progress("reading", traffic) as at:

        def update(event: Mapping[str, Any]) -> None:
            node, claims = event["node"], event.get("claims", 0)
            if node in CUTS:
                at.show(0, claims, CUTS[node])
            elif node == "decompose":
                at.show(at.done, (at.total or 0) + event.get("parts", 0), "checking claims")
            elif node == "checked":
                at.show(at.done + claims, at.total, "checking claims")
            elif node in LOOKS:
                # These claims are open again, and come back as checked.
                at.show(max(0, at.done - claims), at.total, f"{LOOKS[node]} for {claims:,}")
            elif node == "embed":
                told = _embedding_text(event["done"], event["passages"], event["seconds"])
                at.text = f"{told}, {event['done']:,} of {event['passages']:,}; claims"

        yield update


@contextmanager
def embedding_progress() -> Iterator[Callable[[int, int], None]]:
    """Show how many passages are embedded, with the time left."""
    with show_progress("embedding passages") as at:
        began = monotonic()
        yield lambda done, total: at.show(done, total, _embedding_text(done, total, monotonic() - began))


@contextmanager
def run_progress(what: str) -> Iterator[Callable[["RunProgress"], None]]:
    """Show how many of many cases are done, with what was answered and the time left."""
    with show_progress(what) as progress:

        def update(at: "RunProgress") -> None:
            told, progress.traffic = what, at.traffic
            if at.traffic is None:
                # Calls that other processes make are known when their case ends.
                tokens = at.paid.prompt_tokens + at.paid.completion_tokens
                told += f": {at.paid.calls:,} calls, {tokens:,} tokens paid"
            if at.failed:
                told += f"; {at.failed} failed"
            if at.seconds_left is not None and at.done < at.total:
                told += f"; {_clock_text(at.seconds_left)} left"
            progress.show(at.done, at.total, told)

        yield update


def _embedding_text(done: int, total: int, seconds: float) -> str:
    return f"embedding passages, {_clock_text(seconds / max(1, done) * (total - done))} left"


def _clock_text(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
