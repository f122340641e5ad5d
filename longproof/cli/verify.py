"""`longproof verify`: one response against its sources, and the exit code under `--check`.

Knows: options, what a dry run says. Does not know: any rule of judging, or how a report
is shown.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longproof.agent.types import Label, Task
from longproof.cli.options import CHECKED, COST, OUT, Encoding, HtmlFile, JsonFile, SettingOptions
from longproof.cli.reports import deliver, refuse_targets

if TYPE_CHECKING:
    from longproof.agent.types import Report
    from longproof.retrieval.types import Document

HALLUCINATED, UNUSABLE, UNDECIDED = 1, 2, 3


@dataclass(frozen=True, kw_only=True)
class CaseOptions:
    """The case to check."""

    heading = CHECKED
    response: Annotated[Path, typer.Option(help="The text that is checked; - is standard input.")]
    source: Annotated[
        list[Path] | None,
        typer.Option(help="A text to be faithful to: none, one or several; - is standard input."),
    ] = None
    task: Annotated[Task, typer.Option(help="summary, answer, turn, article, rewrite or open.")] = "summary"
    context: Annotated[Path | None, typer.Option(help="A file with the question, or the turns before.")] = (
        None
    )
    encoding: Encoding = None

    @property
    def files(self) -> list[Path | None]:
        """All that is read."""
        return [*(self.source or []), self.response, self.context]

    def read(self) -> "tuple[list[Document], dict[str, Any]]":
        """The sources, and the response with what is known of it. Raises BadInput for what can't be read."""
        from longproof.retrieval.text.normalise import without_surrogates
        from longproof.retrieval.types import BadInput

        if [*map(str, self.files)].count("-") > 1:
            raise BadInput("standard input can be read only once: give one -, and files for the rest")
        documents = [self._read(path) for path in self.source or []]
        response = self._read(self.response)
        response.refuse_wordless()
        return documents, {
            "response": response,
            "task": self.task,
            "context": self._read(self.context).text if self.context else "",
            "case_id": without_surrogates("stdin" if str(self.response) == "-" else self.response.stem),
        }

    def _read(self, path: Path) -> "Document":
        from longproof.retrieval.loaders import read_source, read_stdin

        return read_stdin(self.encoding) if str(path) == "-" else read_source(path, self.encoding)


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """The forms of the report, and what else is said of it."""

    heading = OUT
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Ask nobody; say what the first round costs, and how many calls at most.",
            rich_help_panel=COST,
        ),
    ] = False
    json: JsonFile = None
    html: HtmlFile = None
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if hallucinated, 3 if not all is borne out.")
    ] = False
    at_least: Annotated[
        Label | None,
        typer.Option(help="Say how many sentences have this label, as ambiguous, or a more faithful one."),
    ] = None


def verify_command(case: CaseOptions, asked: SettingOptions, output: OutputOptions) -> None:
    """Check one response against its sources."""
    refuse_targets(output.html, output.json, read=case.files)
    documents, given = case.read()
    settings = {**asked.settings(), "run_id": asked.run_id}
    if output.dry_run:
        print_estimate(check_case(documents, {**settings, "max_calls": 0, "run_id": None}, **given))
        return
    report = check_case(documents, settings, **given)
    why = _no_answer(report)
    if output.json or output.html or not why:
        from longproof.serve.runs import list_check

        list_check(report, settings, documents, given["response"])
        deliver(report, {document.id: document.text for document in documents}, output.json, output.html)
    if why:
        typer.echo(f"longproof: {why}", err=True)
    if output.at_least:
        typer.echo(trusted_line(report, output.at_least), err=True)
    raise typer.Exit(exit_code(report) if output.check else UNUSABLE if why else 0)


def check_case(documents: "Sequence[Document]", settings: dict[str, Any], **given: Any) -> "Report":
    """The report on one response, with a bar meanwhile; with a person as arbiter the run may end here."""
    from longproof.verifier import Verifier

    verifier = Verifier(**settings)
    if settings.get("arbiter") == "person" and settings["run_id"]:
        from longproof.cli.review import begin

        return begin(documents, settings, **given)
    return verifier.verify(documents, progress=True, **given)


def print_estimate(dry: "Report") -> None:
    """Print what the run of which this report is the dry one would pay."""
    from longproof.agent.models.prices import reading_cost
    from longproof.agent.specs import as_spec
    from longproof.graphs.cost import estimate, estimate_lines
    from longproof.graphs.settings import settings_of

    settings, told = settings_of(dry.stamp["settings"]), estimate([dry])
    models = [as_spec(judge).model for judge in settings.judges]
    money = reading_cost(models, told.first_round.tokens, settings.prices)
    typer.echo("\n".join(estimate_lines(told, money)))


def trusted_line(report: "Report", at_least: "Label") -> str:
    """The line on how much can be trusted from this label on."""
    from longproof.agent.report import trusted

    kept = trusted(report, at_least)
    return f"{len(kept)} of {len(report.sentences)} sentences are at least {at_least}"


def _no_answer(report: "Report") -> str:
    """The reason why no judge answered anything that can be used; empty where one did, or none was to be asked."""
    from longproof.agent.report import judges_failures
    from longproof.report.totals import without_role
    from longproof.report.words import visible

    judgements = [judgement for claim in report.claims for judgement in claim.judgements]
    judges = ", ".join(dict.fromkeys(without_role(one.judge) for one in judgements))
    reasons = Counter(str(one.reason or one.failure) for one in judgements)
    commonest = max(reasons, key=reasons.__getitem__, default="")
    return visible(no_answer(judges_failures(report), judges, " ".join(commonest.split())))


def no_answer(
    failures: "Counter[str | None]", judges: str = "any judge", why: str = "run it again to go on"
) -> str:
    """The sentence for judges that gave no answer, or none that could be used; empty where one did."""
    from longproof.agent.report import unanswered, unusable

    if unusable(failures):
        counts = ", ".join(f"{n} {failure}" for failure, n in failures.most_common())
        return f"no usable answer came from {judges}: {counts}; is it a model that follows instructions?"
    return f"no judge answered: {why}" if unanswered(failures) else ""


def exit_code(report: "Report") -> int:
    """The exit code under `--check`: 0 only where the source bears out every sentence."""
    from longproof.agent.report import not_borne_out

    if report.verdict == "faithful" and any(not_borne_out(report)):
        return UNDECIDED
    return {"hallucinated": HALLUCINATED, "undecided": UNDECIDED, "faithful": 0}[report.verdict]
