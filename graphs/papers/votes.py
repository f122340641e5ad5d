"""A panel's vote on a unit, and judges that know more labels than a paper's answers.

Knows: where an answer only says whether something is wrong, contradicted and not found are one side.
Does not know: how judges are asked.
"""

from collections.abc import Collection

from longproof.agent.types import Case, JudgeLabel, Judgement, Label
from longproof.agent.vote import FAITHFULNESS, SIDES, Side, final_label, most_common, vote
from longproof.graphs.papers.paper import Decision, Paper, Unit

COARSE: dict[JudgeLabel, Side] = {
    label: "contradicted" if side == "not_found" else side for label, side in SIDES.items()
}
"""The sides where an answer only says whether something is wrong."""


def by_vote(unit: Unit, paper: Paper, case: Case, consensus: float) -> Decision:
    """The label that enough of the panel agree on; `split` where they don't, a failure where nobody answered."""
    question = unit.asked[-1]
    sides = COARSE if paper.menu else SIDES
    if question.look == "pages":
        sides = {**sides, "out_dependent": "supported"}
    tally = vote(unit.votes(question.id), consensus=consensus, sides=sides)
    if tally.label is not None:
        return Decision(label=final_label(tally.label), decided_by="vote")
    if not tally.votes:
        return Decision(failure=most_common(judgement.failure for judgement in unit.judgements))
    return Decision(failure="split")


def on_menu(judgement: Judgement, menu: Collection[Label]) -> Judgement:
    """A judgement in the labels of a coarse menu: the same label, else one of its side, else one as right or wrong.

    What a menu has no word for (ambiguous) is off the menu; where no fact is stated, nothing is wrong.
    """
    said = judgement.label
    if not menu or said is None or said in menu:
        return judgement
    side = "supported" if said == "no_fact" else COARSE[said]
    near = [label for label in menu if SIDES[label] == SIDES[said]]
    near = near or [label for label in menu if COARSE[label] == side]
    if not near:
        return judgement.model_copy(update={"label": None, "failure": "off_menu"})
    return judgement.model_copy(update={"label": min(near, key=FAITHFULNESS.index)})
