"""How far to trust a run: its judges' rates without labels, what they mean for long texts, and when to trust a label.

Knows: where a run's votes and gold stand, and by which rule it decides; that a hallucinated response is as surely so
as its surest wrong claim, a faithful one as surely as that no claim is wrong. Does not know: how rates are estimated
(metrics), or how scores are shown.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from math import exp, log, prod
from typing import NamedTuple

from longproof.agent.trust.reliability import Reliability, Votes, reliability_of, unidentifiable
from longproof.agent.trust.risk import any_of, convictions, passes, strength
from longproof.agent.types import Report
from longproof.agent.vote import CONSENSUS
from longproof.evaluation.folder import RunSettings
from longproof.evaluation.headlines import with_gold_outcome
from longproof.evaluation.metrics.classes import HALLUCINATED_LABELS
from longproof.evaluation.metrics.reliability import JudgeTrust, Trust, trust
from longproof.evaluation.metrics.selective import RiskCurve, risk_curve, risk_from, threshold
from longproof.evaluation.metrics.statistics import Rate, recall, specificity
from longproof.evaluation.results import PredictedClaim, Result, gold_at
from longproof.evaluation.tables import Score, Section, plain_scores
from longproof.evaluation.types import Gold
from longproof.graphs.protocols import METHODS, protocol
from longproof.graphs.settings import PERSON
from longproof.retrieval.types import BadInput

LENGTHS = (20, 100, 300, 1000)
"""Claims of a response for which the risk is told."""
MOST = 0.05
"""The risk for which a threshold of confidence is chosen."""


class VotedClaims(NamedTuple):
    """The votes on all claims of a run, what each is of, and whether it is wrong by gold, where gold tells."""

    votes: list[Votes]
    responses: list[str]
    gold: list[bool | None]


class CheckedThreshold(NamedTuple):
    """The confidence from which on labels are trusted, None where there is none; how many responses it was chosen on;
    and the risk from there, on these and on the others."""

    least: float | None
    chosen_on: int
    risks: tuple[Rate, ...]


class Deciding(NamedTuple):
    """How votes decide: the share of the panel that must agree, whether a model arbitrates where fewer do, whose
    votes they are (without names, those of all who voted), and whether convictions are confirmed afterwards."""

    consensus: float = CONSENSUS
    arbiter: bool = True
    judges: tuple[str, ...] = ()
    confirms: bool = False


def run_deciding(run: RunSettings) -> Deciding:
    """How the votes of an evaluation decide. Where a language model judges, one arbitrates, named or not.

    Raises BadInput where the run's record names a consensus that is no share.
    """
    named = run.settings.get("arbiter")
    models = any("openai:" in judge or '"openai"' in judge for judge in (*run.judges, named or ""))
    own = run.settings.get("consensus")
    share = protocol(run.protocol).consensus if own is None else _share(own)
    confirms = "confirm" in run.settings or "max_risk" in run.settings
    return Deciding(share, models and named != PERSON, confirms=confirms)


def report_deciding(report: Report) -> Deciding:
    """How the votes of a report decided, as far as its stamp says."""
    kept, made_by = report.stamp.get("settings"), METHODS.get(str(report.stamp.get("protocol")))
    usual = made_by.protocol.consensus if made_by else CONSENSUS
    settings = kept if isinstance(kept, dict) else {}
    own = settings.get("consensus")
    share = own if isinstance(own, float) and 0 < own <= 1 else usual
    judges = tuple(sorted({str(name) for name in report.stamp.get("judges") or ()}))
    arbiter = report.stamp.get("arbiter", "unsaid") not in (None, PERSON)
    confirms = bool(settings.get("confirm")) or settings.get("max_risk") is not None
    return Deciding(share, arbiter, judges, confirms)


def _share(written: str) -> float:
    try:
        share = float(written)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise BadInput(f"the run's record names a consensus of {written!r}: a share is above 0 and at most 1")
    return share


def voted_claims(results: Sequence[Result]) -> VotedClaims:
    """The votes of an evaluation. Responses about one source belong together."""
    each = [(claim, result) for result in results for claim in result.prediction.claims]
    return VotedClaims(
        [claim.convicts for claim, _ in each],
        [result.group for _, result in each],
        [_is_wrong(result.gold, claim) for claim, result in each],
    )


def trust_sections(voted: VotedClaims, rules: Iterable[Deciding]) -> list[Section]:
    """What votes say of the judges, and what that means for long texts under each rule of deciding, of whose judges
    alone; nothing where one judge alone voted."""
    if len({judge for votes in voted.votes for judge in votes}) < 2:
        return []
    found, each = trust(voted.votes, voted.responses, voted.gold), sorted(set(rules))
    several = len({rule.judges for rule in each}) > 1
    made = [
        Section(title="How far to trust the judges", scores=tuple(_trust(found))),
        *(
            Section(title=_told(rule, named=several), scores=tuple(_risk(voted, rule, found)))
            for rule in each
        ),
    ]
    return [section for section in made if section.scores]


def selective_scores(results: Sequence[Result]) -> Iterator[Score]:
    """When to trust a label: the curve's areas, and a threshold chosen on one half of the groups."""
    taken = with_gold_outcome(results)
    sure = confidences(results)
    if not taken or sure is None:
        return
    column = [sure[result.id, result.repeat] for result in taken]
    curve, n = risk_curve(column, labels_right(taken)), len(taken)
    decided = sum(one is not None for one in column) / n
    if curve.area is None or curve.best is None:
        return
    yield from plain_scores(
        decided,
        ("area under risk and coverage", curve.area, "decided", len(taken)),
        ("the same, above the best order", curve.area - curve.best, "decided", len(taken)),
    )
    yield from _checked_threshold(taken, column)


