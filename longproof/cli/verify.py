"""`longproof verify`: one response against its sources; `longproof demo`: a bundled one, with recorded answers.

Knows: options, the exit code under `--check`, what a dry run says, what a recording of the demo says of itself.
Does not know: any rule of judging, or how a report is shown.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from longproof.agent.models.limits import reading_cost
from longproof.agent.models.model import ASKED_AGAIN, UNANSWERED
from longproof.agent.report import judges_failures, not_borne_out
from longproof.agent.specs import as_spec
from longproof.agent.types import Judgement, Report, Task
from longproof.cli.options import Encoding, HtmlFile, JsonFile, SettingOptions
from longproof.cli.reports import deliver, refuse_targets
from longproof.progress import check_progress
from longproof.report.words import visible, words
from longproof.retrieval.files import home, write_whole
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput, Document

HALLUCINATED, UNUSABLE, UNDECIDED = 1, 2, 3


def verify_command(
    asked: SettingOptions,
    response: Annotated[Path, typer.Option(help="The text that is checked; - is standard input.")],
    source: Annotated[
        list[Path] | None,
        typer.Option(help="A text to be faithful to: none, one or several; - is standard input."),
    ] = None,
    task: Annotated[Task, typer.Option(help="summary, answer, turn, article, rewrite or open.")] = "summary",
    context: Annotated[Path | None, typer.Option(help="A file: the question, or the turns before.")] = None,
    reference: Annotated[
        Path | None, typer.Option(help="A file: the right text, for the methods that need it.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="A file: a label for each sentence, for an audit of them.")
    ] = None,
    encoding: Encoding = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Ask nobody; say what the first round costs, and how many calls at most."
        ),
    ] = False,
    json: JsonFile = None,
    html: HtmlFile = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if hallucinated, 3 if not all is borne out.")
    ] = False,
) -> None:
    """Check one response against its sources."""
    from longproof.inputs import seem_swapped
    from longproof.retrieval.loaders import read_source, read_stdin
    from longproof.serve.runs import list_check

    files = [*(source or []), response, context, reference, labels]
    refuse_targets({"--html": html}, json, read=files)
    if [*map(str, files)].count("-") > 1:
        raise BadInput("standard input can be read only once: give one -, and files for the rest")

    def read_file(path: Path) -> Document:
        return read_stdin(encoding) if str(path) == "-" else read_source(path, encoding)

    documents, text = [*map(read_file, source or [])], read_file(response)
    text.refuse_wordless()
    if seem_swapped(documents, text.text):
        typer.echo("longproof: the response is far longer than its source: are they swapped?", err=True)
    case_id = without_surrogates("stdin" if str(response) == "-" else response.stem)
    question = read_file(context).text if context else ""
    case: dict[str, Any] = {"response": text, "task": task, "context": question, "id": case_id}
    if reference:
        case["reference"] = read_file(reference).text
    if labels:
        case["labels"] = read_file(labels).text.split()
    settings = {**asked.settings(), "run_id": asked.run_id}
    if dry_run:
        _print_estimate(_report({**settings, "max_calls": 0, "run_id": None}, documents, **case))
        return
    by_person = settings.get("arbiter") == "person"
    report = (_begun_report if by_person else _report)(settings, documents, **case)
    judgements = [judgement for claim in report.claims for judgement in claim.judgements]
    why = no_answer(judges_failures(report), judgements)
    if json or html or not why:
        list_check(report, settings, [*documents, text])
        deliver(report, {document.id: document.text for document in documents}, json, html)
    if why:
        typer.echo(f"longproof: {visible(why)}", err=True)
    raise typer.Exit(exit_code(report) if check else UNUSABLE if why else 0)


def _report(settings: dict[str, Any], documents: Sequence[Document], **given: Any) -> Report:
    """The report on one response, with a bar meanwhile."""
    from longproof.verifier import Verifier

    return Verifier(**settings).verify(documents, progress=True, **given)


def _begun_report(settings: dict[str, Any], documents: Sequence[Document], **given: Any) -> Report:
    """The report of a run with a person as arbiter; exits with 3 and the next command where claims wait for one."""
    from longproof.review import Watcher, begin_run
    from longproof.serve.runs import list_check

    with check_progress() as progress:
        state = asyncio.run(begin_run(documents, settings, Watcher(progress), **given))
    if state.so_far:
        list_check(state.so_far, settings, [*documents, given["response"]], waiting=True)
    if state.report is None:
        typer.echo(
            f"longproof: a person has to decide {len(state.disputes)} of the claims; "
            f"go on with: longproof review {settings['run_id']}",
            err=True,
        )
        raise typer.Exit(UNDECIDED)
    return state.report


def _print_estimate(dry: Report) -> None:
    """Print what the run of which this report is the dry one would pay."""
    from longproof.graphs.reporting import estimate, estimate_lines
    from longproof.graphs.settings import settings_of

    settings, told = settings_of(dry.stamp["settings"]), estimate([dry])
    models = [as_spec(judge).model for judge in settings.judges]
    money = reading_cost(models, told.tokens, settings.prices)
    typer.echo("\n".join(estimate_lines(told, money)))


def no_answer(failures: Counter[str | None], judgements: Sequence[Judgement] = ()) -> str:
    """The sentence for judges that gave no answer, or none that could be used; empty where one did.

    With `judgements` it names the judges, and the commonest reason.
    """
    from longproof.report.totals import without_role

    no_answer_came = UNANSWERED | {"too_long"}
    if not failures or not failures.keys() <= no_answer_came | ASKED_AGAIN:
        return ""
    if failures.keys() <= no_answer_came:
        reasons = Counter(" ".join(str(one.reason or one.failure).split()) for one in judgements)
        return f"no judge answered: {max(reasons, key=reasons.__getitem__, default='run it again to go on')}"
    judges = ", ".join(dict.fromkeys(without_role(one.judge) for one in judgements)) or "any judge"
    counts = ", ".join(f"{n} {failure}" for failure, n in failures.most_common())
    return f"no usable answer came from {judges}: {counts}; is it a model that follows instructions?"


def exit_code(report: Report) -> int:
    """The exit code under `--check`: 0 only where the source bears out every sentence."""
    if report.verdict == "faithful" and any(not_borne_out(report)):
        return UNDECIDED
    return {"hallucinated": HALLUCINATED, "undecided": UNDECIDED, "faithful": 0}[report.verdict]


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
    from longproof.examples import demo_settings, demo_summary, example, hits
    from longproof.report.html import page
    from longproof.report.saved import texts_of

    if offline_check and replay:
        raise BadInput("choose one of --offline-check and --replay")
    target = html or home() / f"demo-{language}{'-offline' if offline_check else ''}.html"
    refuse_targets({"--html": target})
    say, case_id = words(language, "demo"), f"demo-{language}"
    story, summary = example(language)
    if offline_check:
        typer.echo(say["demo_offline"])
        report = _report({}, [story], response=summary.text, id=case_id)
    else:
        settings = demo_settings(language, replay)
        report = _report(settings, [story], response=demo_summary(language), id=case_id)
        settings["recording"].refuse_missing()
        named = (*settings["judges"], settings["arbiter"])
        names = [name.removeprefix("openai:").partition("@")[0] for name in named]
        date = settings["recording"].header.made
        typer.echo(say["demo_recorded"].format(date=date, judges=", ".join(names[:-1]), arbiter=names[-1]))
    texts = texts_of(report, [], known={story.id: story.text})
    deliver(report, texts, None, None)
    typer.echo(hits(report, language))
    if not report.triage:
        split = sum(claim.decided_by == "arbiter" for claim in report.claims)
        pages = sum(claim.label == "out_dependent" for claim in report.claims)
        typer.echo(say["demo_beside"].format(split=split, pages=pages))
    own_texts = (
        "longproof verify --source novel.txt --response summary.txt --judge openai:MODEL --html report.html"
    )
    typer.echo(say["demo_own"].format(command=own_texts))
    write_whole(target, page(report, texts).encode())
    typer.echo(str(target.resolve()))
