"""Examples of a data set with their gold, places verified when they are made.

Knows: sources, responses, and what annotators said about them. Does not know: where a data set lies,
or what a verifier makes of an example.
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from longproof.agent.types import Case, Kind, Label, Place, Task
from longproof.retrieval.types import Document, Frozen

GoldOutcome = Literal["faithful", "hallucinated"]
OUTCOME_OF: dict[str, GoldOutcome] = {
    "contradicting": "hallucinated",
    "fabricated": "hallucinated",
    "implicitly_supported": "faithful",
    "explicitly_supported": "faithful",
}
"""The side of a gold label; the other labels are gray."""


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


class GoldClaim(Frozen):
    """An annotated claim. `origin` lies in the response, `evidence` in the first source; hallucinated: none."""

    text: str
    origin: Place | None
    hallucinated: bool
    evidence: tuple[Place, ...] = ()


class Gold(Frozen):
    """The annotators' word. None means not annotated; an empty tuple means annotated, nothing found.

    `outcome` None: the gold itself takes no side (gray), so no two-class score counts the example.
    """

    outcome: GoldOutcome | None = None
    label: Label | None = None
    errors: tuple[GoldError, ...] | None = None
    parts: tuple[GoldPart, ...] | None = None
    claims: tuple[GoldClaim, ...] | None = None


class Example(Frozen):
    """One response to check, and its gold; every gold place is verified against its text.

    `labels` are what an audit is given, one a sentence: material, not gold. `group` names what belongs together
    (one source, one pair) for intervals. `slices` are names by which recall is also given: kind, position, scale,
    and others.
    """

    id: str = Field(min_length=1)
    task: Task
    sources: tuple[Document, ...] = ()
    response: str
    context: str = ""
    reference: str | None = None
    labels: tuple[Label, ...] | None = None
    group: str = ""
    pair: str | None = None
    slices: dict[str, str] = Field(default_factory=dict)
    gold: Gold

    @model_validator(mode="after")
    def _verify_gold(self) -> Self:
        gold = self.gold
        places = [(self.response, error.place) for error in gold.errors or ()]
        places += [(self.response, part.place) for part in gold.parts or ()]
        for claim in gold.claims or ():
            places += [(self.response, claim.origin)] if claim.origin else []
            places += [(self.sources[0].text, at) for at in claim.evidence]
        for text, place in places:
            there = text[place.start : place.end]
            if there != place.text:
                at = f"[{place.start}, {place.end})"
                raise ValueError(
                    f"the gold says {place.text[:40]!r} at {at}, the text there is {there[:40]!r}"
                )
        return self

    def case(self) -> Case:
        """The example as a checker takes it, without its sources."""
        names = ("id", "task", "response", "context", "reference", "labels")
        return Case(**{name: getattr(self, name) for name in names})