def selective_curve(results: Sequence[Result]) -> RiskCurve | None:
    """The curve of the responses' labels; None where votes don't tell how sure they are."""
    taken, sure = with_gold_outcome(results), confidences(results)
    if not taken or sure is None:
        return None
    return risk_curve([sure[result.id, result.repeat] for result in taken], labels_right(taken))


def confidences(results: Sequence[Result]) -> dict[tuple[str, int], float | None] | None:
    """How likely each response's label is right, by its claims' votes; None where they can't tell the judges' rates,
    and of a response that is undecided. No gold is used."""
    votes = [claim.convicts for result in results for claim in result.prediction.claims]
    if unidentifiable(votes) is not None:
        return None
    rates = reliability_of(votes)
    return {(result.id, result.repeat): _sure(result, rates) for result in results}


def _sure(result: Result, rates: Reliability) -> float | None:
    predicted, before = result.prediction, log(rates.prevalence / (1 - rates.prevalence))
    wrong = [1 / (1 + exp(-before - strength(rates, claim.convicts))) for claim in predicted.claims]
    if predicted.outcome == "faithful":
        return prod(1 - chance for chance in wrong)
    convicted = (
        c for c, claim in zip(wrong, predicted.claims, strict=True) if claim.label in HALLUCINATED_LABELS
    )
    return max(convicted, default=None) if predicted.outcome == "hallucinated" else None


def labels_right(taken: Sequence[Result]) -> list[bool]:
    """Whether each response is called what gold calls it."""
    return [result.prediction.outcome == result.gold.outcome for result in taken]


def in_first_half(result: Result) -> bool:
    """Whether a response's group, by its name, falls into the half on which things are chosen."""
    return sha256(result.group.encode("utf-8", "backslashreplace")).digest()[0] % 2 == 0


