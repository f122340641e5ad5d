"""The terminal's door to many cases: `longproof batch`.

Knows: options, exit codes. Does not know: how cases are checked.
"""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

Cases = Annotated[Path, typer.Argument(help="A JSONL file, a case a line.")]
Out = Annotated[Path, typer.Option(help="The folder for reports; a run that was stopped goes on there.")]
Protocol = Annotated[str, typer.Option(help="See `longproof protocols`.")]
Judge = Annotated[list[str] | None, typer.Option(help="A judge; may be given more than once.")]
Arbiter = Annotated[str | None, typer.Option(help="Who decides where the judges are split.")]
Decomposer = Annotated[str | None, typer.Option(help="Who cuts responses into claims.")]
Pages = Annotated[Path | None, typer.Option(help="Saved web pages to consult.")]
Encoding = Annotated[str | None, typer.Option(help="The sources' encoding, where it can't be told.")]
Engine = Annotated[Literal["local", "ray"], typer.Option(help="This process, or a pool of workers.")]
Workers = Annotated[int, typer.Option(min=1, help="Of Ray.")]
RayAddress = Annotated[str | None, typer.Option(help="Of a Ray cluster; none: start Ray here.")]
Parallel = Annotated[int, typer.Option(min=1, help="Cases checked at once.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Calls under way at once, an endpoint.")]
RequestsPerMinute = Annotated[float | None, typer.Option(help="For each endpoint.")]
TokensPerMinute = Annotated[float | None, typer.Option(help="For each endpoint.")]
MaxCalls = Annotated[int | None, typer.Option(min=0, help="Calls that this run may pay.")]
MaxTokens = Annotated[int | None, typer.Option(min=0, help="Tokens that this run may pay.")]
Cache = Annotated[bool, typer.Option(help="Keep paid answers, and never pay for them again.")]
RetryFailed = Annotated[bool, typer.Option(help="Take up again what nobody could decide.")]
RunId = Annotated[str | None, typer.Option(help="A name for this run in `longproof runs`.")]
Html = Annotated[bool, typer.Option("--html", help="Write a page beside each report.")]
Check = Annotated[bool, typer.Option("--check", help="Exit with 1 if any is hallucinated, 3 if undecided.")]


def batch(
    cases: Cases,
    out: Out,
    protocol: Protocol = "longproof",
    judge: Judge = None,
    arbiter: Arbiter = None,
    decomposer: Decomposer = None,
    pages: Pages = None,
    encoding: Encoding = None,
    engine: Engine = "local",
    workers: Workers = 2,
    ray_address: RayAddress = None,
    parallel: Parallel = 4,
    concurrency: Concurrency = 16,
    requests_per_minute: RequestsPerMinute = None,
    tokens_per_minute: TokensPerMinute = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    cache: Cache = True,
    retry_failed: RetryFailed = False,
    run_id: RunId = None,
    html: Html = False,
    check: Check = False,
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
