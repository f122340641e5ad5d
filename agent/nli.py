"""A judge that runs a natural-language-inference model (a sentence-transformers CrossEncoder) on passages.

Knows: a claim holds if some passage entails it, so more text never takes support away; it is contradicted if none
does and some passage contradicts it; otherwise it is not found. Labels are read from the model's own configuration.
Does not know: several passages at once, kinds, corrections. An entailed claim counts as implicitly supported, since
such a model can't tell whether something is said outright. Needs the extra `bge`.
"""

import asyncio
from collections.abc import Sequence
from threading import Lock
from typing import Any, Literal, NamedTuple

from longproof.agent.evidence.citations import on_one_line
from longproof.agent.evidence.scan import Noted
from longproof.agent.types import Answered, Case, Claim, JudgeLabel, Judgement, Question
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput, Line, Span

Relation = Literal["entailment", "neutral", "contradiction"]

PASSAGE_CHARACTERS = 400
"""Passages are whole sentences packed to so many characters: such models read about 512 tokens."""
BELIEVED = 0.5
"""The least probability at which a relation is believed."""


class Scores(NamedTuple):
    """Probabilities of the three relations for one passage and one claim."""

    entailment: float
    neutral: float
    contradiction: float


class NliJudge:
    """One CrossEncoder as a judge, run in a thread, one question at a time, where torch finds a device."""

    def __init__(self, name: str, model: str) -> None:
        """Load the model from a folder, or by its name on the hub.

        Raises BadInput where the extra is missing, the model can't be loaded, or its labels are others.
        """
        self.name = name
        self._encoder = _load(model)
        self._order = relations(_labels(self._encoder), model)
        self._lock = Lock()

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """One judgement for each of `claims`, in their order; nothing is paid."""
        found = await asyncio.to_thread(self._judge_all, question, claims)
        return Answered(found, [])

    async def scan(self, claims: Sequence[Claim], pieces: Sequence[Sequence[Line]], case: Case) -> Noted:
        """For each claim the lines of the passage that supports it best, and of the one that contradicts it best,
        where these are believed; nothing is paid."""
        packed = [passage for piece in pieces for passage in packed_lines(piece)]
        try:
            found = [await asyncio.to_thread(self._note_lines, claim, packed) for claim in claims]
        except RuntimeError:
            return Noted({}, {claim.id: "unavailable" for claim in claims}, [])
        noted = zip(claims, found, strict=True)
        return Noted({claim.id: numbers for claim, numbers in noted if numbers}, {}, [])

    def _note_lines(self, claim: Claim, packed: Sequence[Sequence[Line]]) -> tuple[int, ...]:
        texts = [" ".join(on_one_line(line.span.text) for line in passage) for passage in packed]
        return bearing(packed, self._scores([(text, claim.text) for text in texts]))

    def _judge_all(self, question: Question, claims: Sequence[Claim]) -> list[Judgement]:
        pieces = [piece for span in question.shown for piece in passages(span)]
        try:
            rows = self._scores([(piece.text, claim.text) for claim in claims for piece in pieces])
        except RuntimeError as error:
            return [_judgement(self.name, question, claim, reason=str(error)[:300]) for claim in claims]
        found = []
        for n, claim in enumerate(claims):
            scored = rows[n * len(pieces) : (n + 1) * len(pieces)]
            label, piece = decide(list(zip(pieces, scored, strict=True)))
            found.append(_judgement(self.name, question, claim, label, piece))
        return found

    def _scores(self, pairs: list[tuple[str, str]]) -> list[Scores]:
        if not pairs:
            return []
        with self._lock:
            rows = self._encoder.predict(pairs, apply_softmax=True, show_progress_bar=False)
        return [Scores(*(float(row[k]) for k in self._order)) for row in rows]


def decide(scored: Sequence[tuple[Span, Scores]]) -> tuple[JudgeLabel, Span | None]:
    """The label of one claim, and the passage that it rests on."""
    supporting = max(scored, key=lambda pair: pair[1].entailment, default=None)
    if supporting and supporting[1].entailment >= BELIEVED:
        return "implicitly_supported", supporting[0]
    against = max(scored, key=lambda pair: pair[1].contradiction, default=None)
    if against and against[1].contradiction >= BELIEVED:
        return "contradicting", against[0]
    return "not_found", None


def bearing(packed: Sequence[Sequence[Line]], scores: Sequence[Scores]) -> tuple[int, ...]:
    """Numbers of the lines of the best supporting and the best contradicting passage, where these are believed."""
    scored = list(zip(packed, scores, strict=True))
    supporting = max(scored, key=lambda pair: pair[1].entailment, default=None)
    against = max(scored, key=lambda pair: pair[1].contradiction, default=None)
    believed: list[Line] = []
    if supporting and supporting[1].entailment >= BELIEVED:
        believed += supporting[0]
    if against and against[1].contradiction >= BELIEVED:
        believed += against[0]
    return tuple(sorted({line.number for line in believed}))


def relations(labels: Sequence[str], model: str) -> tuple[int, int, int]:
    """Where entailment, neutral and contradiction stand among a model's labels, whatever their order.

    Raises BadInput where the labels are not these three.
    """
    starts: dict[Relation, str] = {
        "entailment": "entail",
        "neutral": "neutral",
        "contradiction": "contradict",
    }
    places = [
        [n for n, label in enumerate(labels) if label.lower().startswith(start)] for start in starts.values()
    ]
    if len(labels) != len(starts) or any(len(place) != 1 for place in places):
        raise BadInput(
            f"{model} answers {', '.join(labels)}: an nli judge needs entailment, neutral, contradiction"
        )
    (entailment,), (neutral,), (contradiction,) = places
    return entailment, neutral, contradiction


def passages(span: Span) -> list[Span]:
    """A span as passages of whole sentences; a longer sentence stays whole."""
    packed: list[tuple[int, int]] = []
    for start, end in sentences(span.text):
        if packed and end - packed[-1][0] <= PASSAGE_CHARACTERS:
            packed[-1] = (packed[-1][0], end)
        else:
            packed.append((start, end))
    return [
        Span(
            source_id=span.source_id,
            start=span.start + start,
            end=span.start + end,
            text=span.text[start:end],
        )
        for start, end in packed
    ]


def packed_lines(piece: Sequence[Line]) -> list[list[Line]]:
    """The lines of a piece packed to passages; a longer line is one by itself."""
    packed: list[list[Line]] = []
    size = 0
    for line in piece:
        size += len(line.span.text) + 1
        if not packed or size > PASSAGE_CHARACTERS:
            packed.append([])
            size = len(line.span.text) + 1
        packed[-1].append(line)
    return packed


def _judgement(
    judge: str,
    question: Question,
    claim: Claim,
    label: JudgeLabel | None = None,
    piece: Span | None = None,
    reason: str = "",
) -> Judgement:
    return Judgement(
        claim_id=claim.id,
        judge=judge,
        round=question.look,
        question_id=question.id,
        label=label,
        failure=None if label else "unavailable",
        quotes=(piece,) if piece else (),
        reason=reason,
    )


def _load(model: str) -> Any:
    try:
        from sentence_transformers import CrossEncoder
    except ImportError as error:
        raise BadInput("an nli judge needs the extra: pip install 'longproof[bge]'") from error
    try:
        return CrossEncoder(model)
    except (OSError, ValueError, KeyError) as error:
        told = " ".join(str(error).split())[:200]
        raise BadInput(f"can't load the nli model {model}: {told}") from error


def _labels(encoder: Any) -> list[str]:
    named: dict[int, str] = getattr(encoder.config, "id2label", None) or {}
    return [named[n] for n in sorted(named)]
