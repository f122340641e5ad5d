"""What happens next to a claim of the product. Pure and total; nothing else decides it.

Knows: that a sentence is judged as a whole until somebody doubts it, then its parts; that evidence widens from the
aligned place to all of the source; which side may be decided on how much of it, who decides a split, when saved pages
are asked, and when a conviction is confirmed. Does not know: how evidence is found or a judge asked (nodes).
"""

from collections.abc import Sequence
from itertools import chain
from typing import Literal

from longproof.agent.report import CONFIRMING_FAILED, UNPROVED, WRONG
from longproof.agent.types import DecidedBy, Decision, JudgeLabel, Judgement, Look, Question
from longproof.agent.vote import SIDES, Side, final_label, may_decide, missing_panel, vote
from longproof.graphs.state import ClaimState, Consulted, Plan

LOOKS: tuple[Look, ...] = ("place", "words", "window", "search", "scan")
"""The looks at the source, each wider than the one before."""
CAVEATS: dict[Consulted, str] = {
    "no_pages": "outside knowledge not consulted",
    "nothing_found": "nothing in the saved pages speaks of it",
}
Inside = Literal["decompose", "gather", "judge", "arbitrate", "consult"]
"""Done by a node within a claim group, in order of priority: take a sentence apart, show the evidence of a look, ask
the judges, the arbiter, saved pages."""
Outside = Literal["search", "scan", "confirm", "person", "settle", "nothing"]
"""Have the whole source searched or read, a conviction confirmed, a person asked; settle, with a label or the reason
why there is none; or nothing, where another claim is judged in its stead."""


class Step(Decision):
    """The next thing to do, and what is decided where that is to settle."""

    do: Inside | Outside
    look: Look = "nothing"


def next_step(claim: ClaimState, plan: Plan) -> Step:
    """The next step of a claim, from what was looked at, asked and said."""
    if claim.unit == "superseded":
        return Step(do="nothing")
    step = _step_to_a_label(claim, plan)
    convicted = WRONG if plan.confirms == "all" else ("contradicting",)
    return step if plan.confirms == "nothing" or step.label not in convicted else _confirm(step, claim, plan)


def may_appeal(sentence: ClaimState, parts: Sequence[ClaimState], plan: Plan) -> bool:
    """True if the panel convicted a whole sentence, and every part of it is borne out or states no fact."""
    votes = sentence.last_votes()
    if sentence.unit != "superseded" or plan.arbiter == "nobody" or not (votes and parts):
        return False
    convicted = vote(votes, consensus=plan.consensus, sides=_sides(sentence.asked[-1])).label in WRONG
    labels = [next_step(part, plan).label for part in parts]
    return convicted and all(label and SIDES[label] in ("supported", "no_fact") for label in labels)


def _step_to_a_label(claim: ClaimState, plan: Plan) -> Step:
    """The next step towards a label, before any conviction is confirmed."""
    if claim.copied:
        return Step(do="settle", label="explicitly_supported", decided_by="rule")
    if claim.left_open:
        return Step(do="settle", failure="split")
    if not claim.asked and not claim.looks:
        return _first_step(claim, plan)
    if _has_something_to_show(claim):
        return Step(do="gather", look=claim.looks[-1])
    question = claim.asked[-1]
    if claim.ruling is not None and claim.ruling.question_id == question.id:
        # A person's word is final but for `not_found`.
        label, by_person = claim.ruling.label, claim.ruled_by == "person"
        if label is None:
            return Step(do="settle", failure=claim.ruling.failure)
        if by_person and label != "not_found":
            return Step(do="settle", label=final_label(label), decided_by="person")
        return _decide(label, claim.ruled_by, claim, plan)
    if claim.appealed:
        return _ask_an_arbiter(claim, plan)
    votes = claim.votes(question.id)
    if not votes:
        return Step(do="judge")
    if failure := missing_panel(votes):
        return Step(do="settle", failure=failure)
    if claim.unit == "sentence" and plan.decompose == "doubted" and _is_doubted(votes, question, plan):
        # Where all of the source was shown, saved pages are asked about what rests on other facts before that, once.
        outside = any(vote.label == "out_dependent" for vote in votes)
        asks_pages = outside and claim.consulted == "not_yet" and not _wider_look(claim, "not_found", plan)
        return Step(do="consult" if asks_pages else "decompose")
    return _count(claim, votes, plan)


def _is_doubted(votes: list[Judgement], question: Question, plan: Plan) -> bool:
    """True if a judge that answered doesn't take the whole sentence for right, unless all of them name the same wrong
    words and cite lines. What a judge fails to answer is no doubt. Words that the source may have elsewhere are
    sought for their part of the sentence alone."""
    answered = [vote for vote in votes if vote.label is not None]
    sides = {_sides(question)[vote.label] for vote in answered if vote.label}
    if sides <= {"supported", "no_fact"}:
        return False
    settled = question.look == "source" or sides == {"contradicted"}
    return plan.cascade or not settled or not _name_the_same_words(answered)


def _name_the_same_words(votes: list[Judgement]) -> bool:
    """True if all convict, by cited lines, and some wrong words are named by everybody."""
    named: list[set[int]] = []
    for one in votes:
        if one.label not in (*WRONG, "out_dependent") or not one.quotes:
            return False
        named.append(set(chain.from_iterable(range(e.span.start, e.span.end) for e in one.errors)))
    return bool(set.intersection(*named))


