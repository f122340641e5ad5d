"""The node that confirms convictions: once for all of a case, when nothing else is left to look for.

Knows: what is asked about once more is shown all that was shown before; what bears a conviction out.
Does not know: what follows for a claim (policy).
"""

import asyncio

from longproof.agent.types import Call, Judgement, Label
from longproof.agent.vote import SIDES
from longproof.graphs.panel import complete
from longproof.graphs.policy import next_step
from longproof.graphs.run import Run
from longproof.graphs.state import ClaimState, State, latest


async def confirm(state: State, run: Run) -> State:
    """Ask once more about every conviction."""
    due = run.due(latest(state), "confirm")
    run.say({"node": "confirm", "claims": len(due)})
    asked = await asyncio.gather(*(_ask_once_more(one, run) for one in due))
    checked = [one for one, _ in asked]
    run.say({"node": "checked", "claims": sum(one.confirmation != "confirmed" for one in checked)})
    return {"checked": checked, "calls": [call for _, calls in asked for call in calls]}


async def _ask_once_more(claim: ClaimState, run: Run) -> tuple[ClaimState, list[Call]]:
    """The claim with one more judge's word, over all that was shown for it; it stands before the panel's."""
    judge, last = run.panel.confirmer, claim.asked[-1]
    assert judge is not None, "refused before the run where there is none"
    about = {"id": f"{last.id}-{claim.claim.id}", "claim_ids": (claim.claim.id,), "prompt": "confirm"}
    question = await run.show(last.model_copy(update=about))
    answer = complete(await judge.judge(question, [claim.claim], run.case), judge.name, question)
    word = answer.judgements[0]
    standing = claim.model_copy(update={"confirmation": "confirmed"})
    outcome = word.failure or (
        "confirmed" if _bears_out(word, next_step(standing, run.plan).label) else "refuted"
    )
    changes = {"confirmation": outcome, "judgements": (word, *claim.judgements)}
    return claim.model_copy(update=changes), answer.calls


def _bears_out(word: Judgement, label: Label | None) -> bool:
    """True if a word bears out a conviction: it denies the claim, or finds nothing of what is called fabricated."""
    side = None if word.label is None else SIDES[word.label]
    return side == "contradicted" or (side == "not_found" and label == "fabricated")
