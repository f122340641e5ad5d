"""`longproof report`, `longproof review`, and how every command delivers a report: JSON, a page, Markdown, here.

Knows: which form goes where; how disputes are shown to a person, and answers typed or read from a file.
Does not know: how a report is drawn, or what a decision does.
"""

import asyncio
import json as json_
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from longproof.agent.report import WRONG
from longproof.agent.types import JudgeLabel, Report
from longproof.cli.options import HtmlFile, JsonFile
from longproof.report.words import flat
from longproof.retrieval.files import read_whole, write_whole
from longproof.retrieval.types import BadInput

if TYPE_CHECKING:
    from longproof.report.view import ClaimView
    from longproof.review import WaitingRun

LONGEST = 1500
"""Characters of one piece of evidence that the terminal shows; `review --show` prints all of it."""


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
    from longproof.report.corrected import changes, corrected_text
    from longproof.report.html import page
    from longproof.report.markdown import to_markdown
    from longproof.report.saved import open_report, texts_of

    targets = {"--html": html, "--corrected": corrected}
    refuse_targets(targets, markdown, read=[report, *(source or [])])
    if not report.exists():
        raise BadInput(f"{report}: no such file; give a report (`verify --json FILE`), not a run's name")
    opened = open_report(report)
    refuse_targets(targets, markdown, read=[Path(one.uri) for one in opened.documents if one.uri])
    texts = texts_of(opened, source or []) if html or markdown or not corrected else {}
    if corrected:
        write_whole(corrected, corrected_text(opened, corrected.name))
        places = {error.span for claim in opened.claims if claim.label in WRONG for error in claim.errors}
        wrong, done = len(places), len(changes(opened))
        left = "; of the others the right words aren't known, or they overlap" if done < wrong else ""
        typer.echo(f"{done} of {wrong} wrong places corrected{left}: {corrected.resolve().as_uri()}")
    if html:
        typer.echo(_write(html, page(opened, texts)))
    if markdown and str(markdown) != "-":
        typer.echo(_write(markdown, to_markdown(opened, texts)))
    elif markdown or not (html or corrected):
        typer.echo(to_markdown(opened, texts))


def deliver(report: Report, texts: dict[str, str], json: Path | None, html: Path | None) -> None:
    """The report in the forms asked for; on the terminal unless its JSON goes there.

    `texts` by id; those of the store need not be given.
    """
    from rich.console import Console

    from longproof.report.html import page
    from longproof.report.saved import texts_of
    from longproof.report.terminal import print_report

    texts = texts_of(report, [], known=texts)
    if json and str(json) != "-":
        _write(json, report.model_dump_json(indent=2) + "\n")
    if html:
        sys.stderr.write(f"page: {_write(html, page(report, texts))}\n")
    if json and str(json) == "-":
        typer.echo(report.model_dump_json(indent=2))
    else:
        print_report(report, texts, Console())


def refuse_targets(
    files: Mapping[str, Path | None], *others: Path | None, read: Iterable[Path | None] = ()
) -> None:
    """Raises BadInput for what can't be written to, is `read`, or is written twice, before anything is asked.

    `files` by their options; the `others` may be standard output.
    """
    for option, target in files.items():
        if str(target) == "-":
            raise BadInput(f"{option} goes to a file: name one after {option}")
    lost = "is read: name another file to write to, or it would be lost"
    taken = {_file_identity(path): lost for path in read if path}
    for target in (*files.values(), *others):
        if target is None or str(target) == "-":
            continue
        if target.is_dir():
            raise BadInput(f"{target} is a folder: name a file to write to")
        if why := taken.get(_file_identity(target)):
            raise BadInput(f"{target} {why}")
        taken[_file_identity(target)] = "is to hold two outputs: name a file for each"


def _file_identity(path: Path) -> tuple[int, int] | str:
    """Device and number of a file, which all its names share; of one that isn't there, its path."""
    try:
        found = path.stat()
    except (OSError, ValueError):  # ValueError: a saved report may name anything
        return os.path.abspath(path)
    return found.st_dev, found.st_ino


def _write(path: Path, text: str) -> str:
    """Write a file; its address."""
    write_whole(path, text.encode())
    return path.resolve().as_uri()


