"""`longproof evaluate` and `longproof compare`: data sets, and two evaluations of one.

Knows: options. Does not know: what is measured, or how.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longproof.cli.options import PanelOptions, Protocol, reach_settings

if TYPE_CHECKING:
    from longproof.evaluation.run import Evaluation, EvaluationProgress

    Progress = Callable[[EvaluationProgress], None]

WITH_REPLAY = ("dataset", "out", "path", "pages", "concurrency", "replay")
"""Options that a replay takes: the recording says the others."""


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """The data set, what of it is drawn, and where results go."""

    dataset: Annotated[str, typer.Argument(help="A data set's name, or a JSONL file of cases.")]
    out: Annotated[Path, typer.Option(help="The folder for results; a run that was stopped goes on there.")]
    protocol: Protocol = "longproof"
    path: Annotated[str | None, typer.Option(help="Where the data set lies.")] = None
    only: Annotated[str | None, typer.Option(help="The examples of this slice alone, as scale=S.")] = None
    sample: Annotated[int | None, typer.Option(help="So many examples, drawn with the seed.")] = None
    seed: Annotated[int, typer.Option(help="Of the drawing.")] = 0
    repeat: Annotated[int, typer.Option(help="Run everything so often.")] = 1
    concurrency: Annotated[int, typer.Option(help="Examples checked at once.")] = 4
    record: Annotated[
        Path | None, typer.Option(help="Keep every answer of the run in this file, those of the ledger too.")
    ] = None
    replay: Annotated[
        Path | None,
        typer.Option(help="Answer from this file, which --record wrote, and ask nobody: same results."),
    ] = None


def evaluate_command(options: EvaluateOptions, panel: PanelOptions) -> None:
    """A data set through a protocol: scores with coverage, a line an example, plots."""
    from longproof.cli.progress import evaluation_progress

    with evaluation_progress() as progress:
        done = (_replayed if options.replay else _evaluated)(options, panel, progress)
    typer.echo(done.to_markdown())
    for line in done.unchecked():
        typer.echo(f"longproof: {line}", err=True)


def _evaluated(options: EvaluateOptions, panel: PanelOptions, progress: "Progress") -> "Evaluation":
    from longproof.evaluation.replay import record_dataset
    from longproof.evaluation.run import evaluate_dataset

    evaluate = partial(record_dataset, recording=options.record) if options.record else evaluate_dataset
    return evaluate(
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
        only=options.only,
        sample=options.sample,
        seed=options.seed,
        repeat=options.repeat,
        concurrency=options.concurrency,
        progress=progress,
        **reach_settings(),
    )


def _replayed(options: EvaluateOptions, panel: PanelOptions, progress: "Progress") -> "Evaluation":
    """The run that was recorded. Raises BadInput for an option that it says itself."""
    from longproof.evaluation.replay import replay_dataset
    from longproof.retrieval.types import BadInput

    given = [
        field.name
        for group in (options, panel)
        for field in fields(group)
        if field.name not in WITH_REPLAY and getattr(group, field.name) != field.default
    ]
    if given:
        raise BadInput(f"with --replay the recording says how it was made: leave out --{given[0]}")
    assert options.replay is not None
    return replay_dataset(
        options.dataset,
        options.replay,
        path=options.path,
        pages=str(panel.pages) if panel.pages else None,
        out=options.out,
        concurrency=options.concurrency,
        progress=progress,
    )


def compare_command(
    a: Annotated[Path, typer.Argument(help="A folder that `evaluate` wrote.")],
    b: Annotated[Path, typer.Argument(help="Another one, of the same data.")],
) -> None:
    """Two evaluations against each other: differences with intervals, and which examples changed sides."""
    from longproof.evaluation.compare import compare_runs

    typer.echo(compare_runs(a, b).to_markdown())
