"""Scores of claims: PROBE's steps, how far judges and repeated runs agree.

Knows: how a report's claims are laid beside annotated ones, and that a vote on a piece of evidence of a true claim
should be for it, of a hallucinated one against it (PROBE counts only the annotated pieces of true claims; which
piece a vote was on is not kept). Does not know: scores of responses, or how scores are shown.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from longproof.evaluation.metrics.outcomes import flip_rate
from longproof.evaluation.metrics.probe import ClaimAt, claims_match, evidence_scores, vote_accuracy
from longproof.evaluation.metrics.spans import Offsets
from longproof.evaluation.metrics.statistics import (
    HALLUCINATED_LABELS,
    fleiss_kappa,
    matches,
    share,
)
from longproof.evaluation.results import PredictedClaim, Result
from longproof.evaluation.scores import Score, plain_scores
from longproof.evaluation.types import GoldClaim


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


def judge_scores(results: Sequence[Result]) -> Iterator[Score]:
    """Agreement of the panel, and what changes from run to run."""
    by_claim, by_piece = list[Sequence[str | None]](), list[Sequence[str | None]]()
    for result in results:
        for claim in result.prediction.claims:
            by_claim.append(claim.votes)
            by_piece += claim.pieces
    for panels, over in ((by_claim, "claims with a panel"), (by_piece, "pieces with a panel")):
        kappa = fleiss_kappa([votes for votes in panels if len(votes) > 1])
        if kappa.n:
            yield from plain_scores(kappa.coverage, ("Fleiss' kappa", kappa.value, over, kappa.n))
    outcomes: dict[int, dict[str, str]] = {}
    for result in results:
        outcomes.setdefault(result.repeat, {})[result.id] = result.prediction.outcome
    if len(outcomes) > 1:
        flips = flip_rate([[run.get(example) for example in outcomes[0]] for run in outcomes.values()])
        name = f"flip rate of {len(outcomes)} runs"
        yield from plain_scores(None, (name, flips.value, "responses", flips.n))
