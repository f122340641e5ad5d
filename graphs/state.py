"""What the graphs keep between nodes: frozen models that point into sources by line numbers and hold no source text.

Knows: the input form, a claim with all that was asked and said about it, the channels of the graphs, whose schemas
name the models, so that strict checkpoints give them back. Does not know: what a node does, or what follows (policy).
"""

from collections.abc import Iterable
from itertools import chain
from operator import add
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from longproof.agent.types import (
    TASKS,
    Call,
    Case,
    Claim,
    Error,
    Failure,
    Judgement,
    Label,
    Lines,
    Look,
    Looked,
    Question,
    Report,
    SourcePlace,
)
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.types import FileNotes, Frozen


class VerifyInput(BaseModel):
    """The form of the graph's input: a response, and the sources it claims to be faithful to."""

    model_config = ConfigDict(extra="forbid", title="Verify", use_attribute_docstrings=True)

    source: str = Field(
        default="", examples=["Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds."]
    )
    """The text to be faithful to. In Studio, an empty form checks the bundled example."""
    response: str = Field(default="", examples=["Ada lit the lamp at ten."])
    """The text that is checked."""
    task: str = Field(default="summary", json_schema_extra={"enum": list(TASKS)})
    """What the response is to the source; `open` needs no source."""
    context: str = Field(default="", examples=["What did Tom sell?"])
    """The question or the turns before, if any."""
    reference: str | None = None
    """The right text beside the response, where one is known."""
    labels: list[Label] | None = None
    """A label for each sentence of the response, for an audit."""
    case_id: str = Field(default="case", title="Case")
    """A name for the report."""
    parts: list[int] = []
    """Where each of several responses begins, if they are checked together."""
    sources: list[DocumentRef] = Field(default=[], title="Stored sources")
    """Documents already in the store, instead of a text."""
    notes: FileNotes = Field(default=FileNotes(), title="Notes")
    """How the response's file became its text."""


Consulted = Literal["not_yet", "no_pages", "nothing_found", "found"]
"""What saved web pages gave for a claim that the source doesn't have: not asked yet, there are none, none speaks of
it, or snippets were shown."""
Confirmation = Literal["confirmed", "unproved", "refuted"]
"""What became of a conviction that was asked about once more. In its place may stand why that question failed."""


class ClaimState(Frozen):
    """A claim and all that is known of it: nothing in here is a decision, every decision follows from it (policy)."""

    claim: Claim
    unit: Literal["sentence", "claim", "superseded"] = "sentence"
    """A sentence that may be taken apart; what is judged as it stands; or what no longer counts, since the parts of
    its sentence, or all of it, are judged in its stead."""
    appealed: bool = False
    """The sentence was convicted, all of its parts were cleared: the arbiter decides on it as a whole."""
    copied: bool = False
    """The response is its source, word for word, so the claim stands where it was taken from."""
    window: SourcePlace | None = None
    """The place to which its part of the response was aligned, for the report."""
    place: Lines = ()
    """What of its window is shown first."""
    around: Lines = ()
    """All of its window; nothing where that isn't worth its price."""
    sure: bool = True
    """That window is likely to be its place."""
    everywhere: bool = False
    """It says how often, always, never: no single place can prove it."""
    looks: tuple[Look, ...] = ()
    """The looks at the sources that were taken for it."""
    found: Lines = ()
    """What the last look found and nobody was shown yet."""
    own: Lines = ()
    """What was shown for its sake: its questions show other claims' lines, too."""
    looked: Looked = Looked()
    """How far was looked, as far as somebody answered."""
    unread: Failure | None = None
    """The reason why the sources could not be searched or read through for it."""
    asked: tuple[Question, ...] = ()
    """The questions about it, in order, without texts."""
    judgements: tuple[Judgement, ...] = ()
    """What was said of it, a ruling included."""
    ruling: Judgement | None = None
    """The last word of an arbiter or a person."""
    ruled_by: Literal["arbiter", "person"] = "arbiter"
    left_open: bool = False
    """A person chose not to decide."""
    consulted: Consulted = "not_yet"
    confirmation: Confirmation | Failure | None = None
    """What became of its conviction, where convictions are confirmed."""
    localised: tuple[Error, ...] = ()
    """Errors that were placed after the decision."""

    @property
    def read_whole(self) -> bool:
        """True if all of the sources was read for this claim, by its judges or by a reader."""
        scanned = "scan" in self.looks and self.unread is None
        return self.copied or scanned or "source" in self.looked.rounds

    @property
    def last_asked(self) -> str:
        """The id of the question that was asked last; empty where none was."""
        return self.asked[-1].id if self.asked else ""

    def lines_shown(self, *, read: bool = False) -> set[int]:
        """The numbers of all lines that its questions show; `read`: of those that some judge answered."""
        answered = {j.question_id for j in self.judgements if j.label is not None}
        shown: set[int] = set()
        for question in self.asked:
            if not read or question.id in answered:
                shown.update(*question.lines)
        return shown

    @property
    def lines_in_view(self) -> set[int]:
        """The numbers of the lines that its last question shows: one about it alone leaves out some shown before."""
        return set(chain.from_iterable(self.asked[-1].lines)) if self.asked else set()

    def votes(self, question_id: str) -> list[Judgement]:
        """The panel's judgements on a question; no ruling among them."""
        return [j for j in self.judgements if j.question_id == question_id and j != self.ruling]

    def last_votes(self) -> list[Judgement]:
        """The panel's judgements on the last question that it answered."""
        for question in reversed(self.asked):
            if votes := self.votes(question.id):
                return votes
        return []

    def with_look(self, look: Look, own: Iterable[int] = ()) -> Self:
        """The claim after a look at the source: nothing found is left to show. `own`: lines shown for its sake."""
        looks = self.looks if self.looks[-1:] == (look,) else (*self.looks, look)
        own = tuple(sorted({*self.own, *own}))
        return self.model_copy(update={"looks": looks, "found": (), "own": own})

    def with_answer(self, look: Look, share: float, queries: tuple[str, ...] = ()) -> Self:
        """The claim after somebody answered for what this look showed: a share of the sources."""
        rounds = tuple(dict.fromkeys((*self.looked.rounds, look)))
        queries, share = queries or self.looked.queries, max(self.looked.share, share)
        return self.model_copy(update={"looked": Looked(rounds=rounds, queries=queries, share=share)})

    def with_question(self, question: Question) -> Self:
        """The claim with one more question that asks about it."""
        return self.model_copy(update={"asked": (*self.asked, question)})

    def with_judgements(self, judgements: Iterable[Judgement]) -> Self:
        """The claim with those of the judgements that are about it."""
        mine = tuple(judgement for judgement in judgements if judgement.claim_id == self.claim.id)
        return self.model_copy(update={"judgements": (*self.judgements, *mine)}) if mine else self


