"""Scores of claims: PROBE's steps, audits, how far judges, the arbiter and repeated runs agree.

Knows: how a report's claims are laid beside annotated ones, and that a vote on a piece of evidence of a true claim
should be for it, of a hallucinated one against it (PROBE counts only the annotated pieces of true claims; which
piece a vote was on is not kept). Does not know: scores of responses, or how scores are shown.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from longproof.agent.types import LABELS, Label
from longproof.agent.vote import SIDES
from longproof.evaluation.headlines import response_counts, with_gold_outcome
from longproof.evaluation.metrics.classes import HALLUCINATED_LABELS
from longproof.evaluation.metrics.outcomes import flip_rate, override_rate
from longproof.evaluation.metrics.probe import (
    ClaimAt,
    claims_match,
    evidence_scores,
    vote_accuracy,
)
from longproof.evaluation.metrics.spans import Offsets
from longproof.evaluation.metrics.statistics import (
    Matches,
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
    gold = [list(r.gold.claims or ()) for r in annotated]
    ours = [None if r.prediction.failure else list(r.prediction.claims) for r in annotated]
    cut = matches([_at(g) for g in gold], [o if o is None else _at(o) for o in ours], claims_match)
    wrong = matches(
        [_at([c for c in g if c.hallucinated]) for g in gold],
        [o if o is None else _at([c for c in o if c.label in HALLUCINATED_LABELS]) for o in ours],
        claims_match,
    )
    yield from _match_scores("decomposition", cut)
    yield from _match_scores("localisation", wrong)
    pairs = [pair for g, o in zip(gold, ours, strict=True) for pair in _evidence(g, o or [])]
    matched = [(pieces, found) for pieces, found in pairs if found is not None]
    scores = evidence_scores([pieces for pieces, _ in matched], [found for _, found in matched])
    yield from plain_scores(
        share(len(matched), len(pairs)),
        ("evidence: partial", scores.partial.value, "matched claims", len(matched)),
        ("evidence: complete", scores.complete.value, "matched claims", len(matched)),
    )
    votes = [vote for g, o in zip(gold, ours, strict=True) for vote in _votes(g, o or [])]
    if votes:
        right = vote_accuracy([true for true, _ in votes], [vote for _, vote in votes])
        yield from plain_scores(
            right.coverage, ("evaluation: accuracy", right.value, "votes on pieces", right.n)
        )


def audit_scores(results: Sequence[Result]) -> Iterator[Score]:
    """How an audit did: what it left to people, of given labels that are on another side than the gold, and of the
    others. Over audited sentences that the gold speaks of; a sentence that nobody could read is left to people too.
    """
    audited = [
        (claim, gold)
        for result in results
        for claim in result.prediction.claims
        if claim.given not in (None, *NOT_AUDITED) and (gold := _gold_label(result, claim))
    ]
    wrong = [claim for claim, gold in audited if claim.given and SIDES[claim.given] != SIDES[gold]]
    left = [claim for claim, _ in audited if claim.label is None]
    caught = sum(claim.label is None for claim in wrong)
    unread = sum(claim.label is None and claim.failure != "disputed" for claim, _ in audited)
    n, n_right = len(audited), len(audited) - len(wrong)
    yield from plain_scores(
        share(n - unread, n),
        ("left to people", share(len(left), n), "audited sentences", n),
        ("wrong labels left to people", share(caught, len(wrong)), "wrong labels", len(wrong)),
        ("right labels left to people", share(len(left) - caught, n_right), "right labels", n_right),
        ("wrong among those left", share(caught, len(left)), "left to people", len(left)),
    )


def judge_scores(results: Sequence[Result]) -> Iterator[Score]:
    """Agreement of the panel, the arbiter's overrides, and what changes from run to run."""
    claims = [claim for result in results for claim in result.prediction.claims]
    for panels, over in (
        ([claim.votes for claim in claims], "claims with a panel"),
        ([votes for claim in claims for votes in claim.pieces], "pieces with a panel"),
    ):
        kappa = fleiss_kappa([votes for votes in panels if len(votes) > 1])
        if kappa.n:
            yield from plain_scores(kappa.coverage, ("Fleiss' kappa", kappa.value, over, kappa.n))
    split = [claim for claim in claims if claim.decided_by == "arbiter"]
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
    said = [{result.id: result.prediction.outcome for result in run} for run in runs.values()]
    flips = flip_rate([[run.get(example) for example in said[0]] for run in said])
    yield from plain_scores(None, (f"flip rate of {len(runs)} runs", flips.value, "responses", flips.n))
    for repeat, run in sorted(runs.items()):
        counts = sum_counts(map(response_counts, with_gold_outcome(run)))
        name, n = f"run {repeat + 1}: mean accuracy", counts.hallucinated + counts.faithful
        yield from plain_scores(coverage(counts), (name, mean_accuracy(counts), "two classes", n))


def _match_scores(step: str, scores: Matches) -> Iterator[Score]:
    yield from plain_scores(
        scores.coverage,
        (f"{step}: precision", scores.precision, "our claims", scores.n_predicted),
        (f"{step}: recall", scores.recall, "gold claims", scores.n_gold),
        (f"{step}: F1", scores.f1, "gold claims", scores.n_gold),
    )


def _evidence(
    gold: Sequence[GoldClaim], ours: Sequence[PredictedClaim]
) -> Iterator[tuple[list[Offsets], list[Offsets] | None]]:
    """For each gold claim with evidence: its pieces, and what our claims that match it found; None: no match."""
    for claim in gold:
        pieces = [(e.place.start, e.place.end) for e in claim.evidence if e.source == 0]
        if not pieces:
            continue
        matching = [c for c in ours if claims_match(*_at([claim]), *_at([c]))]
        found = [(e.start, e.end) for c in matching for e in c.evidence if e.source == 0]
        yield pieces, found if matching else None


def _votes(gold: Sequence[GoldClaim], ours: Sequence[PredictedClaim]) -> Iterator[tuple[bool, bool | None]]:
    """For each vote on a piece of a claim that matches an annotated one: whether that is true, and the vote."""
    for claim in ours:
        matching = [g for g in gold if claims_match(*_at([claim]), *_at([g]))] if claim.pieces else []
        if matching:
            true = not any(g.hallucinated for g in matching)
            for vote in chain.from_iterable(claim.pieces):
                yield true, None if vote is None else vote not in HALLUCINATED_LABELS


def _gold_label(result: Result, claim: PredictedClaim) -> Label | None:
    """The least faithful gold label of the parts that a claim's place meets."""
    met = [
        part.label
        for part in result.gold.parts or ()
        if part.label and part.place.start < claim.origin.end and claim.origin.start < part.place.end
    ]
    return min(met, key=LABELS.index, default=None)


def _at(claims: Sequence[GoldClaim] | Sequence[PredictedClaim]) -> list[ClaimAt]:
    return [ClaimAt(c.text, (c.origin.start, c.origin.end) if c.origin else None) for c in claims]
