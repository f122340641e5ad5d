"""What a person is asked about disputes, and what becomes of the answer.

Knows: the question (claim, evidence, what the judges said), the form of the answer with its checks, and that a
person's word is final, but for `not_found`, which goes to the saved pages like anybody's.
Does not know: where the person sits: in Studio, at a terminal, behind an API.
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import Field, create_model, model_validator

from longproof.agent.guards import exactly, wrong_place
from longproof.agent.types import Claim, JudgeLabel, Judgement, Kind, Verdict
from longproof.agent.verdict import verdict
from longproof.graphs.convert import opened_question
from longproof.graphs.decisions import decided
from longproof.graphs.state import Dispute, Json, State
from longproof.indexes.documents import DocumentStore
from longproof.retrieval.types import Frozen


class Decision(Frozen):
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


class Review(Frozen):
    """All that one person decides at once. A claim that isn't named stays undecided."""

    name: str = Field(
        min_length=1, max_length=80, title="Name", description="Who decides; stands in the report."
    )
    decisions: tuple[Decision, ...] = Field(default=(), title="Decisions", description="One a claim.")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        ids = [decision.claim_id for decision in self.decisions]
        if len(set(ids)) != len(ids):
            raise ValueError("a claim is decided twice: give one decision a claim")
        return self


def waiting(state: State) -> list[Dispute]:
    """The disputes nobody has decided yet, in the order of the claims; the latest where one came back."""
    done = {verdict["claim_id"] for verdict in state.get("verdicts", [])}
    latest = {dispute["claim"]["id"]: dispute for dispute in state.get("disputes", [])}
    left = [dispute for id_, dispute in latest.items() if id_ not in done]
    return sorted(left, key=lambda dispute: int(dispute["claim"]["index"]))


async def put(dispute: Dispute, store: DocumentStore) -> Json:
    """A dispute as it is put to a person: readable as it stands."""
    claim = Claim.model_validate(dispute["claim"])
    question = await opened_question(dispute["question"], store)
    said = [Judgement.model_validate(j) for j in dispute["judgements"]]
    return {
        "claim_id": claim.id,
        "claim": claim.text,
        "passage": claim.origin.text,
        "shown": [span.text for span in question.shown],
        "said": [
            {
                "judge": one.judge,
                "label": one.label or one.failure,
                "reason": one.reason,
                "quotes": [quote.text for quote in one.quotes],
            }
            for one in said
            if one.question_id == question.id
        ],
    }


def form_of(disputes: Sequence[Dispute]) -> type[Review]:
    """The form of the answer to these disputes: a validator, and the JSON schema that a client shows."""
    origins = {d["claim"]["id"]: Claim.model_validate(d["claim"]).origin for d in disputes}

    def stands_there(decision: Decision) -> Decision:
        if decision.wrong.strip() and exactly(decision.wrong, origins[decision.claim_id]) is None:
            raise ValueError(f"{decision.wrong!r} doesn't stand in the passage of {decision.claim_id}")
        return decision

    checks: dict[str, Any] = {"stands_there": model_validator(mode="after")(stands_there)}
    ids: Any = Literal[tuple(origins)]
    claim_id = (ids, Decision.model_fields["claim_id"])
    one: Any = create_model("Decision", __base__=Decision, __validators__=checks, claim_id=claim_id)
    return create_model(
        "Review", __base__=Review, decisions=(tuple[one, ...], Review.model_fields["decisions"])
    )


def applied(review: Review, disputes: Sequence[Dispute], *, consults: bool) -> State:
    """What a review changes: decided claims go on through `check`, the others are undecided."""
    by_claim = {decision.claim_id: decision for decision in review.decisions}
    return {
        "decided": [
            _goes_on(dispute, by_claim[id_], review.name, consults)
            for dispute in disputes
            if (id_ := dispute["claim"]["id"]) in by_claim
        ],
        "verdicts": [
            _undecided(dispute).model_dump(mode="json")
            for dispute in disputes
            if dispute["claim"]["id"] not in by_claim
        ],
    }


def _goes_on(dispute: Dispute, decision: Decision, name: str, consults: bool) -> Json:
    """A stretch of one claim on its way into `check` again; the person's word stands before the judges'."""
    claim, question = Claim.model_validate(dispute["claim"]), dispute["question"]
    word = Judgement(
        claim_id=claim.id,
        judge=f"person:{' '.join(name.split())}",
        round=question["round"],
        question_id=question["id"],
        label=decision.label,
        errors=wrong_place(decision.wrong, decision.kind or "", decision.correction, decision.reason, claim),
        reason=decision.reason,
    )
    final = decision.label != "not_found"
    return {
        "stretch": {"index": 0, "claim_ids": [claim.id], "places": {}},
        "claims": [dispute["claim"]],
        "asked": [question],
        "judgements": [word.model_dump(mode="json"), *dispute["judgements"]],
        "standings": {claim.id: decided(decision.label, question, "person", consults=consults and not final)},
    }


def _undecided(dispute: Dispute) -> Verdict:
    return verdict(
        Claim.model_validate(dispute["claim"]),
        [Judgement.model_validate(j) for j in dispute["judgements"]],
        label=None,
        decided_by="nobody",
        question_id=dispute["question"]["id"],
        failure="split",
    )
