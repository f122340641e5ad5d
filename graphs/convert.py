"""Between our types and the plain data of the state.

Knows: which texts the state leaves out (responses, what questions show) and how they come back from the store.
Does not know: what the stations do with them.
"""

from collections.abc import Iterable, Sequence

from longproof.agent.types import Case, Claim, Question
from longproof.graphs.state import Asked, Json
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.retrieval.types import Frozen, Span


def dump(values: Iterable[Frozen]) -> list[Json]:
    """Our types as JSON-ready dictionaries."""
    return [value.model_dump(mode="json") for value in values]


def refs(stored: Sequence[Json]) -> list[DocumentRef]:
    """The documents of a case."""
    return [DocumentRef.model_validate(ref) for ref in stored]


def plain_case(case: Case, response_id: str) -> Json:
    """A case whose response is named by its id in the store."""
    return {**case.model_dump(mode="json"), "response": response_id}


async def opened_case(case: Json, store: DocumentStore) -> Case:
    """The case with its response's text."""
    return Case.model_validate({**case, "response": await store.fetch(case["response"])})


def opened_claims(claims: Sequence[Json]) -> list[Claim]:
    """The claims of a state."""
    return [Claim.model_validate(claim) for claim in claims]


def asked(question: Question) -> Asked:
    """A question without its texts."""
    return {
        "id": question.id,
        "claim_ids": list(question.claim_ids),
        "places": [[span.source_id, span.start, span.end] for span in question.shown],
        "round": question.round,
        "prompt": question.prompt,
    }


async def opened_question(question: Asked, store: DocumentStore) -> Question:
    """The question with the texts it shows."""
    shown = [
        Span(source_id=id_, start=start, end=end, text=(await store.fetch(id_))[start:end])
        for id_, start, end in question["places"]
    ]
    return Question(
        id=question["id"],
        claim_ids=tuple(question["claim_ids"]),
        shown=tuple(shown),
        round=question["round"],
        prompt=question["prompt"],
    )
