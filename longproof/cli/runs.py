"""Commands over many texts: `longproof batch`, `evaluate`, `compare`, `construct` and `index`.

Knows: options, exit codes, the lines at the end of a run. Does not know: how cases are checked, or data made.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from longproof.agent.models.addresses import place_and_key
from longproof.cli.options import CHECKED, Encoding, SettingOptions
from longproof.cli.reports import refuse_targets
from longproof.cli.verify import no_answer
from longproof.progress import embedding_progress, run_progress, show_progress
from longproof.report.words import visible
from longproof.retrieval.files import home
from longproof.retrieval.types import BadInput

if TYPE_CHECKING:
    from longproof.batch.run import BatchDone
    from longproof.graphs.runner import Engine

WITH_REPLAY = {"dataset", "out", "path", "pages", "parallel", "replay", "html"}
"""Options that a replay takes: the recording says the others."""
DRAWN = ("path", "only", "sample", "seed", "repeat")
"""Options that say what is checked, and how often."""


@dataclass(frozen=True, kw_only=True)
class BatchOptions:
    """The cases, the folder for their reports, and who works on them."""

    heading = CHECKED
    cases: Annotated[Path, typer.Argument(help="A JSONL file, a case a line.")]
    out: Annotated[Path, typer.Option(help="The folder for reports; a run that was stopped goes on there.")]
    encoding: Encoding = None
    engine: Annotated[Literal["local", "ray"], typer.Option(help="This process, or workers.")] = "local"
    workers: Annotated[int, typer.Option(min=1, help="Of Ray.")] = 2
    ray_address: Annotated[str | None, typer.Option(help="Of a Ray cluster; none: start Ray here.")] = None
    parallel: Annotated[int, typer.Option(min=1, help="Cases, or groups of them, checked at once.")] = 4
    html: Annotated[bool, typer.Option("--html", help="Write a page beside each report.")] = False
    junit: Annotated[Path | None, typer.Option(help="Write JUnit's XML, a test a case.")] = None
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if any is hallucinated, 3 if undecided.")
    ] = False

    def ray(self, settings: dict[str, Any]) -> "Engine | None":
        """Ray's engine, where it or a cluster is asked for. Raises BadInput for pages of texts that stay there."""
        if self.ray_address and self.html:
            why = "needs the sources' texts, and those stay with the workers"
            raise BadInput(f"--html {why}: run `longproof report` there")
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
    from longproof.batch.run import check_cases, write_junit

    refuse_targets({"--junit": batch.junit}, read=[batch.cases])
    settings = {**asked.settings(), "run_id": asked.run_id}
    with run_progress("cases") as progress:
        done = check_cases(
            batch.cases,
            batch.out,
            settings=settings,
            engine=batch.ray(settings),
            parallel=batch.parallel,
            encoding=batch.encoding,
            html=batch.html,
            progress=progress,
        )
    if batch.junit:
        write_junit(done, batch.junit)
    for line in _end_lines(done):
        typer.echo(visible(line))
    failed = [case for case in done.cases if case.state == "failed"]
    problems = [f"line {case.line}, case {case.id}: {case.failure}" for case in failed[:5]]
    if failed:
        told = f"{len(failed)} of {len(done.cases)} cases could not be checked; the index page names them"
        problems.insert(0, told)
    if nothing := no_answer(done.failures):
        problems.append(nothing)
    for line in problems:
        typer.echo(f"longproof: {visible(' '.join(line.split()))}", err=True)
    if failed or (nothing and not batch.check):
        raise typer.Exit(2)
    if batch.check and done.verdicts["hallucinated"]:
        raise typer.Exit(1)
    if batch.check and (done.verdicts["undecided"] or any(case.not_borne_out for case in done.cases)):
        raise typer.Exit(3)


