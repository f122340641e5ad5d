"""A paper's method with its numbers: its questions, the answers to them, the state of its graph.

Knows: what each placeholder of a paper's prompt stands for; an answer that is not on a menu is `unparsed`, as the
authors would have seen it; exact pieces of a text; how a panel's answers are counted. A state holds places of the
sources, never their texts.
Does not know: what any paper asks, or what its answers mean.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import add
from typing import Annotated, Any, Literal, NamedTuple, Self

from typing_extensions import TypedDict

from longproof.agent.guards import Weighed, word
from longproof.agent.judge import ModelJudge
from longproof.agent.models.answers import Form
from longproof.agent.prompting import Numbered, brief, fill, language_of, line
from longproof.agent.types import (
    Call,
    Case,
    Claim,
    Decision,
    Error,
    Failure,
    Judgement,
    Label,
    Look,
    Question,
    Report,
    Search,
    SourcePlace,
)
from longproof.agent.vote import CONSENSUS, SIDES, final_label, missing_panel, vote
from longproof.graphs.evidence.search import make_question
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.run import Session
from longproof.graphs.settings import NEEDS, Need, Protocol
from longproof.indexes.documents import DocumentRef
from longproof.prompts import Prompt
from longproof.retrieval.types import BadInput, Frozen, Span


class Unit(Frozen):
    """A part of the response that is judged at once, and all that is known of it."""

    claim: Claim
    window: SourcePlace | None = None
    """The place that it was aligned to, in a method that aligns."""
    asked: tuple[Question, ...] = ()
    """The questions about it: one, but for PROBE, which asks about every piece of evidence."""
    judgements: tuple[Judgement, ...] = ()
    """The panel's answers, then the arbiter's word."""
    searches: tuple[Search, ...] = ()
    """Each model's search for evidence (PROBE)."""
    decision: Decision | None = None

    def with_question(self, question: Question) -> Self:
        """The unit with one more question about it."""
        return self.model_copy(update={"asked": (*self.asked, question)})


class PaperState(TypedDict, total=False):
    """One case on its way from text to report."""

    started: float
    case: Case
    sources: list[DocumentRef]
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


class PaperJudge(ModelJudge):
    """A model that is asked as a paper asks: its prompt, its form, its way of reading. Its temperature is the judge's
    own, if it has any, else the paper's."""

    deciding = "arbitrate_paper"

    def __init__(self, judge: ModelJudge, paper: "Paper") -> None:
        temperature = paper.temperature if judge.temperature is None else judge.temperature
        super().__init__(judge.name, judge.asker.model, temperature=temperature, sample=judge.asker.sample)
        self.asker = self.asker._replace(once=not paper.asks_again)
        self.paper = paper

    def form(self, question: Question) -> type[Form]:
        """The paper's form."""
        return self.paper.form

    def prompt(self, question: Question, numbered: Numbered, case: Case) -> Prompt:
        """The paper's prompt about these units."""
        return prompt_about(self.paper.prompt, question.shown, numbered, case)

    def read(self, value: Any, n: int, claims: Sequence[Claim], question: Question, case: Case) -> Weighed:
        """Read a filled form as the paper does."""
        return self.paper.read(value, About(n, claims[n - 1], question.shown, case))


class PaperRun(NamedTuple):
    """All that a step may use: its paper, what the settings opened, and a way to tell what it is doing."""

    paper: "Paper"
    session: Session
    tell: Callable[[dict[str, object]], None]

    def judges(self) -> tuple[list[PaperJudge], PaperJudge]:
        """The panel and its arbiter. Raises BadInput for who is no language model: a paper's method is its prompt."""
        paper, panel = self.paper, self.session.panel
        seats: list[PaperJudge] = []
        for judge in (*panel.judges, panel.arbiter):
            if not isinstance(judge, ModelJudge):
                raise BadInput(f"the protocol {paper.name} needs {NEEDS['models']}")
            seats.append(PaperJudge(judge, paper))
        return seats[:-1], seats[-1]


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
    steps: tuple[Step, ...] = ()
    """The nodes between reading the texts and asking; none: units are cut and shown as the fields below say."""
    decide: Callable[[Unit, Case, float], Decision] | None = None
    """The rule that decides a unit by the panel's answers, at this consensus; None: the vote."""
    unit: Literal["sentence", "segment", "response", "claim"] = "response"
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


