"""The node that confirms convictions: once for all of a case, when nothing else is left to look for.

Knows: rates of judges come from a file, or from the panel's own votes in this run where those can tell them, and are
never guessed; what is asked about once more is shown all that was shown before; what makes a conviction stand.
Does not know: how strong votes are and how much risk there is (agent/trust), or what follows for a claim (policy).
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, get_args

from langgraph.runtime import Runtime

from longproof.agent.trust.reliability import Reliability, reliability_of, unidentifiable, votes_of
from longproof.agent.trust.risk import RiskTaken, Stage, Thresholds, strength, thresholds
from longproof.agent.types import Answered, Call, Case, Judge, Judgement, Label
from longproof.agent.vote import SIDES
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.panel import complete
from longproof.graphs.policy import Policy, next_step
from longproof.graphs.resources import Pool, Resources
from longproof.graphs.settings import Settings, settings_of
from longproof.graphs.state import ClaimState, Confirmation, Plan, State, latest


class RiskRule(NamedTuple):
    """The thresholds for a case, and the rates that they rest on; without them, every conviction is asked about."""

    thresholds: Thresholds | None
    rates: Reliability | None

    def stage(self, claim: ClaimState) -> Stage:
        """What becomes of a claim's conviction."""
        if self.thresholds is None or self.rates is None:
            return "ask"
        arbitrated = claim.ruling is not None and claim.ruling.question_id == claim.last_asked
        return self.thresholds.stage(strength(self.rates, votes(claim), arbitrated=arbitrated))


class ConfirmNode:
    """The node over one pool of resources; `policy` says which claims it is for, and of what they are convicted."""

    def __init__(self, pool: Pool, policy: Policy = next_step) -> None:
        self._pool, self._policy = pool, policy

    async def confirm(self, state: State, runtime: Runtime[Settings]) -> State:
        """Strong convictions stand; the others are asked about once more, or are too weak even for that."""
        resources = await self._pool.get(settings_of(runtime.context))
        sources = await resources.sources(state["sources"])
        case = await state["case"].opened(resources.store)
        claims, plan = latest(state), resources.plan(state["case"])
        due = [one for one in claims if self._policy(one, plan).do == "confirm"]
        found = risk_rule(claims, plan, resources)
        staged: dict[Stage, list[ClaimState]] = {"stands": [], "ask": [], "held": []}
        for one in due:
            staged[found.stage(one)].append(one)
        runtime.stream_writer({"node": "confirm", "claims": len(due), "asked": len(staged["ask"])})
        asked = await asyncio.gather(
            *(self._asked(one, plan, sources, case, resources) for one in staged["ask"])
        )
        became = [
            *(one.model_copy(update={"confirmation": "strong"}) for one in staged["stands"]),
            *(one for one, _ in asked),
            *(one.model_copy(update={"confirmation": "weak"}) for one in staged["held"]),
        ]
        undecided = sum(one.confirmation not in ("strong", "confirmed") for one in became)
        runtime.stream_writer({"node": "checked", "claims": undecided})
        return {
            "checked": became,
            "calls": [call for _, calls in asked for call in calls],
        }

    async def _asked(
        self, claim: ClaimState, plan: Plan, sources: Sources, case: Case, resources: Resources
    ) -> tuple[ClaimState, list[Call]]:
        """The claim with one more judge's word, which stands before the panel's."""
        judge = resources.panel.confirmer
        assert judge is not None, "refused before the run where there is none"
        answer = await _asked_once_more(judge, claim, sources, case, resources)
        word = answer.judgements[0]
        label = self._policy(claim.model_copy(update={"confirmation": "strong"}), plan).label
        became = word.failure or ("confirmed" if _bears_out(word, label) else "refuted")
        kept = {"confirmation": became, "judgements": (word, *claim.judgements)}
        return claim.model_copy(update=kept), answer.calls


def risk_rule(claims: Sequence[ClaimState], plan: Plan, resources: Resources) -> RiskRule:
    """The rule for these claims, all of a case. Where neither a file nor their votes tell the judges' rates, every
    conviction is asked about, and no risk is named."""
    settings = resources.settings
    if settings.max_risk is None:
        return RiskRule(None, None)
    rates = resources.reliability or _own_rates(claims)
    if rates is None:
        return RiskRule(None, None)
    made = thresholds(
        rates,
        len(claims),
        consensus=plan.consensus,
        arbiter=plan.arbiter == "model",
        max_risk=settings.max_risk,
        confirm_all=settings.confirm,
    )
    return RiskRule(made, rates)


def votes(claim: ClaimState) -> dict[str, bool]:
    """The judges' votes on a claim, by what they said last."""
    return votes_of(claim.votes(claim.last_asked), read_whole=claim.read_whole)


def risk_taken(claims: Sequence[ClaimState], plan: Plan, resources: Resources) -> RiskTaken:
    """What the report says of the convictions, and of the risk that is left."""
    became = [claim.confirmation for claim in claims if claim.confirmation]
    rule = risk_rule(claims, plan, resources)
    made = rule.thresholds
    how_many = Counter(one if one in get_args(Confirmation) else "failed" for one in became)
    return RiskTaken(
        convicted=len(became),
        asked=how_many["confirmed"] + how_many["refuted"],
        held=how_many["refuted"] + how_many["weak"],
        failed=how_many["failed"],
        max_risk=resources.settings.max_risk,
        rates=None if made is None else "file" if resources.reliability else "votes",
        judges=rule.rates.judges if rule.rates else (),
        chance_before=made and made.chance_before,
        chance=made and made.chance,
    )


async def _asked_once_more(
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


def _own_rates(claims: Sequence[ClaimState]) -> Reliability | None:
    """The rates that the votes of this run tell; None where they can't."""
    voted = [votes(claim) for claim in claims]
    return None if unidentifiable(voted) else reliability_of(voted)
