"""What judges' rates mean for a long text: the chance that a right one is convicted, and how it is kept small.

Knows: which votes convict under a consensus, how often they come up on a right claim and on a wrong one, how strong
each is (the logarithm of the ratio of the two), and which convictions must be confirmed, or can't be, so that a
faithful text of this length is convicted at most so often. The strongest are kept first: no other choice of the same
risk finds more (Neyman and Pearson, 1933). Judges are taken to err independently; a voice whose rates nobody knows
counts as the weakest of the panel in both; all that convicts is one side.
Does not know: where rates come from, or how a conviction is confirmed.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, product
from math import exp, expm1, fsum, inf, log, log1p
from typing import Literal, NamedTuple

from pydantic import Field

from longproof.agent.trust.reliability import JudgeRates, Reliability, Votes
from longproof.retrieval.types import Frozen

AGREE = 1e-9
"""Shares that differ by less are the same."""
DIGITS = 6
"""Of a strength: so it doesn't depend on the order in which judges are added."""
UNKNOWN = "unknown"
Stage = Literal["stands", "ask", "held"]


class Conviction(NamedTuple):
    """One way in which a claim is convicted, and how likely that is if the claim is right, and if it is wrong."""

    strength: float
    if_right: float
    if_wrong: float


class Thresholds(Frozen):
    """Convictions stronger than `stands` stand as they are, those stronger than `ask` once confirmed. With them the
    chance that a faithful text of so many claims is convicted, as it is and by these thresholds."""

    stands: float
    ask: float
    claims: int
    chance_before: float
    chance: float

    def stage(self, strength: float) -> Stage:
        """What becomes of a conviction of this strength."""
        if strength > self.stands:
            return "stands"
        return "ask" if strength > self.ask else "held"


class RiskTaken(Frozen):
    """What a report says of its convictions: of `convicted` claims so many were asked about once more, so many are
    held back, and for so many that question failed. Without rates, where every conviction is confirmed, there is no
    chance to name."""

    convicted: int = Field(ge=0)
    asked: int = Field(ge=0)
    held: int = Field(ge=0)
    failed: int = Field(default=0, ge=0)
    max_risk: float | None = Field(default=None, gt=0, lt=1)
    rates: Literal["file", "votes"] | None = None
    judges: tuple[JudgeRates, ...] = ()
    chance_before: float | None = Field(default=None, ge=0, le=1)
    chance: float | None = Field(default=None, ge=0, le=1)


def convictions(judges: Sequence[JudgeRates], consensus: float, *, arbiter: bool) -> Iterator[Conviction]:
    """All ways in which these judges convict a claim: by the consensus; where split, by the arbiter's word."""
    unknown = weakest(judges)
    for votes in product((True, False), repeat=len(judges)):
        said = {rates.judge: vote for rates, vote in zip(judges, votes, strict=True)}
        decided = _decided(votes, consensus)
        if decided is None and arbiter:
            yield _conviction([*judges, unknown], {**said, UNKNOWN: True})
        elif decided:
            yield _conviction(judges, said)


def weakest(judges: Iterable[JudgeRates]) -> JudgeRates:
    """The lowest rates of a panel: what is believed of a voice that nobody knows."""
    known = list(judges)
    return JudgeRates(
        judge=UNKNOWN,
        sensitivity=min(rates.sensitivity for rates in known),
        specificity=min(rates.specificity for rates in known),
    )


def strength(rates: Reliability, votes: Votes, *, arbitrated: bool = False) -> float:
    """How strongly votes speak for a claim's being wrong; `arbitrated`: an arbiter convicted it, too."""
    held = [rates.of[judge] for judge in votes if judge in rates.of]
    said = dict(votes)
    if arbitrated:
        held, said = [*held, weakest(rates.judges)], {**said, UNKNOWN: True}
    return _conviction(held, said).strength


def thresholds(
    rates: Reliability,
    claims: int,
    *,
    consensus: float,
    arbiter: bool,
    max_risk: float,
    confirm_all: bool = False,
) -> Thresholds:
    """The thresholds that keep the chance of convicting a faithful text of so many claims at most at `max_risk`.

    The weakest are held back, as far as it doesn't suffice to confirm all others; of those the weakest are confirmed,
    as far as needed, or all of them with `confirm_all`.
    """
    ways = _by_strength(convictions(rates.judges, consensus, arbiter=arbiter))
    allowed, missed = -expm1(log1p(-max_risk) / max(1, claims)), 1 - weakest(rates.judges).specificity
    ask, share = -inf, missed * sum(ways.values())
    for at, if_right in ways.items():
        if share > allowed:
            ask, share = at, share - missed * if_right
    kept = {at: if_right for at, if_right in ways.items() if at > ask}
    stands, share = ask, sum(kept.values())
    for at, if_right in kept.items():
        if confirm_all or share > allowed:
            stands, share = at, share - (1 - missed) * if_right
    return Thresholds(
        stands=inf if confirm_all else stands,
        ask=ask,
        claims=claims,
        chance_before=any_of(claims, sum(ways.values())),
        chance=any_of(claims, max(0.0, share)),
    )


def any_of(claims: int, each: float) -> float:
    """The chance that at least one of so many claims is convicted, each by this chance."""
    return -expm1(claims * log1p(-min(each, 1 - AGREE)))


def passes(claims: int, ways: Iterable[Conviction], errors: int = 1) -> float:
    """The chance that a text of so many claims, `errors` of them wrong, is not convicted of anything."""
    held = list(ways)
    right, wrong = (
        min(1.0, sum(chance)) for chance in zip(*((w.if_right, w.if_wrong) for w in held), strict=True)
    )
    return float((1 - wrong) ** errors * (1 - right) ** (claims - errors))


def _by_strength(ways: Iterable[Conviction]) -> dict[float, float]:
    """How often a right claim is convicted with each strength, the weakest first."""
    ordered = sorted(ways, key=lambda way: way.strength)
    grouped = groupby(ordered, key=lambda way: way.strength)
    return {at: sum(way.if_right for way in same) for at, same in grouped}


def _decided(votes: Sequence[bool], consensus: float) -> bool | None:
    """Whether votes convict (a tie does) or clear; None where they are split."""
    against = sum(votes)
    leading = max(against, len(votes) - against)
    return None if leading / len(votes) + AGREE < consensus else against == leading


def _conviction(judges: Sequence[JudgeRates], votes: Votes) -> Conviction:
    right = fsum(log(1 - one.specificity if votes[one.judge] else one.specificity) for one in judges)
    wrong = fsum(log(one.sensitivity if votes[one.judge] else 1 - one.sensitivity) for one in judges)
    return Conviction(round(wrong - right, DIGITS), exp(right), exp(wrong))
