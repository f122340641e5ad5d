"""`longproof demo`: a bundled story and a summary of it with four planted errors, checked with recorded answers.

Knows: options, what a recording of the demo says of itself, and that its first line says that answers were recorded
(`benchmarks/record_demo.py` records them). Does not know: how a check works, or how a report is shown.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from longproof.cli.reports import deliver, refuse_targets, write_page
from longproof.cli.verify import check_case

if TYPE_CHECKING:
    from longproof.agent.types import Report

OWN_TEXTS = (
    "longproof verify --source novel.txt --response summary.txt --judge openai:MODEL --html report.html"
)


def demo_command(
    language: Annotated[Literal["en", "zh"], typer.Option(help="Of the story.")] = "en",
    html: Annotated[Path | None, typer.Option(help="Where the page goes; else into the data folder.")] = None,
    offline_check: Annotated[
        bool, typer.Option("--offline-check", help="Show what can be told without any model.")
    ] = False,
    replay: Annotated[
        Path | None, typer.Option(help="Answer from this recording, not from the bundled one.")
    ] = None,
) -> None:
    """Check a bundled summary with four planted errors. With recorded answers of models."""
    from longproof.examples import demo_settings, example, hits
    from longproof.report.words import words
    from longproof.retrieval.files import home
    from longproof.retrieval.types import BadInput

    if offline_check and replay:
        raise BadInput("choose one of --offline-check and --replay")
    page = html or home() / f"demo-{language}{'-offline' if offline_check else ''}.html"
    refuse_targets(page)
    say = words(language, "demo")
    story, summary = example(language)
    texts = {story.id: story.text}
    if offline_check:
        typer.echo(say["demo_offline"])
        report = check_case([story], {}, response=summary.text, case_id=f"demo-{language}")
    else:
        settings = demo_settings(language, replay)
        recorded = settings["recording"]
        report = check_demo(language, settings)
        recorded.refuse_missing()
        named = (*settings["judges"], settings["arbiter"])
        names = [name.removeprefix("openai:").partition("@")[0] for name in named]
        date = recorded.header.made
        typer.echo(say["demo_recorded"].format(date=date, judges=", ".join(names[:-1]), arbiter=names[-1]))
    deliver(report, texts, None, None)
    typer.echo(hits(report, language))
    for line in _end_lines(report, say):
        typer.echo(line)
    write_page(report, texts, page)
    typer.echo(str(page.resolve()))


def check_demo(language: str, settings: dict[str, Any]) -> "Report":
    """The report on the demo's summary, against its story and the saved pages beside it."""
    from longproof.examples import demo_summary, example, pages

    story, _ = example(language)
    return check_case(
        [story],
        {**settings, "pages": str(pages(language))},
        response=demo_summary(language),
        case_id=f"demo-{language}",
    )


def _end_lines(report: "Report", say: Any) -> Iterator[str]:
    """The lines on what happened beside the findings, and the one command for texts of one's own."""
    if not report.triage:
        split = sum(claim.decided_by == "arbiter" for claim in report.claims)
        pages = sum(claim.label == "out_dependent" for claim in report.claims)
        yield say["demo_beside"].format(split=split, pages=pages)
    yield say["demo_own"].format(command=OWN_TEXTS)
