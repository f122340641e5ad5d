"""`longproof demo`: a bundled story and a summary of it with four planted errors, checked with recorded answers.

Knows: options, what a recording of the demo says of itself, and that its first line says that answers were recorded.
Does not know: how a check works, or how a report is shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longproof.cli.options import reach_settings
from longproof.cli.reports import deliver, refuse_targets, write_page
from longproof.cli.verify import check_case

if TYPE_CHECKING:
    from longproof.agent.models.recording import Replay
    from longproof.agent.types import Report

OWN_TEXTS = (
    "longproof verify --source novel.txt --response summary.txt --judge openai:MODEL --html report.html"
)


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """Which story, who answers, and where the page goes."""

    language: Annotated[str, typer.Option(help="en or zh.")] = "en"
    html: Annotated[Path | None, typer.Option(help="Where the page goes; else into the data folder.")] = None
    offline_check: Annotated[
        bool, typer.Option("--offline-check", help="Show what can be told without any model.")
    ] = False
    replay: Annotated[
        Path | None, typer.Option(help="Answer from this recording, not from the bundled one.")
    ] = None
    record: Annotated[
        Path | None, typer.Option(help="Ask models now, and keep their answers in this file.")
    ] = None
    judge: Annotated[list[str] | None, typer.Option(help="With --record: a judge; give two.")] = None
    arbiter: Annotated[str | None, typer.Option(help="With --record: who decides where they differ.")] = None

    def page_name(self) -> str:
        """What the page is called in the data folder."""
        return f"demo-{self.language}{'-offline' if self.offline_check else ''}.html"

    def refuse(self) -> None:
        """Raises BadInput for options that don't go together."""
        from longproof.retrieval.types import BadInput

        if sum(map(bool, (self.offline_check, self.replay, self.record))) > 1:
            raise BadInput("choose one of --offline-check, --replay and --record")
        if not (self.judge and self.arbiter if self.record else not (self.judge or self.arbiter)):
            raise BadInput("--record takes --judge, twice, and --arbiter; nothing else takes them")


def demo_command(options: DemoOptions) -> None:
    """Check a bundled summary with four planted errors. With recorded answers of models."""
    from longproof.examples import example, hits
    from longproof.retrieval.files import home

    options.refuse()
    page = options.html or home() / options.page_name()
    refuse_targets(page)
    story, _ = example(options.language)
    report, first = _checked(options)
    typer.echo(first)
    texts = {story.id: story.text}
    deliver(report, texts, None, None)
    typer.echo(hits(report, options.language))
    for line in _end(report, options.language):
        typer.echo(line)
    write_page(report, texts, page)
    typer.echo(str(page.resolve()))


def _checked(options: DemoOptions) -> "tuple[Report, str]":
    """The report, and the screen's first line."""
    from longproof.agent.models.recording import Recorder
    from longproof.agent.specs import parse_spec
    from longproof.examples import example

    if options.offline_check:
        story, summary = example(options.language)
        report = check_case([story], {}, response=summary.text, case_id=f"demo-{options.language}")
        return report, _words(options.language)["demo_offline"]
    if options.record:
        recorder = Recorder()
        panel = {"judges": options.judge, "arbiter": options.arbiter}
        report = _check(options.language, panel | reach_settings() | {"recording": recorder})
        recorder.write(options.record, {"demo": options.language, **panel})
        return report, f"{len(report.calls)} answers are kept in {options.record}."
    replay, judges, arbiter = _opened(options)
    report = _check(options.language, {"judges": judges, "arbiter": arbiter, "recording": replay})
    replay.refuse_missing()
    names = [parse_spec(name).model for name in (*judges, arbiter)]
    first = _words(options.language)["demo_recorded"]
    return report, first.format(date=replay.header.made, judges=", ".join(names[:-1]), arbiter=names[-1])


def _check(language: str, settings: dict[str, Any]) -> "Report":
    from longproof.examples import demo_summary, example, pages

    settings = {**settings, "pages": str(pages(language))}
    return check_case(
        [example(language)[0]], settings, response=demo_summary(language), case_id=f"demo-{language}"
    )


def _opened(options: DemoOptions) -> "tuple[Replay, list[str], str]":
    """The recording of this language's demo, its judges and its arbiter.

    Raises BadInput where there is none, or it is of something else.
    """
    from longproof.agent.models.recording import Replay
    from longproof.examples import recording
    from longproof.retrieval.types import BadInput

    path = options.replay or recording(options.language)
    if not path.exists():
        raise BadInput(
            f"the demo's recorded answers are not in this version ({path.name} is missing); "
            "`longproof demo --offline-check` shows what can be told without a model"
        )
    replay = Replay.open(path)
    match replay.header.run:
        case {"demo": options.language, "judges": [str(), *_] as judges, "arbiter": str() as arbiter}:
            return replay, list(map(str, judges)), arbiter
    raise BadInput(f"{path} is no recording of the demo in {options.language!r}")


def _end(report: "Report", language: str) -> Iterator[str]:
    """What happened beside the findings, and the one command for texts of one's own."""
    say = _words(language)
    if not report.triage:
        split = sum(claim.decided_by == "arbiter" for claim in report.claims)
        pages = sum(claim.label == "out_dependent" for claim in report.claims)
        yield say["demo_beside"].format(split=split, pages=pages)
    yield say["demo_own"].format(command=OWN_TEXTS)


def _words(language: str) -> "Mapping[str, str]":
    from longproof.report.words import words

    return words("zh" if language == "zh" else "en", "demo")
