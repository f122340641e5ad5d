"""How far something has come, on stderr: a bar on a terminal, else a plain line now and then.

Knows: what the nodes of a graph, and runs of many cases, tell as they go. Does not know: what they do.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from longproof.agent.models.limits import Traffic
    from longproof.graphs.runner import RunProgress

LINES_S, LONGEST_S = 30.0, 480.0
"""Seconds between two lines where there is no terminal: at first, and at most."""


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
        return "; ".join(part for part in (self.text + count, self._asked()) if part)

    def _asked(self) -> str:
        try:
            return traffic_text(self.traffic()) if self.traffic else ""
        except Exception:  # it changes meanwhile, and a bar must never end what it tells of
            return ""


@contextmanager
def show_progress(
    text: str, traffic: "Callable[[], Traffic] | None" = None, lines_s: float = LINES_S
) -> Iterator[Progress]:
    """Show how far something has come until it ends: a bar, or lines where there is no terminal."""
    from rich.console import Console

    at, console = Progress(text, traffic=traffic), Console(stderr=True)
    with _bar(at, console) if console.is_terminal else _lines(at, lines_s):
        yield at


@contextmanager
def _bar(at: Progress, console: "Console") -> Iterator[None]:
    from rich.live import Live

    began = monotonic()
    with Live(console=console, get_renderable=lambda: _drawn(at, began), transient=True):
        yield


def _drawn(at: Progress, began: float) -> "Table":
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    minutes, seconds = divmod(round(monotonic() - began), 60)
    row = Table.grid(padding=(0, 1))
    bar = ProgressBar(total=at.total, completed=at.done, width=20)
    row.add_row(bar, f"{minutes}:{seconds:02}", Text(at.line(), no_wrap=True, overflow="ellipsis"))
    return row


@contextmanager
def _lines(at: Progress, lines_s: float) -> Iterator[None]:
    """Write lines meanwhile: the first after `lines_s` seconds, each later one after twice as long."""
    ended = Event()

    def tell() -> None:
        wait, began = lines_s, monotonic()
        while not ended.wait(wait):
            if line := at.line():
                sys.stderr.write(f"longproof: after {monotonic() - began:,.0f} s: {line}\n")
            wait = min(2 * wait, LONGEST_S)

    thread = Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
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
            if event["node"] == "align":
                at.show(0, event["claims"], "checking sentences")
            elif event["node"] == "decompose":
                at.show(at.done, (at.total or 0) + event["parts"], "checking claims")
            elif event["node"] == "checked":
                at.show(at.done + event["claims"], at.total, "checking claims")
            elif event["node"] in ("search", "scan", "confirm"):
                # These claims are open again, and come back as checked.
                at.show(max(0, at.done - event["claims"]), at.total, looking_text(event))
            elif event["node"] == "embed":
                at.text = f"{embedding_text(event)}, {event['done']:,} of {event['passages']:,}; claims"

        yield update


@contextmanager
def embedding_progress() -> Iterator[Callable[[int, int], None]]:
    """Show how many passages are embedded, with the time left."""
    with show_progress("embedding passages") as at:
        began = monotonic()

        def update(done: int, total: int) -> None:
            event = {"done": done, "passages": total, "seconds": monotonic() - began}
            at.show(done, total, embedding_text(event))

        yield update


@contextmanager
def run_progress(what: str) -> Iterator[Callable[["RunProgress"], None]]:
    """Show how many of many cases are done, with what was paid and the time left."""
    with show_progress(what) as progress:
        yield lambda at: progress.show(at.done, at.total, f"{what}: {run_text(at)}")


def looking_text(event: Mapping[str, Any]) -> str:
    """What a search or a scan of the whole source is doing, or who is asked once more, in words."""
    claims = _count_text(event["claims"], "claim")
    if event["node"] == "confirm":
        return f"confirming that {claims} {'is' if event['claims'] == 1 else 'are'} wrong"
    if event["node"] == "search":
        return f"searching the source for {claims}"
    return f"reading all of the source for {claims}, in {_count_text(event['pieces'], 'piece')}"


def embedding_text(event: Mapping[str, Any]) -> str:
    """How long it will take to embed the passages that are left, in words."""
    left = event["seconds"] / max(1, event["done"]) * (event["passages"] - event["done"])
    return f"embedding passages, {_clock_text(left)} left"


def traffic_text(at: "Traffic") -> str:
    """What was asked so far, in words; nothing where nobody was asked."""
    parts = [f"{_count_text(at.calls, 'call')}, {at.tokens:,} tokens"] if at.calls else []
    parts += [f"{at.waiting} waiting for the server"] if at.waiting else []
    parts += [f"{_count_text(at.retries, 'second try', 'second tries')}"] if at.retries else []
    return "; ".join(parts)


def run_text(at: "RunProgress") -> str:
    """How far a run over many cases has come: what was paid, what failed, how long it will take."""
    tokens = at.paid.prompt_tokens + at.paid.completion_tokens
    parts = [f"{at.paid.calls:,} calls, {tokens:,} tokens paid"]
    if at.failed:
        parts.append(f"{at.failed} failed")
    if at.seconds_left is not None and at.done < at.total:
        parts.append(f"{_clock_text(at.seconds_left)} left")
    return "; ".join(parts)


def _clock_text(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}"


def _count_text(n: int, one: str, more: str = "") -> str:
    return f"{n:,} {one}" if n == 1 else f"{n:,} {more or f'{one}s'}"
