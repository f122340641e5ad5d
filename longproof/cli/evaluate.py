"""`longproof evaluate` and `longproof compare`: data sets, and two evaluations of one.

Knows: options. Does not know: what is measured, or how.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from longproof.cli.options import Cache, CallOptions, PanelOptions, Protocol, run_name


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """The data set, what of it is drawn, and where results go."""

    dataset: Annotated[str, typer.Argument(help="A data set's name, or a JSONL file of cases.")]
    out: Annotated[Path, typer.Option(help="The folder for results; a run that was stopped goes on there.")]
    protocol: Protocol = "longproof"
    path: Annotated[str | None, typer.Option(help="Where the data set lies.")] = None
    sample: Annotated[int | None, typer.Option(help="So many examples, drawn with the seed.")] = None
    seed: Annotated[int, typer.Option(help="Of the drawing.")] = 0
    repeat: Annotated[int, typer.Option(help="Run everything so often; limits are for each time.")] = 1
    parallel: Annotated[int, typer.Option(min=1, help="Examples, or groups of them, checked at once.")] = 4
    cache: Cache = True
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Ask nobody; say what it would cost.")] = False


def evaluate_command(options: EvaluateOptions, panel: PanelOptions, calls: CallOptions) -> None:
    """Run a data set through a protocol: scores with coverage. And a line an example, plots."""
    from longproof.cli.progress import evaluation_progress
    from longproof.evaluation.estimate import estimate
    from longproof.evaluation.run import evaluate_dataset

    settings = {
        **panel.settings(),
        **calls.settings(),
        "run_id": run_name(calls.run_id),
        "cache": options.cache,
    }
    drawn = {name: getattr(options, name) for name in ("path", "protocol", "sample", "seed", "repeat")}
    if options.dry_run:
        typer.echo(estimate(options.dataset, judges=settings["judges"], **drawn))
        return
    with evaluation_progress() as progress:
        done = evaluate_dataset(
            options.dataset,
            out=options.out,
            parallel=options.parallel,
            progress=progress,
            **drawn,
            **settings,
        )
    typer.echo(done.to_markdown())
    for line in done.unchecked():
        typer.echo(f"longproof: {line}", err=True)
    if done.unanswered:
        typer.echo("longproof: no judge answered: run it again to go on", err=True)
        raise typer.Exit(2)


def compare_command(
    a: Annotated[Path, typer.Argument(help="A folder that `evaluate` wrote.")],
    b: Annotated[Path, typer.Argument(help="Another one, of the same data.")],
) -> None:
    """Compare two evaluations: differences with intervals. And which examples changed sides."""
    from longproof.evaluation.compare import compare_runs

    typer.echo(compare_runs(a, b).to_markdown())
