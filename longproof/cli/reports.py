"""`longproof report`, and how every command delivers a report: JSON, a page, Markdown, the terminal.

Knows: which form goes where. Does not know: how a report is drawn.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longproof.cli.options import HtmlFile

if TYPE_CHECKING:
    from longproof.agent.types import Report


def report_command(
    report: Annotated[Path, typer.Argument(help="A JSON report (`verify --json FILE`).")],
    html: HtmlFile = None,
    markdown: Annotated[Path | None, typer.Option(help="Write it as Markdown; - is standard output.")] = None,
    source: Annotated[
        list[Path] | None, typer.Option("--source", help="The sources, where they moved.")
    ] = None,
    corrected: Annotated[
        Path | None,
        typer.Option(help="Write the response with all known corrections: .docx marks them, .txt doesn't."),
    ] = None,
) -> None:
    """Show a JSON report: as a page, as Markdown or here."""
    from longproof.report.html import page
    from longproof.report.markdown import to_markdown
    from longproof.report.saved import open_report, texts_of
    from longproof.retrieval.types import BadInput

    refuse_targets(html, markdown, corrected, read=[report, *(source or [])])
    if str(corrected) == "-":
        raise BadInput("the corrected text goes to a file: name one after --corrected")
    if not report.exists():
        raise BadInput(f"{report}: no such file; give a report (`verify --json FILE`), not a run's name")
    opened = open_report(report)
    recorded = [Path(document.uri) for document in opened.documents if document.uri]
    refuse_targets(html, markdown, corrected, read=recorded)
    texts = texts_of(opened, source or []) if html or markdown or not corrected else {}
    if corrected:
        typer.echo(_correct(opened, corrected))
    if html:
        typer.echo(_write(html, page(opened, texts)))
    if markdown and str(markdown) != "-":
        typer.echo(_write(markdown, to_markdown(opened, texts)))
    elif markdown or not (html or corrected):
        typer.echo(to_markdown(opened, texts))


def deliver(report: "Report", texts: dict[str, str], json: Path | None, html: Path | None) -> None:
    """The report in the forms asked for; on the terminal unless its JSON goes there."""
    from rich.console import Console

    from longproof.report.saved import texts_of
    from longproof.report.terminal import print_report

    texts = texts_of(report, [], known=texts)
    if json and str(json) != "-":
        _write(json, report.model_dump_json(indent=2) + "\n")
    if html:
        sys.stderr.write(f"page: {write_page(report, texts, html)}\n")
    if json and str(json) == "-":
        typer.echo(report.model_dump_json(indent=2))
    else:
        print_report(report, texts, Console())


def write_page(report: "Report", texts: dict[str, str], html: Path) -> str:
    """Write the report as a page; its address. `texts` by id; those of the store need not be given."""
    from longproof.report.html import page
    from longproof.report.saved import texts_of

    return _write(html, page(report, texts_of(report, [], known=texts)))


def refuse_targets(html: Path | None, *others: Path | None, read: Iterable[Path | None] = ()) -> None:
    """Raises BadInput for what can't be written to, is `read`, or is written twice, before anything is asked."""
    from longproof.retrieval.types import BadInput

    inputs = [path for path in read if path]
    targets = [path for path in (html, *others) if path and str(path) != "-"]
    for number, target in enumerate(targets):
        if target.is_dir():
            raise BadInput(f"{target} is a folder: name a file to write to")
        if any(_is_same(target, path) for path in inputs):
            raise BadInput(f"{target} is read: name another file to write to, or it would be lost")
        if any(_is_same(target, other) for other in targets[:number]):
            raise BadInput(f"{target} is to hold two outputs: name a file for each")
    if html and str(html) == "-":
        raise BadInput("a page goes to a file: name one after --html")


def _is_same(one: Path, other: Path) -> bool:
    """True if both are one file, which may not be there yet."""
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except OSError:
        return False


def _correct(report: "Report", path: Path) -> str:
    """Write the corrected text; what was changed and what not, with the file's address."""
    from longproof.agent.report import WRONG
    from longproof.report import corrected
    from longproof.retrieval.files import write_whole

    write_whole(path, corrected.corrected(report, path.name))
    places = {error.span for claim in report.claims if claim.label in WRONG for error in claim.errors}
    wrong, done = len(places), len(corrected.changes(report))
    left = "; of the others the right words aren't known, or they overlap" if done < wrong else ""
    return f"{done} of {wrong} wrong places corrected{left}: {path.resolve().as_uri()}"


def _write(path: Path, text: str) -> str:
    """Write a file; its address."""
    from longproof.retrieval.files import write_whole

    write_whole(path, text.encode())
    return path.resolve().as_uri()
