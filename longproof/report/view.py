"""What is said of a report and of each of its claims: worked out once, for every way of showing it.

Knows: the order of importance (the least faithful label first, then the order of the text). What it tells is ready to
be read: on one line, not too long, with marks in the place of what acts.
Does not know: how any of it is drawn; a printer escapes its own markup.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from longproof.agent.report import CONFIRMING, WRONG
from longproof.agent.types import LABELS, Judgement, Report, ReportClaim
from longproof.report.totals import NAME, document_title, judge_names, outcome_line, total_lines, without_role
from longproof.report.words import SIGNS, Piece, around, language, line, marked_pieces, short, words
from longproof.retrieval.types import Span

QUOTES = 5
"""How many quotes are shown together; of the others the number is."""
QUERIES = 4
"""How many of the things that were searched for are told; of the others the number is."""


class Quote(NamedTuple):
    """Words of a source or a page; `pieces` has some of what stands around them."""

    where: str
    """Their document, line and share of it; before that, in a dispute, who says what by them."""
    text: str
    pieces: tuple[Piece, ...]


class Side(NamedTuple):
    """Judges who say the same of a claim that nobody decided, and what they cite for it."""

    label: str
    judges: tuple[str, ...]
    spans: tuple[Span, ...]


class LookView(NamedTuple):
    """The extent of the look for a claim."""

    steps: tuple[str, ...]
    """As keys of `words`."""
    queries: tuple[str, ...]
    """What was searched for: a model's words, hence cut and never taken for our own."""
    left_out: int
    """How many more things were searched for."""
    read: str
    """How much of the source was read for it, in words; empty without a source."""
    whole: bool
    """That was all of the source."""


class ReportView:
    """All that is said of a report. `texts` maps document ids to texts; where one is missing, quotes stand alone."""

    def __init__(
        self, report: Report, texts: Mapping[str, str] | None = None, say: Mapping[str, str] | None = None
    ) -> None:
        self.report = report
        responses = {one.id: report.case.response for one in report.documents if one.role == "response"}
        self.texts = {**(texts or {}), **responses}
        self.say = words(language(report.case.response)) if say is None else say
        self.heading = f"{SIGNS[report.verdict]} {self.say[report.verdict]}"
        self.outcome = outcome_line(report, self.say)
        self.notice = self.say["triage"] if report.triage else ""
        """That no model has read this, and what to do; empty where one has."""
        judges = [one.judge for claim in report.claims for one in claim.judgements]
        self.names = judge_names(dict.fromkeys(judges))
        for name in self.names:
            if name.startswith(CONFIRMING):
                self.names[name] += self.say["comma"] + self.say["asked_again"]
        self.wrong = sorted(
            (claim for claim in report.claims if claim.label in WRONG),
            key=lambda one: (one.proved is False, LABELS.index(one.label or "fabricated"), one.origin.start),
        )
        undecided = [one for one in report.claims if one.label is None and one.failure != "needs_model"]
        self.unsettled = undecided + [claim for claim in report.claims if claim.label == "ambiguous"]
        self.unread = unread_claims(report)
        self.hints = [claim for claim in report.claims if claim.hint]
        self.totals = total_lines(report, self.say)
        """Counts, coverage and cost, how it was made, caveats, how files became texts."""
        self.missing = [document_title(one, self.say) for one in report.documents if one.id not in self.texts]
        """The names of the documents whose text isn't here."""

    @property
    def findings(self) -> list[tuple[str, list[ReportClaim]]]:
        """The claims that need a reader, under a title with their number."""
        groups = (("wrong", self.wrong), ("unsettled", self.unsettled))
        return [(f"{self.say[title]} ({len(claims)})", claims) for title, claims in groups if claims]

    def unread_lines(self, most: int) -> tuple[str, list[str]]:
        """The claims that no model has read: a title, so many of them as they stand, and the number of the others."""
        title = f"{SIGNS['not_checked']} {self.say['not_checked']} ({len(self.unread)})"
        shown = self.unread[:most]
        rows = [f"{self.sentence(one)}{self.say['colon']}{line(one.origin.text)}" for one in shown]
        if len(self.unread) > most:
            rows.append(self.say["more_n"].format(n=len(self.unread) - most))
        return title, rows

    def hint_lines(self, most: int) -> tuple[str, list[str]]:
        """The hints of the check without a model: a title, so many of them, and the number of the others."""
        rows: list[str] = []
        for claim in self.hints[:most]:
            where = self.quote("", claim.hint.source).where if claim.hint else ""
            rows.append(f"{self.sentence(claim)}{self.say['colon']}{hint_line(claim, self.say)} · {where}")
        if len(self.hints) > most:
            rows.append(self.say["more_n"].format(n=len(self.hints) - most))
        return f"{self.say['hints']} ({len(self.hints)})", rows

    def sentence(self, claim: ReportClaim) -> str:
        """The number of a claim's sentence, in words."""
        return self.say["sentence_n"].format(n=claim.sentence + 1)

    def quote(self, who: str, span: Span) -> Quote:
        """The quote of a span under its document's title, its line (from 1) where the text is here, and its share."""
        document = next((one for one in self.report.documents if one.id == span.source_id), None)
        text = self.texts.get(span.source_id)
        number = f":{text.count(chr(10), 0, span.start) + 1}" if text else ""
        share = f" ({span.start / document.characters:.0%})" if document and document.characters else ""
        title = document_title(document, self.say) if document else self.say["source"]
        return Quote(f"{who}{title}{number}{share}", line(span.text), _readable(around(span, text)))


