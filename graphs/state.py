"""The channels of the graphs: ids and plain data, never documents.

Knows: what each station reads and writes. Lists, not tuples, and JSON-ready dictionaries of our types:
what a checkpoint gives back equals what was put in.
Does not know: what a station does.
"""

from operator import add
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from longproof.agent.types import TASKS, Label, Round

Json = dict[str, Any]
"""One of our types as `model_dump(mode="json")` gives it."""

Standing = Literal["open", "split", "pending", "absent", "decided", "failed"]
"""Where a claim stands after a vote: to be looked at more widely, disputed, left to a person, not found in the
source, decided, or judged by nobody."""


class VerifyInput(BaseModel):
    """What is checked: a response, and the sources it claims to be faithful to."""

    model_config = ConfigDict(extra="forbid", title="Verify")

    source: str = Field(
        default="",
        title="Source",
        description="The text to be faithful to. In Studio, an empty form checks the bundled example.",
        examples=["Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds."],
    )
    response: str = Field(
        default="",
        title="Response",
        description="The text that is checked.",
        examples=["Ada lit the lamp at ten."],
    )
    task: str = Field(
        default="summary",
        title="Task",
        description="What the response is to the source; `open` needs no source.",
        json_schema_extra={"enum": list(TASKS)},
    )
    context: str = Field(
        default="",
        title="Context",
        description="The question or the turns before, if any.",
        examples=["What did Tom sell?"],
    )
    reference: str | None = Field(
        default=None, title="Reference", description="The right text beside the response, where one is known."
    )
    labels: list[Label] | None = Field(
        default=None, title="Labels", description="A label for each sentence of the response, for an audit."
    )
    case_id: str = Field(default="case", title="Case", description="A name for the report.")
    sources: list[Json] = Field(
        default=[],
        title="Stored sources",
        description="Documents already in the store, instead of a text.",
    )


class Stretch(TypedDict):
    """Claims that are checked together, and the window of each in the sources: `[document number, start, end]`."""

    index: int
    claim_ids: list[str]
    places: dict[str, list[list[int]]]


class Asked(TypedDict):
    """A question without the texts it shows: `places` are `[source id, start, end]` each."""

    id: str
    claim_ids: list[str]
    places: list[list[Any]]
    round: Round
    prompt: str


class ClaimStanding(TypedDict):
    """How a claim stands, by whose word, the id of the question that was asked last, the number of the next round."""

    standing: Standing
    label: str | None
    decided_by: str
    failure: str | None
    question_id: str
    caveat: str
    next: int


class Dispute(TypedDict):
    """A claim that is left to a person: what was asked about it last, and what the judges said."""

    claim: Json
    question: Asked
    judgements: list[Json]


class CheckState(TypedDict, total=False):
    """One stretch on its way through the stations of `check`."""

    case: Json
    sources: list[Json]
    stretch: Stretch
    claims: list[Json]
    questions: list[Asked]
    asked: Annotated[list[Asked], add]
    judgements: Annotated[list[Json], add]
    standings: dict[str, ClaimStanding]
    verdicts: Annotated[list[Json], add]
    calls: Annotated[list[Json], add]
    pages: Annotated[list[Json], add]
    disputes: Annotated[list[Dispute], add]
    searches: Annotated[list[Json], add]


class Checked(TypedDict):
    """What a stretch hands back."""

    verdicts: list[Json]
    calls: list[Json]
    pages: list[Json]
    disputes: list[Dispute]
    searches: list[Json]


class State(TypedDict, total=False):
    """One case on its way from text to report."""

    started: float
    case: Json
    sources: list[Json]
    sentences: list[Json]
    claims: list[Json]
    windows: dict[str, Json]
    stretches: list[Stretch]
    verdicts: Annotated[list[Json], add]
    calls: Annotated[list[Json], add]
    pages: Annotated[list[Json], add]
    disputes: Annotated[list[Dispute], add]
    searches: Annotated[list[Json], add]
    decided: list[Json]
    reviews: Annotated[list[Json], add]
    report: Json


class VerifyOutput(TypedDict):
    """What comes out: the report, as its JSON schema says."""

    report: Json
