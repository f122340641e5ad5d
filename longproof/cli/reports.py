"""`longproof report`, and how every command delivers a report: JSON, a page, Markdown, the terminal.

Knows: which form goes where, and that several reports make an index page. Does not know: how a report is drawn.
"""

import sys
from collections.abc import Iterable, Sequence
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longproof.cli.options import HtmlFile

if TYPE_CHECKING:
    from longproof.agent.types import Report


def report_command(
    reports: Annotated[list[Path], typer.Argument(help="JSON reports, or folders of them.")],
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
    """Show a JSON report: as a page, as Markdown or here. Several make an index page."""
    from longproof.report.html import index_page, page
    from longproof.report.markdown import to_markdown
    from longproof.report.saved import open_report, texts_of
    from longproof.retrieval.types import BadInput

    files = report_files(reports)
    refuse_targets(html, markdown, corrected, read=[*files, *(source or [])])
    if str(corrected) == "-":
        raise BadInput("the corrected text goes to a file: name one after --corrected")
    if len(files) > 1 or reports[0].is_dir():
        if html is None or markdown or corrected:
            raise BadInput("several reports make an index page: give --html FILE, and no other form")
        linked = ((relpath(file.resolve(), html.resolve().parent), open_report(file)) for file in files)
        typer.echo(_write(html, index_page(linked)))
        return
    report = open_report(files[0])
    recorded = [Path(document.uri) for document in report.documents if document.uri]
    refuse_targets(html, markdown, corrected, read=recorded)
    texts = texts_of(report, source or []) if html or markdown or not corrected else {}
    if corrected:
        typer.echo(_correct(report, corrected))
    if html:
        typer.echo(_write(html, page(report, texts)))
    if markdown and str(markdown) != "-":
        typer.echo(_write(markdown, to_markdown(report, texts)))
    elif markdown or not (html or corrected):
        typer.echo(to_markdown(report, texts))


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
    wrong = sum(len(claim.errors) for claim in report.claims if claim.label in WRONG)
    done = len(corrected.changes(report))
    left = "; of the others the right words aren't known, or they overlap" if done < wrong else ""
    return f"{done} of {wrong} wrong places corrected{left}: {path.resolve().as_uri()}"


def report_files(paths: Sequence[Path]) -> list[Path]:
    """The reports named, and those in the folders named. Raises BadInput where there is none."""
    from longproof.retrieval.types import BadInput

    if missing := [path for path in paths if not path.exists()]:
        raise BadInput(
            f"{missing[0]}: no such file or folder; give a report (`verify --json FILE`) or a folder (`--out`); "
            "a run's name finds no report: only answers are kept under it"
        )
    files = [file for path in paths for file in (_reports_in(path) if path.is_dir() else [path])]
    if not files:
        raise BadInput(f"there is no report in {', '.join(map(str, paths))}: give JSON reports")
    return files


def _reports_in(folder: Path) -> list[Path]:
    """The reports in a folder, or in the folder of a batch."""
    reports = folder / "reports"
    return sorted((reports if reports.is_dir() else folder).glob("*.json"))


def _write(path: Path, text: str) -> str:
    """Write a file; its address."""
    from longproof.retrieval.files import write_whole

    write_whole(path, text.encode())
    return path.resolve().as_uri()