def review_command(
    run: Annotated[str, typer.Argument(help="The run's name, as `verify` gave it.")],
    show: Annotated[bool, typer.Option("--show", help="Print what is asked as JSON, and stop.")] = False,
    answers: Annotated[Path | None, typer.Option(help="A JSON file with name and decisions.")] = None,
    name: Annotated[str | None, typer.Option(help="Who decides; stands in the report.")] = None,
    json: JsonFile = None,
    html: HtmlFile = None,
) -> None:
    """Decide what a run with `--arbiter person` left open. Then see its report."""
    from longproof.review import resume_run, waiting_run

    state = asyncio.run(waiting_run(run))
    if show:
        typer.echo(json_.dumps(state.disputes, indent=2, ensure_ascii=False))
        return
    if state.disputes and answers:
        try:
            review = json_.loads(read_whole(answers))
        except (OSError, ValueError) as error:
            hint = "give a JSON file with name and decisions"
            raise BadInput(f"can't read {answers}: {error}; {hint}") from error
        if not isinstance(review, dict):
            raise BadInput(f"{answers} holds no review: give an object with name and decisions")
        state = asyncio.run(resume_run(run, review))
    while state.disputes and not answers:
        state = asyncio.run(resume_run(run, _ask_person(state, name)))
    if state.report is None:
        typer.echo(f"{len(state.disputes)} claims came back: see `longproof review {run} --show`", err=True)
        raise typer.Exit(3)
    deliver(state.report, {}, json, html)


def _ask_person(state: "WaitingRun", name: str | None) -> dict[str, Any]:
    """A review from what is typed: one dispute after the other, with the choice to leave it open."""
    from longproof.report.saved import texts_of
    from longproof.report.view import ClaimView, ReportView

    assert state.so_far is not None
    view = ReportView(state.so_far, texts_of(state.so_far, []))
    claims = {claim.id: ClaimView(view, claim) for claim in state.so_far.claims}
    name = name or typer.prompt("Your name, for the report")
    decisions = []
    for number, dispute in enumerate(state.disputes, 1):
        typer.echo(f"\n{number} of {len(state.disputes)}: {flat(dispute['claim'])}")
        for line in _lines(dispute, claims[dispute["claim_id"]]):
            typer.echo(flat(line))  # texts are data: nothing in them reaches the terminal as a code
        if decision := _ask_decision(dispute):
            decisions.append(decision)
    return {"name": name, "decisions": decisions}


def _lines(dispute: Mapping[str, Any], claim: "ClaimView") -> Iterator[str]:
    """The lines that a person is shown: what each judge says, what each side cites, what the judges saw."""
    yield f"  in the response: {dispute['passage']}"
    for one in dispute["said"]:
        yield f"  {one['judge']}: {one['label']}. {one['reason']}"
    if claim.quotes:
        yield "  what they cite:"
    for quote in claim.quotes:
        yield f"  {quote.where}: {''.join(f'«{text}»' if marked else text for text, marked in quote.pieces)}"
    yield "  what the judges were shown:"
    for text in dispute["shown"]:
        yield f"  | {text[:LONGEST]}{' …' if len(text) > LONGEST else ''}"


def _ask_decision(dispute: Mapping[str, Any]) -> dict[str, Any] | None:
    labels = get_args(JudgeLabel)
    menu = ", ".join(f"{number} {label}" for number, label in enumerate(labels, 1))
    choice = -1
    while not 0 <= choice <= len(labels):
        choice = int(typer.prompt(f"Label ({menu}; 0 leaves it open)", type=int, default=0))
    if not choice:
        return None
    label = labels[choice - 1]
    decision = {"claim_id": dispute["claim_id"], "label": label, "reason": typer.prompt("Why", default="")}
    if label in WRONG:
        question = "The wrong words, as they stand in the passage"
        while (words := str(typer.prompt(question, default=""))).strip() not in dispute["passage"]:
            typer.echo("these words don't stand in the passage")
        decision["wrong"] = words
        if words:
            decision["correction"] = typer.prompt("What should stand there", default="")
    return decision