class ClaimView:
    """All that is said of one claim. A line that there is no reason for is empty."""

    def __init__(self, view: ReportView, claim: ReportClaim) -> None:
        say = view.say
        self.text = line(claim.text)
        self.label = claim.label or "undecided"
        """A key of `words` and of `SIGNS`."""
        self.heading = f"{SIGNS[self.label]} {say[self.label]}"
        kinds = [say[kind] for kind in dict.fromkeys(error.kind for error in claim.errors) if kind]
        self.notes = [*kinds, view.sentence(claim)]
        """Kinds of error, the sentence's number, who decided, why nobody did."""
        if claim.decided_by != "nobody":
            self.notes.append(say[claim.decided_by])
        if claim.failure:
            self.notes.append(say[claim.failure])
        sentence, origin = view.report.sentences[claim.sentence], claim.origin
        places = [(error.span.start, error.span.end) for error in claim.errors]
        if not places and (origin.start, origin.end) != (sentence.start, sentence.end):
            places = [(origin.start, origin.end)]
        self.passage = _readable(marked_pieces(sentence.text, places, sentence.start))
        """The sentence with marks over what is wrong; else over the claim, where it isn't all of the sentence."""
        known = [(line(one.span.text), line(one.correction)) for one in claim.errors if one.correction]
        self.corrections = list(dict.fromkeys(known))
        """Words of the response, and what should stand there."""
        cited = [("", claim.evidence)]
        for side in sides(claim):
            judges = say["comma"].join(line(view.names[judge], NAME) for judge in side.judges)
            who = say["in_brackets"].format(text=judges)
            cited.append((f"{SIGNS[side.label]} {say[side.label]}{who} · ", side.spans))
        self.quotes = [view.quote(who, span) for who, spans in cited for span in spans[:QUOTES]]
        """The first that the verdict rests on, or of each side of a dispute."""
        self.more_quotes = sum(len(spans[QUOTES:]) for _, spans in cited)
        """How many quotes are left out."""
        why, votes = line(reason(claim)), []
        for one in last_votes(claim):
            word = one.label or one.failure or ""
            votes.append(f"{line(view.names[one.judge], NAME)} {SIGNS.get(word, '—')} {say[word]}")
        self.why = f"{say['why']}{say['colon']}{why}" if why else ""
        self.votes = f"{say['votes']}{say['colon']}{say['semicolon'].join(votes)}" if votes else ""
        self.looked = look_line(look_of(view.report, claim, say), say)
        self.settle = what_would_settle(claim, say)
        """What a person can do about a claim that was not found so far."""
        self.caveat = say.get(claim.caveat, line(claim.caveat))


