"""Results to scores: which metrics a set gets follows from what its gold holds, not from its name.

Knows: the metrics of responses, parts, places and slices, and which gold each needs.
Does not know: data sets, verifiers, or how scores are shown.
"""

from collections.abc import Iterator, Sequence

from longproof.evaluation.headlines import (
    Score,
    conflict_counts,
    flat,
    gold_places,
    headline,
    ordered,
    outcome_scores,
    sided,
    standing_counts,
    total,
)
from longproof.evaluation.metrics import (
    character_scores,
    failures_by_pattern,
    halueval_scores,
    longnovel_scores,
    mistake_scores,
    pair_accuracy,
    recall_by,
    recall_by_position,
    risk_coverage,
    verigray_scores,
)
from longproof.evaluation.metrics.counts import share
from longproof.evaluation.metrics.longnovel import Recall
from longproof.evaluation.results import Result, flagged, label_at, outcome_at
from longproof.evaluation.steps import audit_scores, claim_scores, judge_scores
from longproof.retrieval.types import Frozen

RECALLED = ("kind", "pattern")
"""Slices that only hallucinated examples have: recall is all there is to give."""


class Section(Frozen):
    """Scores that belong together."""

    title: str
    scores: tuple[Score, ...]


def sections(results: Sequence[Result]) -> list[Section]:
    """All scores that the results' gold allows, in a fixed order. Empty sections are left out.

    An audit takes no side of its own: it has its section, and those of judges and cost. Where no model has read,
    the first section says how much the offline check can tell, and how often it is right.
    """
    audit = any(claim.given for result in results for claim in result.prediction.claims)
    own = Section(title="Audit of given labels", scores=tuple(audit_scores(results)))
    made = [
        Section(title="Without a model", scores=tuple(_offline(results))),
        *([own] if audit else _checked(results)),
        Section(title="Judges and runs", scores=tuple(judge_scores(results))),
        Section(title="Cost", scores=tuple(_cost(results))),
    ]
    return [section for section in made if section.scores]


def _offline(results: Sequence[Result]) -> Iterator[Score]:
    taken = [result for result in results if result.prediction.triage]
    if not taken:
        return
    claims = [claim for result in taken for claim in result.prediction.claims]
    decided = sum(claim.label is not None for claim in claims)
    coverage = share(decided, len(claims))
    for name, counted, over in (
        ("precision of conflicts", conflict_counts, "conflicting claims"),
        ("precision of what stands there", standing_counts, "claims that stand there"),
    ):
        counts = total(map(counted, taken))
        n = int(counts.true_positive + counts.false_positive)
        yield headline(taken, name, over, n, coverage)
    yield from flat(None, ("coverage of claims", coverage, "claims", len(claims)))


def _checked(results: Sequence[Result]) -> list[Section]:
    return [
        Section(title="Responses", scores=(*_responses(results), *_pairs(results))),
        Section(title="Responses, seven labels", scores=tuple(_labels(_response_labels(results)))),
        Section(title="Parts", scores=tuple(_parts(results))),
        Section(title="Parts, seven labels", scores=tuple(_labels(_part_labels(results)))),
        Section(title="Places", scores=tuple(_places(results))),
        Section(title="Claims (PROBE)", scores=tuple(claim_scores(results))),
        *_slices(results),
    ]


def _responses(results: Sequence[Result]) -> Iterator[Score]:
    taken = sided(results)
    if not taken:
        return
    scores, n = outcome_scores(taken), len(taken)
    hallucinated, called = scores["n_hallucinated"], scores["n_called_hallucinated"]
    accuracy = halueval_scores([str(r.gold.outcome) for r in taken], [r.prediction.outcome for r in taken])
    yield headline(taken, "mean accuracy", "two classes", n, scores["coverage"])
    yield headline(taken, "accuracy of hallucinated", "hallucinated", hallucinated, scores["coverage"])
    yield headline(taken, "accuracy of faithful", "faithful", scores["n_faithful"], scores["coverage"])
    yield headline(taken, "MCC", "responses", n, scores["coverage"])
    yield from flat(
        scores["coverage"],
        ("precision", scores["hallucination_precision"], "called hallucinated", called),
        ("F1", scores["hallucination_f1"], "hallucinated", hallucinated),
        ("accuracy", accuracy["accuracy"], "responses", n),
    )
    n_gray = len(results) - n
    if n_gray:
        yield from flat(
            None, ("gray gold, in no score above", share(n_gray, len(results)), "all", len(results))
        )


