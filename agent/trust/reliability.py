"""How often each judge of a panel is right, estimated from their votes alone: Dawid and Skene (1979), two classes.

Knows: a claim is wrong or right, which nobody tells; a judge convicts a wrong claim with its sensitivity, clears a
right one with its specificity; expectation maximisation from the majority's word, smoothed; when votes can't tell.
It is assumed that judges err independently of each other. Judges who share a mistake (samples of one model always
do) look better than they are, and no method without labels can see that.
Does not know: where votes come from, how uncertain an estimate is, or what follows from it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator

from longproof.agent.types import Judgement, Report, ReportClaim
from longproof.agent.vote import SIDES
from longproof.retrieval.types import BadInput, Frozen

Votes = Mapping[str, bool]
"""Of one claim, whether each judge convicts it; a judge without a vote is not named."""
Floats = NDArray[np.float64]
SMOOTHING = 0.5
"""Right answers and wrong ones that every rate is given beforehand (Jeffreys): none becomes 0 or 1."""
STEPS, SETTLED = 1000, 1e-6
"""Expectation maximisation ends after so many steps, or once no probability changes by more."""
MOST_JUDGES = 12
"""More have more ways to vote than can be gone through for the risk."""
LEAST_CLAIMS = 20
"""Fewer claims with three votes say nothing."""
OFTEN = 10
"""On so many claims two judges who err independently disagree both ways, or their errors are few."""


class JudgeRates(Frozen):
    """How often a judge convicts a wrong claim, and clears a right one."""

    judge: str
    sensitivity: float = Field(gt=0, lt=1)
    specificity: float = Field(gt=0, lt=1)


class Reliability(Frozen):
    """What the votes on so many claims say of each judge; `prevalence` is the estimated share of wrong claims."""

    judges: tuple[JudgeRates, ...] = Field(min_length=1, max_length=MOST_JUDGES)
    prevalence: float = Field(gt=0, lt=1)
    claims: int = Field(ge=0)

    @model_validator(mode="after")
    def _each_judge_once(self) -> Self:
        if len(self.of) != len(self.judges):
            raise ValueError("every judge has its rates once")
        return self

    @property
    def of(self) -> dict[str, JudgeRates]:
        """The rates by the judges' names."""
        return {rates.judge: rates for rates in self.judges}


class VoteTable(NamedTuple):
    """Votes counted: a row of `patterns` for each way in which claims were voted on, a column a judge, 1 where it
    convicts, 0 where it clears, NaN where it has no vote; and how many claims each pattern has."""

    judges: list[str]
    patterns: Floats
    counts: Floats


class Fitted(NamedTuple):
    """Rates by judge, the share of wrong claims, and how likely a claim of each pattern is wrong. Where counts come
    with leading axes, so does all of this."""

    sensitivity: Floats
    specificity: Floats
    prevalence: Floats
    wrong: Floats


