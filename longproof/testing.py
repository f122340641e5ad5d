"""An assertion for tests of programs that write: what they wrote is faithful to its source.

Knows: from which label on a sentence passes, and how a failure reads in a test's output. Does not know: how anything
is checked, or which test runner asks.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from longproof.agent.report import trusted
from longproof.agent.specs import Spec
from longproof.agent.types import LABELS, Judge, Label, ReportClaim
from longproof.graphs.verifier import Source
from longproof.report.control_characters import visible
from longproof.report.summary import no_model_notice, outcome_line, quote_place, reason, short
from longproof.report.words import SIGNS, words
from longproof.retrieval.types import BadInput
from longproof.verifier import Report, Verifier

SAY = words("en")
QUOTES = 3
LONGEST = 300


def assert_faithful(
    response: str | Path,
    *,
    source: Source | Sequence[Source],
    judge: str | Spec | Judge | BaseChatModel | Sequence[str | Spec | Judge | BaseChatModel],
    at_least: Label = "ambiguous",
    task: str = "summary",
    context: str = "",
    **settings: Any,
) -> Report:
    """Raises AssertionError, with claims and quotes, unless every sentence has the label `at_least` or a better one.

    The default lets pass what isn't hallucinated. What nobody could decide never passes, so that the check without a
    model fails on all that isn't nearly word for word. `judge` is one or several, as `Verifier` takes them, and so are
    the settings. Returns the report. Raises BadInput for what can't be checked.
    """
    __tracebackhide__ = True
    if at_least not in LABELS:
        raise BadInput(f"there is no label {at_least!r}: choose one of {', '.join(LABELS)}")
    judges = judge if isinstance(judge, list | tuple) else [judge]
    report = Verifier(judges, **settings).verify(source, response, task=task, context=context)
    if len(trusted(report, at_least)) < len(report.sentences) or report.verdict == "undecided":
        raise AssertionError(_failure(report, at_least))
    return report


def _failure(report: Report, at_least: Label) -> str:
    """What fails, the outcome first; then each claim that is below the label, with what the source says."""
    below = [c for c in report.claims if c.label is None or LABELS.index(c.label) < LABELS.index(at_least)]
    head = f"{report.verdict}: {outcome_line(report, SAY)}; every sentence must be at least {at_least}"
    lines = [
        head,
        no_model_notice(report, SAY),
        *(line for claim in below for line in _finding(claim, report)),
    ]
    return visible("\n".join(line for line in lines if line))


def _finding(claim: ReportClaim, report: Report) -> list[str]:
    label = claim.label or "undecided"
    why = SAY.get(claim.failure or "", "")
    lines = [f"{SIGNS[label]} {SAY[label]}{f' ({why})' if why else ''}: {short(claim.text, LONGEST)}"]
    for error in claim.errors:
        if error.correction:
            lines.append(
                f"    {short(error.span.text, LONGEST)!r} should be {short(error.correction, LONGEST)!r}"
            )
    for span in claim.evidence[:QUOTES]:
        lines.append(f"    {quote_place(report, {}, span, SAY)}: {short(span.text, LONGEST)!r}")
    if told := reason(claim):
        lines.append(f"    why: {short(told, LONGEST)}")
    return lines
