"""Scores of claims: PROBE's steps, audits, how far judges, the arbiter and repeated runs agree.

Knows: how a report's claims are laid beside annotated ones, and that a vote on a piece of evidence of a true claim
should be for it, of a hallucinated one against it (PROBE counts only the annotated pieces of true claims; which
piece a vote was on is not kept). Does not know: scores of responses, or how scores are shown.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from longproof.agent.types import LABELS, Label
from longproof.agent.vote import SIDES
from longproof.evaluation.headlines import response_counts
from longproof.evaluation.metrics.outcomes import flip_rate, override_rate
from longproof.evaluation.metrics.probe import ClaimAt, claims_match, evidence_scores, vote_accuracy
from longproof.evaluation.metrics.spans import Offsets
from longproof.evaluation.metrics.statistics import (
    HALLUCINATED_LABELS,
    coverage,
    fleiss_kappa,
    matches,
    mean_accuracy,
    share,
    sum_counts,
)
from longproof.evaluation.results import PredictedClaim, Result
from longproof.evaluation.tables import Score, plain_scores
from longproof.evaluation.types import GoldClaim
from longproof.graphs.papers.verigray import NOT_AUDITED


def probe_scores(results: Sequence[Result]) -> Iterator[Score]:
    """PROBE's steps, where claims are annotated. Evidence and votes are over claims matched in step 1."""
    annotated = [result for result in results if result.gold.claims is not None]
    if not annotated:
        return
    for step, only_wrong in (("decomposition", False), ("localisation", True)):
        pairs = [_claims_of(result, only_wrong=only_wrong) for result in annotated]
        scores = matches(pairs, claims_match)
        yield from plain_scores(
            scores.coverage,
            (f"{step}: precision", scores.precision, "our claims", scores.n_predicted),
            (f"{step}: recall", scores.recall, "gold claims", scores.n_gold),
            (f"{step}: F1", scores.f1, "gold claims", scores.n_gold),
        )
    yield from _evidence_and_votes(annotated)


def _claims_of(result: Result, *, only_wrong: bool) -> tuple[list[ClaimAt], list[ClaimAt] | None]:
    """Gold and our claims, all or the hallucinated ones; ours are None where the response could not be checked."""
    gold = [_at(claim) for claim in result.gold.claims or () if claim.hallucinated or not only_wrong]
    if result.prediction.failure:
        return gold, None
    ours = result.prediction.claims
    return gold, [_at(claim) for claim in ours if not only_wrong or claim.label in HALLUCINATED_LABELS]


def _at(claim: GoldClaim | PredictedClaim) -> ClaimAt:
    return ClaimAt(claim.text, (claim.origin.start, claim.origin.end) if claim.origin else None)


def _evidence_and_votes(annotated: Sequence[Result]) -> Iterator[Score]:
    """Steps 2 and 3, over the claims that match an annotated one."""
    n_with_evidence, pieces, places = 0, list[list[Offsets]](), list[list[Offsets]]()
    supports, votes = list[bool](), list[bool | None]()
    for result in annotated:
        for gold in result.gold.claims or ():
            if gold.evidence:
                n_with_evidence += 1
                matching = [c for c in result.prediction.claims if claims_match(_at(gold), _at(c))]
                if matching:
                    pieces.append([(piece.start, piece.end) for piece in gold.evidence])
                    hits = chain.from_iterable(claim.evidence for claim in matching)
                    places.append([(hit.start, hit.end) for hit in hits if hit.source == 0])
        for claim in result.prediction.claims:
            about = [g for g in result.gold.claims or () if claim.pieces and claims_match(_at(claim), _at(g))]
            for vote in chain.from_iterable(claim.pieces if about else ()):
                supports.append(not any(gold.hallucinated for gold in about))
                votes.append(None if vote is None else vote not in HALLUCINATED_LABELS)
    partial, complete = evidence_scores(pieces, places)
    yield from plain_scores(
        share(len(pieces), n_with_evidence),
        ("evidence: partial", partial.value, "matched claims", len(pieces)),
        ("evidence: complete", complete.value, "matched claims", len(pieces)),
    )
    if votes:
        right = vote_accuracy(supports, votes)
        yield from plain_scores(
            right.coverage, ("evaluation: accuracy", right.value, "votes on pieces", right.n)
        )


def audit_scores(results: Sequence[Result]) -> Iterator[Score]:
    """The labels that an audit left to people: of those that are on another side than the gold, and of the others.

    Over audited sentences that the gold speaks of; a sentence that nobody could read is left to people too.
    """
    n = n_left = n_wrong = n_caught = n_unread = 0
    for result in results:
        for claim in result.prediction.claims:
            gold = _gold_label(result, claim)
            if claim.given is None or claim.given in NOT_AUDITED or gold is None:
                continue
            left, wrong = claim.label is None, SIDES[claim.given] != SIDES[gold]
            n, n_left, n_wrong = n + 1, n_left + left, n_wrong + wrong
            n_caught += left and wrong
            n_unread += left and claim.failure != "disputed"
    n_right = n - n_wrong
    yield from plain_scores(
        share(n - n_unread, n),
        ("left to people", share(n_left, n), "audited sentences", n),
        ("wrong labels left to people", share(n_caught, n_wrong), "wrong labels", n_wrong),
        ("right labels left to people", share(n_left - n_caught, n_right), "right labels", n_right),
        ("wrong among those left", share(n_caught, n_left), "left to people", n_left),
    )


def _gold_label(result: Result, claim: PredictedClaim) -> Label | None:
    """The least faithful gold label of the parts that a claim's place meets."""
    met = list[Label]()
    for part in result.gold.parts or ():
        if part.label and part.place.start < claim.origin.end and claim.origin.start < part.place.end:
            met.append(part.label)
    return min(met, key=LABELS.index, default=None)


def judge_scores(results: Sequence[Result]) -> Iterator[Score]:
    """Agreement of the panel, the arbiter's overrides, and what changes from run to run."""
    by_claim, by_piece, split = (
        list[Sequence[str | None]](),
        list[Sequence[str | None]](),
        list[PredictedClaim](),
    )
    for result in results:
        for claim in result.prediction.claims:
            by_claim.append(claim.votes)
            by_piece += claim.pieces
            if claim.decided_by == "arbiter":
                split.append(claim)
    for panels, over in ((by_claim, "claims with a panel"), (by_piece, "pieces with a panel")):
        kappa = fleiss_kappa([votes for votes in panels if len(votes) > 1])
        if kappa.n:
            yield from plain_scores(kappa.coverage, ("Fleiss' kappa", kappa.value, over, kappa.n))
    if split:
        override = override_rate([claim.votes for claim in split], [claim.arbiter for claim in split])
        name = "arbiter against the plurality"
        yield from plain_scores(override.coverage, (name, override.value, "arbitrated", override.n))
    yield from _flips(results)


def _flips(results: Sequence[Result]) -> Iterator[Score]:
    runs: dict[int, list[Result]] = {}
    for result in results:
        runs.setdefault(result.repeat, []).append(result)
    if len(runs) < 2:
        return
    outcomes = [{result.id: result.prediction.outcome for result in run} for run in runs.values()]
    flips = flip_rate([[run.get(example) for example in outcomes[0]] for run in outcomes])
    yield from plain_scores(None, (f"flip rate of {len(runs)} runs", flips.value, "responses", flips.n))
    for repeat, run in sorted(runs.items()):
        counts = sum_counts(map(response_counts, run))
        name = f"run {repeat + 1}: mean accuracy"
        yield from plain_scores(coverage(counts), (name, mean_accuracy(counts), "two classes", counts.all))
