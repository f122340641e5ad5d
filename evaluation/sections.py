"""Results to scores: which metrics a set gets follows from what its gold holds, not from its name.

Knows: the metrics of responses, parts, places, slices and claims, and which gold each needs; that a vote on a piece
of evidence of a true claim should be for it, of a hallucinated one against it (PROBE counts only the annotated pieces
of true claims; which piece a vote was on is not kept). Does not know: data sets, verifiers, or how scores are shown.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from longproof.agent.report import price, total_usage
from longproof.agent.types import KINDS
from longproof.evaluation.metrics.outcomes import POSITION_KINDS, flip_rate, hallucinated_by, pair_accuracy
from longproof.evaluation.metrics.probe import ClaimAt, claims_match, evidence_scores, vote_accuracy
from longproof.evaluation.metrics.spans import Offsets, character_scores, mistake_scores
from longproof.evaluation.metrics.statistics import (
    HALLUCINATED_LABELS,
    coverage,
    f1,
    fleiss_kappa,
    matches,
    mean_accuracy,
    precision,
    recall,
    share,
    sum_counts,
)
from longproof.evaluation.metrics.verigray import risk_coverage, verigray_scores
from longproof.evaluation.results import PredictedClaim, Result, flagged_places, label_at
from longproof.evaluation.scores import (
    Score,
    Section,
    class_scores,
    gold_places,
    headline,
    part_counts,
    plain_scores,
    response_counts,
)
from longproof.evaluation.types import GoldClaim

RECALLED = ("kind", "pattern")
"""Slices that only hallucinated examples have: recall is all there is to give."""
ORDER = ("S", "M", "L", "XL", "XXL", "begin", "middle", "end", *KINDS)
"""Values of slices that have an order of their own."""


def sections(results: Sequence[Result]) -> list[Section]:
    """All scores that the gold allows, in a fixed order. Empty sections are left out.

    Where no model has read, the first section says how much the offline check can tell, and how often it is right.
    """
    scores: dict[str, Iterable[Score]] = {
        "Without a model": _offline(results),
        "Responses": [*_responses(results), *_pairs(results)],
        "Parts": _parts(results),
        "Parts, seven labels": _labels(results),
        "Places": _places(results),
        "Claims (PROBE)": _probe_scores(results),
        **_slices(results),
        "Judges and runs": _judge_scores(results),
        "Cost": _cost(results),
    }
    made = [Section(title=title, scores=tuple(found)) for title, found in scores.items()]
    return [section for section in made if section.scores]


def _offline(results: Sequence[Result]) -> Iterator[Score]:
    unread = [result for result in results if result.prediction.triage]
    if not unread:
        return
    n = sum(len(result.prediction.claims) for result in unread)
    n_decided = sum(claim.label is not None for result in unread for claim in result.prediction.claims)
    decided = share(n_decided, n)
    for name in ("precision of conflicts", "precision of what stands there"):
        yield headline(unread, name, decided)
    yield from plain_scores(None, ("coverage of claims", decided, "claims", n))


def _responses(results: Sequence[Result]) -> Iterator[Score]:
    counts = sum_counts(map(response_counts, results))
    if not counts.all:
        return
    for name in ("mean accuracy", "accuracy of hallucinated", "accuracy of faithful", "MCC"):
        yield headline(results, name)
    yield from class_scores(counts, ("precision", "F1", "accuracy"))
    n_gray = len(results) - counts.all
    if n_gray:
        yield from plain_scores(
            None, ("gray gold, in no score above", share(n_gray, len(results)), "all", len(results))
        )


def _pairs(results: Sequence[Result]) -> Iterator[Score]:
    names, right = list[str](), list[bool | None]()
    for result in results:
        if result.pair is not None:
            outcome = result.prediction.outcome
            names.append(f"{result.pair} {result.repeat}")
            right.append(None if outcome == "undecided" else outcome == result.gold.outcome)
    if names:
        scores = pair_accuracy(names, right)
        yield from plain_scores(scores.coverage, ("pair accuracy", scores.value, "pairs", scores.n))


def _labels(results: Sequence[Result]) -> Iterator[Score]:
    """VeriGray's scores, where every gold part has one of the seven labels."""
    gold, predicted = list[str](), list[str | None]()
    for result in results:
        for part in result.gold.parts or ():
            if part.label is None:
                return
            gold.append(part.label)
            predicted.append(label_at(result.prediction, part.place))
    if not gold:
        return
    counts, loss = verigray_scores(gold, predicted)
    _, loss_with_no_fact = verigray_scores(gold, predicted, keep_no_fact=True)
    unfaithful = counts.hallucinated
    yield from plain_scores(
        coverage(counts),
        ("balanced accuracy", mean_accuracy(counts), "two classes", counts.all),
        ("hallucination recall", recall(counts), "unfaithful", unfaithful),
        ("hallucination precision", precision(counts), "called unfaithful", counts.called),
        ("hallucination F1", f1(counts), "unfaithful", unfaithful),
    )
    for name, found in (("ranking loss", loss), ("ranking loss, no_fact kept", loss_with_no_fact)):
        yield from plain_scores(found.coverage, (name, found.value, "ranked", found.n))
    for threshold, risk in risk_coverage(gold, predicted).items():
        name = f"risk at {threshold} or above"
        yield from plain_scores(risk.coverage, (name, risk.value, "accepted", risk.n))