def _pairs(results: Sequence[Result]) -> Iterator[Score]:
    paired = [result for result in results if result.pair is not None]
    if not paired:
        return
    said = [(r.prediction.outcome, r.gold.outcome) for r in paired]
    scores = pair_accuracy(
        [f"{r.pair} {r.repeat}" for r in paired],
        [None if outcome == "undecided" else outcome == gold for outcome, gold in said],
    )
    yield from flat(
        scores["coverage"], ("pair accuracy", scores["pair_accuracy"], "pairs", scores["n_pairs"])
    )


Columns = list[tuple[str, str | None]]


def _response_labels(results: Sequence[Result]) -> Columns:
    """Gold and predicted label of every response; empty unless all have a gold label."""
    found = [(r.gold.label, r.prediction.label) for r in results]
    return [] if any(gold is None for gold, _ in found) else [(str(gold), said) for gold, said in found]


def _part_labels(results: Sequence[Result]) -> Columns:
    parts = [(result.prediction, part) for result in results for part in result.gold.parts or ()]
    if any(part.label is None for _, part in parts):
        return []
    return [(str(part.label), label_at(predicted, part.place)) for predicted, part in parts]


def _labels(columns: Columns) -> Iterator[Score]:
    if not columns:
        return
    gold, predicted = [g for g, _ in columns], [p for _, p in columns]
    scores, kept = verigray_scores(gold, predicted), verigray_scores(gold, predicted, keep_no_fact=True)
    unfaithful, called = scores["n_unfaithful"], scores["n_called_unfaithful"]
    yield from flat(
        scores["coverage"],
        ("balanced accuracy", scores["balanced_accuracy"], "two classes", unfaithful + scores["n_faithful"]),
        ("hallucination recall", scores["hallucination_recall"], "unfaithful", unfaithful),
        ("hallucination precision", scores["hallucination_precision"], "called unfaithful", called),
        ("hallucination F1", scores["hallucination_f1"], "unfaithful", unfaithful),
    )
    for name, made in (("ranking loss", scores), ("ranking loss, no_fact kept", kept)):
        yield from flat(made["coverage_ranked"], (name, made["ranking_loss"], "ranked", made["n_ranked"]))
    for threshold, chosen in risk_coverage(gold, predicted).items():
        name = f"risk at {threshold} or above"
        yield from flat(chosen["coverage"], (name, chosen["risk"], "accepted", chosen["n_accepted"]))


def _parts(results: Sequence[Result]) -> Iterator[Score]:
    parts = [(r.prediction, part) for r in results for part in r.gold.parts or () if part.outcome is not None]
    if not parts:
        return
    scores = longnovel_scores(
        [str(part.outcome) for _, part in parts], [outcome_at(said, part.place) for said, part in parts]
    )
    hallucinated, called = scores["n_hallucinated"], scores["n_called_hallucinated"]
    yield headline(results, "parts: mean accuracy", "two classes", len(parts), scores["coverage"])
    yield from flat(
        scores["coverage"],
        ("parts: recall", scores["accuracy_of_hallucinated"], "hallucinated", hallucinated),
        ("parts: accuracy of faithful", scores["accuracy_of_faithful"], "faithful", scores["n_faithful"]),
        ("parts: precision", scores["hallucination_precision"], "called hallucinated", called),
        ("parts: F1", scores["hallucination_f1"], "hallucinated", hallucinated),
    )


