"""The report on a terminal: what is wrong first, each finding with its evidence beside it or under it.

Knows: the width of the console and how wide Chinese is on it; that a line may not break before closing marks or after
opening ones (a short form of JIS X 4051's rule); colours only where the console has them, so what is marked is marked
by signs too. Does not know: files, or how anything was judged.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from longproof.agent.types import Judgement, Report, ReportClaim
from longproof.report.control_characters import visible
from longproof.report.judges import judge_names
from longproof.report.looked import looked_line, what_would_settle
from longproof.report.summary import (
    Piece,
    around,
    checked_texts,
    language,
    last_votes,
    marked_pieces,
    missing_documents,
    no_model_notice,
    outcome_line,
    quote_place,
    reason,
    short,
    shorten,
    total_lines,
    unread_claims,
    unsettled_claims,
    wrong_claims,
)
from longproof.report.words import SIGNS, words

SIDE_BY_SIDE = 100
"""Columns from which evidence stands beside the response."""
WIDEST = 160
LONGEST = 400
"""Characters of one piece of text beyond which its middle is left out."""
AROUND = 60
QUOTES = 3
UNREAD = 3
"""How many claims that no model has read are named; of the others the number is told."""

_BLANK = re.compile(r"[^\S\x1c-\x1f\x85\u2028\u2029]+")
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
    _Screen(report, texts, console).show()


class _Screen:
    def __init__(self, report: Report, texts: Mapping[str, str], console: Console) -> None:
        self.report = report
        self.texts = checked_texts(report, texts)
        self.console = console
        self.width = min(console.width, WIDEST)
        self.words = words(language(report.case.response))
        self.names = judge_names(said.judge for claim in report.claims for said in claim.judgements)

    def show(self) -> None:
        self._outcome()
        bad = wrong_claims(self.report)
        self._findings("wrong", bad, 1)
        self._findings("unsettled", unsettled_claims(self.report), 1 + len(bad))
        self._unread(unread_claims(self.report))
        self._line(Text(""))
        for line in total_lines(self.report, self.words):
            self._line(Text(self._plain(line), style="dim"))

    def _findings(self, title: str, claims: Sequence[ReportClaim], first: int) -> None:
        if claims:
            self._line(Text(f"\n{self.words[title]} ({len(claims)})", style="bold underline"))
        for number, claim in enumerate(claims, first):
            self._finding(number, claim)

    def _unread(self, claims: Sequence[ReportClaim]) -> None:
        """No finding of anything: a few of them as they stand, and how many more there are."""
        if not claims:
            return
        say = self.words
        self._line(Text(f"\n{SIGNS['not_checked']} {say['not_checked']} ({len(claims)})", style="bold"))
        for claim in claims[:UNREAD]:
            where = say["sentence_n"].format(n=claim.sentence + 1) + say["colon"]
            text = Text(where, style="dim").append(
                self._plain(short(claim.origin.text, self.width)), style="not dim"
            )
            self._indented(text)
        if len(claims) > UNREAD:
            self._indented(Text(say["more_n"].format(n=len(claims) - UNREAD), style="dim"))

    def _line(self, text: Text) -> None:
        self.console.print(wrap_text(text, self.width), highlight=False, soft_wrap=True)

    def _outcome(self) -> None:
        report, say = self.report, self.words
        name = report.verdict
        head = Text(f"{SIGNS[name]} {say[name]}", style=_COLOURS.get(name, _COLOURS["undecided"]))
        head.append("  " + outcome_line(report, say), style="not bold default")
        self._line(head)
        if told := no_model_notice(report, say):
            self._line(Text(told, style="yellow"))
        for document in missing_documents(report, self.texts):
            title = self._plain(short(document.title or document.uri or say[document.role]))
            self._line(Text(say["text_missing"].format(title=title), style="yellow"))

    def _finding(self, number: int, claim: ReportClaim) -> None:
        self._line(Text(""))
        self._line(self._heading(number, claim))
        response, evidence = self._response(claim), self._evidence(claim)
        if self.width >= SIDE_BY_SIDE:
            left = (self.width - 7) // 2
            grid = Table.grid(padding=(0, 3, 0, 0))
            grid.add_column(width=1)
            grid.add_column(width=left)
            grid.add_row("", wrap_text(response, left), wrap_text(evidence, self.width - 7 - left))
            self.console.print(grid)
        else:
            self._indented(response)
            self._indented(evidence)
        self._indented(self._because(claim))

    def _indented(self, text: Text) -> None:
        if text:
            folded = wrap_text(text, self.width - 4)
            lines = (Text("    ").append_text(line) for line in folded.split("\n", allow_blank=True))
            self.console.print(Text("\n").join(lines), highlight=False, soft_wrap=True)

    def _heading(self, number: int, claim: ReportClaim) -> Text:
        say, label = self.words, claim.label or "undecided"
        kinds = {error.kind: None for error in claim.errors if error.kind}
        after = [say[kind] for kind in kinds]
        after.append(say["sentence_n"].format(n=claim.sentence + 1))
        if claim.decided_by != "nobody":
            after.append(say[claim.decided_by])
        if claim.failure:
            after.append(say.get(claim.failure, self._plain(short(claim.failure))))
        head = Text(f"{number:>2}  ")
        head.append(f"{SIGNS[label]} {say[label]}", style=_COLOURS.get(label, ""))
        return head.append("  " + " · ".join(after), style="dim")

    def _response(self, claim: ReportClaim) -> Text:
        sentence = self.report.sentences[claim.sentence]
        places = [(e.span.start, e.span.end) for e in claim.errors] or [
            (claim.origin.start, claim.origin.end)
        ]
        whole = (claim.origin.start, claim.origin.end) == (sentence.start, sentence.end)
        shown = [] if whole and not claim.errors else places
        text = self._marked(marked_pieces(sentence.text, shown, sentence.start), "bold red underline")
        for error in claim.errors:
            if error.correction:
                text.append(f"\n{self._title('should_be')}", style="dim")
                text.append(self._plain(short(error.correction, LONGEST)), style="green")
        return text

    def _evidence(self, claim: ReportClaim) -> Text:
        if not claim.evidence:
            return Text(self.words["no_evidence"], style="dim italic")
        lines = []
        for span in claim.evidence[:QUOTES]:
            quote = around(span, self.texts.get(span.source_id), AROUND)
            where = quote_place(self.report, self.texts, span, self.words)
            lines.append(
                Text(self._plain(where) + self.words["colon"], style="dim").append_text(
                    self._marked(quote, "bold")
                )
            )
        if len(claim.evidence) > QUOTES:
            lines.append(Text(f"+ {len(claim.evidence) - QUOTES}", style="dim"))
        return Text("\n").join(lines)

    def _because(self, claim: ReportClaim) -> Text:
        parts = []
        if why := reason(claim):
            parts.append(
                Text(self._title("why"), style="dim").append(
                    self._plain(short(why, LONGEST)), style="not dim"
                )
            )
        if votes := [self._vote(judgement) for judgement in last_votes(claim)]:
            parts.append(Text(self._title("votes") + self.words["semicolon"].join(votes), style="dim"))
        if looked := looked_line(self.report, claim, self.words):
            parts.append(Text(self._plain(looked), style="dim"))
        if settle := what_would_settle(claim, self.words):
            parts.append(Text(settle, style="not dim"))
        if claim.caveat:
            parts.append(
                Text(
                    self.words.get(claim.caveat, self._plain(short(claim.caveat, LONGEST))),
                    style="dim italic",
                )
            )
        return Text("\n").join(parts)

    def _vote(self, judgement: Judgement) -> str:
        said = judgement.label or judgement.failure or ""
        return f"{self._plain(short(self.names[judgement.judge]))} {SIGNS.get(said, '—')} {self.words[said]}"

    def _marked(self, given: Sequence[Piece], style: str) -> Text:
        text = Text()
        several = len(given) > 1
        for piece in shorten(given, LONGEST):
            plain = self._plain(piece.text)
            signed = f"«{plain}»" if piece.marked and several else plain
            text.append(signed, style=style if piece.marked else "")
        return text

    def _title(self, key: str) -> str:
        return self.words[key] + self.words["colon"]

    def _plain(self, text: str) -> str:
        return visible(_BLANK.sub(" ", text))


def wrap_text(text: Text, width: int) -> Text:
    """The same text with line breaks, no line wider than `width` cells. Spaces at a break are dropped."""
    width = max(width, 2)
    lines = [line for given in text.split("\n", allow_blank=True) for line in _wrapped_lines(given, width)]
    return Text("\n", no_wrap=True).join(lines)


def _wrapped_lines(line: Text, width: int) -> Iterator[Text]:
    plain, start = line.plain, 0
    while start < len(plain):
        end = _line_end(plain, start, width)
        piece = line[start:end]
        piece.rstrip()
        yield piece
        start = end
        while start < len(plain) and plain[start] == " ":
            start += 1
    if not plain:
        yield line


def _line_end(plain: str, start: int, width: int) -> int:
    cells, last = 0, 0
    for at in range(start, len(plain)):
        if at > start and _may_line_end(plain[at - 1], plain[at]):
            last = at
        cells += cell_len(plain[at])
        if cells > width and plain[at] != " ":
            return last or max(at, start + 1)
    return len(plain)


def _may_line_end(before: str, after: str) -> bool:
    if before == " " or after == " ":
        return after != " "
    wide = cell_len(before) == 2 or cell_len(after) == 2
    return wide and after not in _NEVER_FIRST and before not in _NEVER_LAST
