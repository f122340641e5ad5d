"""The terminal's door: commands, exit codes, one line for what can't be done.

Knows: options, and which functions they go to. Does not know: any rule of judging.
Answers `--help` without importing langgraph or openai: each command imports what it needs.
"""

import os
import shlex
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longproof.cli_batch import batch
from longproof.cli_construct import construct
from longproof.cli_evaluate import evaluate

if TYPE_CHECKING:
    from longproof.agent.types import Report

UNUSABLE, INTERRUPTED = 2, 130

app = typer.Typer(
    name="longproof",
    help="Is a text faithful to a long source? Claim by claim, with the places in both.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Sources = Annotated[
    list[Path] | None, typer.Option("--source", help="A text to be faithful to; none, one or several.")
]
Response = Annotated[Path, typer.Option("--response", help="The text that is checked.")]
Task = Annotated[str, typer.Option(help="summary, answer, turn, article, rewrite or open.")]
Context = Annotated[Path | None, typer.Option(help="A file with the question, or the turns before.")]
ProtocolName = Annotated[
    str, typer.Option("--protocol", help="See `longproof protocols`; `all` runs them side by side.")
]
Judges = Annotated[list[str] | None, typer.Option("--judge", help="A judge; may be given more than once.")]
ArbiterSpec = Annotated[
    str | None,
    typer.Option("--arbiter", help="Who decides where the judges are split: a judge, or `person`."),
]
DecomposerSpec = Annotated[
    str | None, typer.Option("--decomposer", help="Who cuts the response into claims.")
]
EmbedderSpec = Annotated[
    str,
    typer.Option("--embedder", help="How the response is aligned: lexical, bge-m3, st:PATH, openai:MODEL."),
]
PagesFolder = Annotated[
    Path | None,
    typer.Option("--pages", help="Saved web pages to consult about what the source doesn't have."),
]
RunId = Annotated[str | None, typer.Option(help="A name for this run; a known one goes on where it stopped.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Calls under way at once, for each endpoint.")]
MaxCalls = Annotated[
    int | None, typer.Option(min=0, help="Calls that may be paid; the rest stays undecided.")
]
MaxTokens = Annotated[
    int | None, typer.Option(min=0, help="Tokens that may be paid; the rest stays undecided.")
]
Cache = Annotated[bool, typer.Option(help="Keep paid answers, and never pay for them again.")]
RetryFailed = Annotated[bool, typer.Option(help="Ask again where a kept answer came to nothing.")]
MaxPasses = Annotated[float, typer.Option(help="With --protocol all: skip what would cost more passes.")]
DryRun = Annotated[bool, typer.Option(help="Ask nobody; say what a check would cost at least and at most.")]
Encoding = Annotated[str | None, typer.Option(help="The files' encoding, where it can't be told.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the report as JSON; - prints it.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write the report as one HTML page.")]
AtLeast = Annotated[
    str | None, typer.Option(help="Say how many sentences have this label or a more faithful one.")
]
Check = Annotated[bool, typer.Option("--check", help="Exit with 1 if hallucinated, 3 if undecided.")]


@app.command()
def verify(
    response: Response,
    source: Sources = None,
    task: Task = "summary",
    context: Context = None,
    protocol: ProtocolName = "longproof",
    judge: Judges = None,
    arbiter: ArbiterSpec = None,
    decomposer: DecomposerSpec = None,
    embedder: EmbedderSpec = "lexical",
    pages: PagesFolder = None,
    encoding: Encoding = None,
    json: JsonFile = None,
    html: HtmlFile = None,
    check: Check = False,
    at_least: AtLeast = None,
    run_id: RunId = None,
    concurrency: Concurrency = 16,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    cache: Cache = True,
    retry_failed: RetryFailed = False,
    dry_run: DryRun = False,
    max_passes: MaxPasses = 20,
) -> None:
    """Check one response against its sources."""
    from longproof.outcome import estimate, label_named, status, trust
    from longproof.panel import panel_settings, run_name
    from longproof.retrieval.loaders import read_source

    _refuse_targets(json, html)
    least = label_named(at_least) if at_least else None
    if protocol == "all":
        _refuse_for_all(json, html, least, check or None)
    documents = [read_source(path, encoding) for path in source or []]
    checked = read_source(response, encoding)
    checked.refuse_wordless()
    settings = {
        **panel_settings(judge, arbiter, decomposer),
        "protocol": protocol,
        "embedder": embedder,
        "pages": str(pages) if pages else None,
        "concurrency": concurrency,
        "max_calls": 0 if dry_run else max_calls,
        "max_tokens": max_tokens,
        "cache": cache,
        "retry_failed": retry_failed,
        "run_id": None if dry_run else run_name(run_id),
    }
    case = {
        "task": task,
        "context": read_source(context, encoding).text if context else "",
        "case_id": response.stem,
    }
    text = checked.raw or checked.text
    if protocol == "all":
        _all_protocols(documents, text, settings, max_passes=max_passes, **case)
        return
    report = _verified(documents, text, settings=settings, **case)
    if dry_run:
        typer.echo("\n".join(estimate(report, [document.text for document in documents])))
        return
    texts = {document.id: document.text for document in documents}
    _deliver(report, texts, json, html)
    if least:
        typer.echo(trust(report, least), err=True)
    raise typer.Exit(status(report) if check else 0)