def checked_threshold(taken: Sequence[Result], sure: Sequence[float | None]) -> CheckedThreshold | None:
    """A threshold for the risk, chosen on one half of the groups; None where there is but one half."""
    first = [in_first_half(result) for result in taken]
    halves = [[i for i, one in enumerate(first) if one is half] for half in (True, False)]
    if not all(halves):
        return None
    columns = [([sure[i] for i in half], labels_right([taken[i] for i in half])) for half in halves]
    least = threshold(*columns[0], MOST)
    risks = () if least is None else tuple(risk_from(*column, least) for column in columns)
    return CheckedThreshold(least, len(halves[0]), risks)


def _checked_threshold(taken: Sequence[Result], sure: Sequence[float | None]) -> Iterator[Score]:
    found = checked_threshold(taken, sure)
    if found is None:
        return
    name = f"surest by votes, for a risk of {MOST:.0%}: at least"
    yield from plain_scores(None, (name, found.least, "chosen on one half", found.chosen_on))
    for half, risk in zip(("the half it was chosen on", "the other half"), found.risks, strict=False):
        yield from plain_scores(risk.coverage, (f"risk from there, {half}", risk.value, "accepted", risk.n))


def _trust(found: Trust) -> Iterator[Score]:
    for one in found.judges:
        for name, estimate, over in (
            ("sensitivity", one.sensitivity, "claims estimated wrong"),
            ("specificity", one.specificity, "claims estimated right"),
        ):
            low, high, _ = estimate.interval
            yield Score(
                name=f"{one.judge}: {name}",
                value=estimate.value,
                over=over,
                n=round(estimate.n),
                low=low,
                high=high,
            )
        yield from _by_gold(one)
    if found.prevalence is not None:
        low, high, _ = found.prevalence.interval
        share = found.prevalence.value
        yield Score(
            name="share of wrong claims", value=share, over="claims", n=found.claims, low=low, high=high
        )
    else:
        name = f"the judges' rates can't be told: {found.why_not}"
        yield Score(name=name, value=None, over="claims", n=found.claims)
    yield from plain_scores(
        found.kappa.coverage,
        ("agreement, wrong or right (kappa)", found.kappa.value, "claims", found.kappa.n),
    )
    yield from plain_scores(
        None, ("judges differ", found.flips.value, "claims with all votes", found.flips.n)
    )


def _by_gold(one: JudgeTrust) -> Iterator[Score]:
    for name, rate, n in (
        ("sensitivity", recall(one.gold), one.gold.hallucinated),
        ("specificity", specificity(one.gold), one.gold.faithful),
    ):
        if rate is not None:
            yield Score(name=f"{one.judge}: {name} by gold", value=rate, over="its votes", n=n)


def _told(rule: Deciding, *, named: bool) -> str:
    rest = "an arbiter decides the rest" if rule.arbiter else "the rest is undecided"
    panel = f"; judges {' '.join(', '.join(rule.judges).split())}" if named else ""
    when = " before confirming" if rule.confirms else ""
    return f"The risk of a long text{when} ({rule.consensus:.0%} must agree, {rest}{panel})"


def _risk(voted: VotedClaims, rule: Deciding, found: Trust) -> Iterator[Score]:
    """Of responses of some lengths, by the estimated rates of the judges who decide."""
    if found.why_not is not None:
        return
    told = reliability_of(voted.votes).judges
    judges = [one for one in told if not rule.judges or one.judge in rule.judges]
    if not judges:
        return
    ways = list(convictions(judges, rule.consensus, arbiter=rule.arbiter))
    each = sum(way.if_right for way in ways)
    for claims in LENGTHS:
        for name, chance in (
            ("faithful, but called hallucinated", any_of(claims, each)),
            ("with one wrong claim, but nothing called wrong", passes(claims, ways)),
        ):
            yield Score(name=name, value=chance, over="claims of a response", n=claims)


def _is_wrong(gold: Gold, claim: PredictedClaim) -> bool | None:
    """Whether a claim is wrong by gold that says which part of a wrong response is wrong; None for other gold."""
    if gold.outcome == "hallucinated" and not gold.errors and gold.parts is None:
        return None
    side = gold_at(gold, claim.origin)
    return None if side is None else side == "hallucinated"
