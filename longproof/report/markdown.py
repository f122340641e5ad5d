"""The report as Markdown for pull requests and issues.

Knows: GitHub's dialect (GFM), and that every text in a report may try to be markup, a mention or a link: all of
it is escaped. Does not know: any other dialect.
"""

import re
from collections.abc import Mapping

from longproof.agent.types import Report, ReportClaim
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

LONGEST = 300
AROUND = 60
QUOTES = 3
UNREAD = 10
"""How many claims that no model has read are named; of the others the number is told."""
_NUMBER = "|".join(r"(?<=^{})".format(r"\d" * digits) for digits in range(1, 10))
"""Behind a number of up to nine digits, as a list may begin."""
_MARKUP = re.compile(
    r"[\\`*_{}\[\]<>#!|~&@$^=]|^[-+]|(?<!\d):(?=\S)|:(?=[^\s\d]|\w+:)|(?<!\d)\.(?=\S)|\.(?=[^\s\d])"
    rf"|(?:{_NUMBER})[.)](?=\s|$)"
)
"""A point or colon before a blank or within a number is none, nor is a hyphen behind the beginning; round brackets
need square ones."""
_BLANK = re.compile(r"\s+")


def to_markdown(report: Report, texts: Mapping[str, str]) -> str:
    """The report, ending in a line break. `texts` maps document ids to texts; quotes stand alone without."""
    return _Writer(report, texts).text()


def plain(text: str) -> str:
    """The text on one line, as GFM shows it literally: no markup, link, mention or HTML is left alive."""
    return escaped(visible(_BLANK.sub(" ", text)))


def escaped(line: str) -> str:
    """The line without live markup; blanks and control characters stay."""
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", line)


class _Writer:
    def __init__(self, report: Report, texts: Mapping[str, str]) -> None:
        self.report = report
        self.texts = checked_texts(report, texts)
        self.words = words(language(report.case.response))
        self.names = judge_names(said.judge for claim in report.claims for said in claim.judgements)

    def text(self) -> str:
        blocks = [self._outcome()]
        for title, claims in (
            ("wrong", wrong_claims(self.report)),
            ("unsettled", unsettled_claims(self.report)),
        ):
            if claims:
                blocks.append(f"### {self.words[title]} ({len(claims)})")
                blocks += [self._finding(claim) for claim in claims]
        blocks += self._unread(unread_claims(self.report))
        blocks.append("\n".join(f"- {plain(line)}" for line in total_lines(self.report, self.words)))
        return "\n\n".join(blocks) + "\n"

    def _outcome(self) -> str:
        say, verdict = self.words, self.report.verdict
        lines = [f"## {SIGNS[verdict]} {say[verdict]}", outcome_line(self.report, say)]
        if told := no_model_notice(self.report, say):
            lines.append(f"> {plain(told)}")
        for document in missing_documents(self.report, self.texts):
            title = plain(short(document.title or document.uri or say[document.role]))
            lines.append(f"> {say['text_missing'].format(title=title)}")
        return "\n\n".join(lines)

    def _unread(self, claims: list[ReportClaim]) -> list[str]:
        """No finding of anything: a few of them as they stand, and how many more there are."""
        if not claims:
            return []
        say = self.words
        rows = [
            f"- {say['sentence_n'].format(n=claim.sentence + 1)}{say['colon']}"
            + plain(short(claim.origin.text, LONGEST))
            for claim in claims[:UNREAD]
        ]
        if len(claims) > UNREAD:
            rows.append(f"- {plain(say['more_n'].format(n=len(claims) - UNREAD))}")
        return [f"### {SIGNS['not_checked']} {say['not_checked']} ({len(claims)})", "\n".join(rows)]

    def _finding(self, claim: ReportClaim) -> str:
        say, label = self.words, claim.label or "undecided"
        kinds = {error.kind: None for error in claim.errors if error.kind}
        notes = [say[kind] for kind in kinds] + [say["sentence_n"].format(n=claim.sentence + 1)]
        if claim.failure:
            notes.append(plain(say.get(claim.failure, short(claim.failure))))
        rows = [f"**{SIGNS[label]} {say[label]}** · {' · '.join(notes)}", f"> {self._response(claim)}"]
        rows.append("\n".join(f"- {line}" for line in self._details(claim)))
        return "\n\n".join(rows)

    def _response(self, claim: ReportClaim) -> str:
        sentence = self.report.sentences[claim.sentence]
        places = [(error.span.start, error.span.end) for error in claim.errors]
        return _marked(marked_pieces(sentence.text, places, sentence.start))

    def _details(self, claim: ReportClaim) -> list[str]:
        say, colon = self.words, self.words["colon"]
        lines = [
            f"{say['should_be']}{colon}**{plain(short(error.correction, LONGEST))}**"
            for error in claim.errors
            if error.correction
        ]
        for span in claim.evidence[:QUOTES]:
            where = plain(quote_place(self.report, self.texts, span, say))
            lines.append(f"{where}{colon}{_marked(around(span, self.texts.get(span.source_id), AROUND))}")
        if not claim.evidence:
            lines.append(say["no_evidence"])
        if why := reason(claim):
            lines.append(f"{say['why']}{colon}{plain(short(why, LONGEST))}")
        if votes := [self._vote(j.judge, j.label or j.failure or "") for j in last_votes(claim)]:
            lines.append(f"{say['votes']}{colon}{say['semicolon'].join(votes)}")
        told = (looked_line(self.report, claim, say), what_would_settle(claim, say))
        lines += [plain(line) for line in told if line]
        if claim.caveat:
            lines.append(plain(say.get(claim.caveat, short(claim.caveat, LONGEST))))
        return lines

    def _vote(self, judge: str, said: str) -> str:
        return f"{plain(short(self.names[judge]))} {SIGNS.get(said, '—')} {self.words[said]}"


def _marked(given: list[Piece]) -> str:
    """The pieces on one line; marked ones bold, by HTML, since `**` next to Chinese marks isn't read as bold."""
    return "".join(
        f"<b>{plain(piece.text)}</b>" if piece.marked else plain(piece.text)
        for piece in shorten(given, LONGEST)
    )
