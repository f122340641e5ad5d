"""Results to scores: which metrics a set gets follows from what its gold holds, not from its name.

Knows: the metrics of responses, parts, places and slices, and which gold each needs.
Does not know: data sets, verifiers, or how scores are shown.
"""

from collections.abc import Iterator, Sequence

from longproof.agent.report import price, total_usage
from longproof.evaluation.claim_scores import audit_scores, judge_scores, probe_scores
from longproof.evaluation.headlines import (
    class_scores,
    gold_places,
    headline,
    in_order,
    part_counts,
    response_counts,
    with_gold_outcome,
)
from longproof.evaluation.metrics.outcomes import hallucinated_by, hallucinated_by_position, pair_accuracy
from longproof.evaluation.metrics.spans import character_scores, mistake_scores
from longproof.evaluation.metrics.statistics import (
    Counts,
    coverage,
    f1,
    mean_accuracy,
    precision,
    recall,
    share,
    sum_counts,
)
from longproof.evaluation.metrics.verigray import risk_coverage, verigray_scores
from longproof.evaluation.results import Result, flagged_places, part_labels, response_labels
from longproof.evaluation.tables import Score, Section, plain_scores

RECALLED = ("kind", "pattern")
"""Slices that only hallucinated examples have: recall is all there is to give."""


def sections(results: Sequence[Result]) -> list[Section]:
    """All scores that the gold allows, in a fixed order. Empty sections are left out.

    An audit takes no side of its own: it has its section, and those of judges and cost. Where no model has read,
    the first section says how much the offline check can tell, and how often it is right.
    """
    audit = any(claim.given for result in results for claim in result.prediction.claims)
    own = Section(title="Audit of given labels", scores=tuple(audit_scores(results)))
    made = [
        Section(title="Without a model", scores=tuple(_offline(results))),
        *([own] if audit else _read_sections(results)),
        Section(title="Judges and runs", scores=tuple(judge_scores(results))),
        Section(title="Cost", scores=tuple(_cost(results))),
    ]
    return [section for section in made if section.scores]


def _offline(results: Sequence[Result]) -> Iterator[Score]:
    taken = [result for result in results if result.prediction.triage]
    if not taken:
        return
    claims = [claim for result in taken for claim in result.prediction.claims]
    decided = share(sum(claim.label is not None for claim in claims), len(claims))
    for name in ("precision of conflicts", "precision of what stands there"):
        yield headline(taken, name, decided)
    yield from plain_scores(None, ("coverage of claims", decided, "claims", len(claims)))


def _read_sections(results: Sequence[Result]) -> list[Section]:
    return [
        Section(title="Responses", scores=(*_responses(results), *_pairs(results))),
        Section(title="Responses, seven labels", scores=tuple(_labels(response_labels(results)))),
        Section(title="Parts", scores=tuple(_parts(results))),
        Section(title="Parts, seven labels", scores=tuple(_labels(part_labels(results)))),
        Section(title="Places", scores=tuple(_places(results))),
        Section(title="Claims (PROBE)", scores=tuple(probe_scores(results))),
        *_slices(results),
    ]


def _responses(results: Sequence[Result]) -> Iterator[Score]:
    taken = with_gold_outcome(results)
    if not taken:
        return
    for name in ("mean accuracy", "accuracy of hallucinated", "accuracy of faithful", "MCC"):
        yield headline(taken, name)
    yield from class_scores(sum_counts(map(response_counts, taken)), ("precision", "F1", "accuracy"))
    n, n_gray = len(results), len(results) - len(taken)
    if n_gray:
        yield from plain_scores(None, ("gray gold, in no score above", share(n_gray, n), "all", n))


def _pairs(results: Sequence[Result]) -> Iterator[Score]:
    paired = [result for result in results if result.pair is not None]
    if not paired:
        return
    said = [(r.prediction.outcome, r.gold.outcome) for r in paired]
    scores = pair_accuracy(
        [f"{r.pair} {r.repeat}" for r in paired],
        [None if outcome == "undecided" else outcome == gold for outcome, gold in said],
    )
    yield from plain_scores(scores.coverage, ("pair accuracy", scores.value, "pairs", scores.n))


