"""The line that is kept of one checked example: the gold, and the report reduced to what scores need.

A line of a run's list is one `Result`. It holds no time and nothing that this run paid, so that a rerun gives the
same bytes. Does not know: scores, or how the report came about.
"""

from collections.abc import Iterable

from longproof.agent.report import WRONG, sentence_label
from longproof.agent.types import Label, Outcome, Place, Report, Usage
from longproof.evaluation.types import Gold
from longproof.graphs.papers.probe import PROBE
from longproof.graphs.runner import Ended
from longproof.retrieval.types import Frozen


class SourceAt(Frozen):
    """A place in the example's source with that index."""

    source: int
    start: int
    end: int


class PredictedClaim(Frozen):
    """A claim of the report. `votes` are the labels (None: a failure) of the panel's last question on it.

    Where single pieces of evidence are voted on (PROBE), `pieces` has such votes for each, and `votes` is empty.
    """

    text: str
    origin: Place
    label: Label | None
    failure: str | None
    flagged: tuple[Place, ...] = ()
    hint: Place | None = None
    """The words of the response that the check without a model gives a hint about."""
    evidence: tuple[SourceAt, ...] = ()
    votes: tuple[str | None, ...] = ()
    pieces: tuple[tuple[str | None, ...], ...] = ()


class PredictedSentence(Frozen):
    """A sentence of the report with its label."""

    start: int
    end: int
    label: Label | None


class Prediction(Frozen):
    """The report, reduced. `failure` is why there is no report; then all else is empty and undecided.

    `triage`: no model has read, only the offline check.
    """

    outcome: Outcome = "undecided"
    triage: bool = False
    sentences: tuple[PredictedSentence, ...] = ()
    claims: tuple[PredictedClaim, ...] = ()
    coverage: float = 0.0
    usage: Usage = Usage()
    failure: str | None = None


class Result(Ended):
    """The line of one example, checked once. `repeat` counts from 0."""

    id: str
    repeat: int
    task: str
    group: str
    pair: str | None
    slices: dict[str, str]
    source_characters: int
    gold: Gold
    prediction: Prediction


def prediction(report: Report) -> Prediction:
    """The report reduced."""
    sources = [document.id for document in report.documents if document.role == "source"]
    by_piece, claims = report.stamp.get("protocol") == PROBE.name, list[PredictedClaim]()
    for claim in report.claims:
        asked: dict[str, list[str | None]] = {}
        for judgement in claim.judgements:
            asked.setdefault(judgement.question_id, []).append(judgement.label)
        last = asked[claim.judgements[-1].question_id] if claim.judgements else []
        flagged, evidence = list[Place](), list[SourceAt]()
        for error in claim.errors if claim.label in WRONG else ():
            span = error.span
            flagged.append(Place(start=span.start, end=span.end, text=span.text))
        for span in claim.evidence:
            if span.source_id in sources:
                at = sources.index(span.source_id)
                evidence.append(SourceAt(source=at, start=span.start, end=span.end))
        words = claim.hint and claim.hint.words
        predicted = PredictedClaim(
            text=claim.text,
            origin=claim.origin,
            label=claim.label,
            failure=claim.failure,
            flagged=tuple(flagged),
            hint=Place(start=words.start, end=words.end, text=words.text) if words else None,
            evidence=tuple(evidence),
            votes=() if by_piece else tuple(last[:-1] if claim.decided_by == "arbiter" else last),
            pieces=tuple(map(tuple, asked.values())) if by_piece else (),
        )
        claims.append(predicted)
    return Prediction(
        outcome=report.verdict,
        triage=report.triage,
        sentences=tuple(PredictedSentence(start=s.start, end=s.end, label=s.label) for s in report.sentences),
        claims=tuple(claims),
        coverage=report.coverage,
        usage=report.usage,
    )


def flagged_places(predicted: Prediction) -> list[tuple[int, int]] | None:
    """The places called wrong; None where nothing was and something stayed undecided."""
    places = [(place.start, place.end) for claim in predicted.claims for place in claim.flagged]
    return places if places or predicted.outcome != "undecided" else None


def label_at(predicted: Prediction, place: Place) -> Label | None:
    """Our label of a part of the response: the sentence rule over the claims that speak for it.

    A claim speaks for the part that its origin meets; a wrong claim only for what its flagged places meet. A part
    for which only such a claim stands is implicitly_supported; one without any claim has its sentences' label.
    """
    met = [claim for claim in predicted.claims if _meet(place, [claim.origin])]
    if not met and not predicted.sentences:
        return None
    speaking = [claim.label for claim in met if not claim.flagged or _meet(place, claim.flagged)]
    if met and not speaking:
        return "implicitly_supported"
    return sentence_label(speaking or [one.label for one in predicted.sentences if _meet(place, [one])])


def gold_at(gold: Gold, place: Place) -> Outcome | None:
    """Gold's side on a place of the response: by marked places, else by parts, else by the whole; None where gray."""
    if gold.errors or (gold.errors is not None and gold.outcome == "faithful"):
        return "hallucinated" if _meet(place, [error.place for error in gold.errors]) else "faithful"
    sides = {part.outcome for part in gold.parts or () if _meet(place, [part.place])} or {gold.outcome}
    return "hallucinated" if "hallucinated" in sides else None if None in sides else "faithful"


def _meet(place: Place, others: Iterable[Place | PredictedSentence]) -> bool:
    return any(max(place.start, other.start) < min(place.end, other.end) for other in others)
