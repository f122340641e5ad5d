"""Commands over many texts: `longproof batch`, `evaluate`, `compare`, `construct` and `index`.

Knows: options, exit codes, the lines at the end of a run. Does not know: how cases are checked, or data made.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from longproof.agent.models.addresses import place_and_key
from longproof.cli.options import Encoding, SettingOptions
from longproof.cli.reports import refuse_targets
from longproof.cli.verify import no_answer
from longproof.progress import embedding_progress, run_progress, show_progress
from longproof.report.words import visible
from longproof.retrieval.files import home
from longproof.retrieval.types import BadInput

if TYPE_CHECKING:
    from longproof.batch.run import BatchDone
    from longproof.graphs.runner import Engine


def batch_command(
    asked: SettingOptions,
    cases: Annotated[Path, typer.Argument(help="A JSONL file, a case a line.")],
    out: Annotated[Path, typer.Option(help="The folder for reports; a run that was stopped goes on there.")],
    encoding: Encoding = None,
    engine: Annotated[Literal["local", "ray"], typer.Option(help="This process, or workers.")] = "local",
    workers: Annotated[int | None, typer.Option(min=1, help="Of Ray, else 2.")] = None,
    ray_address: Annotated[str | None, typer.Option(help="Of a Ray cluster; none: start Ray here.")] = None,
    parallel: Annotated[int, typer.Option(min=1, help="Cases, or groups of them, checked at once.")] = 4,
    html: Annotated[bool, typer.Option("--html", help="Write a page beside each report.")] = False,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit's XML, a test a case.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if any is hallucinated, 3 if undecided.")
    ] = False,
) -> None:
    """Check many cases: a report each, a list and an index page. Goes on where it was stopped.

    The file has a case a line, its source a path beside it or a text (a JSON object is a record):

    \b
    {"id": "a", "source": "novel.txt", "response": "The captain burns the letters."}
    {"id": "b", "source_text": "Ada lit the lamp.", "response": "Ada did.", "task": "answer", "context": "Who?"}
    {"id": "c", "source": "novel.epub", "response_file": "summary.txt"}
    """
    from longproof.batch.run import check_cases, write_junit

    refuse_targets({"--junit": junit}, read=[cases])
    settings = {**asked.settings(), "run_id": asked.run_id}
    how: Any = {"parallel": parallel, "encoding": encoding}
    on_ray: Engine | None = None
    if workers and engine == "local" and not ray_address:
        raise BadInput("--workers are Ray's: add --engine ray, or give --parallel instead")
    if ray_address and html:
        why = "needs the sources' texts, and those stay with the workers"
        raise BadInput(f"--html {why}: run `longproof report` there")
    if engine == "ray" or ray_address:
        from longproof.batch.ray import ray_engine

        on_ray = ray_engine(settings, cases, workers=workers or 2, address=ray_address, **how)
    with run_progress("cases") as progress:
        done = check_cases(cases, out, settings=settings, engine=on_ray, html=html, progress=progress, **how)
    if junit:
        write_junit(done, junit)
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
    if failed or (nothing and not check):
        raise typer.Exit(2)
    if check and done.verdicts["hallucinated"]:
        raise typer.Exit(1)
    if check and (done.verdicts["undecided"] or any(case.not_borne_out for case in done.cases)):
        raise typer.Exit(3)


def _end_lines(done: "BatchDone") -> Iterator[str]:
    """The end of a batch, in a few lines."""
    from longproof.batch.run import INDEX, INDEXED
    from longproof.graphs.runner import RESULTS

    verdicts = ", ".join(f"{n} {verdict}" for verdict, n in sorted(done.verdicts.items()))
    cases = "1 case" if len(done.cases) == 1 else f"{len(done.cases)} cases"
    yield f"{cases}: {verdicts or 'no reports'}"
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


def evaluate_command(
    asked: SettingOptions,
    dataset: Annotated[str, typer.Argument(help="A data set's name, or a JSONL file of cases.")],
    out: Annotated[Path, typer.Option(help="The folder for results; a run that was stopped goes on there.")],
    path: Annotated[str | None, typer.Option(help="Where the data set lies.")] = None,
    only: Annotated[str | None, typer.Option(help="The examples of this slice alone, as scale=S.")] = None,
    sample: Annotated[int | None, typer.Option(help="So many examples, drawn with the seed.")] = None,
    seed: Annotated[int, typer.Option(help="Of the drawing.")] = 0,
    repeat: Annotated[int, typer.Option(help="Run everything so often; limits are for each time.")] = 1,
    parallel: Annotated[int, typer.Option(min=1, help="Examples, or groups of them, checked at once.")] = 4,
    html: Annotated[bool, typer.Option("--html", help="Keep each report; write pages and an index.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Ask nobody; say what it would cost.")] = False,
    record: Annotated[
        Path | None, typer.Option(help="Keep every answer of the run in this file, those of the ledger too.")
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(help="Answer from this file, which --record wrote, and ask nobody: same results."),
    ] = None,
) -> None:
    """Run a data set through a protocol: scores with coverage. And a line an example."""
    from longproof.batch.run import write_index
    from longproof.evaluation.estimate import estimate_dataset
    from longproof.evaluation.run import evaluate_dataset, record_dataset, replay_dataset

    drawn: Any = {"path": path, "only": only, "sample": sample, "seed": seed, "repeat": repeat}
    if dry_run and not replay:
        typer.echo(estimate_dataset(dataset, **drawn, **asked.settings()))
        return
    if replay:
        said = {**asked.given, "only": only, "sample": sample, "seed": seed or None, "record": record}
        said |= {"repeat": repeat if repeat != 1 else None, "dry_run": dry_run or None, "pages": None}
        if given := sorted(name for name, value in said.items() if value is not None):
            option = f"--{given[0].replace('_', '-')}"
            raise BadInput(f"with --replay the recording says how it was made: leave out {option}")
    common: Any = {"out": out, "parallel": parallel, "reports": html}
    with run_progress("examples") as progress:
        common["progress"] = progress
        if replay:
            done = replay_dataset(dataset, replay, path=path, pages=asked.given.get("pages"), **common)
        else:
            settings = {**asked.settings(), "run_id": asked.run_id}
            evaluate = partial(record_dataset, recording=record) if record else evaluate_dataset
            done = evaluate(dataset, **common, **drawn, **settings)
    if html:
        write_index(done.folder, [line.name for line in done.results if line.failure is None])
    typer.echo(done.to_markdown())
    nothing = no_answer(done.failures())
    for line in filter(None, [*done.unchecked_reasons(), nothing]):
        typer.echo(f"longproof: {line}", err=True)
    if nothing:
        raise typer.Exit(2)


def compare_command(
    a: Annotated[Path, typer.Argument(help="A folder that `evaluate` wrote.")],
    b: Annotated[Path, typer.Argument(help="Another one, of the same data.")],
) -> None:
    """Compare two evaluations: differences with intervals. And which examples changed sides."""
    from longproof.evaluation.compare import compare_runs

    typer.echo(compare_runs(a, b).to_markdown())


def construct_command(
    asked: SettingOptions,
    kind: Annotated[str, typer.Argument(help="longnovel, probe or halueval.")],
    sources: Annotated[
        list[Path], typer.Argument(help="Books, articles, or HaluEval's examples as JSON Lines.")
    ],
    out: Annotated[
        Path, typer.Option(help="The folder for the set; a run that was stopped is made again there.")
    ],
    models: Annotated[
        list[str] | None, typer.Option("--model", help="A language model, the writer first; may be repeated.")
    ] = None,
    cases: Annotated[int, typer.Option(min=1, help="About so many cases (longnovel).")] = 500,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 0,
    task: Annotated[str, typer.Option(help="One task alone (probe, halueval).")] = "",
    summaries: Annotated[
        list[Path] | None, typer.Option(help="Summaries by people, JSON Lines (longnovel).")
    ] = None,
    keep: Annotated[int, typer.Option(min=1, help="So many queries are kept (halueval general).")] = 5000,
) -> None:
    """Make labelled data from your own sources. As the papers made theirs."""
    from longproof.construction.run import construct

    made: Any = {"kind": kind, "sources": sources, "out": out, "models": models or [], "cases": cases}
    made |= {"seed": seed, "task": task, "summaries": summaries or [], "keep": keep}
    with show_progress("reading") as at:

        def show(event: Any) -> None:
            at.show(at.done + 1, None, str(event["node"]))

        done = construct(**made, progress=show, **asked.settings())
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
