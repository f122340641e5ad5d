"""The papers' answers: words of a menu, exact pieces of a text, and how a panel's answers are counted.

Knows: an answer that is not on a menu is `unparsed`, as the authors would have seen it; where an answer only says
whether something is wrong, contradicted and not found are one side.
Does not know: which paper asks, or how judges are asked.
"""

from collections.abc import Mapping, Sequence

from longproof.agent.guards import Weighed, word
from longproof.agent.prompting import brief
from longproof.agent.types import Case, Error, Failure, JudgeLabel, Label
from longproof.agent.vote import SIDES, Side, final_label, most_common, vote
from longproof.graphs.papers.paper import Decision, Paper, Unit
from longproof.retrieval.types import Span

COARSE: dict[JudgeLabel, Side] = {
    label: "contradicted" if side == "not_found" else side for label, side in SIDES.items()
}
"""The sides where an answer only says whether something is wrong."""


def choose(menu: Mapping[str, Label], answer: str, reason: str = "") -> Weighed:
    """The label that a word of the menu stands for."""
    label = menu.get(word(answer))
    return Weighed(label, None if label else "unparsed", reason=brief(reason))


def mark_pieces(
    pieces: Sequence[str], origin: Span, reason: str, *, whole: bool, failure: Failure
) -> Weighed:
    """A list of exact pieces of a text that are made up: none means faithful; `failure` where none stands there."""
    named = [piece for piece in pieces if piece.strip()]
    places, dropped = exact_places(named, origin, whole=whole)
    if named and not places:
        return Weighed(None, failure, dropped=dropped, reason=brief(reason))
    errors = tuple(Error(span=place) for place in places)
    label: Label = "fabricated" if named else "implicitly_supported"
    return Weighed(label, None, dropped=dropped, errors=errors, reason=brief(reason))


def exact_places(pieces: Sequence[str], origin: Span, *, whole: bool = False) -> tuple[tuple[Span, ...], int]:
    """Find pieces of a text, character by character, a repeated one at its next place; count those that aren't there.

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


def count_votes(unit: Unit, paper: Paper, case: Case, consensus: float) -> Decision:
    """The label that enough of the panel agree on; `split` where they don't, a failure where nobody answered."""
    question = unit.asked[-1]
    sides = COARSE if paper.coarse else SIDES
    if question.look == "pages":
        sides = {**sides, "out_dependent": "supported"}
    tally = vote(unit.votes(question.id), consensus=consensus, sides=sides)
    if tally.label is not None:
        return Decision(label=final_label(tally.label), decided_by="vote")
    if not tally.votes:
        return Decision(failure=most_common(judgement.failure for judgement in unit.judgements))
    return Decision(failure="split")
