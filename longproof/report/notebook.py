"""The report as a notebook shows it: the outcome and what is wrong or open, in a few lines of HTML.

Knows: that every text in a report may try to be markup. Does not know: the page, which has all of it.
"""

from html import escape

from longproof.agent.types import Report, ReportClaim
from longproof.report.control_characters import visible
from longproof.report.summary import (
    language,
    no_model_notice,
    outcome_line,
    short,
    unsettled_claims,
    wrong_claims,
)
from longproof.report.words import SIGNS, words

FINDINGS = 5
"""How many claims are shown; of the others the number is told."""
LONGEST = 200


def in_short(report: Report) -> str:
    """The outcome, the first few findings with their first evidence, and where the rest is."""
    say = words(language(report.case.response))
    found = [*wrong_claims(report), *unsettled_claims(report)]
    lines = [_finding(claim, say) for claim in found[:FINDINGS]]
    if len(found) > FINDINGS:
        lines.append(_plain(say["more_n"].format(n=len(found) - FINDINGS)))
    items = "".join(f"<li>{line}</li>" for line in lines)
    told = "".join(f"<p>{_plain(line)}</p>" for line in [no_model_notice(report, say)] if line)
    verdict = f"<b>{SIGNS[report.verdict]} {say[report.verdict]}</b>"
    return (
        f"<p>{verdict}{say['colon']}{_plain(outcome_line(report, say))}</p>{told}"
        f"{f'<ul>{items}</ul>' if items else ''}<p><code>report.html()</code></p>"
    )


def _finding(claim: ReportClaim, say: dict[str, str]) -> str:
    label = claim.label or "undecided"
    text = f"{SIGNS[label]} {say[label]}{say['colon']}{_plain(claim.text)}"
    corrections = dict.fromkeys(error.correction for error in claim.errors if error.correction)
    text += "".join(f"<br>{say['should_be']}{say['colon']}<b>{_plain(one)}</b>" for one in corrections)
    return text + "".join(
        f"<br>{say['evidence']}{say['colon']}<q>{_plain(q.text)}</q>" for q in claim.evidence[:1]
    )


def _plain(text: str) -> str:
    return escape(visible(short(text, LONGEST)))
