"""The node that asks a person about disputes.

Knows: the question (claim, evidence, what the judges said), the form of the answer with its checks.
Does not know: where the person sits: in Studio, at a terminal, behind an API; what follows from the answer (policy).
"""

import time
from collections.abc import Sequence
from typing import Any, Literal, Self

from langgraph.types import interrupt
from pydantic import Field, create_model, model_validator

from longproof.agent.guards import exactly, same, wrong_place
from longproof.agent.types import JudgeLabel, Judgement, Kind
from longproof.graphs.run import Run
from longproof.graphs.state import ClaimState, Reviewed, State, latest
from longproof.retrieval.types import Frozen


class PersonDecision(Frozen):
    """A person's word on one claim."""

    claim_id: str = Field(title="Claim", description="The id of the claim.")
    label: JudgeLabel = Field(
        title="Label",
        description="How the claim stands to the source; not_found sends it to the saved pages, if there are any.",
    )
    reason: str = Field(default="", max_length=2000, title="Reason", description="Shown in the report.")
    wrong: str = Field(
        default="", title="Wrong words", description="Exact words of the response's passage that are wrong."
    )
    kind: Kind | None = Field(default=None, title="Kind", description="What kind of error it is.")
    correction: str = Field(default="", title="Correction", description="What should stand there instead.")

    @model_validator(mode="after")
    def _corrects_words(self) -> Self:
        """A correction that has no place in the text would be lost: `wrong_place` makes no error of it."""
        if self.correction.strip() and not self.wrong.strip():
            raise ValueError(f"{self.claim_id}: give the wrong words, too, or no correction")
        if same(self.wrong, self.correction):
            raise ValueError(f"{self.claim_id}: the correction says the same as the wrong words")
        return self


class Review(Frozen):
    """All that one person decides at once. A claim that isn't named stays undecided."""

    name: str = Field(
        min_length=1, max_length=80, title="Name", description="Who decides; stands in the report."
    )
    decisions: tuple[PersonDecision, ...] = Field(default=(), title="Decisions", description="One a claim.")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        ids = [decision.claim_id for decision in self.decisions]
        if len(set(ids)) != len(ids):
            raise ValueError("a claim is decided twice: give one decision a claim")
        return self


async def describe_dispute(claim: ClaimState, run: Run) -> dict[str, object]:
    """A disputed claim as it is put to a person: readable as it stands."""
    question, sources = claim.asked[-1], run.sources
    shown: list[str] = []
    for added in question.lines:
        for number, start, end in sources.places_of(added):
            shown.append(sources.documents[number].text[start:end])
    shown += [snippet.text for snippet in await run.session.snippets(question)]
    said: list[dict[str, object]] = []
    for one in claim.votes(question.id):
        quotes = [quote.text for quote in one.quotes]
        label = one.label or one.failure
        said.append({"judge": one.judge, "label": label, "reason": one.reason, "quotes": quotes})
    about = claim.claim
    told = {"claim_id": about.id, "claim": about.text, "passage": about.origin.text}
    return {**told, "shown": shown, "said": said}


def form_of(disputes: Sequence[ClaimState]) -> type[Review]:
    """The form of the answer to these disputes: a validator, and the JSON schema that a client shows."""
    origins = {one.claim.id: one.claim.origin for one in disputes}

    def stands_there(decision: PersonDecision) -> PersonDecision:
        if decision.wrong.strip() and exactly(decision.wrong, origins[decision.claim_id]) is None:
            raise ValueError(f"{decision.wrong!r} doesn't stand in the passage of {decision.claim_id}")
        return decision

    checks: dict[str, Any] = {"stands_there": model_validator(mode="after")(stands_there)}
    ids: Any = Literal[tuple(origins)]
    claim_id = (ids, PersonDecision.model_fields["claim_id"])
    one: Any = create_model("Decision", __base__=PersonDecision, __validators__=checks, claim_id=claim_id)
    return create_model(
        "Review", __base__=Review, decisions=(tuple[one, ...], Review.model_fields["decisions"])
    )


async def review(state: State, run: Run) -> State:
    """Have a person decide what the panel could not: one interrupt for all disputes, then on with them.

    Runs again from its start when the answer comes, so nothing is paid for in here.
    """
    left = run.due(latest(state), "person")
    if not left:
        return {"decided": []}
    answer = interrupt([await describe_dispute(one, run) for one in left], response_schema=form_of(left))
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    decisions = {decision.claim_id: decision for decision in answer.decisions}
    run.say({"node": "review", "name": answer.name, "claims": list(decisions)})
    decided: list[ClaimState] = []
    left_open: list[ClaimState] = []
    for one in left:
        decision = decisions.get(one.claim.id)
        if decision is None:
            left_open.append(one.model_copy(update={"left_open": True}))
            continue
        kind, correction = decision.kind or "", decision.correction or "?"
        word = Judgement(
            claim_id=one.claim.id,
            judge=f"person:{' '.join(answer.name.split())}",
            round=one.asked[-1].look,
            question_id=one.last_asked,
            label=decision.label,
            errors=wrong_place(decision.wrong, kind, correction, decision.reason, one.claim.origin),
            reason=decision.reason,
        )
        # The person's word stands before the judges'.
        ruled = {"judgements": (word, *one.judgements), "ruling": word, "ruled_by": "person"}
        decided.append(one.model_copy(update=ruled))
    reviews = [Reviewed(name=answer.name, at=at, claims=tuple(decisions))] if decisions else []
    return {"decided": decided, "checked": [*decided, *left_open], "reviews": reviews}
