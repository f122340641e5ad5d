"""What a reader is told first: which claims are wrong, unsettled or unread, and the text around a quote.

Knows: the order of importance (LABELS, the least faithful first, then the order of the text), and which of
the given texts are the ones that were checked. Does not know: how any of it is drawn.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from longproof.agent.report import WRONG
from longproof.agent.types import LABELS, Judgement, Report, ReportClaim, ReportDocument
from longproof.report.words import Language
from longproof.retrieval.text.tokens import is_chinese
from longproof.retrieval.types import Span, text_id


class Piece(NamedTuple):
    """A run of text, and whether it is what the reader should look at."""

    text: str
    marked: bool


def language(text: str) -> Language:
    """The language to speak about this text in."""
    return "zh" if is_chinese(text) else "en"


def wrong(report: Report) -> list[ReportClaim]:
    """The claims that are wrong: the least faithful label first, then in the order of the text."""
    found = [claim for claim in report.claims if claim.label in WRONG]
    return sorted(found, key=lambda claim: (LABELS.index(claim.label or "fabricated"), claim.origin.start))


def unsettled(report: Report) -> list[ReportClaim]:
    """The claims that nobody could decide, then the ambiguous ones; without those that no model has read."""
    undecided = [c for c in report.claims if c.label is None and c.failure != "needs_model"]
    return undecided + [claim for claim in report.claims if claim.label == "ambiguous"]


def unread(report: Report) -> list[ReportClaim]:
    """The claims that no model has read and the offline check can't tell, in the order of the text."""
    return [claim for claim in report.claims if claim.failure == "needs_model"]


def checked_texts(report: Report, texts: Mapping[str, str]) -> dict[str, str]:
    """Those of the texts that are, by their hash, the ones the report points into; the response is always here."""
    known = {d.id: texts[d.id] for d in report.documents if d.id in texts and text_id(texts[d.id]) == d.id}
    return known | {d.id: report.case.response for d in report.documents if d.role == "response"}


def missing(report: Report, texts: Mapping[str, str]) -> list[ReportDocument]:
    """The documents whose text isn't among the checked ones."""
    return [document for document in report.documents if document.id not in texts]


def reason(claim: ReportClaim) -> str:
    """Why: what the first error says, else the last judge with a reason who saw it as the verdict does."""
    for error in claim.errors:
        if error.reason:
            return error.reason
    same = [j.reason for j in claim.judgements if j.reason and j.label == claim.label]
    return same[-1] if same else ""


def last_votes(claim: ReportClaim) -> list[Judgement]:
    """The last word of each judge, in the order in which they first spoke."""
    return list({judgement.judge: judgement for judgement in claim.judgements}.values())


def pieces(text: str, places: Iterable[tuple[int, int]], offset: int = 0) -> list[Piece]:
    """The text cut at these places, which are counted from `offset`; overlaps are joined."""
    found: list[Piece] = []
    at = 0
    for start, end in sorted(places):
        first, last = max(at, start - offset), min(len(text), end - offset)
        if first < last:
            found += [Piece(text[at:first], False), Piece(text[first:last], True)]
            at = last
    return [piece for piece in [*found, Piece(text[at:], False)] if piece.text]


def around(span: Span, text: str | None, characters: int) -> list[Piece]:
    """The quote with up to that many characters of its text on each side, on one line."""
    if text is None or text[span.start : span.end] != span.text:
        return [Piece(span.text, True)]
    first, last = span.start - characters, span.end + characters
    before = ("…" if first > 0 else "") + text[max(0, first) : span.start]
    after = text[span.end : last] + ("…" if last < len(text) else "")
    before, after = before.rpartition("\n")[2], after.partition("\n")[0]
    return [
        piece for piece in (Piece(before, False), Piece(span.text, True), Piece(after, False)) if piece.text
    ]


def shorten(given: Sequence[Piece], characters: int) -> list[Piece]:
    """The pieces with what is too long in each cut out of its middle, so that one stays readable."""
    return [Piece(short(piece.text, characters), piece.marked) for piece in given]


def short(text: str, characters: int = 60) -> str:
    """The text with its middle left out where it is longer than that."""
    half = characters // 2
    return text if len(text) <= characters else f"{text[:half]} … {text[-half:]}"
