"""The folder that `longproof batch` leaves: reports, summary, failures, an index page, and pages on request.

Knows: which engine is asked for, which settings make reports comparable, and how reports become pages.
Does not know: how cases are checked, or what of them is already done.
"""

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from longproof.agent.types import Report
from longproof.batch.resume_list import Todo
from longproof.batch.run import (
    FAILURES,
    REPORTS,
    SUMMARY,
    BatchDone,
    BatchProgress,
    Engine,
    EngineOptions,
    Finish,
    local_engine,
    run_batch,
)
from longproof.graphs.joined import joins
from longproof.graphs.settings import INCOMPARABLE, settings_of
from longproof.graphs.verifier import Verifier, run
from longproof.indexes.documents import DocumentStore
from longproof.report.html import index_page, page
from longproof.report.saved import open_report
from longproof.retrieval.files import home, write_whole
from longproof.retrieval.types import BadInput

INDEX, PAGES = "index.html", "pages"
INDEXED = 5000
"""How many reports the index page shows; a browser takes no more. The summary has them all."""


def check_cases(
    cases: Path,
    out: Path,
    *,
    settings: dict[str, Any],
    options: EngineOptions | None = None,
    html: bool = False,
    progress: Callable[[BatchProgress], None] | None = None,
) -> BatchDone:
    """Check all cases into a folder, then write its index page. Raises BadInput for what can't be used."""
    options = options or EngineOptions()
    full = settings_of(settings)
    if html and options.ray_address:
        raise BadInput(
            "--html needs the sources' texts, and those stay with the workers: run `longproof report` there"
        )
    _refuse_unusable(settings)
    engine = _engine(cases, settings, options)
    done = run_batch(
        cases,
        out,
        _with_pages(engine, out, full.home) if html else engine,
        settings=full.model_dump(mode="json", exclude={*INCOMPARABLE}),
        again=full.retry_failed,
        joined=joins(full),
        progress=progress,
    )
    _write_index(out, failed=done.states["failed"], html=html)
    return done


def _engine(cases: Path, settings: dict[str, Any], options: EngineOptions) -> Engine:
    if options.engine == "ray":
        from longproof.batch.ray import ray_engine

        return ray_engine(settings, cases, options)
    return local_engine(Verifier(**settings), cases, concurrency=options.parallel, encoding=options.encoding)


def _refuse_unusable(settings: dict[str, Any]) -> None:
    """Raises BadInput for a judge, a protocol or a folder that can't be had, before any case is taken up."""

    async def opened() -> None:
        verifier = Verifier(**{**settings, "run_id": None})
        try:
            await verifier.open()
        finally:
            await verifier.close()

    run(opened())


def _with_pages(engine: Engine, out: Path, home_: str | None) -> Engine:
    """The engine, with a page written for each report."""
    store = DocumentStore(home(home_) / "documents")

    def checking(todo: Iterable[Sequence[Todo]], finish: Finish) -> None:
        def finish_with_page(one: Todo, result: Report | str) -> None:
            if isinstance(result, Report):
                texts = {document.id: store.text(document.id) for document in result.documents}
                write_whole(out / PAGES / f"{one.name}.html", page(result, texts).encode())
            finish(one, result)

        engine(todo, finish_with_page)

    return checking


def _write_index(out: Path, *, failed: int, html: bool) -> None:
    """The index page, over pages where there are some, else over JSON reports."""
    with (out / SUMMARY).open(encoding="utf-8", newline="") as table:
        paths = (Path(line["report"]) for line in islice(csv.DictReader(table), INDEXED))
        linked = (
            (f"{PAGES}/{path.stem}.html" if html else f"{REPORTS}/{path.name}", open_report(out / path))
            for path in paths
        )
        with (out / FAILURES).open(encoding="utf-8") as lines:
            failures = [json.loads(line) for line in islice(lines, INDEXED)]
        write_whole(out / INDEX, index_page(linked, failed, failures).encode())
