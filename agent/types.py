"""The types of checking: cases, claims, questions, judgements, reports.

Labels are those of VeriGray, ordered by faithfulness; kinds are LongNovel's eight
(Appendix A). Does not know: how evidence is found, or what happens after what.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol, Self, get_args, runtime_checkable

from pydantic import Field, model_validator

from longproof.retrieval.types import FileNotes, Frozen, Span

Label = Literal[
    "contradicting",
    "fabricated",
    "ambiguous",
    "no_fact",
    "out_dependent",
    "implicitly_supported",
    "explicitly_supported",
]
LABELS: tuple[Label, ...] = get_args(Label)
"""All labels, the least faithful first."""
JudgeLabel = Literal[Label, "not_found"]
"""What a judge may say: a label, or `not_found` (not in what was shown)."""
Kind = Literal["entity", "numerical", "relation", "inversion", "event", "temporal", "causal", "fabrication"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Failure = Literal[
    "ungrounded",
    "self_contradicted",
    "off_menu",
    "truncated",
    "unparsed",
    "refused",
    "timeout",
    "unavailable",
    "too_long",
    "over_budget",
    "needs_model",
    "not_found_so_far",
    "split",
    "disputed",
    "sourceless",
    "unconfirmed",
    "panel_incomplete",
]
"""Why there is no label; never dressed as one. The first ten are a model's (`too_long`: more than its context holds).
`needs_model`: only the offline check looked, and it can't tell; `not_found_so_far`: nobody found it, and part of the
source was not read; `split`: the panel disagrees and nobody arbitrates; `disputed`: a judge of an audit disagrees
with the given label; `sourceless`: no source, nor a page about it; `unconfirmed`: called wrong, but a confirming
question didn't support that; `panel_incomplete`: more than half of the judges that were asked failed to answer."""
Task = Literal["summary", "answer", "turn", "article", "rewrite", "open"]
TASKS: tuple[Task, ...] = get_args(Task)
Look = Literal["nothing", "place", "words", "window", "search", "scan", "source", "pages"]
"""How far is looked: not at all, at the aligned place, at the places that fit a claim's own words best, in the window
around its place, by a search of the whole source, by a reading of all of it, with all of the source shown, in saved
pages."""
Lines = tuple[int, ...]
"""Numbers of lines of evidence: a line's place among all lines of a case's sources, from 0 on."""
DecidedBy = Literal["vote", "arbiter", "person", "rule", "nobody"]
Outcome = Literal["faithful", "hallucinated", "undecided"]


class Case(Frozen):
    """One text to check. `source_ids` may be empty (task `open`).

    `context` is the question, the earlier turns or what else the response was written for;
    `reference` and `labels` are there only where a protocol needs them (contrast, audit). `parts` says where each of
    several responses begins that are checked together: none continues the one before it.
    """

    id: str
    task: Task = "summary"
    response: str
    source_ids: tuple[str, ...] = ()
    context: str = ""
    reference: str | None = None
    labels: tuple[Label, ...] | None = None
    parts: tuple[int, ...] = Field(default=(), exclude=True)
    notes: FileNotes = Field(default=FileNotes(), exclude=True)
    """How the response's file became its text."""


class Claim(Frozen):
    """A statement that is checked: a whole sentence (`s3`), or a part that it was taken apart into (`s3.1`)."""

    id: str
    index: int = Field(ge=0)
    """Orders the claims of a sentence, the sentence itself first."""
    sentence: int = Field(ge=0)
    """The index of its sentence in the response."""
    text: str
    origin: Span
    """The words of the response that say it."""


class SourcePlace(Frozen):
    """A range of one source, without its text: it may be a whole chapter."""

    source_id: str
    start: int
    end: int


class Error(Frozen):
    """Wrong words of the response; `correction` replaces them: empty, they go; None, the right ones aren't known."""

    span: Span
    kind: Kind | None = None
    correction: str | None = None
    reason: str = ""


