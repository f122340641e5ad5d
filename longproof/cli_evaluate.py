"""The terminal's door to evaluations: `longproof evaluate`.

Knows: options. Does not know: what is measured, or how.
"""

from pathlib import Path
from typing import Annotated

import typer

from longproof.cli_batch import Arbiter, Decomposer, Judge, Pages, Protocol

Name = Annotated[str, typer.Argument(help="A data set's name, or a JSONL file of cases.")]
Out = Annotated[Path, typer.Option(help="The folder for results; a run that was stopped goes on there.")]
Where = Annotated[str | None, typer.Option(help="Where the data set lies.")]
Sample = Annotated[int | None, typer.Option(help="So many examples, drawn with the seed.")]
Seed = Annotated[int, typer.Option(help="Of the drawing.")]
Repeat = Annotated[int, typer.Option(help="Run everything so often.")]
Concurrency = Annotated[int, typer.Option(help="Examples checked at once.")]


def evaluate(
    dataset: Name,
    out: Out,
    protocol: Protocol = "longproof",
    judge: Judge = None,
    arbiter: Arbiter = None,
    decomposer: Decomposer = None,
    pages: Pages = None,
    path: Where = None,
    sample: Sample = None,
    seed: Seed = 0,
    repeat: Repeat = 1,
    concurrency: Concurrency = 4,
) -> None:
    """A data set through a protocol: scores with coverage, a line an example, plots."""
    from longproof.evaluation.run import evaluate as evaluated
    from longproof.progress import scored

    with scored() as progress:
        done = evaluated(
            dataset,
            path=path,
            protocol=protocol,
            judges=judge or ["offline"],
            arbiter=arbiter,
            decomposer=decomposer,
            pages=str(pages) if pages else None,
            out=out,
            sample=sample,
            seed=seed,
            repeat=repeat,
            concurrency=concurrency,
            progress=progress,
        )
    typer.echo(done.to_markdown())
    for line in done.unchecked():
        typer.echo(f"longproof: {line}", err=True)
