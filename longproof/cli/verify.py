"""`longproof verify`: one response against its sources, and the exit code under `--check`.

Knows: options, what a dry run says. Does not know: any rule of judging, or how a report
is shown.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longproof.cli.options import (
    Cache,
    CallOptions,
    Embedder,
    Encoding,
    HtmlFile,
    JsonFile,
    PanelOptions,
    Protocol,
    run_name,
)
from longproof.cli.reports import deliver, refuse_targets

if TYPE_CHECKING:
    from longproof.agent.types import Label, Report
    from longproof.graphs.cost import Between
    from longproof.graphs.settings import Settings
    from longproof.retrieval.types import Document

HALLUCINATED, UNUSABLE, UNDECIDED = 1, 2, 3


@dataclass(frozen=True, kw_only=True)
class CaseOptions:
    """What is checked, and by which protocol."""

    response: Annotated[Path, typer.Option(help="The text that is checked; - is standard input.")]
    source: Annotated[
        list[Path] | None,
        typer.Option(help="A text to be faithful to: none, one or several; - is standard input."),
    ] = None
    task: Annotated[str, typer.Option(help="summary, answer, turn, article, rewrite or open.")] = "summary"
    context: Annotated[Path | None, typer.Option(help="A file with the question, or the turns before.")] = (
        None
    )
    encoding: Encoding = None
    protocol: Protocol = "longproof"
    embedder: Embedder = "lexical"
    cache: Cache = True
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Ask nobody; say what a check would cost at least and at most.")
    ] = False
    max_passes: Annotated[
        float, typer.Option(help="With --protocol all: skip what would cost more passes.")
    ] = 20

    def settings(self) -> dict[str, Any]:
        """What of this is a setting; a dry run pays nothing and has no name."""
        settings = {name: getattr(self, name) for name in ("protocol", "embedder", "cache")}
        return {**settings, "max_calls": 0, "run_id": None} if self.dry_run else settings

    def read(self) -> "tuple[list[Document], dict[str, str]]":
        """The sources, and the response with what is known of it. Raises BadInput for what can't be read."""
        from longproof.retrieval.text.normalise import without_surrogates
        from longproof.retrieval.types import BadInput

        if [*map(str, [*(self.source or []), self.response, self.context])].count("-") > 1:
            raise BadInput("standard input can be read only once: give one -, and files for the rest")
        documents = [self._read(path) for path in self.source or []]
        response = self._read(self.response)
        response.refuse_wordless()
        return documents, {
            "response": response.raw or response.text,
            "task": self.task,
            "context": self._read(self.context).text if self.context else "",
            "case_id": without_surrogates("stdin" if str(self.response) == "-" else self.response.stem),
        }

    def _read(self, path: Path) -> "Document":
        from longproof.retrieval.loaders import read_source, read_stdin

        return read_stdin(self.encoding) if str(path) == "-" else read_source(path, self.encoding)


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Where the report is written, and what else is said of it."""

    json: JsonFile = None
    html: HtmlFile = None
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 if hallucinated, 3 if undecided.")] = (
        False
    )
    at_least: Annotated[
        str | None, typer.Option(help="Say how many sentences have this label or a more faithful one.")
    ] = None

    def refuse(self, case: CaseOptions) -> None:
        """Raises BadInput for what can't be written, or what a table of all protocols doesn't have."""
        from longproof.retrieval.types import BadInput

        refuse_targets(self.html, self.json, read=[case.response, case.context, *(case.source or [])])
        if self.at_least:
            label_named(self.at_least)
        if case.protocol == "all" and (self.json or self.html or self.check or self.at_least):
            raise BadInput(
                "--protocol all tells of each: --json, --html, --at-least and --check need one protocol"
            )


def verify_command(case: CaseOptions, panel: PanelOptions, calls: CallOptions, output: OutputOptions) -> None:
    """Check one response against its sources."""
    from longproof.retrieval.types import BadInput

    output.refuse(case)
    documents, given = case.read()
    settings = {**panel.settings(), **calls.settings(), "run_id": run_name(calls.run_id), **case.settings()}
    if case.protocol == "all" and case.dry_run:
        raise BadInput("--dry-run is for one protocol: `longproof protocols` says what each would cost")
    if case.protocol == "all":
        from longproof.cli.protocols import print_all_protocols

        print_all_protocols(check_case, documents, given, settings, case.max_passes)
        return
    report = check_case(documents, settings, **given)
    if case.dry_run:
        typer.echo("\n".join(estimate(report, [document.text for document in documents])))
        return
    why = no_answer(report)
    if output.json or output.html or not why:
        deliver(report, {document.id: document.text for document in documents}, output.json, output.html)
    if why:
        typer.echo(f"longproof: {why}", err=True)
    if output.at_least:
        typer.echo(trusted_line(report, label_named(output.at_least)), err=True)
    raise typer.Exit(exit_code(report) if output.check else UNUSABLE if why else 0)


def check_case(documents: "Sequence[Document]", settings: dict[str, Any], **given: str) -> "Report":
    """The report on one response, with a bar meanwhile; with a person as arbiter the run may end here."""
    from longproof.cli.progress import check_progress
    from longproof.graphs.verifier import Verifier

    verifier = Verifier(**settings)
    if settings.get("arbiter") == "person" and settings["run_id"]:
        from longproof.cli.review import begin

        return begin(documents, settings, **given)
    with check_progress(verifier.traffic) as progress:
        return verifier.verify(documents, progress=progress, **given)


def estimate(dry: "Report", sources: Sequence[str]) -> Iterator[str]:
    """What the run of which this report is the dry one would pay: a line a step, then what that rests on."""
    from longproof.agent.decompose import A_CLAIM, MOST_CLAIMS
    from longproof.graphs.cost import MOST_CLAIMS_A_SENTENCE, asked_by, between, cost, paid_judges, total
    from longproof.graphs.evidence.reading_plan import reading_plan, told
    from longproof.graphs.settings import settings_of

    chosen, judges = asked_by(dry), paid_judges(settings_of(dry.stamp["settings"]).judges)
    steps = between(dry, sources)
    together = total(steps)
    if not any(step.most.calls for step in steps.values()):
        yield "nothing would be paid"
        return
    yield f"{'':10}{'at least':>10}{'tokens':>14}{'at most':>12}{'tokens':>14}"
    for name, (least, most) in [*steps.items(), ("together", together)]:
        yield f"{name:10}{least.calls:>10,}{least.tokens:>14,}{most.calls:>12,}{most.tokens:>14,}"
    yield from _money(settings_of(dry.stamp["settings"]), together)
    if chosen.lined:
        yield told(reading_plan(sum(map(len, sources)), len(dry.sentences)))
    usual = cost(chosen, sum(map(len, sources)), len(dry.case.response), judges)
    calls = min(max(usual.calls, together.least.calls), together.most.calls)
    yield f"usually about {calls:,} calls that read {usual.passes:.2f} times the source's length"
    yield (
        "at least: every sentence is one claim and decided in the first round; of answers that are there already "
        f"({dry.usage.calls:,}) none is counted"
    )
    yield (
        f"at most, from the beginning: {MOST_CLAIMS_A_SENTENCE} claims a sentence where none are known yet, each in "
        f"every round ({', '.join(chosen.rounds)}), disputed and wrong"
    )
    yield "calls, and tokens of their prompts; answers, and second askings where one can't be used, cost more"
    yield (
        f"a model that makes more claims of a sentence, up to {MOST_CLAIMS} or one for every {A_CLAIM} characters, "
        "costs that many times as much: --max-calls ends it"
    )


def _money(settings: "Settings", together: "Between") -> Iterator[str]:
    """What reading costs, from the cheapest to the dearest model of the panel, where all have a price."""
    from longproof.agent.models.prices import reading_cost
    from longproof.agent.specs import as_spec

    models = [as_spec(judge).model for judge in settings.judges]
    if money := reading_cost(models, together.least.tokens, together.most.tokens, settings.prices):
        yield f"what is read costs {money[0]} to {money[1]}, by the prices given"


def label_named(name: str) -> "Label":
    """The label of this name. Raises BadInput for another."""
    from longproof.agent.types import LABELS
    from longproof.retrieval.types import BadInput

    label = next((label for label in LABELS if label == name), None)
    if label is None:
        raise BadInput(f"there is no label {name!r}: choose one of {', '.join(LABELS)}")
    return label


def trusted_line(report: "Report", at_least: "Label") -> str:
    """How much can be trusted from this label on."""
    from longproof.agent.report import trusted

    kept = trusted(report, at_least)
    return f"{len(kept)} of {len(report.sentences)} sentences are at least {at_least}"


def no_answer(report: "Report") -> str:
    """Why no judge answered anything that can be used; empty where one did, or none was to be asked."""
    from longproof.agent.report import judges_failures, unanswered, unusable
    from longproof.report.control_characters import visible

    said = [judgement for claim in report.claims for judgement in claim.judgements]
    failures = judges_failures(report)
    if unusable(failures):
        return visible(no_use(failures, ", ".join(dict.fromkeys(one.judge for one in said))))
    if not unanswered(failures):
        return ""
    why = Counter(one.reason or one.failure for one in said).most_common(1)[0][0]
    return visible(f"no judge answered: {' '.join(str(why).split())}")


def no_use(failures: "Counter[str | None]", judges: str = "any judge") -> str:
    """What to say where judges answered and no answer could be used."""
    counts = ", ".join(f"{n} {failure}" for failure, n in failures.most_common())
    return f"no usable answer came from {judges}: {counts}; is it a model that follows instructions?"


def exit_code(report: "Report") -> int:
    """The exit code under `--check`."""
    return {"hallucinated": HALLUCINATED, "undecided": UNDECIDED, "faithful": 0}[report.verdict]
