"""The folder that a run over many cases leaves: reports, tables, an index page, and pages on request.

Knows: which engine is asked for, which settings make reports comparable, and how reports become pages.
Does not know: how cases are checked, or what of them is already done.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from longproof.batch.run import (
    REPORTS,
    BatchDone,
    EndedCase,
    FileCases,
    ended_cases,
    report_path,
    run_batch,
)
from longproof.graphs.joined import joins
from longproof.graphs.runner import Engine, RunProgress, local_engine, refuse_unusable
from longproof.graphs.settings import INCOMPARABLE, settings_of
from longproof.graphs.verifier import Verifier
from longproof.indexes.documents import DocumentStore
from longproof.report.html import index_page, page
from longproof.report.saved import open_report
from longproof.retrieval.files import home, write_whole
from longproof.retrieval.types import BadInput, Frozen

INDEX, PAGES = "index.html", "pages"
INDEXED = 5000
"""How many reports the index page shows; a browser takes no more. The summary has them all."""


class EngineOptions(Frozen):
    """Which engine checks the cases, and how many groups of them at once. `parallel` is for each worker.

    Without `ray_address` Ray is started here.
    """

    engine: Literal["local", "ray"] = "local"
    parallel: int = 4
    workers: int = 2
    ray_address: str | None = None
    encoding: str | None = None


def check_cases(
    cases: Path,
    out: Path,
    *,
    settings: dict[str, Any],
    options: EngineOptions | None = None,
    html: bool = False,
    progress: Callable[[RunProgress], None] | None = None,
) -> BatchDone:
    """Check all cases into a folder, then write its index page. Raises BadInput for what can't be used."""
    options = options or EngineOptions()
    full = settings_of(settings)
    if options.ray_address and options.engine != "ray":
        raise BadInput("--ray-address is of Ray: add --engine ray, or leave it out")
    if html and options.ray_address:
        raise BadInput(
            "--html needs the sources' texts, and those stay with the workers: run `longproof report` there"
        )
    refuse_unusable(Verifier(**{**settings, "run_id": None}))
    done = run_batch(
        cases,
        out,
        _engine(cases, settings, options),
        settings=full.model_dump(mode="json", exclude={*INCOMPARABLE}),
        again=full.retry_failed,
        joined=joins(full),
        progress=progress,
    )
    ended = list(ended_cases(out))
    reported = [one.name for one in ended if one.state != "failed"]
    if html:
        write_pages(out, reported, full.home)
    write_index(out, reported, [one for one in ended if one.state == "failed"], html=html)
    return done


def write_pages(out: Path, names: Iterable[str], home_: str | None) -> None:
    """Write the pages of these reports that are missing, or older than their reports."""
    store = DocumentStore(home(home_) / "documents")
    for name in names:
        made, target = report_path(out, name), out / PAGES / f"{name}.html"
        if not target.exists() or target.stat().st_mtime_ns < made.stat().st_mtime_ns:
            report = open_report(made)
            texts = {document.id: store.text(document.id) for document in report.documents}
            write_whole(target, page(report, texts).encode())


def write_index(out: Path, names: Sequence[str], failed: Sequence[EndedCase] = (), *, html: bool) -> None:
    """The index page, over pages where they are asked for, else over JSON reports."""
    linked = (
        (f"{PAGES}/{name}.html" if html else f"{REPORTS}/{name}.json", open_report(report_path(out, name)))
        for name in names[:INDEXED]
    )
    told = [{"id": one.id, "line": one.line, "failure": one.failure} for one in failed[:INDEXED]]
    write_whole(out / INDEX, index_page(linked, len(failed), told).encode())


def _engine(cases: Path, settings: dict[str, Any], options: EngineOptions) -> Engine:
    if options.engine == "ray":
        from longproof.batch.ray import ray_engine

        return ray_engine(settings, cases, options)
    return local_engine(Verifier(**settings), FileCases(cases, options.encoding), options.parallel)
