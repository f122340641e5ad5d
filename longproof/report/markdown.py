"""The report as Markdown for pull requests and issues, as a notebook shows it, and as a failing test prints it.

Knows: GitHub's dialect (GFM), and that every text in a report may try to be markup, a mention or a link: all of
it is escaped; from which label on a sentence passes. Does not know: any other dialect; who runs the test.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape

from longproof.agent.report import sentences_at_least
from longproof.agent.types import LABELS, Label, Report
from longproof.report.view import ClaimView, ReportView, hint_line
from longproof.report.words import Piece, words

FINDINGS = 5
"""How many claims a notebook shows; of the others the number is told."""
_ALWAYS = frozenset("\\`*_{}[]<>#!|~&@$^=")
"""Round brackets need square ones."""
_IN_PLACE = re.compile(r"^[-+]|(?<!\d)[:.](?=\S)|:(?=[^\s\d]|\w+:)|\.(?=[^\s\d])")
"""A point or colon before a blank or within a number is no markup, nor is a hyphen behind the beginning."""
_LIST_NUMBER = re.compile(r"\d{1,9}[.)](?=\s|$)")
"""The number of a list's item, at the beginning."""


def escape_markup(line: str) -> str:
    """The line without live markup; blanks and control characters stay."""
    live = {match.start() for match in _IN_PLACE.finditer(line)}
    if number := _LIST_NUMBER.match(line):
        live.add(number.end() - 1)
    return "".join(
        f"&#{ord(character)};" if character in _ALWAYS or place in live else character
        for place, character in enumerate(line)
    )


def to_markdown(report: Report, texts: Mapping[str, str]) -> str:
    """The report, ending in a line break. `texts` maps document ids to texts; quotes stand alone without."""
    view = ReportView(report, texts)
    blocks = [f"## {view.heading}", view.outcome]
    if view.notice:
        blocks.append(f"> {escape_markup(view.notice)}")
    absent = view.say["text_missing"]
    blocks += [f"> {absent.format(title=escape_markup(title))}" for title in view.missing]
    for heading, claims in view.findings:
        blocks.append(f"### {heading}")
        for claim in claims:
            about = ClaimView(view, claim)
            blocks.append(f"**{about.heading}** · {' · '.join(about.notes)}")
            blocks.append(f"> {_bold_marks(about.passage)}")
            blocks.append(_list(_details(about, view.say)))
    lists = [view.hint_lines(10)] if view.hints else []
    lists += [view.unread_lines(10)] if view.unread else []
    for heading, rows in lists:
        blocks += [f"### {heading}", _list(map(escape_markup, rows))]
    return "\n\n".join([*blocks, _list(map(escape_markup, view.totals))]) + "\n"


def _details(claim: ClaimView, say: Mapping[str, str]) -> Iterator[str]:
    for wrong, right in claim.corrections:
        words = f"{escape_markup(wrong)} → " if len(claim.corrections) > 1 else ""
        yield f"{say['should_be']}{say['colon']}{words}**{escape_markup(right)}**"
    for quote in claim.quotes:
        yield f"{escape_markup(quote.where)}{say['colon']}{_bold_marks(quote.pieces)}"
    if claim.more_quotes:
        yield escape_markup(say["more_n"].format(n=claim.more_quotes))
    if not claim.quotes:
        yield say["no_evidence"]
    for line in (claim.why, claim.votes, claim.looked, claim.settle, claim.caveat):
        if line:
            yield escape_markup(line)


def _list(rows: Iterable[str]) -> str:
    return "\n".join(f"- {row}" for row in rows)


def _bold_marks(pieces: Iterable[Piece]) -> str:
    """The pieces on one line; marked ones bold, by HTML, since `**` next to Chinese marks isn't read as bold."""
    return "".join(
        f"<b>{escape_markup(text)}</b>" if marked else escape_markup(text) for text, marked in pieces
    )


def in_short(report: Report) -> str:
    """A few lines of HTML: the outcome, the first findings with their first quote, and where the rest is."""
    view = ReportView(report)
    say, claims, items = view.say, [*view.wrong, *view.unsettled], ""
    for claim in claims[:FINDINGS]:
        about = ClaimView(view, claim)
        rows = [f"{about.heading}{say['colon']}{escape(about.text)}"]
        for wrong, right in about.corrections:
            replaced = f"{escape(wrong)} → " if len(about.corrections) > 1 else ""
            rows.append(f"{say['should_be']}{say['colon']}{replaced}<b>{escape(right)}</b>")
        if about.quotes:
            rows.append(f"{say['evidence']}{say['colon']}<q>{escape(about.quotes[0].text)}</q>")
        items += f"<li>{'<br>'.join(rows)}</li>"
    if len(claims) > FINDINGS:
        items += f"<li>{escape(say['more_n'].format(n=len(claims) - FINDINGS))}</li>"
    notice = f"<p>{escape(view.notice)}</p>" if view.notice else ""
    return (
        f"<p><b>{view.heading}</b>{say['colon']}{escape(view.outcome)}</p>{notice}"
        f"{f'<ul>{items}</ul>' if items else ''}<p><code>report.html()</code></p>"
    )


def failure(report: Report, at_least: Label = "ambiguous") -> str:
    """Tell what fails where a sentence has no label, or a less faithful one than `at_least`; empty where none does.

    The default lets pass what isn't hallucinated. A report without claims is undecided and doesn't pass.
    """
    if report.verdict != "undecided" and len(sentences_at_least(report, at_least)) == len(report.sentences):
        return ""
    view = ReportView(report, say=words("en"))
    lines = [f"{report.verdict}: {view.outcome}; every sentence must be at least {at_least}"]
    if view.notice:
        lines.append(view.notice)
    for claim in report.claims:
        if claim.label and LABELS.index(claim.label) >= LABELS.index(at_least):
            continue
        about = ClaimView(view, claim)
        why_undecided = f" ({view.say[claim.failure]})" if claim.failure else ""
        lines.append(f"{about.heading}{why_undecided}: {about.text}")
        lines += [f"    {wrong!r} should be {right!r}" for wrong, right in about.corrections]
        lines += [f"    {quote.where}: {quote.text!r}" for quote in about.quotes]
        if hint := hint_line(claim, view.say):
            lines.append(f"    {hint}")
        if about.why:
            lines.append(f"    {about.why}")
    return "\n".join(lines)