def _readable(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    return tuple(Piece(line(piece.text), piece.marked) for piece in pieces)


def unread_claims(report: Report) -> list[ReportClaim]:
    """The claims that no model has read and the offline check can't tell, in the order of the text."""
    return [claim for claim in report.claims if claim.failure == "needs_model"]


def hint_line(claim: ReportClaim, say: Mapping[str, str]) -> str:
    """What a source has in the place of a number or a name of the claim, in words; empty without a hint."""
    if claim.hint is None:
        return ""
    return say["hint"].format(source=line(claim.hint.source.text), words=line(claim.hint.words.text))


def reason(claim: ReportClaim) -> str:
    """The first error's reason, else that of the last judge who gave one and saw it as the verdict does."""
    of_errors = [error.reason for error in claim.errors if error.reason]
    of_judges = [one.reason for one in claim.judgements if one.reason and one.label == claim.label]
    return [*of_errors[:1], *of_judges[-1:], ""][0]


def last_votes(claim: ReportClaim) -> list[Judgement]:
    """The last word of each judge, in the order in which they first spoke."""
    return list({judgement.judge: judgement for judgement in claim.judgements}.values())


def sides(claim: ReportClaim) -> list[Side]:
    """The sides of a dispute that cite something, the least faithful label first; none where there is a verdict."""
    by_label: dict[str, Side] = {}
    for one in last_votes(claim) if claim.label is None else ():
        if one.label and one.quotes:
            side = by_label.get(one.label, Side(one.label, (), ()))
            spans = dict.fromkeys((*side.spans, *one.quotes))
            by_label[one.label] = Side(one.label, (*side.judges, one.judge), tuple(spans))
    return sorted(by_label.values(), key=lambda side: [*LABELS, "not_found"].index(side.label))


def look_of(report: Report, claim: ReportClaim, say: Mapping[str, str]) -> LookView | None:
    """Describe the look for this claim; None where the report doesn't say."""
    if (looked := claim.looked) is None:
        return None
    whole, sourced = looked.share == 1, any(document.role == "source" for document in report.documents)
    steps = [step for step in looked.rounds if not (whole and step in ("scan", "source"))]
    # A share below one is never rounded to nothing or to all.
    share = "<1%" if 0 < looked.share < 0.01 else f"{min(99, round(looked.share * 100))}%"
    read = say["read_all"] if whole else say["read_share"].format(share=share)
    unquoted = [query.replace("“", '"').replace("”", '"') for query in looked.queries[:QUERIES]]
    return LookView(
        steps=tuple("scan_unfinished" if step == "scan" else step for step in steps),
        queries=tuple(short(query, 40) for query in unquoted),
        left_out=max(0, len(looked.queries) - QUERIES),
        read=read if sourced else "",
        whole=whole,
    )


def look_line(looked: LookView | None, say: Mapping[str, str]) -> str:
    """The look as one line of text; empty where there is nothing to tell."""
    if looked is None:
        return ""
    queries = [f"“{line(query)}”" for query in looked.queries]
    if looked.left_out:
        queries.append(say["more_n"].format(n=looked.left_out))
    asked = say["in_brackets"].format(text=say["comma"].join(queries)) if queries else ""
    parts = [say[step] + (asked if step == "search" else "") for step in looked.steps]
    if looked.read:
        parts.append(looked.read)
    return f"{say['looked_at']}{say['colon']}{say['comma'].join(parts)}" if parts else ""


def what_would_settle(claim: ReportClaim, say: Mapping[str, str]) -> str:
    """Tell what a person can do about a claim that was not found so far; empty for any other."""
    if claim.failure != "not_found_so_far":
        return ""
    begun = claim.looked is not None and "scan" in claim.looked.rounds
    return say["settle_by_budget" if begun else "settle_by_reach"]


def describe_judges(names: Mapping[str, str], say: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Map each judge to what it is called, and to its kind with all of its name."""
    described = {}
    for name, short_name in names.items():
        kind = "confirm" if name.startswith(CONFIRMING) else without_role(name).partition(":")[0]
        about = say.get(f"judge_{kind}_is", say["judge_other_is"])
        described[name] = (short_name, f"{about}{say['colon']}{without_role(name)}")
    return described
