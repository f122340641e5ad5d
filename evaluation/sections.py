"""Results to scores: which metrics a set gets follows from what its gold holds, not from its name.

Knows: that a vote on a piece of evidence of a true claim should be for it, of a hallucinated one against it (PROBE
counts only the annotated pieces). Does not know: data sets, verifiers, or how scores are shown.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from longproof.agent.report import WRONG, price, total_usage
from longproof.agent.types import KINDS, Label
from longproof.evaluation.metrics import (
    POSITION_KINDS,
    Counts,
    Offsets,
    Rate,
    claims_match,
    decided_share,
    evidence_scores,
    fleiss_kappa,
    flip_rate,
    matches,
    mistake_scores,
    pair_accuracy,
    ranking_loss,
    risk_coverage,
    share,
    sum_counts,
    unfaithful_counts,
    vote_accuracy,
)
from longproof.evaluation.results import PredictedClaim, Result, flagged_places, label_at
from longproof.evaluation.scores import (
    CLASS_RATES,
    Score,
    Section,
    class_scores,
    flagged_counts,
    gold_places,
    headline,
    part_counts,
    rate_score,
    response_counts,
)
from longproof.evaluation.types import GoldClaim

RECALLED = ("kind", "pattern")
"""Slices that only hallucinated examples have: recall is all there is to give."""
ORDERED = ("S", "M", "L", "XL", "XXL", "begin", "middle", "end", *KINDS)
ORDER = {value: rank for rank, value in enumerate(ORDERED)}
"""Values of slices that have an order of their own."""


def sections(results: Sequence[Result]) -> list[Section]:
    """All scores that the gold allows, in a fixed order. Empty sections are left out.

    Where no model has read, the first section says how much the offline check can tell, and how often it is right.
    """
    scores: dict[str, Iterable[Score]] = {
        "Without a model": _offline(results),
        "Responses": _responses(results),
        "Parts": _parts(results),
        "Parts, seven labels": _labels(results),
        "Places": _places(results),
        "Claims (PROBE)": _probe_scores(results),
        **_slices(results),
        "Judges and runs": _judge_scores(results),
        "Cost": _cost(results),
    }
    found = list[Section]()
    for title, of_section in scores.items():
        if kept := tuple(of_section):
            found.append(Section(title=title, scores=kept))
    return found


def _offline(results: Sequence[Result]) -> Iterator[Score]:
    unread = [result for result in results if result.prediction.triage]
    labels = list[Label | None]()
    for result in unread:
        labels += [claim.label for claim in result.prediction.claims]
    if not unread:
        return
    decided = share(len(labels) - labels.count(None), len(labels))
    for name in ("precision of hints", "precision of what stands there"):
        yield headline(unread, name).model_copy(update={"coverage": decided})
    yield rate_score("coverage of claims", "claims", Rate(decided, len(labels)))


def _responses(results: Sequence[Result]) -> Iterator[Score]:
    counts, n = sum_counts(map(response_counts, results)), len(results)
    if counts.all:
        for name in ("mean accuracy", "accuracy of hallucinated", "accuracy of faithful", "MCC"):
            yield headline(results, name)
        yield from class_scores(counts, ("precision", "F1", "accuracy"))
        if n_gray := n - counts.all:
            yield rate_score("gray gold, in no score above", "all", Rate(share(n_gray, n), n))
    names, right = list[str](), list[bool | None]()
    for result in results:
        if result.pair is not None:
            outcome = result.prediction.outcome
            names.append(f"{result.pair} {result.repeat}")
            right.append(None if outcome == "undecided" else outcome == result.gold.outcome)
    if names:
        yield rate_score("pair accuracy", "pairs", pair_accuracy(names, right))


def _parts(results: Sequence[Result]) -> Iterator[Score]:
    counts = sum_counts(map(part_counts, results))
    if counts.all:
        yield headline(results, "parts: mean accuracy")
        names = ("recall", "accuracy of faithful", "precision", "F1")
        yield from class_scores(counts, names, before="parts: ")


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
    counts = unfaithful_counts(gold, predicted)
    yield CLASS_RATES["mean accuracy"].score("balanced accuracy", counts)
    yield from class_scores(counts, ("recall", "precision", "F1"), before="hallucination ")
    yield rate_score("ranking loss", "ranked", ranking_loss(gold, predicted))
    with_no_fact = ranking_loss(gold, predicted, keep_no_fact=True)
    yield rate_score("ranking loss, no_fact kept", "ranked", with_no_fact)
    for threshold, risk in risk_coverage(gold, predicted).items():
        yield rate_score(f"risk at {threshold} or above", "accepted", risk)


def _places(results: Sequence[Result]) -> Iterator[Score]:
    marked, names = [result for result in results if result.gold.errors is not None], set[str]()
    gold, predicted = list(map(gold_places, marked)), [flagged_places(r.prediction) for r in marked]
    if not any(gold):
        return
    characters, coverage = sum_counts(map(flagged_counts, marked)), {"coverage": decided_share(predicted)}
    yield headline(marked, "characters: F1").model_copy(update=coverage)
    for name, over in (("precision", "flagged characters"), ("recall", "gold characters")):
        score = CLASS_RATES[name]._replace(over=over).score(f"characters: {name}", characters)
        yield score.model_copy(update=coverage)
    whole = mistake_scores(gold, predicted)
    yield rate_score("places: precision", "flagged places", whole.precision)
    yield rate_score("places: recall", "gold places", whole.recall)
    for result in marked:
        names.update(error.name for error in result.gold.errors or ())
    for name in sorted(names - {""}):
        own = mistake_scores([gold_places(r, name) for r in marked], predicted)
        yield rate_score(f"places: recall of {name}", "gold places", own.recall)


def _slices(results: Sequence[Result]) -> dict[str, Iterable[Score]]:
    """The scores of each slice's values, by the title of their section."""
    names, scores = set[str](), dict[str, Iterable[Score]]()
    for result in results:
        names.update(result.slices)
    for name in sorted(names):
        own = [result for result in results if name in result.slices and result.gold.outcome is not None]
        wrong = [result for result in own if result.gold.outcome == "hallucinated"]
        recalled = name in RECALLED
        scores[f"By {name}"] = _slice_scores(wrong if recalled else own, name, recalled=recalled)
        if name == "position":
            median = [result for result in wrong if result.slices.get("kind") in POSITION_KINDS]
            scores["By position, the paper's four kinds"] = _slice_scores(median, name, recalled=True)
    return scores


