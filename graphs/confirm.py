"""The node that confirms convictions: once for all of a case, when nothing else is left to look for.

Knows: what is asked about once more is shown the lines that were cited for it, each with the line before it and the
one after, which say who and where; or all that was shown before; where cited lines don't prove a contradiction, lines
that do are searched for, once; what bears a conviction out.
Does not know: what follows for a claim (policy).
"""

import asyncio

from longproof.agent.evidence.search import search
from longproof.agent.report import CONFIRMING, last_errors
from longproof.agent.types import Call, Judgement, Lines, Question
from longproof.agent.vote import SIDES
from longproof.graphs.evidence.search import OWN_PLACES, cited_lines, own_hits
from longproof.graphs.panel import complete
from longproof.graphs.policy import next_step
from longproof.graphs.run import Run
from longproof.graphs.state import ClaimState, State, latest

TURNS = 2
"""Turns of a search for lines that prove a contradiction."""


async def confirm(state: State, run: Run) -> State:
    """Ask once more about every conviction; about contradictions that their lines don't prove, with new lines."""
    due = run.due(latest(state), "confirm")
    run.say({"node": "confirm", "claims": len(due)})
    asked = [*await asyncio.gather(*(_ask_once_more(one, (), run) for one in due))]
    calls: list[Call] = []
    unproved = [one for one, _ in asked if one.confirmation == "unproved"]
    if unproved and run.panel.searcher:
        about = [one.claim for one in unproved]
        hits = await asyncio.to_thread(own_hits, about, run.sources, OWN_PLACES)
        searched = await search(run.panel.searcher, about, hits, run.sources, run.case, turns=TURNS)
        calls += searched.calls
        again = []
        for one in unproved:
            cited = cited_lines(one, _against(one), run.sources)
            found = tuple(n for n in searched.lines.get(one.claim.id, ()) if n not in cited)
            if found:
                again.append(_ask_once_more(one, found, run))
        asked += await asyncio.gather(*again)
    checked: dict[str, ClaimState] = {}
    for one, made in asked:
        checked[one.claim.id] = one
        calls += made
    stand = ("confirmed", "unproved")
    run.say({"node": "checked", "claims": sum(one.confirmation not in stand for one in checked.values())})
    return {"checked": list(checked.values()), "calls": calls}


async def _ask_once_more(claim: ClaimState, found: Lines, run: Run) -> tuple[ClaimState, list[Call]]:
    """The claim with one more judge's word on its conviction, under a name that says what was asked; and the calls
    made. `found`: lines that were found since. What denies the claim, or finds nothing of what is called fabricated,
    confirms it."""
    judge, question = run.panel.confirmer, _question(claim, found, run)
    assert judge is not None, "the plan knows whether there is one"
    said = await judge.judge(await run.show(question), [claim.claim], run.case)
    (word, *_), calls = complete(said, judge.name, question)
    side = SIDES[word.label] if word.label else None
    label = next_step(claim.model_copy(update={"confirmation": "confirmed"}), run.plan).label
    if side == "contradicted" or (side == "not_found" and label == "fabricated"):
        outcome = "confirmed"
    elif (side == "not_found" and run.plan.confirms == "contradictions") or (found and word.failure):
        # Where nobody answers about new lines, it is as unproved as it was.
        outcome = "unproved"
    else:
        outcome = word.failure or "refuted"
    word = word.model_copy(update={"judge": CONFIRMING + word.judge.removeprefix(CONFIRMING)})
    # The panel's words come last, and of a judge's several words the newest.
    before = [earlier for earlier in claim.judgements if earlier.judge.startswith(CONFIRMING)]
    judgements = (*before, word, *claim.judgements[len(before) :])
    return claim.model_copy(update={"confirmation": outcome, "judgements": judgements}), calls


def _question(claim: ClaimState, found: Lines, run: Run) -> Question:
    """The question that shows the cited lines alone, with those that were found since; or all that was shown before,
    where every conviction is confirmed or no line was cited."""
    last, against = claim.asked[-1], _against(claim)
    about: dict[str, object] = {
        "id": f"{last.id}-{claim.claim.id}" + ("-found" if found else ""),
        "claim_ids": (claim.claim.id,),
        "prompt": "confirm",
        "last_line": run.sources.number_of_lines - 1,
        "denied": last_errors(against, last.id),
    }
    cited = cited_lines(claim, against, run.sources) | set(found)
    if run.plan.confirms == "contradictions" and cited:
        about |= {"lines": (run.sources.with_neighbours(cited),), "pages": ()}
    return last.model_copy(update=about)


def _against(claim: ClaimState) -> list[Judgement]:
    """The judgements of those who contradict a claim."""
    return [vote for vote in claim.judgements if vote.label and SIDES[vote.label] == "contradicted"]