class Plan(Frozen):
    """The limits of a run, the same for all claims of a case. Worked out from settings and case, never kept."""

    looks: tuple[Look, ...]
    """The looks at the sources, each wider than the one before."""
    consensus: float
    """The share of the panel that must agree."""
    sourced: bool = True
    """There is a source at all."""
    arbiter: Literal["model", "person", "nobody"] = "model"
    decompose: Literal["doubted", "all", "nothing"] = "doubted"
    """The sentences that are taken apart into claims."""
    cascade: bool = False
    """The first judge's doubt is enough to take a sentence apart."""
    confirms: Literal["nothing", "contradictions", "all"] = "nothing"
    """What is asked about once more: contradictions, by their cited lines alone; or every conviction."""


class Reviewed(Frozen):
    """A person's decisions: by whom, and when."""

    name: str
    at: str
    claims: tuple[str, ...]


class Checked(TypedDict, total=False):
    """The result of claim groups: claims as their groups left them; where one is there twice, the later holds."""

    checked: Annotated[list[ClaimState], add]
    calls: Annotated[list[Call], add]
    pages: Annotated[list[DocumentRef], add]


class CheckState(Checked, total=False):
    """A claim group on its way through `check`. Its case comes without the response, which stands in the store."""

    case: Case
    sources: list[DocumentRef]
    claims: list[ClaimState]


class State(Checked, total=False):
    """One case on its way from text to report. `groups` are ids of claims that are checked together."""

    started: float
    case: Case
    sources: list[DocumentRef]
    claims: list[ClaimState]
    groups: list[list[str]]
    decided: list[ClaimState]
    reviews: Annotated[list[Reviewed], add]
    report: Report


class VerifyOutput(TypedDict):
    """The result of the graph."""

    report: Report


def latest(state: State) -> list[ClaimState]:
    """Every claim as it stands now, in the order of the response."""
    return replace_claims(state["claims"], state.get("checked", []))


def replace_claims(claims: Iterable[ClaimState], changed: Iterable[ClaimState]) -> list[ClaimState]:
    """The claims, those that were changed in the place of what they were, new ones behind their sentence."""
    by_id = {one.claim.id: one for one in [*claims, *changed]}
    return sorted(by_id.values(), key=lambda one: (one.claim.sentence, one.claim.index))
