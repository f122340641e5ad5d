"""`longproof evaluate` and `longproof compare`: data sets, and two evaluations of one.

Knows: options. Does not know: what is measured, or how.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longproof.cli.options import CHECKED, SettingOptions
from longproof.cli.verify import no_use

if TYPE_CHECKING:
    from longproof.evaluation.run import Evaluation, Reports
    from longproof.graphs.runner import RunProgress

    Progress = Callable[[RunProgress], None]

WITH_REPLAY = ("dataset", "out", "path", "pages", "parallel", "replay", "html")
"""Options that a replay takes: the recording says the others."""
DRAWN = ("path", "only", "sample", "seed", "repeat")
"""Options that say what is checked, and how often."""


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """The data set, what of it is drawn, and where results go."""

    heading = CHECKED
    dataset: Annotated[str, typer.Argument(help="A data set's name, or a JSONL file of cases.")]
    out: Annotated[Path, typer.Option(help="The folder for results; a run that was stopped goes on there.")]
    path: Annotated[str | None, typer.Option(help="Where the data set lies.")] = None
    only: Annotated[str | None, typer.Option(help="The examples of this slice alone, as scale=S.")] = None
    sample: Annotated[int | None, typer.Option(help="So many examples, drawn with the seed.")] = None
    seed: Annotated[int, typer.Option(help="Of the drawing.")] = 0
    repeat: Annotated[int, typer.Option(help="Run everything so often; limits are for each time.")] = 1
    parallel: Annotated[int, typer.Option(min=1, help="Examples, or groups of them, checked at once.")] = 4
    html: Annotated[bool, typer.Option("--html", help="Keep each report, write its page, and an index.")] = (
        False
    )
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Ask nobody; say what it would cost.")] = False
    record: Annotated[
        Path | None, typer.Option(help="Keep every answer of the run in this file, those of the ledger too.")
    ] = None
    replay: Annotated[
        Path | None,
        typer.Option(help="Answer from this file, which --record wrote, and ask nobody: same results."),
    ] = None


def evaluate_command(options: EvaluateOptions, asked: SettingOptions) -> None:
    """Run a data set through a protocol: scores with coverage. And a line an example."""
    from longproof.agent.report import unanswered, unusable
    from longproof.progress import run_progress

    if options.dry_run and not options.replay:
        _estimate(options, asked)
        return
    with run_progress("examples") as progress:
        run = _replayed if options.replay else _evaluated
        done = run(options, asked, progress)
    if options.html:
        _write_pages(done)
    typer.echo(done.to_markdown())
    for line in done.unchecked():
        typer.echo(f"longproof: {line}", err=True)
    failures = done.failures()
    if unusable(failures):
        typer.echo(f"longproof: {no_use(failures)}", err=True)
        raise typer.Exit(2)
    if unanswered(failures):
        typer.echo("longproof: no judge answered: run it again to go on", err=True)
        raise typer.Exit(2)


def _estimate(options: EvaluateOptions, asked: SettingOptions) -> None:
    from longproof.evaluation.run import estimate_dataset

    drawn = {name: getattr(options, name) for name in DRAWN}
    typer.echo(estimate_dataset(options.dataset, **drawn, **asked.settings()))


def _evaluated(options: EvaluateOptions, asked: SettingOptions, progress: "Progress") -> "Evaluation":
    from longproof.evaluation.replay import record_dataset
    from longproof.evaluation.run import evaluate_dataset

    evaluate = partial(record_dataset, recording=options.record) if options.record else evaluate_dataset
    settings = {**asked.settings(), "run_id": asked.run_id}
    return evaluate(
        options.dataset,
        out=options.out,
        parallel=options.parallel,
        progress=progress,
        reports=_reports(options),
        **{name: getattr(options, name) for name in DRAWN},
        **settings,
    )


def _replayed(options: EvaluateOptions, asked: SettingOptions, progress: "Progress") -> "Evaluation":
    """The run that was recorded. Raises BadInput for an option that it says itself."""
    from longproof.evaluation.replay import replay_dataset
    from longproof.retrieval.types import BadInput

    own = {one.name for one in fields(options) if getattr(options, one.name) != one.default}
    given = sorted((own | asked.given.keys()) - {*WITH_REPLAY})
    if given:
        raise BadInput(f"with --replay the recording says how it was made: leave out --{given[0]}")
    assert options.replay is not None
    return replay_dataset(
        options.dataset,
        options.replay,
        path=options.path,
        pages=asked.given.get("pages"),
        out=options.out,
        parallel=options.parallel,
        progress=progress,
        reports=_reports(options),
    )


def _reports(options: EvaluateOptions) -> "Reports | None":
    """Keep whole reports where pages are asked for."""
    if not options.html:
        return None
    from longproof.batch.tables import report_path, write_report
    from longproof.evaluation.run import Reports

    return Reports(
        write=lambda name, report: write_report(options.out, _file_name(name), report),
        written=lambda name: report_path(options.out, _file_name(name)).exists(),
    )


def _write_pages(done: "Evaluation") -> None:
    """A page beside each report, and an index over them."""
    from longproof.batch.tables import write_index, write_pages

    names = [_file_name(line.name) for line in done.results if line.failure is None]
    write_pages(done.folder, names, None)
    write_index(done.folder, names, html=True)


def _file_name(name: str) -> str:
    """The name of an example's files; another example has another one."""
    from longproof.graphs.cases import digest, file_name

    plain = file_name(name)
    return plain if plain == name else f"{plain}-{digest(name)[:8]}"


def compare_command(
    a: Annotated[Path, typer.Argument(help="A folder that `evaluate` wrote.")],
    b: Annotated[Path, typer.Argument(help="Another one, of the same data.")],
) -> None:
    """Compare two evaluations: differences with intervals. And which examples changed sides."""
    from longproof.evaluation.compare import compare_runs

    typer.echo(compare_runs(a, b).to_markdown())
