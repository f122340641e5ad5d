"""The node that confirms convictions: once for all of a case, when nothing else is left to look for.

Knows: what is asked about once more is shown the lines that were cited for it, each with the line before it and the
one after, which say who and where; or all that was shown before; where cited lines don't prove a contradiction, lines
that do are searched for, once; what bears a conviction out.
Does not know: what follows for a claim (policy).
"""

import asyncio
from collections.abc import Mapping, Sequence

from longproof.agent.evidence.search import search
from longproof.agent.report import CONFIRMING, last_errors
from longproof.agent.types import Call, Judgement, Label, Lines, Question
from longproof.agent.vote import SIDES
from longproof.graphs.evidence.search import OWN_PLACES, cited_lines, own_hits
from longproof.graphs.panel import complete
from longproof.graphs.policy import next_step
from longproof.graphs.run import Run
from longproof.graphs.state import ClaimState, Confirmation, State, latest

TURNS = 2
"""Turns of a search for lines that prove a contradiction."""


async def confirm(state: State, run: Run) -> State:
    """Ask once more about every conviction; about contradictions that their lines don't prove, with new lines."""
    due = run.due(latest(state), "confirm")
    run.say({"node": "confirm", "claims": len(due)})
    checked, calls = await _ask_once_more(due, {}, run)
    unproved = [one for one in checked if one.confirmation == "unproved"]
    if unproved and run.panel.searcher:
        found, searching = await _search_for_proof(unproved, run)
        again = [one for one in unproved if found.get(one.claim.id)]
        proved, asking = await _ask_once_more(again, found, run)
        calls += [*searching, *asking]
        by_id = {one.claim.id: _stay_unproved(one) for one in proved}
        checked = [by_id.get(one.claim.id, one) for one in checked]
    stand = ("confirmed", "unproved")
    run.say({"node": "checked", "claims": sum(one.confirmation not in stand for one in checked)})
    return {"checked": checked, "calls": calls}


def _stay_unproved(claim: ClaimState) -> ClaimState:
    """The claim after it was asked about with lines found since: where nobody answered that, it is as unproved as it
    was."""
    answered = claim.confirmation in ("confirmed", "unproved", "refuted")
    return claim if answered else claim.model_copy(update={"confirmation": "unproved"})


async def _search_for_proof(claims: Sequence[ClaimState], run: Run) -> tuple[dict[str, Lines], list[Call]]:
    """The lines that a searcher names for these claims beside those that were cited for them, by claim id."""
    assert run.panel.searcher is not None, "asked only where there is one"
    about = [one.claim for one in claims]
    hits = await asyncio.to_thread(own_hits, about, run.sources, OWN_PLACES)
    searched = await search(run.panel.searcher, about, hits, run.sources, run.case, turns=TURNS)
    found: dict[str, Lines] = {}
    for one in claims:
        cited = cited_lines(one, _against(one), run.sources)
        found[one.claim.id] = tuple(n for n in searched.lines.get(one.claim.id, ()) if n not in cited)
    return found, searched.calls


async def _ask_once_more(
    claims: Sequence[ClaimState], found: Mapping[str, Lines], run: Run
) -> tuple[list[ClaimState], list[Call]]:
    """The claims with one more judge's word on each, which stands before the panel's words; and the calls made."""
    words = await asyncio.gather(*(_ask(one, found.get(one.claim.id, ()), run) for one in claims))
    checked: list[ClaimState] = []
    calls: list[Call] = []
    for one, (word, made) in zip(claims, words, strict=True):
        standing = one.model_copy(update={"confirmation": "confirmed"})
        outcome = word.failure or _outcome(word, next_step(standing, run.plan).label, run)
        # The panel's words come last, and of a judge's several words the newest.
        before = [earlier for earlier in one.judgements if earlier.judge.startswith(CONFIRMING)]
        changes = {"confirmation": outcome, "judgements": (*before, word, *one.judgements[len(before) :])}
        checked.append(one.model_copy(update=changes))
        calls += made
    return checked, calls


async def _ask(claim: ClaimState, found: Lines, run: Run) -> tuple[Judgement, list[Call]]:
    """One more judge's word on a conviction, under a name that says what it was asked."""
    judge, question = run.panel.confirmer, _question(claim, found, run)
    assert judge is not None, "the plan knows whether there is one"
    answer = complete(
        await judge.judge(await run.show(question), [claim.claim], run.case), judge.name, question
    )
    word = answer.judgements[0]
    named = CONFIRMING + word.judge.removeprefix(CONFIRMING)
    return word.model_copy(update={"judge": named}), answer.calls


def _question(claim: ClaimState, found: Lines, run: Run) -> Question:
    """The question that shows the cited lines alone, with those that were found since; or all that was shown before,
    where every conviction is confirmed or no line was cited."""
    last = claim.asked[-1]
    name = f"{last.id}-{claim.claim.id}" + ("-found" if found else "")
    against = _against(claim)
    about: dict[str, object] = {
        "id": name,
        "claim_ids": (claim.claim.id,),
        "prompt": "confirm",
        "last_line": run.sources.number_of_lines - 1,
        "denied": last_errors(against, last.id),
    }
    cited = cited_lines(claim, against, run.sources) | set(found)
    if run.plan.confirms == "contradictions" and cited:
        lines = run.sources.with_neighbours(cited)
        about |= {"lines": (lines,), "pages": ()}
    return last.model_copy(update=about)


def _against(claim: ClaimState) -> list[Judgement]:
    """The judgements of those who contradict a claim."""
    return [vote for vote in claim.judgements if vote.label and SIDES[vote.label] == "contradicted"]


def _outcome(word: Judgement, label: Label | None, run: Run) -> Confirmation:
    """The outcome of a word: confirmed if it denies the claim, or finds nothing of what is called fabricated."""
    side = None if word.label is None else SIDES[word.label]
    if side == "contradicted" or (side == "not_found" and label == "fabricated"):
        return "confirmed"
    return "unproved" if side == "not_found" and run.plan.confirms == "contradictions" else "refuted"
