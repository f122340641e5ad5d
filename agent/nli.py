"""A judge that runs a natural-language-inference model (a sentence-transformers CrossEncoder) on passages.

Knows: a claim holds if some passage entails it, so more text never takes support away; it is contradicted if none
does and some passage contradicts it; otherwise it is not found. Labels are read from the model's own configuration.
Does not know: several passages at once, kinds, corrections. An entailed claim counts as implicitly supported, since
such a model can't tell whether something is said outright. Needs the extra `bge`.
"""

import asyncio
from collections.abc import Sequence
from itertools import chain
from threading import Lock
from typing import Any, Literal, NamedTuple, TypeVar

from longproof.agent.evidence.citations import on_one_line
from longproof.agent.evidence.scan import Noted
from longproof.agent.guards import Weighed
from longproof.agent.types import Answered, Case, Claim, Question
from longproof.retrieval.text.chunking import pack
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput, Line, Span

Relation = Literal["entailment", "contradiction"]
P = TypeVar("P")

PASSAGE_CHARACTERS = 400
"""Passages are whole sentences packed to so many characters: such models read about 512 tokens."""


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
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise BadInput("an nli judge needs the extra: pip install 'longproof[bge]'") from error
        try:
            self._encoder: Any = CrossEncoder(model)
        except (OSError, ValueError, KeyError) as error:
            told = on_one_line(str(error))[:200]
            raise BadInput(f"can't load the nli model {model}: {told}") from error
        self.name = name
        named: dict[int, str] = getattr(self._encoder.config, "id2label", None) or {}
        self._order = relations([named[n] for n in sorted(named)], model)
        self._lock = Lock()

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """One judgement for each of `claims`, in their order; nothing is paid."""
        pieces = await asyncio.to_thread(lambda: list(chain.from_iterable(map(passages, question.shown))))
        pairs = [(piece.text, claim.text) for claim in claims for piece in pieces]
        try:
            rows = await asyncio.to_thread(self._scores, pairs)
        except RuntimeError as error:
            failed = Weighed(None, "unavailable", reason=str(error)[:300])
            return Answered([failed.judgement(self.name, question, claim) for claim in claims], [])
        judgements = []
        for n, claim in enumerate(claims):
            of_claim = rows[n * len(pieces) : (n + 1) * len(pieces)]
            weighed = decide(list(zip(pieces, of_claim, strict=True)))
            judgements.append(weighed.judgement(self.name, question, claim))
        return Answered(judgements, [])

    async def scan(self, claims: Sequence[Claim], pieces: Sequence[Sequence[Line]], case: Case) -> Noted:
        """For each claim the lines of the passage that supports it best, and of the one that contradicts it best,
        where these are believed; nothing is paid."""
        packed: list[list[Line]] = []
        for piece in pieces:
            packed += pack(piece, lambda line: len(line.span.text) + 1, PASSAGE_CHARACTERS)
        texts = [" ".join(on_one_line(line.span.text) for line in passage) for passage in packed]
        noted: dict[str, tuple[int, ...]] = {}
        try:
            for claim in claims:
                scores = await asyncio.to_thread(self._scores, [(text, claim.text) for text in texts])
                if bearing := bearing_lines(list(zip(packed, scores, strict=True))):
                    noted[claim.id] = bearing
        except RuntimeError:
            return Noted({}, {claim.id: "unavailable" for claim in claims}, [], frozenset())
        return Noted(noted, {}, [], frozenset(claim.id for claim in claims))

    def _scores(self, pairs: list[tuple[str, str]]) -> list[Scores]:
        if not pairs:
            return []
        with self._lock:
            rows = self._encoder.predict(pairs, apply_softmax=True, show_progress_bar=False)
        return [Scores(*(float(row[k]) for k in self._order)) for row in rows]


def decide(scored: Sequence[tuple[Span, Scores]]) -> Weighed:
    """The label of one claim, with the passage that it rests on."""
    if supporting := _best(scored, "entailment"):
        return Weighed("implicitly_supported", None, (supporting,))
    if against := _best(scored, "contradiction"):
        return Weighed("contradicting", None, (against,))
    return Weighed("not_found", None)


def bearing_lines(scored: Sequence[tuple[Sequence[Line], Scores]]) -> tuple[int, ...]:
    """Numbers of the lines of the best supporting and the best contradicting passage, where these are believed."""
    believed = [*(_best(scored, "entailment") or ()), *(_best(scored, "contradiction") or ())]
    return tuple(sorted({line.number for line in believed}))


def _best(scored: Sequence[tuple[P, Scores]], relation: Relation) -> P | None:
    """The passage that has this relation most probably, if that is believed, at .5 or more."""
    best = max(scored, key=lambda pair: getattr(pair[1], relation), default=None)
    return best[0] if best and getattr(best[1], relation) >= 0.5 else None


def relations(labels: Sequence[str], model: str) -> tuple[int, ...]:
    """The places of entailment, neutral and contradiction among a model's labels, whatever their order.

    Raises BadInput where the labels are not these three.
    """
    starts = ("entail", "neutral", "contradict")
    places = [[n for n, label in enumerate(labels) if label.lower().startswith(start)] for start in starts]
    if len(labels) != len(starts) or any(len(place) != 1 for place in places):
        raise BadInput(
            f"{model} answers {', '.join(labels)}: an nli judge needs entailment, neutral, contradiction"
        )
    return tuple(n for (n,) in places)


def passages(span: Span) -> list[Span]:
    """A span as passages of whole sentences; a longer sentence stays whole."""
    packed = pack(sentences(span.text), lambda place: place[1] - place[0] + 1, PASSAGE_CHARACTERS)
    return [span.part(places[0][0], places[-1][1]) for places in packed]