def _confirm(step: Step, claim: ClaimState, plan: Plan) -> Step:
    """A conviction by votes or by an arbiter stands once it is borne out, by its lines or not by them alone. Where
    that question failed, a contradiction stands and says so; where all are to be confirmed, none stands."""
    outcome = claim.confirmation
    if step.decided_by == "person" or outcome == "confirmed":
        return step
    if outcome is None:
        return Step(do="confirm")
    if outcome == "refuted":
        return Step(do="settle", failure="unconfirmed")
    if outcome == "unproved" or plan.confirms == "contradictions":
        return step.model_copy(update={"caveat": UNPROVED if outcome == "unproved" else CONFIRMING_FAILED})
    return Step(do="settle", failure=outcome, caveat=CONFIRMING_FAILED)


def _has_something_to_show(claim: ClaimState) -> bool:
    """True if lines were found that nobody has seen, if the claim was looked for but never asked about, or if the
    source was read to its end after the panel last judged the claim: it is asked once more."""
    if claim.found or not claim.asked:
        return True
    scanned = "scan" in claim.looks and claim.unread is None
    asked_since = claim.asked[-1].look in ("scan", "source", "pages")
    return scanned and not asked_since and claim.ruled_by != "person"


def _first_step(claim: ClaimState, plan: Plan) -> Step:
    """Without a source, pages are asked before any judge. A sentence that tells of the whole source is taken apart,
    so that only what no place can prove is searched for at once. A claim of no sure place is shown the places that
    fit its own words."""
    may_be_taken_apart = claim.unit == "sentence" and plan.decompose != "nothing"
    if may_be_taken_apart and (plan.decompose == "all" or (plan.sourced and claim.everywhere)):
        return Step(do="decompose")
    if not plan.sourced:
        return Step(do="consult") if claim.consulted == "not_yet" else Step(do="settle", failure="sourceless")
    if claim.everywhere and "search" in plan.looks:
        return Step(do="search", look="search")
    return Step(do="gather", look="words" if claim.found else plan.looks[0])


def _count(claim: ClaimState, votes: list[Judgement], plan: Plan) -> Step:
    """Count the panel's votes on the last question: decided, looked at more widely, or split."""
    question = claim.asked[-1]
    tally = vote(votes, consensus=plan.consensus, sides=_sides(question))
    wider = _wider_look(claim, tally.side, plan)
    look = claim.looks[-1] if claim.looks else question.look
    if tally.side not in ("supported", "no_fact") and _may_be_said_elsewhere(claim):
        return Step(do="gather", look="words")
    if tally.side == "contradicted" and not claim.sure and wider and wider.do == "search":
        return wider
    if tally.label is not None and tally.side is not None and may_decide(tally.side, look, last=not wider):
        return _decide(tally.label, "vote", claim, plan)
    return wider or _ask_an_arbiter(claim, plan)


def _ask_an_arbiter(claim: ClaimState, plan: Plan) -> Step:
    """A split, or a sentence whose parts were cleared, is decided by whoever decides splits, once taken apart."""
    if plan.arbiter == "nobody":
        return Step(do="settle", failure="split")
    if claim.unit == "sentence" and plan.decompose == "doubted":
        return Step(do="decompose")
    return Step(do="person" if plan.arbiter == "person" else "arbitrate")


def _may_be_said_elsewhere(claim: ClaimState) -> bool:
    """True if a claim that isn't borne out was not yet held against the places that fit its own words best."""
    seen_all = claim.asked[-1].look in ("source", "scan", "pages")
    return not seen_all and not {"words", "search"} & set(claim.looks)


def _wider_look(claim: ClaimState, side: Side | None, plan: Plan) -> Step | None:
    """The next look at the source, if any is left; all of it is read only for what was found nowhere else."""
    last = claim.looks[-1] if claim.looks else "nothing"
    if claim.asked[-1].look in ("source", "pages") or last not in LOOKS:
        return None
    for look in LOOKS[LOOKS.index(last) + 1 :]:
        # A window is ten times as long as what a search shows, and no surer.
        no_window = not claim.around or "search" in plan.looks
        # A claim's own words are looked for where it isn't borne out, in no fixed order.
        skipped = look == "words" or look in claim.looks or look not in plan.looks
        if skipped or (look == "window" and no_window):
            continue
        if look == "search":
            return Step(do="search", look=look)
        if look != "scan":
            return Step(do="gather", look=look)
        if side == "not_found":
            return Step(do="scan", look=look)
    return None


def _decide(label: JudgeLabel, decided_by: DecidedBy, claim: ClaimState, plan: Plan) -> Step:
    """Settle what was decided; what was not found goes on to the rest of the source, then to the saved pages
    (VeriGray's tree), whoever says so. Fabricated is only what was looked for in all of the source."""
    if SIDES[label] == "contradicted" and _may_be_said_elsewhere(claim):
        return Step(do="gather", look="words")
    if SIDES[label] != "not_found":
        return Step(do="settle", label=final_label(label), decided_by=decided_by)
    if wider := _wider_look(claim, "not_found", plan):
        return wider
    asked_pages = claim.asked[-1].look == "pages"
    if label == "out_dependent" and asked_pages:
        return Step(do="settle", label=label, decided_by=decided_by)
    if not asked_pages and claim.consulted == "not_yet":
        return Step(do="consult")
    if not plan.sourced and (label == "not_found" or not asked_pages):
        return Step(do="settle", failure="sourceless")
    if plan.sourced and not claim.read_whole:
        return Step(do="settle", failure=claim.unread or "not_found_so_far")
    caveat = "" if asked_pages else CAVEATS.get(claim.consulted, "")
    return Step(do="settle", label="fabricated", decided_by=decided_by, caveat=caveat)


def _sides(question: Question) -> dict[JudgeLabel, Side]:
    """The sides of the labels; with saved pages shown, what they bear out votes as supported."""
    return {**SIDES, "out_dependent": "supported"} if question.look == "pages" else SIDES
