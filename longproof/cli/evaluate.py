"""`longproof evaluate` and `longproof compare`: data sets, and two evaluations of one.

Knows: options. Does not know: what is measured, or how.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from longproof.cli.options import PanelOptions, Protocol


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """The data set, what of it is drawn, and where results go."""

    dataset: Annotated[str, typer.Argument(help="A data set's name, or a JSONL file of cases.")]
    out: Annotated[Path, typer.Option(help="The folder for results; a run that was stopped goes on there.")]
    protocol: Protocol = "longproof"
    path: Annotated[str | None, typer.Option(help="Where the data set lies.")] = None
    sample: Annotated[int | None, typer.Option(help="So many examples, drawn with the seed.")] = None
    seed: Annotated[int, typer.Option(help="Of the drawing.")] = 0
    repeat: Annotated[int, typer.Option(help="Run everything so often.")] = 1
    concurrency: Annotated[int, typer.Option(help="Examples checked at once.")] = 4


def evaluate_command(options: EvaluateOptions, panel: PanelOptions) -> None:
    """Run a data set through a protocol: scores with coverage. And a line an example, plots."""
    from longproof.cli.progress import evaluation_progress
    from longproof.evaluation.run import evaluate_dataset

    with evaluation_progress() as progress:
        done = evaluate_dataset(
            options.dataset,
            path=options.path,
            protocol=options.protocol,
            judges=panel.judge or ["offline"],
            arbiter=panel.arbiter,
            decomposer=panel.decomposer,
            searcher=panel.searcher,
            reach=panel.reach,
            pages=str(panel.pages) if panel.pages else None,
            out=options.out,
            sample=options.sample,
            seed=options.seed,
            repeat=options.repeat,
            concurrency=options.concurrency,
            progress=progress,
        )
    typer.echo(done.to_markdown())
    for line in done.unchecked():
        typer.echo(f"longproof: {line}", err=True)


def compare_command(
    a: Annotated[Path, typer.Argument(help="A folder that `evaluate` wrote.")],
    b: Annotated[Path, typer.Argument(help="Another one, of the same data.")],
) -> None:
    """Compare two evaluations: differences with intervals. And which examples changed sides."""
    from longproof.evaluation.compare import compare_runs

    typer.echo(compare_runs(a, b).to_markdown())
