"""The vote: judgements on one claim into a label, if enough of the panel agree; which claims one clears. Pure.

Knows: which labels count as one side, shares, consensus, which side may win after which look; of a cascade, which
cleared claims are read again.
Does not know: where judgements come from, or what is done about a split.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Literal, NamedTuple, TypeVar

from longproof.agent.types import Case, Claim, Failure, JudgeLabel, Judgement, Label, Look

T = TypeVar("T", bound=str)
Side = Literal["contradicted", "not_found", "ambiguous", "no_fact", "supported"]

SIDES: dict[JudgeLabel, Side] = {
    "contradicting": "contradicted",
    "fabricated": "not_found",
    "not_found": "not_found",
    "ambiguous": "ambiguous",
    "no_fact": "no_fact",
    "out_dependent": "not_found",
    "implicitly_supported": "supported",
    "explicitly_supported": "supported",
}
FAITHFULNESS: tuple[JudgeLabel, ...] = tuple(SIDES)
"""The least faithful first: ties go to the earlier one."""
CONSENSUS = 2 / 3
ONE_IN = 20
"""Of so many cleared claims one is read by the others too."""


class Tally(NamedTuple):
    """The outcome of one vote: without side and label where none reached the consensus."""

    side: Side | None
    label: JudgeLabel | None


def vote(
    judgements: Sequence[Judgement], *, consensus: float = CONSENSUS, sides: Mapping[JudgeLabel, Side] = SIDES
) -> Tally:
    """First on the side, then on the label within it; ties go to the less faithful.

    Every judgement is one judge's of the panel: a failure is no vote but stays in the denominator.
    """
    labels = [j.label for j in judgements if j.label is not None]
    if labels:
        side = _leader([sides[label] for label in labels], tuple(sides[label] for label in FAITHFULNESS))
        inside = [label for label in labels if sides[label] == side]
        if len(inside) / len(judgements) + 1e-9 >= consensus:
            return Tally(side, _leader(inside, FAITHFULNESS))
    return Tally(None, None)


def may_decide(side: Side, look: Look, *, last: bool) -> bool:
    """True if this side may be given after this look: supported and no fact after any, contradicted and ambiguous
    wherever more than the place was shown, not found only where no wider look is left."""
    if last or side in ("supported", "no_fact"):
        return True
    return side != "not_found" and look != "place"


def final_label(label: JudgeLabel) -> Label:
    """The verdict's label for a vote's: what was not found anywhere is fabricated."""
    return "fabricated" if label == "not_found" else label


def rest_on_pages(judgement: Judgement, source_ids: Collection[str]) -> Judgement:
    """Call what a judge rests on saved pages alone out-dependent: the source doesn't give it."""
    on_pages = [quote.source_id not in source_ids for quote in judgement.quotes]
    supported = judgement.label is not None and SIDES[judgement.label] == "supported"
    if judgement.round != "pages" or not supported or not on_pages or not all(on_pages):
        return judgement
    return judgement.model_copy(update={"label": "out_dependent"})


def most_common(failures: Iterable[Failure | None]) -> Failure:
    """The failure that occurs most; `unavailable` where there is none. Ties don't depend on the order."""
    counts = Counter(failure for failure in failures if failure)
    return min(counts, key=lambda failure: (-counts[failure], failure), default="unavailable")


def missing_panel(votes: Sequence[Judgement]) -> Failure | None:
    """The reason why these votes on a question decide nothing: more than half of the judges asked it failed. None
    where they may decide. A failure of all judges, and a spent budget, keep their own names."""
    failures = [vote.failure for vote in votes if vote.failure]
    if 2 * len(failures) <= len(votes):
        return None
    if len(failures) == len(votes):
        return most_common(failures)
    return "over_budget" if "over_budget" in failures else "panel_incomplete"


def clears(judgement: Judgement) -> bool:
    """True if a judge takes a claim for right, or for no fact."""
    return judgement.label is not None and SIDES[judgement.label] in ("supported", "no_fact")


def read_again(claim: Claim, case: Case, seed: int) -> bool:
    """True if this is one of the cleared claims that the other judges read too, drawn by the claim and the seed."""
    key = f"{seed}\0{case.id}\0{claim.id}\0{claim.text}".encode("utf-8", "backslashreplace")
    return int.from_bytes(sha256(key).digest()[:8], "big") % ONE_IN == 0


def _leader(votes: Sequence[T], order: Sequence[T]) -> T:
    counts = Counter(votes)
    return min(counts, key=lambda vote: (-counts[vote], order.index(vote)))
