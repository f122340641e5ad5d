"""From the judgements on a question to where a claim stands. Pure.

Knows: the three ways of counting: by consensus of a panel, by any piece of evidence that is accepted (PROBE,
seed 000), by nobody disputing a given label (VeriGray's audit, seed 002). A failure decides nothing in any of them.
Does not know: who is asked next.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from longproof.agent.types import Failure, JudgeLabel, Judgement, Label, Round
from longproof.agent.vote import SIDES, Side, may_decide, settled, vote
from longproof.graphs.state import Asked, ClaimStanding, Json, Standing
from longproof.retrieval.types import Span

Decision = Literal["consensus", "any_piece", "undisputed"]

NOT_AUDITED: tuple[Label, ...] = ("ambiguous", "out_dependent")
"""Labels that people may well see differently: an audit leaves them alone."""


KNOWN: dict[JudgeLabel, Side] = {"out_dependent": "supported"}
"""Beside saved pages, what they bear out is held against what nothing bears out."""


class Rule(NamedTuple):
    """What the row, the settings and the case say about counting.

    `last` is the widest round; `next_round` says which one comes after a claim's latest, by the side it leans to;
    `given` has the labels of an audit, by claim; `sourced`: whether there is a source at all.
    """

    consensus: float
    sides: Mapping[JudgeLabel, Side]
    last: Round
    next_round: Callable[[str, Side | None], int]
    consults: bool
    given: Mapping[str, Label]
    sourced: bool = True


Voices = Sequence[Judgement]
Counting = Callable[[Sequence[Asked], Voices, Rule], dict[str, ClaimStanding]]


def by_consensus(questions: Sequence[Asked], judgements: Voices, rule: Rule) -> dict[str, ClaimStanding]:
    """Each claim by the panel's share on one side; a split widens first, then goes to the arbiter."""
    return {
        claim_id: _counted(claim_id, _voices(judgements, question, claim_id), question, rule)
        for question in questions
        for claim_id in question["claim_ids"]
    }


def by_pieces(questions: Sequence[Asked], judgements: Voices, rule: Rule) -> dict[str, ClaimStanding]:
    """A claim with an accepted piece is supported; one whose pieces are all refused is hallucinated.

    A piece that would be accepted if those who failed had passed it is neither: then nobody decides.
    """
    found: dict[str, ClaimStanding] = {}
    for claim_id in dict.fromkeys(question["claim_ids"][0] for question in questions):
        pieces = [question for question in questions if question["claim_ids"][0] == claim_id]
        taken = accepted(pieces, judgements, rule.consensus)
        heard = [j for piece in pieces for j in _voices(judgements, piece, claim_id)]
        if taken:
            found[claim_id] = stand("decided", taken[0], "explicitly_supported", "vote")
        elif any(_open(_voices(judgements, piece, claim_id), rule.consensus) for piece in pieces):
            found[claim_id] = stand("failed", pieces[0], failure=most_common(j.failure for j in heard))
        else:
            found[claim_id] = stand("decided", pieces[0], "fabricated", "vote")
    return found


def by_labels(questions: Sequence[Asked], judgements: Voices, rule: Rule) -> dict[str, ClaimStanding]:
    """A given label that nobody disputes stands; one that any seat disputes is left to people."""
    return {
        claim_id: _audited(_voices(judgements, question, claim_id), question, rule.given[claim_id])
        for question in questions
        for claim_id in question["claim_ids"]
    }


COUNTINGS: dict[Decision, Counting] = {
    "consensus": by_consensus,
    "any_piece": by_pieces,
    "undisputed": by_labels,
}


def accepted(pieces: Sequence[Asked], judgements: Voices, consensus: float) -> list[Asked]:
    """The questions whose piece enough of the panel passes; a failure is no voice, but counts in the panel."""
    found = []
    for piece in pieces:
        voices = [j for j in judgements if j.question_id == piece["id"]]
        if voices and _passes(voices) / len(voices) + 1e-9 >= consensus:
            found.append(piece)
    return found


def evidence(pieces: Sequence[Asked], judgements: Voices, consensus: float) -> tuple[Span, ...]:
    """The accepted pieces, each once, in the order in which they were asked about."""
    ids = [piece["id"] for piece in accepted(pieces, judgements, consensus)]
    return tuple(
        dict.fromkeys(span for id_ in ids for j in judgements if j.question_id == id_ for span in j.quotes)
    )


def given_labels(claims: Sequence[Json], labels: Sequence[Label] | None) -> dict[str, Label]:
    """An audit's labels by claim; nothing where none are given."""
    return {claim["id"]: labels[claim["sentence"]] for claim in claims} if labels else {}


def not_audited(claims: Sequence[Json], labels: Sequence[Label]) -> dict[str, ClaimStanding]:
    """Claims whose given label no audit doubts: it stands, and nobody is asked."""
    return {
        claim_id: {**_UNASKED, "label": label}
        for claim_id, label in given_labels(claims, labels).items()
        if label in NOT_AUDITED
    }


