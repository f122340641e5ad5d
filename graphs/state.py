"""What the graphs keep between nodes: frozen models that point into documents and never hold their texts.

Knows: the input, a claim with all that was asked and said about it, the channels of the graphs. The models are named
in the graphs' schemas, so that strict checkpoints give them back as themselves.
Does not know: what a node does, or what happens next to a claim (policy).
"""

from collections.abc import Iterable
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
    Looked,
    Question,
    Report,
    Round,
    Search,
    Sentence,
    SourcePlace,
    Task,
)
from longproof.graphs.evidence.sources import Sources
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.retrieval.types import FileNotes, Frozen, Span


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
    parts: list[int] = Field(
        default=[],
        title="Parts",
        description="Where each of several responses begins, if they are checked together.",
    )
    sources: list[DocumentRef] = Field(
        default=[],
        title="Stored sources",
        description="Documents already in the store, instead of a text.",
    )
    notes: FileNotes = Field(
        default=FileNotes(), title="Notes", description="How the response's file became its text."
    )


class StoredCase(Frozen):
    """A case whose response lies in the document store under `response_id`, with the length of its sources."""

    id: str
    task: Task
    response_id: str
    source_ids: tuple[str, ...]
    source_characters: int = 0
    context: str = ""
    reference: str | None = None
    labels: tuple[Label, ...] | None = None
    parts: tuple[int, ...] = ()
    notes: FileNotes = FileNotes()

    @classmethod
    def of(cls, case: Case, response_id: str, source_characters: int = 0) -> Self:
        """The case without its response's text."""
        kept = {name: getattr(case, name) for name in cls.model_fields if name in Case.model_fields}
        return cls(**kept, response_id=response_id, source_characters=source_characters)

    async def opened(self, store: DocumentStore) -> Case:
        """The case with its response's text."""
        return self.with_text(await store.fetch(self.response_id))

    def with_text(self, response: str) -> Case:
        """The case, given its response's text."""
        kept = {name: getattr(self, name) for name in type(self).model_fields if name in Case.model_fields}
        return Case(**kept, response=response)


class QuestionRef(Frozen):
    """A question without the texts that it shows. With `lined`, its places are whole lines of the sources, and
    snippets of saved pages behind them."""

    id: str
    claim_ids: tuple[str, ...]
    places: tuple[SourcePlace, ...]
    round: Round
    prompt: str
    lined: bool = False

    @classmethod
    def of(cls, question: Question) -> Self:
        """The question without its texts."""
        return cls(
            id=question.id,
            claim_ids=question.claim_ids,
            places=tuple(
                SourcePlace(source_id=s.source_id, start=s.start, end=s.end) for s in question.shown
            ),
            round=question.round,
            prompt=question.prompt,
        )

    async def opened(self, store: DocumentStore, sources: Sources | None = None) -> Question:
        """The question with the texts that it shows: in lines where it is lined and the sources are given."""
        lined = self.lined and sources is not None
        shown: list[Span] = []
        numbers: list[int] = []
        starts: list[int] = []
        for place in self.places:
            starts.append(len(shown))
            lines = sources.lines_of(place) if lined and sources else []
            if lines:
                shown += [line.span for line in lines]
                numbers += [line.number for line in lines]
                continue
            text = await store.fetch(place.source_id)
            shown.append(
                Span(
                    source_id=place.source_id,
                    start=place.start,
                    end=place.end,
                    text=text[place.start : place.end],
                )
            )
            numbers.append(min([*numbers, 0]) - 1)
        return Question(
            id=self.id,
            claim_ids=self.claim_ids,
            shown=tuple(shown),
            round=self.round,
            prompt=self.prompt,
            numbers=tuple(numbers) if lined else (),
            starts=tuple(starts) if lined else (),
        )


Consulted = Literal["not_yet", "no_pages", "nothing_found", "found"]
"""What saved web pages said of a claim that the source doesn't have: not asked yet, there are none, none speaks of
it, or snippets were shown."""


Confirmation = Literal["confirmed", "refuted"]
"""What became of a conviction that was asked about once more: borne out, or not. In its place may stand why that
question failed."""


