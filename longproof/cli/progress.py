"""How far a command has come, on stderr: bars on a terminal, else a plain line now and then.

Knows: what the nodes of a graph, and runs of many cases, tell as they go. Does not know: what they do.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import Task

    from longproof.agent.models.limits import Traffic
    from longproof.graphs.runner import RunProgress

LINES_S, LONGEST_S = 30.0, 480.0
"""Seconds between two lines where there is no terminal: at first, and at most."""


@contextmanager
def _bars(
    time: str = "", traffic: "Callable[[], Traffic] | None" = None, lines_s: float = LINES_S
) -> Iterator["Bars"]:
    """Bars with a count, with the time `spent` or `left`, and with what `traffic` says at every look."""
    from rich import progress as rich
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    columns = [
        rich.TextColumn("{task.description}"),
        rich.BarColumn(10 if traffic else 40),
        rich.MofNCompleteColumn(),
    ]
    if time:
        columns.append(rich.TimeElapsedColumn() if time == "spent" else rich.TimeRemainingColumn())

    class Asked(rich.ProgressColumn):
        def render(self, task: rich.Task) -> Text:
            return Text(_looked_at(traffic), no_wrap=True, overflow="ellipsis")

    with rich.Progress(
        *columns, Asked(), console=console, transient=True, disable=not console.is_terminal
    ) as bars:
        if console.is_terminal:
            yield bars
        else:
            with _lines(bars, traffic, lines_s):
                yield bars


@contextmanager
def _lines(bars: "Bars", traffic: "Callable[[], Traffic] | None", lines_s: float) -> Iterator[None]:
    """The same in lines, meanwhile: the first after `lines_s` seconds, each later one after twice as long."""
    ended = Event()

    def tell() -> None:
        wait, began = lines_s, monotonic()
        while not ended.wait(wait):
            told = [*map(_line, bars.tasks), _looked_at(traffic)]
            if said := "; ".join(text for text in told if text):
                typer.echo(f"longproof: after {monotonic() - began:,.0f} s: {said}", err=True)
            wait = min(2 * wait, LONGEST_S)

    thread = Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _looked_at(traffic: "Callable[[], Traffic] | None") -> str:
    """What was asked so far; nothing where that can't be told now, for a bar must not end what it tells of."""
    try:
        return traffic_text(traffic()) if traffic else ""
    except Exception:
        return ""


def _line(task: "Task") -> str:
    done = f", {task.completed:,.0f}" + (f" of {task.total:,.0f}" if task.total is not None else "")
    return task.description + (done if task.completed or task.total is not None else "")


@contextmanager
def check_progress(
    traffic: "Callable[[], Traffic] | None" = None, lines_s: float = LINES_S
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A bar over the claims of one check; call what it gives with what each node tells."""
    with _bars("spent", traffic, lines_s) as bars:
        task = bars.add_task("reading", total=None)
        checked = 0

        def update(event: Mapping[str, Any]) -> None:
            nonlocal checked
            if event["node"] == "decompose" and "sentences" in event:
                bars.update(task, description=f"splitting {_counted(event['sentences'], 'sentence')}")
            elif event["node"] == "decompose":
                bars.update(task, description="checking claims", total=event["claims"])
            elif event["node"] == "checked":
                checked += event["claims"]
                bars.update(task, description="checking claims", completed=checked)
            elif event["node"] in ("search", "scan", "confirm"):
                # These claims are open again, and come back as checked.
                checked = max(0, checked - event["claims"])
                bars.update(task, description=looking_text(event), completed=checked)

        yield update


def looking_text(event: Mapping[str, Any]) -> str:
    """What a search or a scan of the whole source is doing, or who is asked once more, in words."""
    claims = _counted(event["claims"], "claim")
    if event["node"] == "confirm":
        return f"confirming that {claims} {'is' if event['claims'] == 1 else 'are'} wrong"
    if event["node"] == "search":
        return f"searching the source for {claims}"
    return f"reading all of the source for {claims}, in {_counted(event['pieces'], 'piece')}"


def traffic_text(at: "Traffic") -> str:
    """What was asked so far, in words; nothing where nobody was asked."""
    parts = [f"{_counted(at.calls, 'call')}, {at.tokens:,} tokens"] if at.calls else []
    parts += [f"{at.waiting} waiting for the server"] if at.waiting else []
    parts += [f"{_counted(at.retries, 'second try', 'second tries')}"] if at.retries else []
    return "; ".join(parts)


def _counted(n: int, one: str, more: str = "") -> str:
    return f"{n:,} {one}" if n == 1 else f"{n:,} {more or f'{one}s'}"


@contextmanager
def run_progress(what: str) -> Iterator[Callable[["RunProgress"], None]]:
    """A bar over many cases, with what was paid and the time left."""
    with _bars() as bars:
        task = bars.add_task(what, total=None)
        yield lambda at: bars.update(task, description=run_text(at), completed=at.done, total=at.total)


def run_text(at: "RunProgress") -> str:
    """How far a run over many cases has come: how good, what was paid, what failed, how long it will take."""
    tokens = at.paid.prompt_tokens + at.paid.completion_tokens
    parts = [at.note] if at.note else []
    parts.append(f"{at.paid.calls:,} calls, {tokens:,} tokens paid")
    if at.failed:
        parts.append(f"{at.failed} failed")
    if at.seconds_left is not None and at.done < at.total:
        minutes, seconds = divmod(round(at.seconds_left), 60)
        hours, minutes = divmod(minutes, 60)
        parts.append(f"{hours}:{minutes:02}:{seconds:02} left")
    return "; ".join(parts)


@contextmanager
def construction_progress() -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A bar for each node of a construction, a step for each thing that it tells."""
    with _bars("spent") as bars:
        tasks: dict[str, Any] = {}

        def update(event: Mapping[str, Any]) -> None:
            name = str(event["node"])
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=None)
            bars.advance(tasks[name])

        yield update


@contextmanager
def count_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar for so many of so many."""
    with _bars("left") as bars:
        task = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
