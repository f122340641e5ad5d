"""What a data set becomes: examples with their gold, places verified when they are made.

Knows: sources, responses, and what annotators said about them. Does not know: where a data set lies,
or what a verifier makes of an example.
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from longproof.agent.types import Kind, Label, Place, Task
from longproof.retrieval.types import Frozen

GoldOutcome = Literal["faithful", "hallucinated"]
OUTCOME_OF: dict[Label, GoldOutcome] = {
    "contradicting": "hallucinated",
    "fabricated": "hallucinated",
    "implicitly_supported": "faithful",
    "explicitly_supported": "faithful",
}
"""The side of a gold label; the other labels are gray."""


class Source(Frozen):
    """One text to be faithful to. A record's `text` is JSON: an object or a list of objects."""

    text: str
    kind: Literal["text", "record"] = "text"
    title: str = ""


class GoldError(Frozen):
    """A place of the response that annotators marked as wrong. `name` is the data set's own word for why."""

    place: Place
    kind: Kind | None = None
    name: str = ""
    correction: str = ""
    reason: str = ""


class GoldPart(Frozen):
    """A part of the response with a gold side of its own: a sentence, a line or a keyword.

    `label` only where the data set tells the seven labels apart; `outcome` None where its gold is gray.
    """

    place: Place
    outcome: GoldOutcome | None
    label: Label | None = None


class GoldEvidence(Frozen):
    """A place in the source with that index, which annotators gave as evidence."""

    source: int = Field(ge=0)
    place: Place


class GoldClaim(Frozen):
    """An annotated claim. `origin` lies in the response; hallucinated claims have no evidence."""

    text: str
    origin: Place | None
    hallucinated: bool
    evidence: tuple[GoldEvidence, ...] = ()


class AlignedPart(Frozen):
    """A part of the response and the place of the source that it retells."""

    part: Place
    evidence: GoldEvidence


class Gold(Frozen):
    """What annotators said. None means not annotated; an empty tuple means annotated, nothing found.

    `outcome` None: the gold itself takes no side (gray), so no two-class score counts the example.
    """

    outcome: GoldOutcome | None = None
    label: Label | None = None
    errors: tuple[GoldError, ...] | None = None
    parts: tuple[GoldPart, ...] | None = None
    claims: tuple[GoldClaim, ...] | None = None
    alignment: tuple[AlignedPart, ...] | None = None


class Example(Frozen):
    """One response to check, and its gold.

    `labels` are what an audit is given, one a sentence: material, not gold.
    `group` names what belongs together (one source, one pair) for intervals; `pair` NoCha's pair.
    `slices` are names by which recall is also given: kind, position, scale, pattern, and others.
    Every gold place is verified against its text: `text[start:end] == place.text`, else ValueError.
    """

    id: str = Field(min_length=1)
    task: Task
    sources: tuple[Source, ...] = ()
    response: str
    context: str = ""
    reference: str | None = None
    labels: tuple[Label, ...] | None = None
    group: str = ""
    pair: str | None = None
    slices: dict[str, str] = Field(default_factory=dict)
    gold: Gold

    @model_validator(mode="after")
    def _gold_lies_where_it_says(self) -> Self:
        gold, claims = self.gold, self.gold.claims or ()
        _verify(self.response, [error.place for error in gold.errors or ()])
        _verify(self.response, [part.place for part in gold.parts or ()])
        _verify(self.response, [claim.origin for claim in claims if claim.origin])
        _verify(self.response, [aligned.part for aligned in gold.alignment or ()])
        evidence = [piece for claim in claims for piece in claim.evidence]
        for piece in evidence + [aligned.evidence for aligned in gold.alignment or ()]:
            if piece.source >= len(self.sources):
                raise ValueError(f"evidence names source {piece.source}, but there are {len(self.sources)}")
            _verify(self.sources[piece.source].text, [piece.place])
        return self


def _verify(text: str, places: list[Place]) -> None:
    for place in places:
        if text[place.start : place.end] != place.text:
            found = text[place.start : place.end][:40]
            raise ValueError(
                f"the gold says {place.text[:40]!r} at [{place.start}, {place.end}), the text there is {found!r}"
            )
