"""`longproof review`: a person decides disputes.

Knows: how disputes are shown and answers typed, or read from a file. Texts are data: nothing in them reaches the
terminal as a code. Does not know: what a decision does.
"""

import asyncio
import json as json_
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from longproof.cli.options import HtmlFile, JsonFile
from longproof.cli.reports import deliver

if TYPE_CHECKING:
    from longproof.agent.types import Report
    from longproof.report.view import ClaimView
    from longproof.retrieval.types import Document
    from longproof.review import WaitingRun

LONGEST = 1500
"""Characters of one piece of evidence that the terminal shows; `--show` prints all of it."""


def review_command(
    run: Annotated[str, typer.Argument(help="The run's name, as `verify` gave it.")],
    show: Annotated[bool, typer.Option("--show", help="Print what is asked as JSON, and stop.")] = False,
    answers: Annotated[Path | None, typer.Option(help="A JSON file with name and decisions.")] = None,
    name: Annotated[str | None, typer.Option(help="Who decides; stands in the report.")] = None,
    json: JsonFile = None,
    html: HtmlFile = None,
) -> None:
    """Decide what a run with `--arbiter person` left open. Then see its report."""
    from longproof.report.saved import texts_of
    from longproof.review import resume_run, waiting_run

    state = asyncio.run(waiting_run(run))
    if show:
        typer.echo(json_.dumps(state.disputes, indent=2, ensure_ascii=False))
        return
    if state.disputes and answers:
        state = asyncio.run(resume_run(run, _read(answers)))
    while state.disputes and not answers:
        state = asyncio.run(resume_run(run, _typed_review(state, name)))
    if state.report is None:
        typer.echo(f"{len(state.disputes)} claims came back: see `longproof review {run} --show`", err=True)
        raise typer.Exit(3)
    deliver(state.report, texts_of(state.report, []), json, html)


def begin(documents: "Sequence[Document]", settings: dict[str, Any], **given: Any) -> "Report":
    """A run with a person as arbiter; exits with 3 and the next command where claims wait for one."""
    from longproof.progress import check_progress
    from longproof.review import Watcher, begin_run

    with check_progress() as progress:
        state = asyncio.run(begin_run(documents, settings, Watcher(progress), **given))
    if state.so_far:
        from longproof.serve.runs import list_check

        list_check(state.so_far.case, settings, documents, given["response"])
    if state.report is None:
        typer.echo(
            f"longproof: a person has to decide {len(state.disputes)} of the claims; "
            f"go on with: longproof review {settings['run_id']}",
            err=True,
        )
        raise typer.Exit(3)
    return state.report


def _read(path: Path) -> dict[str, Any]:
    from longproof.retrieval.types import BadInput

    try:
        review = json_.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"can't read {path}: {error}; give a JSON file with name and decisions") from error
    if not isinstance(review, dict):
        raise BadInput(f"{path} holds no review: give an object with name and decisions")
    return review


def _typed_review(state: "WaitingRun", name: str | None) -> dict[str, Any]:
    """A review from what is typed: one dispute after the other, with the choice to leave it open."""
    from longproof.report.saved import texts_of
    from longproof.report.view import ClaimView, ReportView
    from longproof.report.words import flat

    assert state.so_far is not None
    view = ReportView(state.so_far, texts_of(state.so_far, []))
    claims = {claim.id: ClaimView(view, claim) for claim in state.so_far.claims}
    name = name or typer.prompt("Your name, for the report")
    decisions = []
    for number, dispute in enumerate(state.disputes, 1):
        typer.echo(f"\n{number} of {len(state.disputes)}: {flat(dispute['claim'])}")
        for line in _lines(dispute, claims[dispute["claim_id"]]):
            typer.echo(flat(line))
        decisions.append(_decision(dispute))
    return {"name": name, "decisions": [decision for decision in decisions if decision]}


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


def _decision(dispute: Mapping[str, Any]) -> dict[str, Any] | None:
    from longproof.agent.types import JudgeLabel

    labels = get_args(JudgeLabel)
    menu = ", ".join(f"{number} {label}" for number, label in enumerate(labels, 1))
    choice = -1
    while not 0 <= choice <= len(labels):
        choice = int(typer.prompt(f"Label ({menu}; 0 leaves it open)", type=int, default=0))
    if not choice:
        return None
    label = labels[choice - 1]
    decision = {"claim_id": dispute["claim_id"], "label": label, "reason": typer.prompt("Why", default="")}
    if label in ("contradicting", "fabricated"):
        decision["wrong"] = _wrong_words(dispute["passage"])
        if decision["wrong"]:
            decision["correction"] = typer.prompt("What should stand there", default="")
    return decision


def _wrong_words(passage: str) -> str:
    """Wrong words as they stand in the passage; asked for again where they don't."""
    while True:
        words = str(typer.prompt("The wrong words, as they stand in the passage", default=""))
        if not words.strip() or words.strip() in passage:
            return words
        typer.echo("these words don't stand in the passage")
