"""Checks on what a model says of a claim: off the menu, contradicting itself, or quoting what wasn't shown. Pure.

Knows: the menu, the form's `holds` against its label, corrections that change nothing, quotes that are or aren't in
what was shown. The failures are those that LongNovel (seed 004, section 5.4 and Appendix H) saw in models; a paper's
protocol (`paper`) keeps only those that its authors could have seen, and names the rest `unparsed`.
Does not know: which model answered, or whether it is asked again.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from longproof.agent.forms import MENU, Finding
from longproof.agent.types import KINDS, LABELS, Claim, Error, Failure, JudgeLabel, Reading
from longproof.retrieval.text.locate import locate
from longproof.retrieval.text.normalise import fold
from longproof.retrieval.text.tokens import CJK
from longproof.retrieval.types import Document, Span

Guards = Literal["ours", "paper"]

HOLDS: dict[JudgeLabel, str] = {
    "explicitly_supported": "yes",
    "implicitly_supported": "yes",
    "out_dependent": "yes",
    "contradicting": "no",
    "fabricated": "no",
    "not_found": "no",
}
"""What `holds` must say beside a label. Ambiguous and no_fact go with either."""
UNQUOTED: frozenset[JudgeLabel] = frozenset({"not_found", "no_fact"})
"""Labels that rest on nothing that could be quoted."""
WRONG: frozenset[JudgeLabel] = frozenset({"contradicting", "fabricated", "not_found"})
_WEIGHT = 4
"""A quote counts from two CJK characters or four others on."""
_CJK_CHARACTER = re.compile(f"[{CJK}]")


class Weighed(NamedTuple):
    """A finding after the checks: exactly one of label and failure, and what could be located."""

    label: JudgeLabel | None
    failure: Failure | None
    quotes: tuple[Span, ...] = ()
    dropped: int = 0
    errors: tuple[Error, ...] = ()
    readings: tuple[Reading, ...] = ()
    reason: str = ""


def weigh(finding: Finding, claim: Claim, shown: Sequence[Span], guards: Guards = "ours") -> Weighed:
    """The finding on a claim, checked against the menu, against itself and against what was shown."""
    label = word(finding.label)
    if label not in MENU:
        return Weighed(None, "off_menu" if guards == "ours" else "unparsed")
    quotes, dropped = located(finding.quotes, shown)
    if guards == "ours" and (failure := _failure(finding, label, claim, quotes, shown)):
        return Weighed(None, failure, quotes, dropped)
    errors = wrong_place(finding.wrong, finding.kind, finding.correction, finding.reason, claim)
    return Weighed(
        label,
        None,
        quotes,
        dropped,
        errors if label in WRONG else (),
        _readings(finding) if label == "ambiguous" else (),
    )


def located(quotes: Sequence[str], shown: Sequence[Span]) -> tuple[tuple[Span, ...], int]:
    """The quotes that stand in what was shown, each once, as spans; and how many do not."""
    found = [find(quote, shown) for quote in quotes if quote.strip()]
    return tuple(dict.fromkeys(span for span in found if span)), found.count(None)


def find(quote: str, shown: Sequence[Span]) -> Span | None:
    """Where a quote stands in what was shown; None where it doesn't, or is too short to say anything."""
    if not says_something(quote):
        return None
    for span in shown:
        place = locate(quote, Document(id=span.source_id, text=span.text))
        if place is not None:
            return _shifted(place, span.start)
    return None


def wrong_place(wrong: str, kind: str, correction: str, reason: str, claim: Claim) -> tuple[Error, ...]:
    """The error at these words of the claim's origin; none where they don't stand there."""
    span = exactly(wrong, claim.origin)
    if span is None or same(wrong, correction):
        return ()
    named = word(kind)
    return (
        Error(
            span=span,
            kind=named if named in KINDS else None,
            correction=correction.strip(),
            reason=" ".join(reason.split()),
        ),
    )


def exact_places(pieces: Sequence[str], origin: Span, *, whole: bool = False) -> tuple[tuple[Span, ...], int]:
    """Where pieces of a text stand, character by character, a repeated one at its next place; and how many do not.

    A piece that is the whole text marks nothing, and is not believed (seed 001), unless `whole`: all of a response
    of one sentence may be made up.
    """
    found: dict[Span, None] = {}
    after: dict[str, int] = {}
    for piece in pieces:
        start = origin.text.find(piece, after.get(piece, 0))
        if start < 0 or (not whole and piece.strip() == origin.text.strip()):
            continue
        after[piece] = start + len(piece)
        at = origin.start + start
        found[Span(source_id=origin.source_id, start=at, end=at + len(piece), text=piece)] = None
    return tuple(found), len(pieces) - len(found)


def word(text: str) -> str:
    """A menu word as models write it: case, spaces, hyphens and quotation marks don't matter; all else does."""
    return re.sub(r"[\s\-]+", "_", text.strip().strip("\"'`*“”「」.。").strip().lower())


def same(one: str, other: str) -> bool:
    """Whether two texts say the same in the same words: marks, spaces, case and script don't matter."""
    return bool(_bare(one)) and _bare(one) == _bare(other)


def says_something(quote: str) -> bool:
    """Whether a quote is long enough for its place to mean anything."""
    letters = sum(character.isalnum() for character in quote)
    return letters + len(_CJK_CHARACTER.findall(quote)) >= _WEIGHT


def _failure(
    finding: Finding, label: JudgeLabel, claim: Claim, quotes: Sequence[Span], shown: Sequence[Span]
) -> Failure | None:
    holds = word(finding.holds)
    if holds not in ("yes", "no"):
        return "unparsed"
    if HOLDS.get(label, holds) != holds:
        return "self_contradicted"
    if label in WRONG and any(
        same(finding.correction, t) for t in (finding.wrong, claim.text, claim.origin.text)
    ):
        return "self_contradicted"
    if shown and label not in UNQUOTED and not quotes:
        return "ungrounded"
    return None


def exactly(words: str, origin: Span) -> Span | None:
    """Where exact words stand in a place of the response: as they are, or in another script or width."""
    words = words.strip()
    if not words:
        return None
    start = origin.text.find(words)
    if start >= 0:
        place = Span(source_id=origin.source_id, start=start, end=start + len(words), text=words)
        return _shifted(place, origin.start)
    return find(words, [origin])


def _shifted(span: Span, by: int) -> Span:
    return Span(source_id=span.source_id, start=span.start + by, end=span.end + by, text=span.text)


def _readings(finding: Finding) -> tuple[Reading, ...]:
    named = [(reading.text, word(reading.label)) for reading in finding.readings]
    return tuple(Reading(text=text, label=label) for text, label in named if label in LABELS)


def _bare(text: str) -> str:
    return "".join(character for character in fold(text).text if character.isalnum())
