"""What happens next to a claim of the product. Pure and total; nothing else decides it.

Knows: that evidence widens from the aligned place to the window, to what a search of the whole source finds, to all
of it; which side may be decided on how much of it, who decides a split, when saved pages are asked, and when a
conviction is confirmed. A paper's own rule of deciding stands in that paper's file.
Does not know: how evidence is found or a judge asked; the nodes do what a step says.
"""

from collections.abc import Callable
from typing import Literal

from longproof.agent.report import CONFIRMING_FAILED, WRONG
from longproof.agent.types import DecidedBy, Failure, JudgeLabel, Judgement, Label, Round
from longproof.agent.vote import SIDES, Side, may_decide, most_common, settled, vote
from longproof.graphs.state import ClaimState, Consulted, Plan, QuestionRef
from longproof.retrieval.types import Frozen

LOOKS: tuple[Round, ...] = ("place", "window", "search", "scan")
"""The looks at the source, each wider than the one before."""
CAVEATS: dict[Consulted, str] = {
    "no_pages": "outside knowledge not consulted",
    "nothing_found": "nothing in the saved pages speaks of it",
}


class Step(Frozen):
    """What to do next: show the evidence of a round, ask the judges, the arbiter, a person or the saved pages, have
    the whole source searched or read, or a conviction confirmed; or settle, with a label or the reason why there is
    none."""

    do: Literal["show", "judge", "search", "scan", "arbitrate", "person", "consult", "confirm", "settle"]
    round: Round = "nothing"
    label: Label | None = None
    decided_by: DecidedBy = "nobody"
    failure: Failure | None = None
    caveat: str = ""


Policy = Callable[[ClaimState, Plan], Step]


def next_step(claim: ClaimState, plan: Plan) -> Step:
    """The next step of a claim, from what was looked at, asked and said."""
    return _confirmed(_next(claim, plan), claim) if plan.confirms else _next(claim, plan)


def _next(claim: ClaimState, plan: Plan) -> Step:
    if claim.copied:
        return settle("explicitly_supported", "rule")
    if claim.left_open:
        return undecided("split")
    if not claim.asked and not claim.rounds:
        return _first(claim, plan)
    if claim.found or not claim.asked or _not_told(claim):
        return Step(do="show", round=claim.rounds[-1])
    question = claim.asked[-1]
    if claim.ruling is not None and claim.ruling.question_id == question.id:
        return _ruled(claim, claim.ruling, plan)
    votes = claim.votes(question.id)
    return _counted(claim, votes, plan) if votes else Step(do="judge")


def _confirmed(step: Step, claim: ClaimState) -> Step:
    """A conviction by votes or by an arbiter stands once it is borne out. Where the question failed it does not, and
    the claim is undecided by that failure: another run may ask again."""
    if step.label not in WRONG or step.decided_by == "person":
        return step
    if claim.confirmation is None:
        return Step(do="confirm")
    if claim.confirmation == "confirmed":
        return step
    if claim.confirmation == "refuted":
        return undecided("unconfirmed")
    return Step(do="settle", failure=claim.confirmation, caveat=CONFIRMING_FAILED)


def settle(label: Label, decided_by: DecidedBy, caveat: str = "") -> Step:
    """The claim has its label."""
    return Step(do="settle", label=label, decided_by=decided_by, caveat=caveat)


def undecided(failure: Failure) -> Step:
    """Nobody can decide the claim, for this reason."""
    return Step(do="settle", failure=failure)


def _not_told(claim: ClaimState) -> bool:
    """Whether all was read for the claim, perhaps without a new line, and the panel judged before it was."""
    read = "scan" in claim.rounds and claim.unread is None and claim.ruled_by != "person"
    return read and claim.asked[-1].round not in ("scan", "source", "pages")


def _first(claim: ClaimState, plan: Plan) -> Step:
    """Without a source, pages are asked before any judge; a claim of no sure place is searched for at once."""
    if not plan.sourced and plan.consults:
        return Step(do="consult") if claim.consulted == "not_yet" else undecided("sourceless")
    if not claim.sure and "search" in plan.rounds:
        return Step(do="search", round="search")
    return Step(do="show", round=plan.rounds[0])


