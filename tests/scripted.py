"""Judges, an arbiter and a decomposer that answer from a script: fakes for the graph, given to whoever needs them."""

from collections.abc import Sequence

from longproof.agent.evidence.scan import Noted
from longproof.agent.types import Answered, Case, Claim, Decomposed, Judgement, Question
from longproof.retrieval.types import Line, Span
from longproof.testing import Rule, ScriptedJudge


class ScanningJudge(ScriptedJudge):
    """A judge that reads a source through by itself, as inference models do: it notes the lines with these words."""

    def __init__(self, name: str, script: Rule | str, noting: str = "\0") -> None:
        super().__init__(name, script)
        self._noting = noting
        self.scanned: list[tuple[list[str], int]] = []
        """What it was to read through: the ids of the claims, and how many lines."""

    async def scan(self, claims: Sequence[Claim], pieces: Sequence[Sequence[Line]], case: Case) -> Noted:
        lines = [line for piece in pieces for line in piece]
        self.scanned.append(([claim.id for claim in claims], len(lines)))
        noted = tuple(line.number for line in lines if self._noting in line.span.text)
        ids = frozenset(claim.id for claim in claims)
        return Noted({id_: noted for id_ in ids if noted}, {}, [], ids)


class ScriptedArbiter(ScriptedJudge):
    """Decides as its script says, and remembers what it was told of the others."""

    def __init__(self, script: Rule | str) -> None:
        super().__init__("arbiter", script)
        self.told: list[tuple[Question, list[Judgement]]] = []

    async def arbitrate(
        self, question: Question, claims: Sequence[Claim], judgements: Sequence[Judgement], case: Case
    ) -> Answered:
        self.told.append((question, list(judgements)))
        return await self.judge(question, claims, case)


class WholeSentences:
    """Every sentence is one claim."""

    name = "whole sentences"

    async def decompose(self, case: Case, sentences: Sequence[Span]) -> Decomposed:
        claims = []
        for i, span in enumerate(sentences):
            claims.append(Claim(id=f"c{i}", index=i, sentence=i, text=span.text, origin=span))
        return Decomposed(claims, {}, [])


def reads(passage: str) -> Rule:
    """A judge that reads correctly: supported where the passage was shown, not found elsewhere."""
    return lambda question, claim: (
        "explicitly_supported" if any(passage in span.text for span in question.shown) else "not_found"
    )