def _parts(results: Sequence[Result]) -> Iterator[Score]:
    counts = sum_counts(map(part_counts, results))
    if counts.all:
        yield headline(results, "parts: mean accuracy")
        names = ("recall", "accuracy of faithful", "precision", "F1")
        yield from class_scores(counts, names, before="parts: ")


def _places(results: Sequence[Result]) -> Iterator[Score]:
    marked = [result for result in results if result.gold.errors is not None]
    gold, predicted = [gold_places(r) for r in marked], [flagged_places(r.prediction) for r in marked]
    if not any(gold):
        return
    characters, whole = character_scores(gold, predicted), mistake_scores(gold, predicted)
    n_gold, decided = characters.n_gold, characters.coverage
    yield headline(marked, "characters: F1", decided)
    yield from plain_scores(
        decided,
        ("characters: precision", characters.precision, "flagged characters", characters.n_predicted),
        ("characters: recall", characters.recall, "gold characters", n_gold),
        ("places: precision", whole.precision, "flagged places", whole.n_predicted),
        ("places: recall", whole.recall, "gold places", whole.n_gold),
    )
    names = {error.name for result in marked for error in result.gold.errors or ()}
    for name in sorted(names - {""}):
        one = mistake_scores([gold_places(r, name) for r in marked], predicted)
        yield from plain_scores(decided, (f"places: recall of {name}", one.recall, "gold places", one.n_gold))


def _slices(results: Sequence[Result]) -> dict[str, Iterable[Score]]:
    """The scores of each slice's values, by the title of their section."""
    names, scores = set[str](), dict[str, Iterable[Score]]()
    for result in results:
        names.update(result.slices)
    for name in sorted(names):
        own = [result for result in results if name in result.slices and result.gold.outcome is not None]
        scores[f"By {name}"] = _recalls(own, name) if name in RECALLED else _by_slice(own, name)
        if name == "position":
            median = [result for result in own if result.slices.get("kind") in POSITION_KINDS]
            scores["By position, the paper's four kinds"] = _recalls(median, name)
    return scores


def _recalls(results: Sequence[Result], name: str) -> Iterator[Score]:
    values, gold = [r.slices[name] for r in results], [str(r.gold.outcome) for r in results]
    by_value = hallucinated_by(values, gold, [r.prediction.outcome for r in results])
    for value in in_order(by_value):
        yield from class_scores(by_value[value], ["recall"], after=f" of {value}")


def _by_slice(results: Sequence[Result], name: str) -> Iterator[Score]:
    by_value: dict[str, list[Result]] = {}
    for result in results:
        by_value.setdefault(result.slices[name], []).append(result)
    for value in in_order(by_value):
        counts = sum_counts(map(response_counts, by_value[value]))
        yield from class_scores(counts, ("mean accuracy", "recall"), before=f"{value}: ")


def in_order(values: Iterable[str]) -> list[str]:
    """Values of a slice: scales, positions and kinds in their own order, others by name."""
    return sorted(values, key=lambda value: (ORDER.index(value) if value in ORDER else len(ORDER), value))


def _cost(results: Sequence[Result]) -> Iterator[Score]:
    n, n_claims, n_undecided, n_unchecked, source = len(results), 0, 0, 0, 0
    for result in results:
        n_claims += len(result.prediction.claims)
        n_undecided += sum(claim.label is None for claim in result.prediction.claims)
        n_unchecked += result.prediction.failure is not None
        source += result.source_characters
    used = total_usage([result.prediction.usage for result in results])
    yield from plain_scores(
        None,
        ("responses that could not be checked", share(n_unchecked, n), "responses", n),
        ("claims a response", share(n_claims, n), "responses", n),
        ("undecided claims", share(n_undecided, n_claims), "claims", n_claims),
        ("calls a response", share(used.calls, n), "responses", n),
        ("prompt tokens a response", share(used.prompt_tokens, n), "responses", n),
        ("completion tokens a response", share(used.completion_tokens, n), "responses", n),
        ("passes", share(used.prompt_characters, source), "source characters", source),
        ("price", price(used, source), "source characters", source),
    )


def _probe_scores(results: Sequence[Result]) -> Iterator[Score]:
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


def _judge_scores(results: Sequence[Result]) -> Iterator[Score]:
    """Agreement of the panel, and what changes from run to run."""
    by_claim, by_piece = list[Sequence[str | None]](), list[Sequence[str | None]]()
    for result in results:
        for claim in result.prediction.claims:
            by_claim.append(claim.votes)
            by_piece += claim.pieces
    for panels, over in ((by_claim, "claims with a panel"), (by_piece, "pieces with a panel")):
        asked = {len(votes) for votes in panels}
        # Where the last judges are asked only about what the first doubt, kappa would be told wrong.
        kappa = fleiss_kappa([votes for votes in panels if len(votes) > 1])
        if kappa.n and len(asked - {1}) == 1:
            yield from plain_scores(kappa.coverage, ("Fleiss' kappa", kappa.value, over, kappa.n))
    outcomes: dict[int, dict[str, str]] = {}
    for result in results:
        outcomes.setdefault(result.repeat, {})[result.id] = result.prediction.outcome
    if len(outcomes) > 1:
        flips = flip_rate([[run.get(example) for example in outcomes[0]] for run in outcomes.values()])
        name = f"flip rate of {len(outcomes)} runs"
        yield from plain_scores(None, (name, flips.value, "responses", flips.n))
