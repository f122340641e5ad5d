"""The door to many cases: the folder that `longproof batch` leaves, with its index page, and a bar meanwhile.

Knows: which engine is asked for, and how reports become pages. Does not know: how cases are checked or kept.
"""

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from longproof.graphs.batch import FAILURES, REPORTS, SUMMARY, Done, Engine, batch, local

if TYPE_CHECKING:
    from longproof.agent.types import Report
    from longproof.graphs.batch import Progress

INDEX, PAGES = "index.html", "pages"
ROWS = 5000
"""How many reports the index page shows; a browser takes no more. The summary has them all."""
INCOMPARABLE = {"home", "run_id", "concurrency", "requests_per_minute", "tokens_per_minute"}
INCOMPARABLE |= {"max_calls", "max_tokens", "timeout_s", "stream", "cache", "retry_failed"}
"""Settings that don't change what a report says: they may differ from one run to the next."""


def checked(
    cases: Path,
    out: Path,
    *,
    settings: dict[str, Any],
    engine: Literal["local", "ray"] = "local",
    parallel: int = 4,
    workers: int = 2,
    ray_address: str | None = None,
    encoding: str | None = None,
    html: bool = False,
    progress: "Callable[[Progress], None] | None" = None,
) -> Done:
    """Check all cases into a folder, then write its index page. Raises BadInput for what can't be used."""
    from longproof.graphs.settings import settings_of
    from longproof.retrieval.types import BadInput

    full = settings_of(settings)
    if html and ray_address:
        raise BadInput(
            "--html needs the sources' texts, and those stay with the workers: run `longproof report` there"
        )
    _open(settings)
    done = batch(
        cases,
        out,
        _on_ray(cases, settings, workers, parallel, ray_address, encoding)
        if engine == "ray"
        else _here(cases, settings, parallel, encoding),
        settings=full.model_dump(mode="json", exclude=INCOMPARABLE),
        again=full.retry_failed,
        progress=progress,
        written=_pages(out, full.home) if html else None,
    )
    _index(out, html=html)
    return done


@contextmanager
def shown() -> "Iterator[Callable[[Progress], None]]":
    """A bar on stderr with what was paid and the time left; on a terminal alone."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("cases", total=None)

        def hear(word: "Progress") -> None:
            bar.update(task, description=said(word), completed=word.done, total=word.total)

        yield hear


def said(word: "Progress") -> str:
    """How far it has come, in words: what was paid, what failed, how long it will take."""
    tokens = word.paid.prompt_tokens + word.paid.completion_tokens
    parts = [f"{word.paid.calls:,} calls, {tokens:,} tokens paid"]
    if word.failed:
        parts.append(f"{word.failed} failed")
    if word.seconds_left is not None and word.done < word.total:
        minutes, seconds = divmod(round(word.seconds_left), 60)
        hours, minutes = divmod(minutes, 60)
        parts.append(f"{hours}:{minutes:02}:{seconds:02} left")
    return "; ".join(parts)


def summary(done: Done) -> Iterator[str]:
    """How a batch ended, in a few lines."""
    states = done.states
    verdicts = ", ".join(f"{n} {verdict}" for verdict, n in sorted(done.verdicts.items()))
    tokens = done.paid.prompt_tokens + done.paid.completion_tokens
    yield f"{sum(states.values())} cases: {verdicts or 'no reports'}"
    if states["unfinished"]:
        yield f"{states['unfinished']} wait for calls that were not answered: run it again to go on"
    if states["failed"]:
        yield f"{states['failed']} could not be checked: see {done.folder / FAILURES}"
    yield f"{done.paid.calls:,} calls, {tokens:,} tokens paid, {done.seconds:.1f} s"
    yield f"summary: {done.folder / SUMMARY}"
    if sum(done.verdicts.values()) > ROWS:
        yield f"the index page shows the first {ROWS}"
    yield f"index: {(done.folder / INDEX).resolve().as_uri()}"


def _on_ray(
    cases: Path,
    settings: dict[str, Any],
    workers: int,
    parallel: int,
    address: str | None,
    encoding: str | None,
) -> Engine:
    from longproof.graphs.cluster import on_ray

    return on_ray(settings, cases, workers=workers, parallel=parallel, address=address, encoding=encoding)


def _here(cases: Path, settings: dict[str, Any], parallel: int, encoding: str | None) -> Engine:
    from longproof.graphs.verifier import Verifier

    return local(Verifier(**settings), cases, concurrency=parallel, encoding=encoding)


def _open(settings: dict[str, Any]) -> None:
    """Raises BadInput for a judge, a protocol or a folder that can't be had, before any case is taken up."""
    from longproof.graphs.verifier import Verifier, run

    async def opened() -> None:
        verifier = Verifier(**{**settings, "run_id": None})
        try:
            await verifier.open()
        finally:
            await verifier.close()

    run(opened())


def _pages(out: Path, home_: str | None) -> "Callable[[str, Report], None]":
    """Writes a page beside each report."""
    from longproof.indexes.documents import DocumentStore
    from longproof.indexes.files import home, write_whole
    from longproof.report.html import page

    store = DocumentStore(home(home_) / "documents")

    def write(name: str, report: "Report") -> None:
        texts = {document.id: store.text(document.id) for document in report.documents}
        write_whole(out / PAGES / f"{name}.html", page(report, texts).encode())

    return write


def _index(out: Path, *, html: bool) -> None:
    """The index page, over pages where there are some, else over JSON reports."""
    from longproof.indexes.files import write_whole
    from longproof.reopen import opened
    from longproof.report.html import index

    with (out / SUMMARY).open(encoding="utf-8", newline="") as table:
        rows = islice(csv.DictReader(table), ROWS)
        reports = (Path(row["report"]) for row in rows)
        shown = (
            (f"{PAGES}/{path.stem}.html" if html else f"{REPORTS}/{path.name}", opened(out / path))
            for path in reports
        )
        write_whole(out / INDEX, index(shown).encode())
