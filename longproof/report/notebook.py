"""The report as a notebook shows it: the outcome and what is wrong or open, in a few lines of HTML.

Knows: that every text in a report may try to be markup. Does not know: the page, which has all of it.
"""

from collections.abc import Mapping
from html import escape

from longproof.agent.types import Report
from longproof.report.view import ClaimView, ReportView

FINDINGS = 5
"""How many claims are shown; of the others the number is told."""


def in_short(report: Report) -> str:
    """The outcome, the first few findings with their first quote, and where the rest is."""
    view = ReportView(report)
    claims = [*view.wrong, *view.unsettled]
    rows = [_finding(view.claim(claim), view.say) for claim in claims[:FINDINGS]]
    if len(claims) > FINDINGS:
        rows.append(escape(view.say["more_n"].format(n=len(claims) - FINDINGS)))
    notice = f"<p>{escape(view.notice)}</p>" if view.notice else ""
    items = "".join(f"<li>{row}</li>" for row in rows)
    return (
        f"<p><b>{view.heading}</b>{view.say['colon']}{escape(view.outcome)}</p>{notice}"
        f"{f'<ul>{items}</ul>' if items else ''}<p><code>report.html()</code></p>"
    )


def _finding(claim: ClaimView, say: Mapping[str, str]) -> str:
    rows = [f"{claim.heading}{say['colon']}{escape(claim.text)}"]
    for wrong, right in claim.corrections:
        words = f"{escape(wrong)} → " if len(claim.corrections) > 1 else ""
        rows.append(f"{say['should_be']}{say['colon']}{words}<b>{escape(right)}</b>")
    rows += [f"{say['evidence']}{say['colon']}<q>{escape(quote.text)}</q>" for quote in claim.quotes[:1]]
    return "<br>".join(rows)
