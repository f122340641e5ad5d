"""Evidence finding and evaluation, PROBE's steps 2 and 3 (seed 000, section 3.3). Pure.

Knows: the union of what all models found, one question for each piece of it, and what it means that none was found.
Does not know: how a model looks, or how pieces are voted on (decisions).
"""

from collections.abc import Sequence

from longproof.agent.types import Claim, Question, Search, Verdict
from longproof.graphs.decisions import evidence, most_common
from longproof.graphs.gather import about_piece
from longproof.graphs.state import Asked, ClaimStanding
from longproof.retrieval.types import Span

AROUND = 300
"""Characters on either side of a piece, shown only to understand it by."""


def piece_questions(
    looked: Question, claim: Claim, searches: Sequence[Search], prompt: str
) -> list[Question]:
    """One question for each piece that anybody found, in the order of the source, each piece once."""
    found = {piece for search in searches for piece in search.found or ()}
    order = {span.source_id: n for n, span in reversed(list(enumerate(looked.shown)))}
    pieces = sorted(found, key=lambda piece: (order[piece.source_id], piece.start, piece.end))
    return [about_piece(claim, piece, _around(piece, looked.shown), prompt) for piece in pieces]


def without_evidence(question_id: str, searches: Sequence[Search], consensus: float) -> ClaimStanding:
    """How a claim stands before any piece is voted on: without evidence it is hallucinated.

    Only if enough of the panel could look; where too many searches failed, nobody knows.
    """
    looked = sum(search.found is not None for search in searches)
    decided = bool(searches) and looked / len(searches) + 1e-9 >= consensus
    return {
        "standing": "decided" if decided else "failed",
        "label": "fabricated" if decided else None,
        "decided_by": "rule" if decided else "nobody",
        "failure": None if decided else most_common(search.failure for search in searches),
        "question_id": question_id,
        "caveat": "",
        "next": 0,
    }


def resting_on_pieces(verdict: Verdict, asked: Sequence[Asked], consensus: float) -> Verdict:
    """The verdict with the accepted pieces as its evidence: one that a few passed is none."""
    pieces = [question for question in asked if question["claim_ids"] == [verdict.claim_id]]
    return verdict.model_copy(update={"evidence": evidence(pieces, verdict.judgements, consensus)})


def _around(piece: Span, shown: Sequence[Span]) -> list[Span]:
    """What stands before and after a piece in the span that it was found in."""
    for span in shown:
        if span.source_id == piece.source_id and span.start <= piece.start and piece.end <= span.end:
            before = (max(span.start, piece.start - AROUND), piece.start)
            after = (piece.end, min(span.end, piece.end + AROUND))
            return [_cut(span, *place) for place in (before, after) if place[0] < place[1]]
    return []


def _cut(span: Span, start: int, end: int) -> Span:
    return Span(
        source_id=span.source_id, start=start, end=end, text=span.text[start - span.start : end - span.start]
    )
