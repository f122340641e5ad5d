"""`longproof batch`: many cases.

Knows: options, exit codes, how the end of a batch is printed. Does not know: how cases are checked.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from longproof.cli.options import CHECKED, Encoding, SettingOptions
from longproof.cli.verify import no_answer

if TYPE_CHECKING:
    from longproof.batch.run import BatchDone
    from longproof.graphs.runner import Engine

TOLD = 5
"""How many cases that could not be checked are named on the terminal; the index page has them all."""


@dataclass(frozen=True, kw_only=True)
class BatchOptions:
    """The cases, the folder for their reports, and who works on them."""

    heading = CHECKED
    cases: Annotated[Path, typer.Argument(help="A JSONL file, a case a line.")]
    out: Annotated[Path, typer.Option(help="The folder for reports; a run that was stopped goes on there.")]
    encoding: Encoding = None
    engine: Annotated[Literal["local", "ray"], typer.Option(help="This process, or a pool of workers.")] = (
        "local"
    )
    workers: Annotated[int, typer.Option(min=1, help="Of Ray.")] = 2
    ray_address: Annotated[str | None, typer.Option(help="Of a Ray cluster; none: start Ray here.")] = None
    parallel: Annotated[int, typer.Option(min=1, help="Cases, or groups of them, checked at once.")] = 4
    html: Annotated[bool, typer.Option("--html", help="Write a page beside each report.")] = False
    junit: Annotated[Path | None, typer.Option(help="Write the outcome as JUnit's XML, a test a case.")] = (
        None
    )
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if any is hallucinated, 3 if undecided.")
    ] = False

    def engine_for(self, settings: dict[str, Any]) -> "Engine | None":
        """Ray's engine, where it or a cluster is asked for. Raises BadInput for pages of texts that stay there."""
        from longproof.retrieval.types import BadInput

        if self.ray_address and self.html:
            raise BadInput(
                "--html needs the sources' texts, and those stay with the workers: run `longproof report` there"
            )
        if self.engine != "ray" and not self.ray_address:
            return None
        from longproof.batch.ray import ray_engine

        return ray_engine(
            settings,
            self.cases,
            workers=self.workers,
            parallel=self.parallel,
            address=self.ray_address,
            encoding=self.encoding,
        )


def batch_command(batch: BatchOptions, asked: SettingOptions) -> None:
    """Check many cases: a report each, a list and an index page. Goes on where it was stopped.

    FILE has a case a line, its source a path beside it or a text (a JSON object is a record):

    \b
    {"id": "a", "source": "novel.txt", "response": "The captain burns the letters."}
    {"id": "b", "source_text": "Ada lit the lamp.", "response": "Ada did.", "task": "answer", "context": "Who?"}
    """
    from longproof.batch.run import check_cases
    from longproof.batch.tables import write_junit
    from longproof.cli.reports import refuse_targets
    from longproof.progress import run_progress
    from longproof.report.words import visible
    from longproof.retrieval.types import BadInput

    refuse_targets(None, batch.junit, read=[batch.cases])
    if str(batch.junit) == "-":
        raise BadInput("JUnit's XML goes to a file: name one after --junit")
    settings = {**asked.settings(), "run_id": asked.run_id}
    with run_progress("cases") as progress:
        done = check_cases(
            batch.cases,
            batch.out,
            settings=settings,
            engine=batch.engine_for(settings),
            parallel=batch.parallel,
            encoding=batch.encoding,
            html=batch.html,
            progress=progress,
        )
    if batch.junit:
        write_junit(done.folder, done.cases, batch.junit)
    for line in _end_lines(done):
        typer.echo(visible(line))
    nothing = no_answer(done.failures)
    for line in [*_failure_lines(done), *([nothing] if nothing else [])]:
        typer.echo(f"longproof: {visible(' '.join(line.split()))}", err=True)
    if done.states["failed"]:
        raise typer.Exit(2)
    raise typer.Exit(_status(done) if batch.check else 2 if nothing else 0)


def _end_lines(done: "BatchDone") -> Iterator[str]:
    """The end of a batch, in a few lines."""
    from longproof.batch.tables import INDEX, INDEXED
    from longproof.graphs.run_folder import RESULTS

    states = done.states
    verdicts = ", ".join(f"{n} {verdict}" for verdict, n in sorted(done.verdicts.items()))
    tokens = done.paid.prompt_tokens + done.paid.completion_tokens
    yield f"{len(done.cases)} cases: {verdicts or 'no reports'}"
    if done.not_borne_out:
        yield f"{done.not_borne_out} of them are faithful with sentences that the source doesn't bear out"
    if states["unfinished"]:
        yield f"{states['unfinished']} wait for calls that were not answered: run it again to go on"
    yield f"{done.paid.calls:,} calls, {tokens:,} tokens paid, {done.seconds:.1f} s"
    yield f"results: {done.folder / RESULTS}"
    if sum(done.verdicts.values()) > INDEXED:
        yield f"the index page shows the first {INDEXED}"
    yield f"index: {(done.folder / INDEX).resolve().as_uri()}"


def _failure_lines(done: "BatchDone") -> Iterator[str]:
    """The number of cases that could not be checked, and the first few by their ids, each with its reason."""
    failed = [case for case in done.cases if case.state == "failed"]
    if failed:
        yield f"{len(failed)} of {len(done.cases)} cases could not be checked; the index page names them"
    for case in failed[:TOLD]:
        yield f"line {case.line}, case {case.id}: {case.failure}"


def _status(done: "BatchDone") -> int:
    if done.verdicts.get("hallucinated"):
        return 1
    return 3 if done.verdicts.get("undecided") or done.not_borne_out else 0
