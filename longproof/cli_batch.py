"""The terminal's door to many cases: `longproof batch`.

Knows: options, exit codes. Does not know: how cases are checked.
"""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer


def batch(
    cases: Annotated[Path, typer.Argument(help="A JSONL file, a case a line.")],
    out: Annotated[Path, typer.Option(help="The folder for reports; a run that was stopped goes on there.")],
    protocol: Annotated[str, typer.Option(help="See `longproof protocols`.")] = "longproof",
    judge: Annotated[list[str] | None, typer.Option(help="A judge; may be given more than once.")] = None,
    arbiter: Annotated[str | None, typer.Option(help="Who decides where the judges are split.")] = None,
    decomposer: Annotated[str | None, typer.Option(help="Who cuts responses into claims.")] = None,
    pages: Annotated[Path | None, typer.Option(help="Saved web pages to consult.")] = None,
    encoding: Annotated[
        str | None, typer.Option(help="The sources' encoding, where it can't be told.")
    ] = None,
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="This process, or a pool of workers.")
    ] = "local",
    workers: Annotated[int, typer.Option(min=1, help="Of Ray.")] = 2,
    ray_address: Annotated[str | None, typer.Option(help="Of a Ray cluster; none: start Ray here.")] = None,
    parallel: Annotated[int, typer.Option(min=1, help="Cases checked at once.")] = 4,
    concurrency: Annotated[int, typer.Option(min=1, help="Calls under way at once, an endpoint.")] = 16,
    requests_per_minute: Annotated[float | None, typer.Option(help="For each endpoint.")] = None,
    tokens_per_minute: Annotated[float | None, typer.Option(help="For each endpoint.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Calls that this run may pay.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Tokens that this run may pay.")] = None,
    cache: Annotated[bool, typer.Option(help="Keep paid answers, and never pay for them again.")] = True,
    retry_failed: Annotated[bool, typer.Option(help="Take up again what nobody could decide.")] = False,
    run_id: Annotated[str | None, typer.Option(help="A name for this run in `longproof runs`.")] = None,
    html: Annotated[bool, typer.Option("--html", help="Write a page beside each report.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if any is hallucinated, 3 if undecided.")
    ] = False,
) -> None:
    """Check many cases: a report each, a summary and an index page; goes on where it was stopped."""
    from longproof.batch import checked, shown, summary
    from longproof.panel import panel_settings, run_name

    settings = {
        **panel_settings(judge, arbiter, decomposer),
        "protocol": protocol,
        "pages": str(pages) if pages else None,
        "concurrency": concurrency,
        "requests_per_minute": requests_per_minute,
        "tokens_per_minute": tokens_per_minute,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
        "cache": cache,
        "retry_failed": retry_failed,
        "run_id": run_name(run_id),
    }
    with shown() as progress:
        done = checked(
            cases,
            out,
            settings=settings,
            engine=engine,
            parallel=parallel,
            workers=workers,
            ray_address=ray_address,
            encoding=encoding,
            html=html,
            progress=progress,
        )
    for line in summary(done):
        typer.echo(line)
    if done.states["failed"]:
        sys.stderr.write(f"longproof: {done.states['failed']} cases could not be checked\n")
        raise typer.Exit(2)
    raise typer.Exit(_status(done.verdicts) if check else 0)


def _status(verdicts: dict[str, int]) -> int:
    if verdicts.get("hallucinated"):
        return 1
    return 3 if verdicts.get("undecided") else 0
