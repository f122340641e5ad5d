"""Scores of what happens inside a check: claims and evidence (PROBE), judges, the arbiter, repeated runs.

Knows: how a report's claims are laid beside annotated ones. PROBE's third step, votes on single pieces of
evidence, needs votes that results do not hold apart: see `metrics.evaluation_scores`.
Does not know: scores of responses, or how scores are shown.
"""

from collections.abc import Iterator, Sequence

from longproof.evaluation.headlines import Score, flat, outcome_scores, sided
from longproof.evaluation.metrics import (
    decomposition_scores,
    evidence_scores,
    fleiss_kappa,
    flip_rate,
    localisation_scores,
    override_rate,
)
from longproof.evaluation.metrics.counts import share
from longproof.evaluation.metrics.probe import ClaimAt, MatchScores, claims_match
from longproof.evaluation.metrics.sides import HALLUCINATED_LABELS
from longproof.evaluation.metrics.spans import Place as At
from longproof.evaluation.results import PredictedClaim, Result
from longproof.evaluation.types import GoldClaim


def claim_scores(results: Sequence[Result]) -> Iterator[Score]:
    """PROBE's steps 1, 2 and 4, where claims are annotated. Evidence is over claims matched in step 1."""
    annotated = [result for result in results if result.gold.claims is not None]
    if not annotated:
        return
    gold = [list(r.gold.claims or ()) for r in annotated]
    ours = [None if r.prediction.failure else list(r.prediction.claims) for r in annotated]
    cut = decomposition_scores([_at(g) for g in gold], [o if o is None else _at(o) for o in ours])
    wrong = localisation_scores(
        [_at([c for c in g if c.hallucinated]) for g in gold],
        [o if o is None else _at([c for c in o if c.label in HALLUCINATED_LABELS]) for o in ours],
    )
    yield from _matched("decomposition", cut)
    yield from _matched("localisation", wrong)
    pairs = [pair for g, o in zip(gold, ours, strict=True) for pair in _evidence(g, o or [])]
    matched = [(pieces, found) for pieces, found in pairs if found is not None]
    scores = evidence_scores([pieces for pieces, _ in matched], [found for _, found in matched])
    yield from flat(
        share(len(matched), len(pairs)),
        ("evidence: partial", scores["partial"], "matched claims", len(matched)),
        ("evidence: complete", scores["complete"], "matched claims", len(matched)),
    )


def judge_scores(results: Sequence[Result]) -> Iterator[Score]:
    """Agreement of the panel, the arbiter's overrides, and what changes from run to run."""
    claims = [claim for result in results for claim in result.prediction.claims]
    panel = [claim.voices for claim in claims if len(claim.voices) > 1]
    if panel:
        kappa = fleiss_kappa(panel)
        yield from flat(
            kappa["coverage"], ("Fleiss' kappa", kappa["kappa"], "claims with a panel", kappa["n"])
        )
    split = [claim for claim in claims if claim.decided_by == "arbiter"]
    if split:
        override = override_rate([claim.voices for claim in split], [claim.arbiter for claim in split])
        name = "arbiter against the plurality"
        yield from flat(override["coverage"], (name, override["override_rate"], "arbitrated", override["n"]))
    yield from _flips(results)


def _flips(results: Sequence[Result]) -> Iterator[Score]:
    runs: dict[int, list[Result]] = {}
    for result in results:
        runs.setdefault(result.repeat, []).append(result)
    if len(runs) < 2:
        return
    said = [{result.id: result.prediction.outcome for result in run} for run in runs.values()]
    flips = flip_rate([[run.get(example) for example in said[0]] for run in said])
    yield from flat(None, (f"flip rate of {len(runs)} runs", flips["flip_rate"], "responses", flips["n"]))
    for repeat, run in sorted(runs.items()):
        scores, n = outcome_scores(sided(run)), len(sided(run))
        name = f"run {repeat + 1}: mean accuracy"
        yield from flat(scores["coverage"], (name, scores["mean_accuracy"], "two classes", n))


def _matched(step: str, scores: MatchScores) -> Iterator[Score]:
    yield from flat(
        scores["coverage"],
        (f"{step}: precision", scores["precision"], "our claims", scores["n_predicted"]),
        (f"{step}: recall", scores["recall"], "gold claims", scores["n_gold"]),
        (f"{step}: F1", scores["f1"], "gold claims", scores["n_gold"]),
    )


def _evidence(
    gold: Sequence[GoldClaim], ours: Sequence[PredictedClaim]
) -> Iterator[tuple[list[At], list[At] | None]]:
    """For each gold claim with evidence: its pieces, and what our claims that match it found; None: no match."""
    for claim in gold:
        pieces = [(e.place.start, e.place.end) for e in claim.evidence if e.source == 0]
        if not pieces:
            continue
        matching = [c for c in ours if claims_match(*_at([claim]), *_at([c]))]
        found = [(e.start, e.end) for c in matching for e in c.evidence if e.source == 0]
        yield pieces, found if matching else None


def _at(claims: Sequence[GoldClaim] | Sequence[PredictedClaim]) -> list[ClaimAt]:
    return [ClaimAt(c.text, (c.origin.start, c.origin.end) if c.origin else None) for c in claims]
