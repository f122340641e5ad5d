"""For tests of programs that write or check: an assertion that a text is faithful, and a judge without a model.

Knows: how a `Verifier` is made for one test. Does not know: what passes, or which test runner asks.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from longproof.agent.types import (
    LABELS,
    Answered,
    Case,
    Claim,
    Failure,
    JudgeLabel,
    Judgement,
    Label,
    Question,
    Task,
)
from longproof.graphs.verifier import AnyJudge
from longproof.inputs import Sources
from longproof.report.markdown import failure
from longproof.retrieval.types import BadInput
from longproof.verifier import Report, Verifier

Rule = Callable[[Question, Claim], str]
"""What a scripted judge says of a claim by what a question shows: a label, or the name of a failure."""


def assert_faithful(
    response: str | Path,
    *,
    source: Sources,
    judge: AnyJudge | Sequence[AnyJudge],
    at_least: Label = "ambiguous",
    task: Task = "summary",
    context: str = "",
    **settings: Any,
) -> Report:
    """The report; raises AssertionError, with claims and quotes, unless every sentence has the label `at_least` or a
    more faithful one.

    The default lets pass what isn't hallucinated. What nobody could decide never passes: the judge `offline` fails
    whatever isn't its source, word for word. `judge` is one or several, as `Verifier` takes them, and so are the
    settings. Raises BadInput for what can't be checked.
    """
    __tracebackhide__ = True
    if at_least not in LABELS:
        raise BadInput(f"there is no label {at_least!r}: choose one of {', '.join(LABELS)}")
    judges = judge if isinstance(judge, list | tuple) else [cast(AnyJudge, judge)]
    report = Verifier(judges, **settings).verify(source, response, task=task, context=context)
    if why := failure(report, at_least):
        raise AssertionError(why)
    return report


class ScriptedJudge:
    """A judge without a model: says what its rule says, quotes the first of what was shown, keeps what it was asked
    in `heard`."""

    def __init__(self, name: str, rule: Rule | str) -> None:
        self.name = name
        self.heard: list[Question] = []
        self._rule: Rule = rule if callable(rule) else (lambda question, claim: rule)

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """A judgement for each claim."""
        self.heard.append(question)
        return Answered([self._say(question, claim) for claim in claims], [])

    def _say(self, question: Question, claim: Claim) -> Judgement:
        said = self._rule(question, claim)
        is_label = said in get_args(JudgeLabel)
        rests_on_nothing = not is_label or said in ("not_found", "no_fact")
        return Judgement(
            claim_id=claim.id,
            judge=self.name,
            round=question.look,
            question_id=question.id,
            label=cast(JudgeLabel, said) if is_label else None,
            failure=None if is_label else cast(Failure, said),
            quotes=() if rests_on_nothing else question.shown[:1],
            reason=f"{self.name} says {said}",
        )
