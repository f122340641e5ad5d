"""The report in short: as a notebook shows it, and why it doesn't pass, as a test prints it.

Knows: that every text in a report may try to be markup; from which label on a sentence passes. Does not know:
the page, which has all of it; who runs the test, or what stops where it fails.
"""

from collections.abc import Iterator, Mapping
from html import escape

from longproof.agent.report import trusted
from longproof.agent.types import LABELS, Label, Report
from longproof.report.view import ClaimView, ReportView
from longproof.report.words import words

FINDINGS = 5
"""How many claims a notebook shows; of the others the number is told."""


def in_short(report: Report) -> str:
    """A few lines of HTML: the outcome, the first findings with their first quote, and where the rest is."""
    view = ReportView(report)
    claims = [*view.wrong, *view.unsettled]
    rows = ["<br>".join(_rows(view.claim(claim), view.say)) for claim in claims[:FINDINGS]]
    if len(claims) > FINDINGS:
        rows.append(escape(view.say["more_n"].format(n=len(claims) - FINDINGS)))
    notice = f"<p>{escape(view.notice)}</p>" if view.notice else ""
    items = "".join(f"<li>{row}</li>" for row in rows)
    return (
        f"<p><b>{view.heading}</b>{view.say['colon']}{escape(view.outcome)}</p>{notice}"
        f"{f'<ul>{items}</ul>' if items else ''}<p><code>report.html()</code></p>"
    )


def _rows(claim: ClaimView, say: Mapping[str, str]) -> Iterator[str]:
    yield f"{claim.heading}{say['colon']}{escape(claim.text)}"
    for wrong, right in claim.corrections:
        replaced = f"{escape(wrong)} → " if len(claim.corrections) > 1 else ""
        yield f"{say['should_be']}{say['colon']}{replaced}<b>{escape(right)}</b>"
    for quote in claim.quotes[:1]:
        yield f"{say['evidence']}{say['colon']}<q>{escape(quote.text)}</q>"


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
            lines += _lines(view.claim(claim), view.say[claim.failure] if claim.failure else "")
    return "\n".join(lines)


def _lines(claim: ClaimView, why_undecided: str) -> Iterator[str]:
    why = f" ({why_undecided})" if why_undecided else ""
    yield f"{claim.heading}{why}: {claim.text}"
    for wrong, right in claim.corrections:
        yield f"    {wrong!r} should be {right!r}"
    for quote in claim.quotes:
        yield f"    {quote.where}: {quote.text!r}"
    if claim.why:
        yield f"    {claim.why}"