def _places(results: Sequence[Result]) -> Iterator[Score]:
    marked = [result for result in results if result.gold.errors is not None]
    if not any(result.gold.errors for result in marked):
        return
    gold, predicted = [gold_places(r) for r in marked], [flagged(r.prediction) for r in marked]
    characters, whole = character_scores(gold, predicted), mistake_scores(gold, predicted)
    coverage, n_gold = characters["coverage"], characters["n_gold_characters"]
    n_flagged = characters["n_flagged_characters"]
    yield headline(marked, "characters: F1", "gold characters", n_gold, coverage)
    yield from flat(
        coverage,
        ("characters: precision", characters["precision"], "flagged characters", n_flagged),
        ("characters: recall", characters["recall"], "gold characters", n_gold),
        ("places: precision", whole["precision"], "flagged places", whole["n_flagged"]),
        ("places: recall", whole["recall"], "gold places", whole["n_gold"]),
    )
    names = {error.name for result in marked for error in result.gold.errors or () if error.name}
    for name in sorted(names):
        one = mistake_scores([gold_places(r, name) for r in marked], predicted)
        yield from flat(coverage, (f"places: recall of {name}", one["recall"], "gold places", one["n_gold"]))


def _slices(results: Sequence[Result]) -> Iterator[Section]:
    for name in sorted({name for result in results for name in result.slices}):
        taken = [result for result in sided(results) if name in result.slices]
        rows = _recalled(taken, name) if name in RECALLED else _by_slice(taken, name)
        yield Section(title=f"By {name}", scores=tuple(rows))
        if name == "position":
            yield Section(title="By position, the paper's four kinds", scores=tuple(_by_position(taken)))


def _recalled(results: Sequence[Result], name: str) -> Iterator[Score]:
    slices, gold = [r.slices[name] for r in results], [str(r.gold.outcome) for r in results]
    predicted = [r.prediction.outcome for r in results]
    yield from _recall_rows(recall_by(slices, gold, predicted))
    if name == "pattern":
        failed = sum(row["n_failed"] for row in failures_by_pattern(slices, gold, predicted).values())
        n = gold.count("hallucinated")
        yield from flat(None, ("not recognised, all patterns", share(failed, n), "hallucinated", n))


def _by_position(results: Sequence[Result]) -> Iterator[Score]:
    rows = recall_by_position(
        [r.slices["position"] for r in results],
        [r.slices.get("kind") for r in results],
        [str(r.gold.outcome) for r in results],
        [r.prediction.outcome for r in results],
    )
    yield from _recall_rows(rows)


def _recall_rows(rows: dict[str, Recall]) -> Iterator[Score]:
    for value in ordered(rows):
        row = rows[value]
        yield from flat(
            row["coverage"], (f"recall of {value}", row["recall"], "hallucinated", row["n_hallucinated"])
        )


def _by_slice(results: Sequence[Result], name: str) -> Iterator[Score]:
    for value in ordered(result.slices[name] for result in results):
        part = [result for result in results if result.slices[name] == value]
        scores = outcome_scores(part)
        hallucinated = scores["n_hallucinated"]
        yield from flat(
            scores["coverage"],
            (f"{value}: mean accuracy", scores["mean_accuracy"], "two classes", len(part)),
            (f"{value}: recall", scores["accuracy_of_hallucinated"], "hallucinated", hallucinated),
            (f"{value}: MCC", scores["mcc"], "responses", len(part)),
        )


def _cost(results: Sequence[Result]) -> Iterator[Score]:
    n, claims = len(results), [claim for result in results for claim in result.prediction.claims]
    used = [result.prediction.usage for result in results]
    unchecked = sum(result.prediction.failure is not None for result in results)
    source = sum(result.source_characters for result in results)
    yield from flat(
        None,
        ("responses that could not be checked", share(unchecked, n), "responses", n),
        ("claims a response", share(len(claims), n), "responses", n),
        ("undecided claims", share(sum(c.label is None for c in claims), len(claims)), "claims", len(claims)),
        ("calls a response", share(sum(u.calls for u in used), n), "responses", n),
        ("prompt tokens a response", share(sum(u.prompt_tokens for u in used), n), "responses", n),
        ("completion tokens a response", share(sum(u.completion_tokens for u in used), n), "responses", n),
        ("passes", share(sum(u.prompt_characters for u in used), source), "source characters", source),
    )