def disputes(given: Label, said: JudgeLabel) -> bool:
    """Whether a seat's word goes against a given label. Where no fact is stated, there is none to attribute."""
    if given == "no_fact":
        return SIDES[said] == "contradicted"
    return SIDES[given] != SIDES[said]


def decided(
    label: JudgeLabel, question: Asked, decided_by: str, *, consults: bool, sourced: bool = True
) -> ClaimStanding:
    """What is not in the source goes to the saved pages first, whoever says so: VeriGray's tree asks them last.

    Without a source, what no page speaks of is not fabricated: nobody can say.
    """
    if SIDES[label] == "not_found" and consults and question["round"] != "pages":
        return stand("absent", question, "fabricated", decided_by)
    if label == "not_found" and not sourced:
        return stand("failed", question, failure="sourceless")
    return stand("decided", question, settled(label), decided_by)


def arbitrated(
    judgement: Judgement, question: Asked, *, consults: bool, sourced: bool = True
) -> ClaimStanding:
    """The arbiter's word, or its failure."""
    if judgement.label is None:
        return stand("failed", question, failure=judgement.failure)
    return decided(judgement.label, question, "arbiter", consults=consults, sourced=sourced)


def to_the_pages(questions: Sequence[Asked]) -> dict[str, ClaimStanding]:
    """Where there is no source, the claims of these questions are absent from it before anybody is asked."""
    return {
        claim_id: stand("absent", question, "fabricated", "rule")
        for question in questions
        for claim_id in question["claim_ids"]
    }


def not_in_pages(stands: ClaimStanding, caveat: str, *, sourced: bool) -> ClaimStanding:
    """A claim that the source doesn't have, where no page is found for it: fabricated, with that caveat."""
    if sourced:
        return {**stands, "standing": "decided", "caveat": caveat}
    undecided: ClaimStanding = {**stands, "standing": "failed", "label": None, "failure": "sourceless"}
    return {**undecided, "decided_by": "nobody"}


def from_pages(judgement: Judgement, source_ids: Collection[str]) -> Judgement:
    """What a judge rests on saved pages alone is out-dependent: the source doesn't give it."""
    rests = [quote.source_id not in source_ids for quote in judgement.quotes]
    supported = judgement.label is not None and SIDES[judgement.label] == "supported"
    if judgement.round != "pages" or not supported or not rests or not all(rests):
        return judgement
    return judgement.model_copy(update={"label": "out_dependent"})


def stand(
    which: Standing,
    question: Asked,
    label: str | None = None,
    decided_by: str = "nobody",
    failure: str | None = None,
) -> ClaimStanding:
    """A standing as the state keeps it."""
    return {
        "standing": which,
        "label": label,
        "decided_by": decided_by,
        "failure": failure,
        "question_id": question["id"],
        "caveat": "",
        "next": 0,
    }


def most_common(failures: Iterable[Failure | None]) -> Failure:
    """The failure that occurs most; `unavailable` where there is none."""
    counted = Counter(failure for failure in failures if failure)
    return counted.most_common(1)[0][0] if counted else "unavailable"


_UNASKED: ClaimStanding = {
    "standing": "decided",
    "label": None,
    "decided_by": "rule",
    "failure": None,
    "question_id": "",
    "caveat": "",
    "next": 0,
}


def _counted(claim_id: str, voices: Voices, question: Asked, rule: Rule) -> ClaimStanding:
    sides = rule.sides if question["round"] != "pages" else {**rule.sides, **KNOWN}
    tally = vote(voices, consensus=rule.consensus, sides=sides)
    last = question["round"] in (rule.last, "source", "pages")
    wider: ClaimStanding = {**stand("open", question), "next": rule.next_round(claim_id, tally.side)}
    if tally.side is not None and tally.label is not None:
        if not may_decide(tally.side, question["round"], last=last):
            return wider
        return decided(tally.label, question, "vote", consults=rule.consults, sourced=rule.sourced)
    unpaid = not tally.voices and any(j.failure == "over_budget" for j in voices)
    if not last and not unpaid:
        return wider
    if tally.voices:
        return stand("split", question, failure="split")
    return stand("failed", question, failure=most_common(j.failure for j in voices))


def _audited(voices: Voices, question: Asked, given: Label) -> ClaimStanding:
    said = [j.label for j in voices if j.label is not None]
    if not said:
        return stand("failed", question, failure=most_common(j.failure for j in voices))
    if any(disputes(given, label) for label in said):
        return stand("failed", question, failure="disputed")
    return stand("decided", question, given, "vote")


def _voices(judgements: Voices, question: Asked, claim_id: str) -> list[Judgement]:
    return [j for j in judgements if (j.question_id, j.claim_id) == (question["id"], claim_id)]


def _passes(voices: Voices) -> int:
    return sum(j.label is not None and SIDES[j.label] == "supported" for j in voices)


def _open(voices: Voices, consensus: float) -> bool:
    failed = sum(j.failure is not None for j in voices)
    return bool(failed) and (_passes(voices) + failed) / len(voices) + 1e-9 >= consensus