def _labels(columns: Sequence[tuple[str, str | None]]) -> Iterator[Score]:
    if not columns:
        return
    gold, predicted = [g for g, _ in columns], [p for _, p in columns]
    (counts, loss), (_, kept) = (
        verigray_scores(gold, predicted, keep_no_fact=keep) for keep in (False, True)
    )
    unfaithful, called = counts.hallucinated, counts.called
    yield from plain_scores(
        coverage(counts),
        ("balanced accuracy", mean_accuracy(counts), "two classes", unfaithful + counts.faithful),
        ("hallucination recall", recall(counts), "unfaithful", unfaithful),
        ("hallucination precision", precision(counts), "called unfaithful", called),
        ("hallucination F1", f1(counts), "unfaithful", unfaithful),
    )
    for name, made in (("ranking loss", loss), ("ranking loss, no_fact kept", kept)):
        yield from plain_scores(made.coverage, (name, made.value, "ranked", made.n))
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
    if not any(result.gold.errors for result in marked):
        return
    gold, predicted = [gold_places(r) for r in marked], [flagged_places(r.prediction) for r in marked]
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
    names = {error.name for result in marked for error in result.gold.errors or () if error.name}
    for name in sorted(names):
        one = mistake_scores([gold_places(r, name) for r in marked], predicted)
        yield from plain_scores(decided, (f"places: recall of {name}", one.recall, "gold places", one.n_gold))


def _slices(results: Sequence[Result]) -> Iterator[Section]:
    for name in sorted({name for result in results for name in result.slices}):
        taken = [result for result in with_gold_outcome(results) if name in result.slices]
        scores = _slice_recalls(taken, name) if name in RECALLED else _by_slice(taken, name)
        yield Section(title=f"By {name}", scores=tuple(scores))
        if name == "position":
            yield Section(title="By position, the paper's four kinds", scores=tuple(_by_position(taken)))


def _slice_recalls(results: Sequence[Result], name: str) -> Iterator[Score]:
    slices, gold = [r.slices[name] for r in results], [str(r.gold.outcome) for r in results]
    predicted = [r.prediction.outcome for r in results]
    by_slice = hallucinated_by(slices, gold, predicted)
    yield from _recall_scores(by_slice)
    if name == "pattern":
        total = sum_counts(by_slice.values())
        missed = share(total.false_negative, total.hallucinated)
        yield from plain_scores(
            None, ("not recognised, all patterns", missed, "hallucinated", total.hallucinated)
        )


def _by_position(results: Sequence[Result]) -> Iterator[Score]:
    by_position = hallucinated_by_position(
        [r.slices["position"] for r in results],
        [r.slices.get("kind") for r in results],
        [str(r.gold.outcome) for r in results],
        [r.prediction.outcome for r in results],
    )
    yield from _recall_scores(by_position)


def _recall_scores(by_slice: dict[str, Counts]) -> Iterator[Score]:
    for value in in_order(by_slice):
        yield from class_scores(by_slice[value], ["recall"], after=f" of {value}")


def _by_slice(results: Sequence[Result], name: str) -> Iterator[Score]:
    for value in in_order(result.slices[name] for result in results):
        part = [result for result in results if result.slices[name] == value]
        counts = sum_counts(map(response_counts, part))
        yield from class_scores(counts, ("mean accuracy", "recall", "MCC"), before=f"{value}: ")


def _cost(results: Sequence[Result]) -> Iterator[Score]:
    n, claims = len(results), [claim for result in results for claim in result.prediction.claims]
    used = [result.prediction.usage for result in results]
    unchecked = sum(result.prediction.failure is not None for result in results)
    source = sum(result.source_characters for result in results)
    yield from plain_scores(
        None,
        ("responses that could not be checked", share(unchecked, n), "responses", n),
        ("claims a response", share(len(claims), n), "responses", n),
        ("undecided claims", share(sum(c.label is None for c in claims), len(claims)), "claims", len(claims)),
        ("calls a response", share(sum(u.calls for u in used), n), "responses", n),
        ("prompt tokens a response", share(sum(u.prompt_tokens for u in used), n), "responses", n),
        ("completion tokens a response", share(sum(u.completion_tokens for u in used), n), "responses", n),
        ("passes", share(sum(u.prompt_characters for u in used), source), "source characters", source),
        ("price", price(total_usage(used), source), "source characters", source),
    )