class Question(Frozen):
    """A question to all judges. Kept between steps it holds numbers of lines; their texts come when it is asked."""

    id: str
    claim_ids: tuple[str, ...] = Field(min_length=1)
    look: Look
    prompt: str
    lines: tuple[Lines, ...] = ()
    """What each look at the sources added, sorted: what was shown once stays where it stood."""
    pages: tuple[SourcePlace, ...] = ()
    """Snippets of saved pages, shown behind the lines."""
    shown: tuple[Span, ...] = ()
    """The texts of the lines and the snippets; texts without numbers, where there are neither."""
    last_line: int = 0
    """The number of the sources' last line, where a prompt tells it."""
    denied: tuple[Error, ...] = ()
    """The words that are called wrong, where a prompt asks whether they are."""

    @property
    def numbers(self) -> Lines:
        """The number of each text that is shown in lines: a line's own, and -1, -2, … for snippets."""
        own = tuple(number for added in self.lines for number in added)
        return own + tuple(-n for n in range(1, len(self.pages) + 1))


class Search(Frozen):
    """A search by one judge for evidence of a claim, and what it found or why it failed (PROBE)."""

    claim_id: str
    judge: str
    found: tuple[Span, ...] | None = None
    failure: Failure | None = None


class Reading(Frozen):
    """One way to read an ambiguous claim, and its label."""

    text: str
    label: Label


class Hint(Frozen):
    """Words of the response, a number or a name, and what a source has in their place in the very same sentence.

    A place to look at, no finding: the two sentences may be about different things.
    """

    words: Span
    source: Span


class Judgement(Frozen):
    """The word of one judge on one claim: exactly one of label and failure; quotes located in what was shown."""

    claim_id: str
    judge: str
    round: Look
    question_id: str
    call_id: str | None = None
    label: JudgeLabel | None = None
    failure: Failure | None = None
    quotes: tuple[Span, ...] = ()
    quotes_dropped: int = 0
    errors: tuple[Error, ...] = ()
    readings: tuple[Reading, ...] = ()
    reason: str = ""
    prompt_hash: str | None = None
    hint: Hint | None = Field(default=None, exclude=True)

    @model_validator(mode="after")
    def _label_or_failure(self) -> Self:
        if (self.label is None) == (self.failure is None):
            raise ValueError("a judgement has exactly one of label and failure")
        return self


class Call(Frozen):
    """One paid call: what it was for, and what the server said it cost when it was bought.

    Token counts are None where the server sent none, `answer_characters` where no answer came. `bought` is false when
    the ledger answered; in a report it is true of all, and the stamp says what the run paid.
    """

    id: str
    purpose: str
    endpoint: str
    model: str
    prompt_hash: str
    prompt_characters: int
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    answer_characters: int | None = None
    failure: Failure | None = None
    bought: bool = True


class Usage(Frozen):
    """Sums over calls; `prompt_characters` counts whole prompts, templates included."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    prompt_characters: int = 0
    answer_characters: int = 0


class Answered(NamedTuple):
    """The answer of a judge or an arbiter: one judgement per claim asked about, and the calls made."""

    judgements: list[Judgement]
    calls: list[Call]


class Decomposed(NamedTuple):
    """The answer of a decomposer: the claims, by a sentence's number why it was not taken apart, the calls."""

    claims: list[Claim]
    failures: dict[int, Failure]
    calls: list[Call]


class Named(Protocol):
    """Somebody who is asked, by the name that reports tell."""

    @property
    def name(self) -> str: ...


@runtime_checkable
class Judge(Named, Protocol):
    """Reads the evidence of a question and says what it makes of each claim. Never raises for a bad answer."""

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """One judgement for each of `claims`, in their order."""