@app.command()
def demo(
    language: Annotated[str, typer.Option(help="en or zh.")] = "en",
    html: Annotated[Path, typer.Option("--html", help="Where the page goes.")] = Path("longproof-demo.html"),
) -> None:
    """A bundled story and a summary with four planted errors, checked without a model."""
    from longproof.examples import example, hits

    _refuse_targets(None, html)
    story, summary = example(language)
    report = _verified([story], summary.text, settings={}, case_id=f"demo-{language}")
    _deliver(report, {story.id: story.text}, None, html)
    typer.echo(hits(report, language), err=True)


@app.command()
def report(
    reports: Annotated[list[Path], typer.Argument(help="JSON reports, or folders of them.")],
    html: HtmlFile = None,
    markdown: Annotated[Path | None, typer.Option(help="Write it as Markdown.")] = None,
    source: Annotated[
        list[Path] | None, typer.Option("--source", help="The sources, where they moved.")
    ] = None,
) -> None:
    """A JSON report as a page, as Markdown or on the terminal; several as an index page."""
    from longproof.reopen import delivered

    for line in delivered(reports, source or [], html=html, markdown=markdown):
        typer.echo(line)


app.command("batch")(batch)
app.command("construct")(construct)
app.command("evaluate")(evaluate)


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="A folder that `evaluate` wrote.")],
    b: Annotated[Path, typer.Argument(help="Another one, of the same data.")],
) -> None:
    """Two evaluations against each other: differences with intervals, and which examples changed sides."""
    from longproof.evaluation.compare import compare as compared

    typer.echo(compared(a, b).to_markdown())


@app.command()
def review(
    run: Annotated[str, typer.Argument(help="The run's name, as `longproof runs` lists it.")],
    show: Annotated[bool, typer.Option("--show", help="Print what is asked as JSON, and stop.")] = False,
    answers: Annotated[Path | None, typer.Option(help="A JSON file with name and decisions.")] = None,
    name: Annotated[str | None, typer.Option(help="Who decides; stands in the report.")] = None,
    json: JsonFile = None,
    html: HtmlFile = None,
) -> None:
    """Decide what a run with `--arbiter person` left open, then see its report."""
    from longproof.cli_review import review as reviewed

    reviewed(_deliver, run, show=show, answers=answers, name=name, json=json, html=html)


@app.command()
def index(
    sources: Annotated[list[Path] | None, typer.Argument(help="Sources to index.")] = None,
    pages: Annotated[Path | None, typer.Option(help="A folder of saved web pages.")] = None,
    embedder: EmbedderSpec = "lexical",
    text: Annotated[Path | None, typer.Option(help="Write the extracted text that offsets refer to.")] = None,
    encoding: Encoding = None,
) -> None:
    """Build and keep the index of a source, or of saved pages; checks use what is there."""
    from longproof.indexing import indexed

    for line in indexed(sources or [], pages, embedder=embedder, text=text, encoding=encoding):
        typer.echo(line)


@app.command()
def runs() -> None:
    """The runs that the ledger knows, with their state and what they paid."""
    from longproof.panel import run_lines

    for line in run_lines():
        typer.echo(line)