def _slice_scores(results: Sequence[Result], name: str, *, recalled: bool) -> Iterator[Score]:
    """The scores of each value: scales, positions and kinds in their own order, others by name.

    Recall alone is LongNovel's by kind and position; what it leaves are HaluEval's failures by pattern (table 7).
    """
    by_value: dict[str, list[Counts]] = defaultdict(list)
    for result in results:
        by_value[result.slices[name]].append(response_counts(result))
    for value in sorted(by_value, key=lambda value: (ORDER.get(value, len(ORDER)), value)):
        counts = sum_counts(by_value[value])
        if recalled:
            yield from class_scores(counts, ["recall"], after=f" of {value}")
        else:
            yield from class_scores(counts, ("mean accuracy", "recall"), before=f"{value}: ")


def _cost(results: Sequence[Result]) -> Iterator[Score]:
    n, n_claims, n_undecided, n_unchecked, source = len(results), 0, 0, 0, 0
    for result in results:
        n_claims += len(result.prediction.claims)
        n_undecided += sum(claim.label is None for claim in result.prediction.claims)
        n_unchecked += result.prediction.failure is not None
        source += result.source_characters
    used = total_usage([result.prediction.usage for result in results])
    for name, over, amount, whole in (
        ("responses that could not be checked", "responses", n_unchecked, n),
        ("claims a response", "responses", n_claims, n),
        ("undecided claims", "claims", n_undecided, n_claims),
        ("calls a response", "responses", used.calls, n),
        ("prompt tokens a response", "responses", used.prompt_tokens, n),
        ("completion tokens a response", "responses", used.completion_tokens, n),
        ("passes", "source characters", used.prompt_characters, source),
    ):
        yield rate_score(name, over, Rate(share(amount, whole), whole))
    yield rate_score("price", "source characters", Rate(price(used, source), source))


def _probe_scores(results: Sequence[Result]) -> Iterator[Score]:
    """PROBE's steps, where claims are annotated. Evidence and votes are over claims matched in step 1."""
    annotated = [result for result in results if result.gold.claims is not None]
    if not annotated:
        return
    for step, every in (("decomposition", True), ("localisation", False)):
        gold, ours = list[list[GoldClaim]](), list[list[PredictedClaim] | None]()
        for result in annotated:
            gold.append([claim for claim in result.gold.claims or () if every or claim.hallucinated])
            found = [claim for claim in result.prediction.claims if every or claim.label in WRONG]
            ours.append(None if result.prediction.failure else found)
        scores = matches(gold, ours, claims_match)
        yield rate_score(f"{step}: precision", "our claims", scores.precision)
        yield rate_score(f"{step}: recall", "gold claims", scores.recall)
        yield rate_score(f"{step}: F1", "gold claims", scores.f1)
    yield from _evidence_and_votes(annotated)


def _evidence_and_votes(annotated: Sequence[Result]) -> Iterator[Score]:
    """Steps 2 and 3, over the claims that match an annotated one."""
    n_with_evidence, pieces, places = 0, list[list[Offsets]](), list[list[Offsets]]()
    supports, votes = list[bool](), list[bool | None]()
    for result in annotated:
        for gold in result.gold.claims or ():
            if gold.evidence:
                n_with_evidence += 1
                matching = [c for c in result.prediction.claims if claims_match(gold, c)]
                if matching:
                    pieces.append([(piece.start, piece.end) for piece in gold.evidence])
                    hits = chain.from_iterable(claim.evidence for claim in matching)
                    places.append([(hit.start, hit.end) for hit in hits if hit.source == 0])
        for claim in result.prediction.claims:
            about = [g for g in result.gold.claims or () if claim.pieces and claims_match(claim, g)]
            for vote in chain.from_iterable(claim.pieces if about else ()):
                supports.append(not any(gold.hallucinated for gold in about))
                votes.append(None if vote is None else vote not in WRONG)
    decided = share(len(pieces), n_with_evidence)
    for name, rate in zip(("partial", "complete"), evidence_scores(pieces, places), strict=True):
        yield rate_score(f"evidence: {name}", "matched claims", rate._replace(coverage=decided))
    if votes:
        yield rate_score("evaluation: accuracy", "votes on pieces", vote_accuracy(supports, votes))


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
            yield rate_score("Fleiss' kappa", over, kappa)
    outcomes: dict[int, dict[str, str]] = {}
    for result in results:
        outcomes.setdefault(result.repeat, {})[result.id] = result.prediction.outcome
    if len(outcomes) > 1:
        flips = flip_rate([[run.get(example) for example in outcomes[0]] for run in outcomes.values()])
        yield rate_score(f"flip rate of {len(outcomes)} runs", "responses", flips)
