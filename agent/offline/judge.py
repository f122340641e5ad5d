"""An offline judge: one way of looking at a claim, made into judgements.

Knows: how an opinion becomes a judgement with located quotes and errors in the response.
Does not know: what is looked at; the panel is a list of these, each with a look of its own.
"""

from collections.abc import Callable, Sequence

from longproof.agent.offline.view import Finding, Opinion, View, Viewer
from longproof.agent.types import Answered, Case, Claim, Error, Judgement, Question

Look = Callable[[View], Opinion]


class OfflineJudge:
    """Judges by one look. Deterministic, makes no calls, never fails."""

    def __init__(self, name: str, look: Look, viewer: Viewer) -> None:
        self.name = name
        self._look = look
        self._viewer = viewer

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """One judgement for each of `claims`, in their order."""
        views = [self._viewer.view(question, claim, case) for claim in claims]
        return Answered([judgement(self.name, view, self._look(view)) for view in views], [])


def judgement(judge: str, view: View, opinion: Opinion) -> Judgement:
    """The opinion as a judgement: its quote and those of its findings, each once, in the order of the source."""
    quotes = [f.quote for f in opinion.findings if f.quote] + ([opinion.quote] if opinion.quote else [])
    return Judgement(
        claim_id=view.claim.id,
        judge=judge,
        round=view.question.round,
        question_id=view.question.id,
        label=opinion.label,
        quotes=tuple(dict.fromkeys(quotes)),
        errors=tuple(_error(view, finding) for finding in opinion.findings),
        reason=opinion.reason or "; ".join(f.reason for f in opinion.findings),
    )


def _error(view: View, finding: Finding) -> Error:
    return Error(
        span=view.in_response(finding.start, finding.end),
        kind=finding.kind,
        correction=finding.correction,
        reason=finding.reason,
    )
