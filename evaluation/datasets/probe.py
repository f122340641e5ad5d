"""PROBE (seed 000): responses cut into claims, each with its evidence or marked as planted.

The authors' file could not be had here; this format follows the paper (sections 3 and 4, listing 15).
JSON or JSON Lines, one response a record: `id`, `task` (summarization, question answering or style
transfer), `complexity` (0 to 3), `source`, `question` where there is one, `response`, and `claims`: a list of
`text`, `segment` (the words of the response that it came from), `hallucinated` (true or false) and `evidence`
(quotes of the source, none for hallucinated claims). Law: segments are found in the response in their order,
evidence in the source; both are refused where they are not found. Gold errors are the hallucinated claims'
segments, joined where they touch. A response is hallucinated exactly when one of its claims is.
"""

from collections.abc import Iterator

from longproof.agent.types import Place, Task
from longproof.evaluation.datasets.reading import Row, find_quote
from longproof.evaluation.types import Example, Gold, GoldClaim, GoldError, GoldEvidence, Source

TASK_NAMES: dict[str, Task] = {
    "summarization": "summary",
    "question answering": "answer",
    "question_answering": "answer",
    "qa": "answer",
    "style transfer": "rewrite",
    "style_transfer": "rewrite",
}


def probe(row: Row) -> Iterator[Example]:
    """The example of one record, as this module's docstring says."""
    claims = list(_claims(row))
    wrong = _merged(
        [claim.origin for claim in claims if claim.hallucinated and claim.origin], row["response"]
    )
    hallucinated = any(claim.hallucinated for claim in claims)
    yield Example(
        id=str(row["id"]),
        task=TASK_NAMES[row["task"].lower()],
        sources=(Source(text=row["source"]),),
        response=row["response"],
        context=row.get("question") or "",
        group=str(row.get("source_id", row["id"])),
        slices={"task": row["task"], "complexity": str(row.get("complexity", ""))},
        gold=Gold(
            outcome="hallucinated" if hallucinated else "faithful",
            errors=tuple(GoldError(place=at, kind="fabrication") for at in wrong),
            claims=tuple(claims),
        ),
    )


def _claims(row: Row) -> Iterator[GoldClaim]:
    after = 0
    for claim in row["claims"]:
        origin = find_quote(row["response"], claim["segment"], after) if claim.get("segment") else None
        after = origin.start if origin else after
        pieces = [find_quote(row["source"], quote) for quote in claim.get("evidence") or []]
        yield GoldClaim(
            text=claim["text"],
            origin=origin,
            hallucinated=bool(claim["hallucinated"]),
            evidence=tuple(GoldEvidence(source=0, place=piece) for piece in pieces),
        )


def _merged(places: list[Place], text: str) -> list[Place]:
    """The places in text order, those that touch or overlap joined."""
    joined: list[Place] = []
    for at in sorted(places, key=lambda at: (at.start, at.end)):
        if joined and at.start <= joined[-1].end:
            joined[-1] = Place.of(text, joined[-1].start, max(joined[-1].end, at.end))
        else:
            joined.append(at)
    return joined
