"""`longproof construct`: making labelled data.

Knows: options, and how the end of a construction is printed. Does not know: how data are made.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longproof.cli.options import SettingOptions

if TYPE_CHECKING:
    from longproof.construction.run import Constructed


@dataclass(frozen=True, kw_only=True)
class ConstructOptions:
    """What is made, of what, by whom, and how much of it."""

    kind: Annotated[str, typer.Argument(help="longnovel, probe or halueval.")]
    sources: Annotated[
        list[Path], typer.Argument(help="Books, articles, or HaluEval's examples as JSON Lines.")
    ]
    out: Annotated[
        Path, typer.Option(help="The folder for the set; a run that was stopped is made again there.")
    ]
    model: Annotated[
        list[str] | None, typer.Option(help="A language model, the writer first; may be repeated.")
    ] = None
    cases: Annotated[int, typer.Option(min=1, help="About so many cases (longnovel).")] = 500
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 0
    test_share: Annotated[float, typer.Option(help="Share of the books in the test split.")] = 1.0
    task: Annotated[str, typer.Option(help="One task alone (probe, halueval).")] = ""
    summaries: Annotated[
        list[Path] | None, typer.Option(help="Summaries by people, JSON Lines (longnovel).")
    ] = None
    keep: Annotated[int, typer.Option(min=1, help="So many queries are kept (halueval general).")] = 5000


def construct_command(options: ConstructOptions, asked: SettingOptions) -> None:
    """Make labelled data from your own sources. As the papers made theirs."""
    from longproof.construction.run import construct
    from longproof.progress import show_progress

    with show_progress("reading") as at:
        done = construct(
            options.kind,
            options.sources,
            options.out,
            models=options.model or [],
            cases=options.cases,
            seed=options.seed,
            test_share=options.test_share,
            task=options.task,
            summaries=options.summaries or [],
            keep=options.keep,
            progress=lambda event: at.show(at.done + 1, None, str(event["node"])),
            **asked.settings(),
        )
    typer.echo(_end_text(done))


def _end_text(done: "Constructed") -> str:
    """What was made, thrown away, paid, and what the checks found."""
    rejected = ", ".join(f"{name} {n}" for name, n in done.rejected.items()) or "nothing"
    checks = [f"  {'ok  ' if check.good else 'LOOK'} {check.name}: {check.found}" for check in done.checks]
    return "\n".join(
        [
            f"made {done.made} in {done.folder}; calls {done.calls}, paid now {done.bought}",
            f"thrown away: {rejected}",
            *checks,
        ]
    )