class ClaimState(Frozen):
    """A claim and all that is known of it: nothing in here is a decision, every decision follows from it (policy).

    `copied`: the response is its source, word for word, so the claim stands where it was taken from.
    `window` is where its part of the response was aligned to, `places` all that this window shows (nothing where it
    isn't worth its price), `pieces` what of it is shown first; `sure` says whether that is likely to be its place.
    `rounds` are the looks taken for it so far, and `found` what the last of them found and nobody was shown yet.
    `queries` is what was searched for, `share` how much of the sources a searcher saw for it, `unread` why they could
    not be read through. `asked` are the questions about it in order; `judgements` what was said, a ruling included.
    `ruling` is the last word of an arbiter or a person, `left_open` that a person chose not to decide. `confirmation`
    is what became of its conviction, where convictions are confirmed. `localised` are errors that were placed after
    the decision.
    """

    claim: Claim
    copied: bool = False
    window: SourcePlace | None = None
    places: tuple[SourcePlace, ...] = ()
    pieces: tuple[SourcePlace, ...] = ()
    sure: bool = True
    rounds: tuple[Round, ...] = ()
    found: tuple[SourcePlace, ...] = ()
    queries: tuple[str, ...] = ()
    share: float = 0.0
    unread: Failure | None = None
    asked: tuple[QuestionRef, ...] = ()
    searches: tuple[Search, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    ruling: Judgement | None = None
    ruled_by: Literal["arbiter", "person"] = "arbiter"
    left_open: bool = False
    consulted: Consulted = "not_yet"
    confirmation: Confirmation | Failure | None = None
    localised: tuple[Error, ...] = ()

    @property
    def read_whole(self) -> bool:
        """Whether all of the sources was shown to the panel, or read through for this claim."""
        scanned = "scan" in self.rounds and self.unread is None
        return scanned or self.copied or any(question.round == "source" for question in self.asked)

    def how_far(self, case: StoredCase) -> Looked:
        """How far was looked for it."""
        shown = {(p.source_id, p.start, p.end) for question in self.asked for p in question.places}
        characters = sum(end - start for id_, start, end in shown if id_ in case.source_ids)
        share = max(self.share, characters / max(1, case.source_characters))
        rounds = tuple(dict.fromkeys([*self.rounds, *(question.round for question in self.asked)]))
        return Looked(rounds=rounds, queries=self.queries, share=1.0 if self.read_whole else _part(share))

    @property
    def last_asked(self) -> str:
        """The id of the question that was asked last; empty where none was."""
        return self.asked[-1].id if self.asked else ""

    def votes(self, question_id: str) -> list[Judgement]:
        """What the panel said to a question; no ruling among it."""
        return [j for j in self.judgements if j.question_id == question_id and j != self.ruling]

    def looked(self, round_: Round) -> Self:
        """The claim after a look at the source: nothing found is left to be shown."""
        rounds = self.rounds if self.rounds[-1:] == (round_,) else (*self.rounds, round_)
        return self.model_copy(update={"rounds": rounds, "found": ()})

    def with_questions(self, questions: Iterable[QuestionRef]) -> Self:
        """The claim with the questions that ask about it."""
        mine = tuple(question for question in questions if self.claim.id in question.claim_ids)
        return self.model_copy(update={"asked": (*self.asked, *mine)}) if mine else self

    def with_judgements(self, judgements: Iterable[Judgement]) -> Self:
        """The claim with those of the judgements that are about it."""
        mine = tuple(judgement for judgement in judgements if judgement.claim_id == self.claim.id)
        return self.model_copy(update={"judgements": (*self.judgements, *mine)}) if mine else self


class Plan(Frozen):
    """What a run allows, the same for all claims of a case.

    `rounds`: how wide each look at the source is. `sourced`: there is a source at all. `proves_absence`: what was not
    found is fabricated only where all of the source was read. `consults`: saved pages are asked about what it doesn't
    have. `confirms`: what is decided wrong is confirmed.
    """

    rounds: tuple[Round, ...]
    consensus: float
    sourced: bool = True
    proves_absence: bool = False
    consults: bool = False
    arbiter: Literal["model", "person", "nobody"] = "model"
    confirms: bool = False


class Reviewed(Frozen):
    """Who decided what the panel could not, and when."""

    name: str
    at: str
    claims: tuple[str, ...]


class CheckState(TypedDict, total=False):
    """A claim group on its way through `check`."""

    case: StoredCase
    plan: Plan
    sources: list[DocumentRef]
    claims: list[ClaimState]
    checked: Annotated[list[ClaimState], add]
    calls: Annotated[list[Call], add]
    pages: Annotated[list[DocumentRef], add]


class Checked(TypedDict, total=False):
    """What a claim group hands back."""

    checked: list[ClaimState]
    calls: list[Call]
    pages: list[DocumentRef]


class State(TypedDict, total=False):
    """One case on its way from text to report. `groups` are ids of claims that are checked together.

    `checked` holds claims as their groups left them; where one is there twice, the later holds.
    """

    started: float
    case: StoredCase
    plan: Plan
    sources: list[DocumentRef]
    sentences: list[Sentence]
    claims: list[ClaimState]
    groups: list[list[str]]
    checked: Annotated[list[ClaimState], add]
    calls: Annotated[list[Call], add]
    pages: Annotated[list[DocumentRef], add]
    decided: list[ClaimState]
    reviews: Annotated[list[Reviewed], add]
    report: Report


class VerifyOutput(TypedDict):
    """What comes out."""

    report: Report


def latest(state: State) -> list[ClaimState]:
    """Every claim as it stands now, in the order of the response."""
    found = {claim.claim.id: claim for claim in [*state["claims"], *state.get("checked", [])]}
    return list(found.values())


def _part(share: float) -> float:
    """A share that is less than all, however much a searcher saw in passing."""
    return min(round(share, 4), 0.9999)
