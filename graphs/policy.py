"""What happens next to a claim of the product. Pure and total; nothing else decides it.

Knows: that evidence widens round by round, which side may be decided on how much of it, who decides a split, and when
saved pages are asked. A paper's own rule of deciding stands in that paper's file.
Does not know: how evidence is found or a judge asked; the nodes do what a step says.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal

from longproof.agent.types import DecidedBy, Failure, JudgeLabel, Judgement, Label, Round
from longproof.agent.vote import COARSE, SIDES, Side, may_decide, settled, vote
from longproof.graphs.state import ClaimState, Consulted, Plan, QuestionRef
from longproof.retrieval.types import Frozen

CAVEATS: dict[Consulted, str] = {
    "no_pages": "outside knowledge not consulted",
    "nothing_found": "nothing in the saved pages speaks of it",
}


class Step(Frozen):
    """What to do next: show the evidence of a round, ask the judges, the arbiter, a person or the saved pages; or
    settle, with a label or the reason why there is none."""

    do: Literal["show", "judge", "arbitrate", "person", "consult", "settle"]
    round_number: int = 0
    label: Label | None = None
    decided_by: DecidedBy = "nobody"
    failure: Failure | None = None
    caveat: str = ""


Policy = Callable[[ClaimState, Plan], Step]


def next_step(claim: ClaimState, plan: Plan) -> Step:
    """The next step of a claim, from what was asked and said about it."""
    if claim.left_open:
        return undecided("split")
    if not claim.asked:
        return _unasked(claim, plan)
    question = claim.asked[-1]
    if claim.ruling is not None and claim.ruling.question_id == question.id:
        return _ruled(claim, claim.ruling, plan)
    votes = claim.votes(question.id)
    return _counted(claim, question, votes, plan) if votes else Step(do="judge")


def settle(label: Label, decided_by: DecidedBy, caveat: str = "") -> Step:
    """The claim has its label."""
    return Step(do="settle", label=label, decided_by=decided_by, caveat=caveat)


def undecided(failure: Failure) -> Step:
    """Nobody can decide the claim, for this reason."""
    return Step(do="settle", failure=failure)


def most_common(failures: Iterable[Failure | None]) -> Failure:
    """The failure that occurs most; `unavailable` where there is none. Ties don't depend on the order."""
    counts = Counter(failure for failure in failures if failure)
    return min(counts, key=lambda failure: (-counts[failure], failure), default="unavailable")


def _unasked(claim: ClaimState, plan: Plan) -> Step:
    """Without a source, pages are asked before any judge."""
    if plan.sourced or not plan.consults:
        return Step(do="show")
    return Step(do="consult") if claim.consulted == "not_yet" else undecided("sourceless")


def _counted(claim: ClaimState, question: QuestionRef, votes: list[Judgement], plan: Plan) -> Step:
    """The panel's vote on the last question: decided, looked at more widely, split, or failed by everybody.

    Where the budget kept every judge from answering, looking further would only fail again.
    """
    tally = vote(votes, consensus=plan.consensus, sides=_sides(question, plan))
    last = question.round in (plan.rounds[-1], "source", "pages")
    if (
        tally.label is not None
        and tally.side is not None
        and may_decide(tally.side, question.round, last=last)
    ):
        return _decided(tally.label, "vote", claim, plan)
    unpaid = not tally.votes and any(j.failure == "over_budget" for j in votes)
    if not last and not unpaid:
        return Step(do="show", round_number=_wider(question.round_number, tally.side, plan.rounds))
    if not tally.votes:
        return undecided(most_common(j.failure for j in votes))
    if plan.arbiter == "nobody":
        return undecided("split")
    return Step(do="person" if plan.arbiter == "person" else "arbitrate")


def _ruled(claim: ClaimState, ruling: Judgement, plan: Plan) -> Step:
    """An arbiter's word or its failure; a person's, who is final but for `not_found`."""
    if ruling.label is None:
        return undecided(ruling.failure or "unavailable")
    if claim.ruled_by == "person" and ruling.label != "not_found":
        return settle(settled(ruling.label), "person")
    return _decided(ruling.label, claim.ruled_by, claim, plan)


def _decided(label: JudgeLabel, decided_by: DecidedBy, claim: ClaimState, plan: Plan) -> Step:
    """What the source doesn't have goes to the saved pages first, whoever says so (VeriGray's tree, seed 002).

    Without a source, what no page speaks of is not fabricated: nobody can say.
    """
    if SIDES[label] == "not_found" and plan.consults and claim.asked[-1].round != "pages":
        if claim.consulted == "not_yet":
            return Step(do="consult")
        label, caveat = "fabricated", CAVEATS.get(claim.consulted, "")
        return settle(label, decided_by, caveat) if plan.sourced else undecided("sourceless")
    if label == "not_found" and not plan.sourced:
        return undecided("sourceless")
    return settle(settled(label), decided_by)


def _sides(question: QuestionRef, plan: Plan) -> dict[JudgeLabel, Side]:
    """With saved pages shown, what they bear out votes as supported."""
    sides = COARSE if plan.coarse else SIDES
    return {**sides, "out_dependent": "supported"} if question.round == "pages" else sides


def _wider(number: int, side: Side | None, rounds: tuple[Round, ...]) -> int:
    """The round after this one; at once a wide enough one where the panel agrees on what it can't decide here."""
    if side not in ("contradicted", "ambiguous"):
        return number + 1
    wide = (n for n in range(number + 1, len(rounds)) if may_decide(side, rounds[n], last=False))
    return next(wide, number + 1)