def _counted(claim: ClaimState, votes: list[Judgement], plan: Plan) -> Step:
    """The panel's vote on the last question: decided, looked at more widely, split, or failed by everybody.

    Where the budget, or the length of what is shown, kept every judge from answering, more would only fail again.
    """
    question = claim.asked[-1]
    tally = vote(votes, consensus=plan.consensus, sides=_sides(question))
    wider = _wider(claim, tally.side, plan)
    width = claim.rounds[-1] if claim.rounds else question.round
    enough = tally.side is not None and (
        may_decide(tally.side, width, last=not wider) or _shown_to_conflict(tally.side, votes, claim)
    )
    if tally.label is not None and enough:
        return _decided(tally.label, "vote", claim, plan)
    spent = not tally.votes and any(j.failure in ("over_budget", "too_long") for j in votes)
    if wider and not spent:
        return wider
    if not tally.votes:
        return undecided(most_common(j.failure for j in votes))
    if plan.arbiter == "nobody":
        return undecided("split")
    return Step(do="person" if plan.arbiter == "person" else "arbitrate")


def _shown_to_conflict(side: Side, votes: list[Judgement], claim: ClaimState) -> bool:
    """Whether lines of the place itself are cited against a claim of which the sentences around it hold the place."""
    against = [j for j in votes if j.label is not None and SIDES[j.label] == "contradicted"]
    return side == "contradicted" and bool(claim.places) and all(j.quotes for j in against)


def _wider(claim: ClaimState, side: Side | None, plan: Plan) -> Step | None:
    """The next look at the source, if any is left; all of it is read only for what was found nowhere else."""
    if claim.asked[-1].round in ("source", "pages") or not claim.rounds:
        return None
    for round_ in _left(claim.rounds[-1], plan):
        if round_ == "window" and not claim.places:
            continue
        if round_ == "search":
            return Step(do="search", round=round_)
        if round_ != "scan":
            return Step(do="show", round=round_)
        if side == "not_found":
            return Step(do="scan", round=round_)
    return None


def _left(taken: Round, plan: Plan) -> list[Round]:
    """The looks of a plan that come after this one; a run may go on with another plan than it took it by."""
    if taken not in LOOKS:
        return []
    return [one for one in plan.rounds if one in LOOKS and LOOKS.index(one) > LOOKS.index(taken)]


def _ruled(claim: ClaimState, ruling: Judgement, plan: Plan) -> Step:
    """An arbiter's word or its failure; a person's, who is final but for `not_found`."""
    if ruling.label is None:
        return undecided(ruling.failure or "unavailable")
    if claim.ruled_by == "person" and ruling.label != "not_found":
        return settle(settled(ruling.label), "person")
    return _decided(ruling.label, claim.ruled_by, claim, plan)


def _decided(label: JudgeLabel, decided_by: DecidedBy, claim: ClaimState, plan: Plan) -> Step:
    """What was decided; what was not found goes on to the rest of the source, then to the saved pages (VeriGray's
    tree, seed 002), whoever says so. Fabricated is only what was looked for in all of the source."""
    if SIDES[label] != "not_found":
        return settle(settled(label), decided_by)
    if wider := _wider(claim, "not_found", plan):
        return wider
    asked_pages = claim.asked[-1].round == "pages"
    if label == "out_dependent" and (asked_pages or not plan.consults):
        return settle(label, decided_by)
    if plan.consults and not asked_pages and claim.consulted == "not_yet":
        return Step(do="consult")
    if not plan.sourced and (label == "not_found" or (plan.consults and not asked_pages)):
        return undecided("sourceless")
    if plan.proves_absence and plan.sourced and not claim.read_whole:
        return undecided(claim.unread or "not_found_so_far")
    return settle("fabricated", decided_by, "" if asked_pages else CAVEATS.get(claim.consulted, ""))


def _sides(question: QuestionRef) -> dict[JudgeLabel, Side]:
    """With saved pages shown, what they bear out votes as supported."""
    return {**SIDES, "out_dependent": "supported"} if question.round == "pages" else SIDES
