"""The terminal's door: commands, exit codes, one line for what can't be done.

Knows: options, and which functions they go to. Does not know: any rule of judging.
Answers `--help` without importing langgraph, openai or faiss: each command imports what it needs.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from longproof.agent.types import Report

HALLUCINATED, UNUSABLE, UNDECIDED, INTERRUPTED = 1, 2, 3, 130

app = typer.Typer(
    name="longproof",
    help="Is a text faithful to a long source? Claim by claim, with the places in both.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Sources = Annotated[
    list[Path], typer.Option("--source", help="A text to be faithful to; may be given more than once.")
]
Response = Annotated[Path, typer.Option("--response", help="The text that is checked.")]
Task = Annotated[str, typer.Option(help="summary, answer, turn, article, rewrite or open.")]
Context = Annotated[Path | None, typer.Option(help="A file with the question, or the turns before.")]
ProtocolName = Annotated[str, typer.Option("--protocol", help="See `longproof protocols`.")]
Judges = Annotated[list[str] | None, typer.Option("--judge", help="A judge; may be given more than once.")]
ArbiterSpec = Annotated[str | None, typer.Option("--arbiter", help="Who decides where the judges are split.")]
Encoding = Annotated[str | None, typer.Option(help="The files' encoding, where it can't be told.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the report as JSON; - prints it.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write the report as one HTML page.")]
Check = Annotated[bool, typer.Option("--check", help="Exit with 1 if hallucinated, 3 if undecided.")]


@app.command()
def verify(
    source: Sources,
    response: Response,
    task: Task = "summary",
    context: Context = None,
    protocol: ProtocolName = "longproof",
    judge: Judges = None,
    arbiter: ArbiterSpec = None,
    encoding: Encoding = None,
    json: JsonFile = None,
    html: HtmlFile = None,
    check: Check = False,
) -> None:
    """Check one response against its sources."""
    from longproof.retrieval.read import read_document

    documents = [read_document(path, encoding) for path in source]
    checked = read_document(response, encoding)
    report = _verified(
        documents,
        checked.raw or checked.text,
        settings={"protocol": protocol, "judges": judge or ["offline"], "arbiter": arbiter},
        task=task,
        context=read_document(context, encoding).text if context else "",
        case_id=response.stem,
    )
    texts = {document.id: document.text for document in documents}
    _deliver(report, texts, json, html)
    raise typer.Exit(_status(report) if check else 0)


@app.command()
def demo(
    language: Annotated[str, typer.Option(help="en or zh.")] = "en",
    html: Annotated[Path, typer.Option("--html", help="Where the page goes.")] = Path("longproof-demo.html"),
) -> None:
    """A bundled story and a summary with four planted errors, offline."""
    from longproof.examples import example

    story, summary = example(language)
    report = _verified([story], summary.text, settings={}, case_id=f"demo-{language}")
    _deliver(report, {story.id: story.text}, None, html)


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


@app.command()
def evaluate(
    dataset: Annotated[str, typer.Argument(help="A data set's name, or a JSONL file of cases.")],
    out: Annotated[Path, typer.Option(help="The folder for results; a run that was stopped goes on there.")],
    protocol: ProtocolName = "longproof",
    judge: Judges = None,
    arbiter: ArbiterSpec = None,
    path: Annotated[str | None, typer.Option(help="Where the data set lies.")] = None,
    sample: Annotated[int | None, typer.Option(help="So many examples, drawn with the seed.")] = None,
    seed: Annotated[int, typer.Option(help="Of the drawing.")] = 0,
    repeat: Annotated[int, typer.Option(help="Run everything so often.")] = 1,
    concurrency: Annotated[int, typer.Option(help="Examples checked at once.")] = 4,
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
            out=out,
            sample=sample,
            seed=seed,
            repeat=repeat,
            concurrency=concurrency,
            progress=progress,
        )
    typer.echo(done.to_markdown())


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="A folder that `evaluate` wrote.")],
    b: Annotated[Path, typer.Argument(help="Another one, of the same data.")],
) -> None:
    """Two evaluations against each other: differences with intervals, and which examples changed sides."""
    from longproof.evaluation.compare import compare as compared

    typer.echo(compared(a, b).to_markdown())


@app.command()
def protocols() -> None:
    """The protocols that can be chosen."""
    from rich.console import Console
    from rich.table import Table

    from longproof.graphs.protocols import PROTOCOLS

    table = Table("protocol", "after", "what it is", box=None, pad_edge=False)
    for row in PROTOCOLS.values():
        table.add_row(row.name, row.source, row.summary)
    Console().print(table)


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

    try:
        sys.exit(app(arguments, standalone_mode=False) or 0)
    except BadInput as error:
        _refuse(str(error))
    except TyperException as error:
        _refuse(error.format_message())
    except (KeyboardInterrupt, Abort):
        sys.stderr.write("longproof: interrupted; the same command goes on from what was answered\n")
        sys.exit(INTERRUPTED)


def _refuse(message: str) -> None:
    """One line, whatever the message holds: file names may hold line breaks and terminal codes."""
    line = "".join(c if c.isprintable() else " " for c in message)
    sys.stderr.write(f"longproof: {line}\n")
    sys.exit(UNUSABLE)


def _verified(documents: list[Any], response: str, *, settings: dict[str, Any], **case: Any) -> "Report":
    from longproof.graphs.verifier import Verifier
    from longproof.progress import shown

    with shown() as progress:
        return Verifier(**settings).verify(documents, response, progress=progress, **case)


def _deliver(report: "Report", texts: dict[str, str], json: Path | None, html: Path | None) -> None:
    """The report in the forms asked for; on the terminal unless its JSON goes there."""
    from rich.console import Console

    from longproof.report.terminal import show

    texts = {**texts, report.documents[0].id: report.case.response}
    if json and str(json) == "-":
        typer.echo(report.model_dump_json(indent=2))
    else:
        show(report, texts, Console())
    if json and str(json) != "-":
        _write(json, report.model_dump_json(indent=2) + "\n")
    if html:
        from longproof.report.html import page

        _write(html, page(report, texts))
        sys.stderr.write(f"page: {html.resolve().as_uri()}\n")


def _write(path: Path, text: str) -> None:
    from longproof.indexes.place import write_whole

    write_whole(path, text.encode())


def _status(report: "Report") -> int:
    return {"hallucinated": HALLUCINATED, "undecided": UNDECIDED, "faithful": 0}[report.verdict]