def _end_lines(done: "BatchDone") -> Iterator[str]:
    """The end of a batch, in a few lines."""
    from longproof.batch.run import INDEX, INDEXED
    from longproof.graphs.runner import RESULTS

    verdicts = ", ".join(f"{n} {verdict}" for verdict, n in sorted(done.verdicts.items()))
    yield f"{len(done.cases)} cases: {verdicts or 'no reports'}"
    if open_ := sum(case.not_borne_out > 0 for case in done.cases):
        yield f"{open_} of them are faithful with sentences that the source doesn't bear out"
    if unfinished := done.states["unfinished"]:
        yield f"{unfinished} wait for calls that were not answered: run it again to go on"
    tokens = done.paid.prompt_tokens + done.paid.completion_tokens
    yield f"{done.paid.calls:,} calls, {tokens:,} tokens paid, {done.seconds:.1f} s"
    yield f"results: {done.folder / RESULTS}"
    if done.verdicts.total() > INDEXED:
        yield f"the index page shows the first {INDEXED}"
    yield f"index: {(done.folder / INDEX).resolve().as_uri()}"


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
    html: Annotated[bool, typer.Option("--html", help="Keep each report; write pages and an index.")] = False
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
    from longproof.batch.run import write_index
    from longproof.evaluation.replay import record_dataset, replay_dataset
    from longproof.evaluation.run import estimate_dataset, evaluate_dataset

    drawn: dict[str, Any] = {name: getattr(options, name) for name in DRAWN}
    if options.dry_run and not options.replay:
        typer.echo(estimate_dataset(options.dataset, **drawn, **asked.settings()))
        return
    common: Any = {"out": options.out, "parallel": options.parallel, "reports": options.html}
    with run_progress("examples") as progress:
        common["progress"] = progress
        if options.replay:
            _refuse_other_options(options, asked)
            pages = asked.given.get("pages")
            done = replay_dataset(options.dataset, options.replay, path=options.path, pages=pages, **common)
        else:
            settings = {**asked.settings(), "run_id": asked.run_id}
            evaluate = (
                partial(record_dataset, recording=options.record) if options.record else evaluate_dataset
            )
            done = evaluate(options.dataset, **common, **drawn, **settings)
    if options.html:
        write_index(done.folder, [line.name for line in done.results if line.failure is None])
    typer.echo(done.to_markdown())
    nothing = no_answer(done.failures())
    for line in filter(None, [*done.unchecked_reasons(), nothing]):
        typer.echo(f"longproof: {line}", err=True)
    if nothing:
        raise typer.Exit(2)


def _refuse_other_options(options: EvaluateOptions, asked: SettingOptions) -> None:
    """Raises BadInput for an option whose value a recording holds."""
    own = {one.name for one in fields(options) if getattr(options, one.name) != one.default}
    given = sorted((own | asked.given.keys()) - {*WITH_REPLAY})
    if given:
        raise BadInput(f"with --replay the recording says how it was made: leave out --{given[0]}")


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

    given = {name: [] if value is None else value for name, value in vars(options).items()}
    with show_progress("reading") as at:
        done = construct(
            **given,
            progress=lambda event: at.show(at.done + 1, None, str(event["node"])),
            **asked.settings(),
        )
    typer.echo(f"made {done.made} in {done.folder}; calls {done.calls}, paid now {done.bought}")
    rejected = ", ".join(f"{name} {n}" for name, n in done.rejected.items())
    typer.echo(f"thrown away: {rejected or 'nothing'}")
    for check in done.checks:
        typer.echo(f"  {'ok  ' if check.good else 'LOOK'} {check.name}: {check.found}")


def index_command(
    sources: Annotated[list[Path] | None, typer.Argument(help="Sources to index.")] = None,
    pages: Annotated[Path | None, typer.Option(help="A folder of saved web pages.")] = None,
    embedder: Annotated[str, typer.Option(help="e5, auto, bge-m3, st:PATH or openai:MODEL.")] = "lexical",
    encoding: Encoding = None,
) -> None:
    """Build and keep the index of a source, or of saved pages. Checks use what is there."""
    from longproof.graphs.evidence.sources import MEANING
    from longproof.indexes.search import open_pages, source_index
    from longproof.retrieval import embedders
    from longproof.retrieval.loaders import read_source

    if not sources and pages is None:
        raise BadInput("there is nothing to index: give sources, or --pages DIR")
    model = embedders.embedder(embedder, place_and_key)
    for path in sources or []:
        document = read_source(path, encoding)
        if model is None:
            nothing = "there is nothing to build: a check counts words itself; give --embedder or --pages"
            typer.echo(f"{path}: {nothing}")
            continue
        with embedding_progress() as progress:
            source_index(document, home(), model, MEANING, progress)
        typer.echo(f"{path}: {len(document.text):,} characters indexed ({embedder})")
    if pages is None:
        return
    with show_progress("pages read") as at:
        index = open_pages(pages, home(), progress=at.show)
    if model is not None:
        with embedding_progress() as progress:
            index.open_vectors(home(), model, progress)
    typer.echo(f"{pages}: {len(index.pages)} pages, {len(index)} snippets indexed ({index.engine})")
    for name, reason in index.left_out.items():
        typer.echo(f"left out: {name}: {reason}")