@app.command()
def mcp(
    judge: Judges = None,
    arbiter: ArbiterSpec = None,
    decomposer: DecomposerSpec = None,
    embedder: EmbedderSpec = "lexical",
    pages: PagesFolder = None,
    folder: Annotated[Path | None, typer.Option(help="Where sources may be read from; nowhere else.")] = None,
) -> None:
    """Serve on stdin and stdout to a client of the Model Context Protocol."""
    from longproof.adapters.mcp import serve
    from longproof.graphs.verifier import Verifier
    from longproof.panel import panel_settings

    named = panel_settings(judge, arbiter, decomposer)
    serve(Verifier(**named, pages=str(pages) if pages else None), folder)


@app.command()
def protocols() -> None:
    """The protocols that can be chosen, and what each would cost."""
    from rich.console import Console

    from longproof.side_by_side import protocol_table

    Console().print(protocol_table())


@app.command()
def doctor(
    schema: Annotated[bool, typer.Option("--schema", help="Print the report's JSON schema.")] = False,
) -> None:
    """What is installed, which judges answer, where data are kept."""
    import json

    from longproof.agent.types import Report

    if schema:
        typer.echo(json.dumps(Report.model_json_schema(), indent=2, ensure_ascii=False))
        return
    from longproof.doctor import findings

    for line in findings():
        typer.echo(line)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; exit with 2 and one line on stderr for what can't be used, 130 when interrupted."""
    from typer.exceptions import Abort, TyperException

    from longproof.retrieval.types import BadInput

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = app(arguments, standalone_mode=False) or 0
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code)
    except BadInput as error:
        _refuse(str(error))
    except TyperException as error:
        _refuse(error.format_message())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (KeyboardInterrupt, Abort):
        again = shlex.join(["longproof", *(sys.argv[1:] if arguments is None else arguments)])
        sys.stderr.write(f"longproof: interrupted; what was answered is kept; go on with: {again}\n")
        sys.exit(INTERRUPTED)


def _refuse(message: str) -> None:
    """One line, whatever the message holds: file names may hold line breaks and terminal codes."""
    line = "".join(c if c.isprintable() else " " for c in message)
    sys.stderr.write(f"longproof: {line}\n")
    sys.exit(UNUSABLE)


def _verified(documents: list[Any], response: str, *, settings: dict[str, Any], **case: Any) -> "Report":
    from longproof.graphs.verifier import Verifier
    from longproof.progress import shown

    if settings.get("arbiter") == "person" and settings["run_id"]:
        from longproof.cli_review import begin

        return begin(documents, response, settings, **case)
    with shown() as progress:
        return Verifier(**settings).verify(documents, response, progress=progress, **case)


def _all_protocols(documents: list[Any], response: str, settings: dict[str, Any], **case: Any) -> None:
    from rich.console import Console

    from longproof.side_by_side import run_all

    Console().print(run_all(_verified, documents, response, settings, **case))


def _deliver(report: "Report", texts: dict[str, str], json: Path | None, html: Path | None) -> None:
    """The report in the forms asked for; on the terminal unless its JSON goes there."""
    from rich.console import Console

    from longproof.reopen import texts_of
    from longproof.report.terminal import show

    texts = texts_of(report, [], known=texts)
    if json and str(json) != "-":
        _write(json, report.model_dump_json(indent=2) + "\n")
    if html:
        from longproof.report.html import page

        _write(html, page(report, texts))
        sys.stderr.write(f"page: {html.resolve().as_uri()}\n")
    if json and str(json) == "-":
        typer.echo(report.model_dump_json(indent=2))
    else:
        show(report, texts, Console())


def _refuse_targets(json: Path | None, page: Path | None) -> None:
    """Raises BadInput for what can't be written to, before anything is asked."""
    from longproof.retrieval.types import BadInput

    for target in (json, page):
        if target and str(target) != "-" and target.is_dir():
            raise BadInput(f"{target} is a folder: name a file to write to")
    if page and str(page) == "-":
        raise BadInput("a page goes to a file: name one after --html")


def _refuse_for_all(*asked: object) -> None:
    """Raises BadInput where more than the table of all protocols is asked for."""
    from longproof.retrieval.types import BadInput

    if any(one is not None for one in asked):
        raise BadInput(
            "--protocol all prints a table: --json, --html, --at-least and --check need one protocol"
        )


def _write(path: Path, text: str) -> None:
    from longproof.indexes.files import write_whole

    write_whole(path, text.encode())
