"""The terminal's door to making labelled data: `longproof construct KIND SOURCE … --out DIR`.

Knows: options, and how far a construction has come. Does not know: how data are made.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from longproof.construct import Constructed, Progress


def construct(
    kind: Annotated[str, typer.Argument(help="rules (no model), longnovel, probe or halueval.")],
    sources: Annotated[list[Path], typer.Argument(help="Books, articles, or HaluEval's rows as JSON Lines.")],
    out: Annotated[
        Path, typer.Option(help="The folder for the set; a run that was stopped is made again there.")
    ],
    model: Annotated[
        list[str] | None, typer.Option("--model", help="A language model, the writer first; may be repeated.")
    ] = None,
    cases: Annotated[int, typer.Option(min=1, help="About so many cases (rules, longnovel).")] = 500,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 0,
    test_share: Annotated[float, typer.Option(help="Share of the books in the test split.")] = 1.0,
    task: Annotated[str, typer.Option(help="One task alone (probe, halueval).")] = "",
    summaries: Annotated[
        list[Path] | None, typer.Option("--summaries", help="Summaries by people, JSON Lines (longnovel).")
    ] = None,
    keep: Annotated[int, typer.Option(min=1, help="So many queries are kept (halueval general).")] = 5000,
    concurrency: Annotated[int, typer.Option(min=1, help="Calls under way at once, for each endpoint.")] = 16,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Calls that may be paid.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Tokens that may be paid.")] = None,
    retry_failed: Annotated[
        bool, typer.Option(help="Ask again where a kept answer came to nothing.")
    ] = False,
    run_id: Annotated[
        str | None, typer.Option(help="The name under which the ledger records the run.")
    ] = None,
) -> None:
    """Make labelled data from your own sources, as the papers made theirs, or by rule without any model."""
    from longproof.construct import construct as constructed

    with _shown() as progress:
        done = constructed(
            kind,
            sources,
            out,
            models=model or [],
            cases=cases,
            seed=seed,
            test_share=test_share,
            task=task,
            summaries=summaries or [],
            keep=keep,
            progress=progress,
            concurrency=concurrency,
            max_calls=max_calls,
            max_tokens=max_tokens,
            retry_failed=retry_failed,
            run_id=run_id,
        )
    typer.echo(_said(done))


def _said(done: "Constructed") -> str:
    """What was made, thrown away, paid, and what the checks found."""
    rejected = ", ".join(f"{name} {n}" for name, n in done.rejected.items()) or "nothing"
    paid = f"calls {done.calls}, paid now {done.bought}" if done.calls else "no model asked"
    checks = [f"  {'ok  ' if check.good else 'LOOK'} {check.name}: {check.found}" for check in done.checks]
    return "\n".join([f"made {done.made} in {done.folder}; {paid}", f"thrown away: {rejected}", *checks])


@contextmanager
def _shown() -> Iterator["Progress"]:
    """A bar on stderr, on a terminal alone: a step for each word that a node says, by its name."""
    from rich import progress as bars
    from rich.console import Console

    console = Console(stderr=True)
    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
    )
    with bars.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks: dict[str, Any] = {}

        def hear(word: dict[str, Any]) -> None:
            name = str(word["node"])
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=None)
            bar.advance(tasks[name])

        yield hear