def question_about(
    paper: Paper, claims: Sequence[Claim], places: Sequence[SourcePlace], look: Look
) -> Question:
    """A question, named by all that it shows and asks. It holds places until it is asked, and no texts."""
    ids, prompt = [claim.id for claim in claims], paper.question or paper.prompt[0]
    # Places as they stand; no lines have numbers.
    return make_question(ids, Sources([]), look, pages=tuple(places), prompt=prompt)


def prompt_about(parts: Sequence[str], shown: Sequence[Span], numbered: Numbered, case: Case) -> Prompt:
    """The prompt of these parts about these units. A `piece` is the first place shown, `surroundings` what is shown
    beside it. Raises KeyError for an unknown placeholder."""
    texts = [span.text for span in shown]
    evidence: list[str] = []
    pages: list[str] = []
    for span in shown:
        (evidence if span.source_id in case.source_ids else pages).append(span.text)
    first, second = in_order(case)
    rows = [line(sentence=f"S{n}", text=claim.text) for n, claim in numbered.items()]
    values: dict[str, str | list[str]] = {
        "evidence": evidence,
        "pages": pages,
        "piece": texts[0] if texts else "",
        "surroundings": texts[1:],
        "context": case.context,
        "response": case.response,
        "first": first,
        "second": second,
        "passage": [claim.text for claim in numbered.values()],
        "sentences": "\n".join(rows),
    }
    return fill(parts, language_of(case), values)


def in_order(case: Case) -> tuple[str, str]:
    """The response and the reference in an order that follows from their texts and tells nothing."""
    first, second = sorted([case.response, case.reference or ""])
    swap = sha256(f"{first}\0{second}".encode()).digest()[0] % 2
    return (second, first) if swap else (first, second)


def choose(menu: Mapping[str, Label], answer: str, reason: str = "") -> Weighed:
    """The label that a word of the menu stands for."""
    label = menu.get(word(answer))
    return Weighed(label, None if label else "unparsed", reason=brief(reason))


def mark_pieces(
    pieces: Sequence[str], origin: Span, reason: str, *, whole: bool, failure: Failure
) -> Weighed:
    """A list of exact pieces of a text that are made up: none means faithful; `failure` where none stands there.

    A repeated piece is its next place. One that is the whole text marks nothing, and is not believed (data-to-text),
    unless `whole`: all of a response of one sentence may be made up.
    """
    named = [piece for piece in pieces if piece.strip()]
    errors: dict[Error, None] = {}
    after: dict[str, int] = {}
    for piece in named:
        start = origin.text.find(piece, after.get(piece, 0))
        if start < 0 or (not whole and piece.strip() == origin.text.strip()):
            continue
        after[piece] = start + len(piece)
        errors[Error(span=origin.part(start, after[piece]))] = None
    dropped = len(named) - len(errors)
    if named and not errors:
        return Weighed(None, failure, quotes_dropped=dropped, reason=brief(reason))
    label: Label = "fabricated" if named else "implicitly_supported"
    return Weighed(label, None, quotes_dropped=dropped, errors=tuple(errors), reason=brief(reason))


def count_votes(unit: Unit, case: Case, consensus: float, *, coarse: bool) -> Decision:
    """The label that enough of the panel agree on; `split` where they don't, a failure where more than half of the
    judges failed. `coarse`: contradicted and not found are one side."""
    if failure := missing_panel(unit.judgements):
        return Decision(failure=failure)
    question, sides = unit.asked[-1], SIDES
    if coarse:
        sides = {label: "contradicted" if side == "not_found" else side for label, side in SIDES.items()}
    if question.look == "pages":
        sides = {**sides, "out_dependent": "supported"}
    tally = vote(unit.judgements, consensus=consensus, sides=sides)
    if tally.label is not None:
        return Decision(label=final_label(tally.label), decided_by="vote")
    return Decision(failure="split")