def read_reliability(path: Path, judges: Sequence[str] = ()) -> Reliability:
    """The rates in a file that `longproof trust --save` wrote. Raises BadInput where it lacks those of a judge."""
    try:
        known = Reliability.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(
            f"{path}: {error.strerror}; give a file that `longproof trust --save` wrote"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadInput(f"{path} holds no rates of judges: {where}: {first['msg']}") from error
    if missing := [judge for judge in judges if judge not in known.of]:
        raise BadInput(f"{path} has no rates of {', '.join(missing)}")
    return known


def reliability_of(claims: Sequence[Votes]) -> Reliability:
    """Each judge's rates. Ask `unidentifiable` first: what the votes can't tell is only the smoothing here."""
    table = counted(claims)
    fitted = fit(table.patterns, table.counts)
    rates = zip(table.judges, fitted.sensitivity.tolist(), fitted.specificity.tolist(), strict=True)
    return Reliability(
        judges=tuple(
            JudgeRates(judge=name, sensitivity=sens, specificity=spec) for name, sens, spec in rates
        ),
        prevalence=float(fitted.prevalence),
        claims=int(table.counts.sum()),
    )


def counted(claims: Iterable[Votes], judges: Sequence[str] | None = None) -> VoteTable:
    """The table of these votes: judges in the order of their names, or as given, patterns in a fixed order."""
    voted = [votes for votes in claims if votes]
    names = sorted({name for votes in voted for name in votes}) if judges is None else list(judges)
    found = Counter(tuple(_number(votes.get(name)) for name in names) for votes in voted)
    rows = sorted(found)
    patterns = np.array(rows, dtype=float).reshape(len(rows), len(names))
    return VoteTable(
        names, np.where(patterns < 0, np.nan, patterns), np.array([found[row] for row in rows], float)
    )


def fit(patterns: Floats, counts: Floats) -> Fitted:
    """Expectation maximisation over patterns, each so often. The classes change places where all votes do.

    `counts` has the patterns on its last axis; other axes are data sets of their own, fitted at once.
    """
    convicts, clears = np.nan_to_num(patterns), np.nan_to_num(1 - patterns)
    balance = convicts.sum(-1) - clears.sum(-1)
    wrong = np.broadcast_to((np.sign(balance) + 1) / 2, counts.shape)
    for _ in range(STEPS):
        sensitivity = _rate((counts * wrong) @ convicts, (counts * wrong) @ clears)
        specificity = _rate((counts * (1 - wrong)) @ clears, (counts * (1 - wrong)) @ convicts)
        prevalence = _rate((counts * wrong).sum(-1), (counts * (1 - wrong)).sum(-1))
        odds = np.log(prevalence / (1 - prevalence))[..., None]
        odds = odds + np.log(sensitivity / (1 - specificity)) @ convicts.T
        odds = odds + np.log((1 - sensitivity) / specificity) @ clears.T
        before, wrong = wrong, 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
        if not wrong.size or np.abs(wrong - before).max() < SETTLED:
            break
    return Fitted(sensitivity, specificity, prevalence, wrong)


def unidentifiable(claims: Sequence[Votes]) -> str | None:
    """Why these votes can't tell the judges' rates; None where they can.

    Two judges can agree in being right or in being wrong: it takes a third. An arbiter that is only asked where two
    disagree is none: nothing is then known of it where they agree, and there are more rates than facts.
    """
    voted = [votes for votes in claims if votes]
    together = [votes for votes in voted if len(votes) > 2]
    judges = {name for votes in voted for name in votes}
    if len(judges) < 3:
        return "fewer than three judges voted"
    if len(judges) > MOST_JUDGES:
        return "more than twelve judges voted"
    if len(together) < LEAST_CLAIMS:
        return (
            f"only {len(together)} claims have the votes of three judges, of {LEAST_CLAIMS} that are needed"
        )
    if any(len(set(v.values())) == 1 for v in voted if len(v) == 2) and not any(
        len(set(v.values())) == 1 for v in together
    ):
        return "the third judge was only asked where two disagreed"
    if {item for v in voted for item in v.items()} - {item for v in together for item in v.items()}:
        return "who else was asked depends on how a judge voted"
    if _nested(together):
        return "whatever a milder judge convicts a stricter one does too, as if by one rule"
    most = [sum(votes.values()) / len(votes) for votes in together]
    if not any(share > 0.5 for share in most):
        return "no claim is called wrong by most judges"
    return None if any(share < 0.5 for share in most) else "no claim is called right by most judges"


def convicts(judgement: Judgement, *, read_whole: bool) -> bool | None:
    """Whether a judgement calls its claim wrong, as reports count it; None where it says nothing of that: a failure,
    or that the claim is not in what was shown of the source, where that wasn't all of it."""
    if judgement.label is None:
        return None
    if judgement.label == "out_dependent" or SIDES[judgement.label] not in ("contradicted", "not_found"):
        return False
    return True if read_whole or SIDES[judgement.label] == "contradicted" else None


def panel_votes(report: Report) -> list[dict[str, bool]]:
    """For each claim of a report what the judges of its panel said last, of those who said whether it is wrong."""
    judges = {str(name) for name in report.stamp.get("judges") or ()}
    coarse = bool(report.stamp.get("coarse"))
    return [last_votes(claim, judges, coarse=coarse) for claim in report.claims]


def last_votes(claim: ReportClaim, judges: Iterable[str], *, coarse: bool) -> dict[str, bool]:
    """The votes of these judges on the last question about a claim. With `coarse` answers all that isn't borne out is
    wrong, however much was shown."""
    asked = set(judges)
    panel = [judgement for judgement in claim.judgements if judgement.judge in asked]
    last = [judgement for judgement in panel if judgement.question_id == panel[-1].question_id]
    whole = coarse or claim.looked is None or claim.looked.share == 1
    return votes_of(last, read_whole=whole)


def votes_of(judgements: Iterable[Judgement], *, read_whole: bool) -> dict[str, bool]:
    """Whether each judge convicts the claim of these judgements, of those who said anything of that."""
    said = {judgement.judge: convicts(judgement, read_whole=read_whole) for judgement in judgements}
    return {judge: vote for judge, vote in said.items() if vote is not None}


def _nested(claims: Sequence[Votes]) -> bool:
    """Whether of every two judges, who disagree often, one convicts all that the other does, and more."""
    judges = sorted({judge for votes in claims for judge in votes})
    for one, other in combinations(judges, 2):
        both = [(votes[one], votes[other]) for votes in claims if one in votes and other in votes]
        alone = both.count((True, False)), both.count((False, True))
        if min(alone) or max(alone) < OFTEN:
            return False
    return True


def _number(vote: bool | None) -> int:
    return -1 if vote is None else int(vote)


def _rate(hits: Floats, misses: Floats) -> Floats:
    rate: Floats = (hits + SMOOTHING) / (hits + misses + 2 * SMOOTHING)
    return rate
