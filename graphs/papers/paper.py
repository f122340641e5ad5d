"""The types of the papers' methods: a method with its numbers, a unit of the response on its way, the graph's state.

Knows: fields alone. A state holds places of the sources, never their texts. Does not know: what any paper asks.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from operator import add
from typing import Annotated, Any, Literal, NamedTuple

from typing_extensions import TypedDict

from longproof.agent.guards import Weighed
from longproof.agent.judge import ModelArbiter, ModelJudge
from longproof.agent.models.answers import Form
from longproof.agent.types import (
    Call,
    Case,
    Claim,
    DecidedBy,
    Failure,
    Judgement,
    Label,
    Question,
    Report,
    Search,
    Sentence,
    SourcePlace,
)
from longproof.agent.vote import CONSENSUS
from longproof.graphs.protocol import NEEDS, Need, Protocol
from longproof.graphs.run import Session
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.types import BadInput, Frozen, Span


class Decision(Frozen):
    """The label of a unit, or why nobody could decide it."""

    label: Label | None = None
    failure: Failure | None = None
    decided_by: DecidedBy = "nobody"
    evidence: tuple[Span, ...] | None = None
    """The quotes that it rests on; None: those of everybody who said so."""


class Unit(Frozen):
    """A part of the response that is judged at once, and all that is known of it."""

    claim: Claim
    window: SourcePlace | None = None
    """The place that it was aligned to, in a method that aligns."""
    asked: tuple[Question, ...] = ()
    """The questions about it: one, but for PROBE, which asks about every piece of evidence."""
    judgements: tuple[Judgement, ...] = ()
    ruling: Judgement | None = None
    """The arbiter's word."""
    searches: tuple[Search, ...] = ()
    """Each model's search for evidence (PROBE)."""
    decision: Decision | None = None

    def votes(self, question_id: str) -> list[Judgement]:
        """The panel's answers to one question."""
        return [judgement for judgement in self.judgements if judgement.question_id == question_id]


class PaperState(TypedDict, total=False):
    """One case on its way from text to report."""

    started: float
    case: Case
    sources: list[DocumentRef]
    sentences: list[Sentence]
    units: list[Unit]
    calls: Annotated[list[Call], add]
    pages: Annotated[list[DocumentRef], add]
    report: Report


class About(NamedTuple):
    """The subject of an answer: a unit by its number in the prompt, what was shown with it, its case."""

    number: int
    claim: Claim
    shown: tuple[Span, ...]
    case: Case


class PaperRun(NamedTuple):
    """All that a step may use: its paper, what the settings opened, and a way to tell what it is doing."""

    paper: "Paper"
    session: Session
    tell: Callable[[dict[str, object]], None]

    async def fill(self, question: Question) -> Question:
        """The question with the texts of its places."""
        texts = await self.session.snippets(question)
        return question.model_copy(update={"shown": tuple(texts), "pages": ()})

    def models(self) -> tuple[list[ModelJudge], ModelArbiter]:
        """The panel and its arbiter. Raises BadInput for who is no language model: a paper's method is its prompt."""
        panel = self.session.panel
        judges = [judge for judge in panel.judges if isinstance(judge, ModelJudge)]
        if len(judges) < len(panel.judges) or not isinstance(panel.arbiter, ModelArbiter):
            raise BadInput(f"the protocol {self.paper.name} needs {NEEDS['models']}")
        return judges, panel.arbiter


Step = Callable[[Any, PaperRun], Awaitable[PaperState]]
"""A node: a function of the state and the run, named in the graph as it is here."""


@dataclass(frozen=True, kw_only=True)
class Paper(Protocol):
    """One method of a paper, with its numbers."""

    prompt: tuple[str, ...]
    """The prompt's files, one part after the other."""
    form: type[Form]
    """The form that a judge fills in."""
    read: Callable[[Any, About], Weighed]
    """A label or a failure, from a filled form."""
    steps: tuple[Step, ...]
    """The nodes up to the vote. A split panel then goes to an arbiter."""
    decide: "Callable[[Unit, Paper, Case, float], Decision] | None" = None
    """The rule that decides a unit by the panel's answers, at this consensus; None: the vote."""
    unit: Literal["sentence", "segment", "response", "claim"] = "response"
    together: bool = False
    """All units of a response stand in one prompt."""
    shows: Literal["source", "nothing"] = "source"
    """The evidence beside a unit, where no step of the paper's own chooses it."""
    coarse: bool = True
    """An answer only says whether something is wrong: contradicted and not found are one side."""
    temperature: float = 0.0
    consensus: float = CONSENSUS
    asks_again: bool = False
    """An answer that can't be used is asked for once more, and forms go as JSON schema; else once, in words."""
    needs: tuple[Need, ...] = ("models",)
    question: str = ""
    """Names the prompt in the ids of questions; empty: as its first file."""
