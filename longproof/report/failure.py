"""Why a report does not pass, as a test prints it: plain text, the outcome first, then claims with quotes.

Knows: from which label on a sentence passes. Does not know: who runs the test, or what stops where it fails.
"""

from longproof.agent.report import trusted
from longproof.agent.types import LABELS, Label, Report, ReportClaim
from longproof.report.control_characters import visible
from longproof.report.summary import no_model_notice, outcome_line, quote_place, reason, short
from longproof.report.words import SIGNS, words

SAY = words("en")
QUOTES = 3
LONGEST = 300


def failure(report: Report, at_least: Label = "ambiguous") -> str:
    """What fails where a sentence has no label, or a less faithful one than `at_least`; empty where none does.

    The default lets pass what isn't hallucinated. A report without claims is undecided and doesn't pass.
    """
    if report.verdict != "undecided" and len(trusted(report, at_least)) == len(report.sentences):
        return ""
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
    why = f" ({SAY[claim.failure]})" if claim.failure else ""
    lines = [f"{SIGNS[label]} {SAY[label]}{why}: {short(claim.text, LONGEST)}"]
    lines += [
        f"    {short(error.span.text, LONGEST)!r} should be {short(error.correction, LONGEST)!r}"
        for error in claim.errors
        if error.correction
    ]
    lines += [
        f"    {quote_place(report, {}, span, SAY)}: {short(span.text, LONGEST)!r}"
        for span in claim.evidence[:QUOTES]
    ]
    return [*lines, *(f"    why: {short(told, LONGEST)}" for told in [reason(claim)] if told)]
