"""The node that confirms convictions: once for all of a case, when nothing else is left to look for.

Knows: what is asked about once more is shown all that was shown before; what makes a conviction stand.
Does not know: what follows for a claim (policy).
"""

import asyncio

from langgraph.runtime import Runtime

from longproof.agent.types import Answered, Call, Case, Judge, Judgement, Label
from longproof.agent.vote import SIDES
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.panel import complete
from longproof.graphs.policy import Policy, next_step
from longproof.graphs.resources import Pool, Resources
from longproof.graphs.settings import Settings, settings_of
from longproof.graphs.state import ClaimState, Plan, State, latest


class ConfirmNode:
    """The node over one pool of resources; `policy` says which claims it is for, and of what they are convicted."""

    def __init__(self, pool: Pool, policy: Policy = next_step) -> None:
        self._pool, self._policy = pool, policy

    async def confirm(self, state: State, runtime: Runtime[Settings]) -> State:
        """Ask once more about every conviction."""
        resources = await self._pool.get(settings_of(runtime.context))
        sources = await resources.sources(state["sources"])
        case = await state["case"].opened(resources.store)
        claims, plan = latest(state), resources.plan(state["case"])
        due = [one for one in claims if self._policy(one, plan).do == "confirm"]
        runtime.stream_writer({"node": "confirm", "claims": len(due)})
        asked = await asyncio.gather(
            *(self._confirm_claim(one, plan, sources, case, resources) for one in due)
        )
        undecided = sum(claim.confirmation != "confirmed" for claim, _ in asked)
        runtime.stream_writer({"node": "checked", "claims": undecided})
        return {
            "checked": [claim for claim, _ in asked],
            "calls": [call for _, calls in asked for call in calls],
        }

    async def _confirm_claim(
        self, claim: ClaimState, plan: Plan, sources: Sources, case: Case, resources: Resources
    ) -> tuple[ClaimState, list[Call]]:
        """The claim with one more judge's word, which stands before the panel's."""
        judge = resources.panel.confirmer
        assert judge is not None, "refused before the run where there is none"
        answer = await _ask_once_more(judge, claim, sources, case, resources)
        word = answer.judgements[0]
        label = self._policy(claim.model_copy(update={"confirmation": "confirmed"}), plan).label
        became = word.failure or ("confirmed" if _bears_out(word, label) else "refuted")
        kept = {"confirmation": became, "judgements": (word, *claim.judgements)}
        return claim.model_copy(update=kept), answer.calls


async def _ask_once_more(
    judge: Judge, claim: ClaimState, sources: Sources, case: Case, resources: Resources
) -> Answered:
    """The answer about one claim, over all that was shown for it."""
    ref = claim.asked[-1]
    about = {"id": f"{ref.id}-{claim.claim.id}", "claim_ids": (claim.claim.id,), "prompt": "confirm"}
    question = await ref.model_copy(update=about).opened(resources.store, sources)
    return complete(await judge.judge(question, [claim.claim], case), judge.name, question)


def _bears_out(word: Judgement, label: Label | None) -> bool:
    """Whether a word bears out a conviction: it denies the claim, or finds nothing of what is called fabricated."""
    side = None if word.label is None else SIDES[word.label]
    return side == "contradicted" or (side == "not_found" and label == "fabricated")
