"""The report on a terminal: what is wrong first, each finding with its evidence beside it or under it.

Knows: the width of the console and how wide Chinese is on it; that a line may not break before closing marks or after
opening ones (a short form of JIS X 4051's rule). A console may have no colours: signs mark what they do.
Does not know: files, or how anything was judged.
"""

from collections.abc import Mapping, Sequence
from itertools import count

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from longproof.agent.types import Report
from longproof.report.view import ClaimView, ReportView
from longproof.report.words import Piece

SIDE_BY_SIDE = 100
"""Columns from which evidence stands beside the response."""
WIDEST = 160

_NEVER_FIRST = "，。！？；：、）】》〉」』”’…—·,.!?;:)]}％%»"
_NEVER_LAST = "（【《〈「『“‘([{«"
_COLOURS = {
    "contradicting": "bold red",
    "fabricated": "bold magenta",
    "ambiguous": "bold yellow",
    "undecided": "bold cyan",
    "hallucinated": "bold red",
    "faithful": "bold green",
}


def print_report(report: Report, texts: Mapping[str, str], console: Console) -> None:
    """Print the report. `texts` maps document ids to texts; where one is missing, quotes stand alone."""
    view = ReportView(report, texts)
    screen = _Screen(view.say, console)
    head = Text(view.heading, style=_COLOURS.get(report.verdict, ""))
    screen.line(head.append(f"  {view.outcome}", style="not bold default"))
    if view.notice:
        screen.line(Text(view.notice, style="yellow"))
    for title in view.missing:
        screen.line(Text(view.say["text_missing"].format(title=title), style="yellow"))
    numbers = count(1)
    for title, claims in view.findings:
        screen.line(Text(f"\n{title}", style="bold underline"))
        for claim in claims:
            screen.finding(next(numbers), ClaimView(view, claim))
    lists = [view.hint_lines(10)] if view.hints else []
    lists += [view.unread_lines(3)] if view.unread else []
    for title, rows in lists:
        screen.line(Text(f"\n{title}", style="bold"))
        for row in rows:
            screen.indent(Text(row))
    screen.line(Text(""))
    for total in view.totals:
        screen.line(Text(total, style="dim"))


class _Screen:
    def __init__(self, say: Mapping[str, str], console: Console) -> None:
        self.say, self.console = say, console
        self.width = min(console.width, WIDEST)

    def finding(self, number: int, claim: ClaimView) -> None:
        self.line(Text(""))
        head = Text(f"{number:>2}  ").append(claim.heading, style=_COLOURS.get(claim.label, ""))
        self.line(head.append("  " + " · ".join(claim.notes), style="dim"))
        response = _mark_pieces(claim.passage, "bold red underline")
        for wrong, right in claim.corrections:
            response.append(f"\n{self.say['should_be']}{self.say['colon']}", style="dim")
            if len(claim.corrections) > 1:
                response.append(f"{wrong} → ")
            response.append(right, style="green")
        cited = [] if claim.quotes else [Text(self.say["no_evidence"], style="dim italic")]
        for quote in claim.quotes:
            where = Text(quote.where + self.say["colon"], style="dim")
            cited.append(where.append_text(_mark_pieces(quote.pieces, "bold")))
        if claim.more_quotes:
            cited.append(Text(self.say["more_n"].format(n=claim.more_quotes), style="dim"))
        evidence = Text("\n").join(cited)
        if self.width >= SIDE_BY_SIDE:
            left = (self.width - 7) // 2
            grid = Table.grid(Column(width=1), Column(width=left), padding=(0, 3, 0, 0))
            grid.add_row("", wrap_text(response, left), wrap_text(evidence, self.width - 7 - left))
            self.console.print(grid)
        else:
            self.indent(response)
            self.indent(evidence)
        because = (claim.why, ""), (claim.votes, "dim"), (claim.looked, "dim"), (claim.settle, "")
        lines = [Text(line, style) for line, style in (*because, (claim.caveat, "dim italic")) if line]
        self.indent(Text("\n").join(lines))

    def line(self, text: Text) -> None:
        self.console.print(wrap_text(text, self.width), highlight=False, soft_wrap=True)

    def indent(self, text: Text) -> None:
        if text:
            folded = wrap_text(text, self.width - 4)
            lines = (Text("    ").append_text(line) for line in folded.split("\n", allow_blank=True))
            self.console.print(Text("\n").join(lines), highlight=False, soft_wrap=True)


def _mark_pieces(pieces: Sequence[Piece], style: str) -> Text:
    """Join the pieces; where some of them aren't marked, those that are stand in signs, too."""
    text = Text()
    for piece in pieces:
        signed = f"«{piece.text}»" if piece.marked and len(pieces) > 1 else piece.text
        text.append(signed, style=style if piece.marked else "")
    return text


def wrap_text(text: Text, width: int) -> Text:
    """The same text with line breaks, no line wider than `width` cells. Spaces at a break are dropped."""
    lines = []
    for given in text.split("\n", allow_blank=True):
        for line in given.divide(_breaks(given.plain, max(width, 2))):
            line.rstrip()
            lines.append(line)
    return Text("\n", no_wrap=True).join(lines)


def _breaks(plain: str, width: int) -> list[int]:
    """Offsets of new lines: each the last place that may begin one, or within a word that is wider than a line."""
    breaks = [0]
    cells, last, at = 0, 0, 0
    while at < len(plain):
        if at and _may_begin_line(plain[at - 1], plain[at]):
            last = at
        cells += cell_len(plain[at])
        if cells > width and plain[at] != " ":
            breaks.append(last if last > breaks[-1] else at)
            cells, at = 0, breaks[-1]
        else:
            at += 1
    return breaks[1:]


def _may_begin_line(before: str, after: str) -> bool:
    if " " in (before, after):
        return after != " "
    wide = cell_len(before) == 2 or cell_len(after) == 2
    return wide and after not in _NEVER_FIRST and before not in _NEVER_LAST
