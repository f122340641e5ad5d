"""`longproof evaluate`, `compare` and `construct`: data sets, two evaluations of one, and making labelled data.

Knows: options, and how the end of a run is printed. Does not know: what is measured, or how data are made.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longproof.cli.options import CHECKED, SettingOptions
from longproof.cli.verify import no_answer

if TYPE_CHECKING:
    from longproof.construction.run import Constructed
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
    if why := no_answer(done.failures()):
        typer.echo(f"longproof: {why}", err=True)
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


@dataclass(frozen=True, kw_only=True)
class ConstructOptions:
    """The data to make: of what, by whom, and how much of it."""

    kind: Annotated[str, typer.Argument(help="longnovel, probe or halueval.")]
    sources: Annotated[
        list[Path], typer.Argument(help="Books, articles, or HaluEval's examples as JSON Lines.")
    ]
    out: Annotated[
        Path, typer.Option(help="The folder for the set; a run that was stopped is made again there.")
    ]
    models: Annotated[
        list[str] | None, typer.Option("--model", help="A language model, the writer first; may be repeated.")
    ] = None
    cases: Annotated[int, typer.Option(min=1, help="About so many cases (longnovel).")] = 500
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 0
    task: Annotated[str, typer.Option(help="One task alone (probe, halueval).")] = ""
    summaries: Annotated[
        list[Path] | None, typer.Option(help="Summaries by people, JSON Lines (longnovel).")
    ] = None
    keep: Annotated[int, typer.Option(min=1, help="So many queries are kept (halueval general).")] = 5000


def construct_command(options: ConstructOptions, asked: SettingOptions) -> None:
    """Make labelled data from your own sources. As the papers made theirs."""
    from longproof.construction.run import construct
    from longproof.progress import show_progress

    given = {name: [] if value is None else value for name, value in vars(options).items()}
    with show_progress("reading") as at:
        done = construct(
            **given,
            progress=lambda event: at.show(at.done + 1, None, str(event["node"])),
            **asked.settings(),
        )
    for line in _construction_lines(done):
        typer.echo(line)


def _construction_lines(done: "Constructed") -> Iterator[str]:
    """The lines on what was made, thrown away and paid, and what the checks found."""
    yield f"made {done.made} in {done.folder}; calls {done.calls}, paid now {done.bought}"
    rejected = ", ".join(f"{name} {n}" for name, n in done.rejected.items())
    yield f"thrown away: {rejected or 'nothing'}"
    for check in done.checks:
        yield f"  {'ok  ' if check.good else 'LOOK'} {check.name}: {check.found}"
