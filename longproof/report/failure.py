"""Why a report does not pass, as a test prints it: plain text, the outcome first, then claims with quotes.

Knows: from which label on a sentence passes. Does not know: who runs the test, or what stops where it fails.
"""

from collections.abc import Iterator

from longproof.agent.report import trusted
from longproof.agent.types import LABELS, Label, Report
from longproof.report.view import ClaimView, ReportView
from longproof.report.words import words


def failure(report: Report, at_least: Label = "ambiguous") -> str:
    """Tell what fails where a sentence has no label, or a less faithful one than `at_least`; empty where none does.

    The default lets pass what isn't hallucinated. A report without claims is undecided and doesn't pass.
    """
    if report.verdict != "undecided" and len(trusted(report, at_least)) == len(report.sentences):
        return ""
    view = ReportView(report, say=words("en"))
    lines = [f"{report.verdict}: {view.outcome}; every sentence must be at least {at_least}"]
    if view.notice:
        lines.append(view.notice)
    for claim in report.claims:
        if claim.label is None or LABELS.index(claim.label) < LABELS.index(at_least):
            lines += _finding(view.claim(claim), view.say[claim.failure] if claim.failure else "")
    return "\n".join(lines)


def _finding(claim: ClaimView, why_undecided: str) -> Iterator[str]:
    why = f" ({why_undecided})" if why_undecided else ""
    yield f"{claim.heading}{why}: {claim.text}"
    for wrong, right in claim.corrections:
        yield f"    {wrong!r} should be {right!r}"
    for quote in claim.quotes:
        yield f"    {quote.where}: {quote.text!r}"
    if claim.why:
        yield f"    {claim.why}"