@runtime_checkable
class Arbiter(Named, Protocol):
    """Decides where the panel is split: sees the question, the evidence and the others' judgements."""

    async def arbitrate(
        self, question: Question, claims: Sequence[Claim], judgements: Sequence[Judgement], case: Case
    ) -> Answered:
        """One judgement for each of `claims`, in their order."""


@runtime_checkable
class Decomposer(Named, Protocol):
    """Cuts sentences of the response into claims that stand alone."""

    async def decompose(self, case: Case, sentences: Sequence[Span]) -> Decomposed:
        """Claims of all sentences, in text order. A sentence that fails is itself one claim."""


class Place(Frozen):
    """A place in the one text that the context names: half-open, in code points."""

    start: int
    end: int
    text: str = ""

    @classmethod
    def of(cls, text: str, start: int, end: int) -> Self:
        """The place `[start, end)` of this text."""
        return cls(start=start, end=end, text=text[start:end])


class ReportDocument(Frozen):
    """A text that the report points into. `role` is response, source or page; its text is not repeated here."""

    id: str
    role: Literal["response", "source", "page"]
    kind: str
    title: str = ""
    uri: str = ""
    characters: int
    notes: FileNotes = FileNotes()


class ReportSentence(Frozen):
    """A sentence of the response with the least faithful label of its claims; None: undecided."""

    start: int
    end: int
    text: str
    label: Label | None
    judgements: tuple[Judgement, ...] = ()
    """Votes that no longer count: on the whole sentence, where its parts were judged after it, or the reverse."""


class Decision(Frozen):
    """The label of a claim and who gave it, or why nobody could. `evidence`: the quotes that it rests on, where these
    aren't all of those who said so (None: none, in runs that were begun before)."""

    label: Label | None = None
    decided_by: DecidedBy = "nobody"
    failure: Failure | None = None
    caveat: str = ""
    evidence: tuple[Span, ...] | None = ()


class Looked(Frozen):
    """The looks that were taken for a claim, in order, as far as somebody answered for what was shown.

    `queries` are what was searched for, `share` the share of the sources that was read for it.
    """

    rounds: tuple[Look, ...] = ()
    queries: tuple[str, ...] = ()
    share: float = Field(default=0.0, ge=0, le=1)


class ReportClaim(Frozen):
    """A claim and the decision on it. `origin` is a place in the response, `window` one in a source; `looked` is None
    where a report doesn't say. `label` is None only where nobody could decide, and `failure` says why."""

    id: str
    text: str
    sentence: int
    origin: Place
    window: SourcePlace | None
    label: Label | None
    failure: Failure | None
    decided_by: DecidedBy
    errors: tuple[Error, ...] = ()
    readings: tuple[Reading, ...] = ()
    evidence: tuple[Span, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    caveat: str = ""
    looked: Looked | None = None
    proved: bool | None = None
    """A judge said that the cited lines alone contradict it, or that they don't; None: nobody was asked."""
    hint: Hint | None = None
    """Where no model has read: a number or a name that a source tells otherwise. It decides nothing."""

    @model_validator(mode="after")
    def _undecided_by_nobody(self) -> Self:
        if (self.label is None) != (self.decided_by == "nobody"):
            raise ValueError("label is None exactly when nobody decided")
        return self


class Report(Frozen):
    """The findings about one case. `counts` adds up to the number of claims; `coverage` is decided / all.

    `triage`: only the offline check looked, so that what it can't tell is undecided. `stamp` is enough to run it
    again; the times and what this run paid stand in it alone.
    """

    schema_version: Literal[2] = 2
    case: Case
    documents: tuple[ReportDocument, ...]
    verdict: Outcome
    triage: bool = False
    sentences: tuple[ReportSentence, ...]
    claims: tuple[ReportClaim, ...]
    searches: tuple[Search, ...] = ()
    calls: tuple[Call, ...] = ()
    counts: dict[str, int]
    coverage: float = Field(ge=0, le=1)
    usage: Usage
    stamp: dict[str, Any]
