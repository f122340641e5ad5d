"""Every setting of a run, with a default for each: the graphs' `context_schema`; what a protocol is; what is refused.

Knows: names, defaults, bounds; our own protocol (those of the papers stand in `graphs/papers/`), and what a protocol
can't do without; what a run was begun with.
Does not know: keys (they come from the environment alone), or what a setting or a protocol does.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema, field_validator

from longproof.agent.models.limits import PriceList
from longproof.agent.offline import OfflineJudge
from longproof.agent.specs import Panel, Spec, as_spec
from longproof.graphs.state import VerifyInput
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput, first_fault, nearest

PERSON = "person"
"""The arbiter that is nobody's model: disputes wait for a person's word."""
INCOMPARABLE = {"home", "run_id", "concurrency"}
INCOMPARABLE |= {"max_calls", "max_tokens", "timeout_s", "stream", "cache", "retry_failed"}
"""Settings that don't change what a report says: they may differ from one run to the next."""
Reach = Literal["place", "search", "scan"]
LINE: dict[str, Any] = {"type": "string"}
LINES: dict[str, Any] = {"type": "array", "items": LINE}
"""How forms show SPECs: what a person types, not the parsed form that programs may pass."""


class Settings(BaseModel):
    """All settings of a run. The same settings, input and ledger give the same report."""

    model_config = ConfigDict(frozen=True, extra="forbid", title="Settings", use_attribute_docstrings=True)

    protocol: str | None = None
    """Which method checks the response (`longproof protocols` lists them); else Longproof's own."""
    judges: Annotated[list[str | Spec], WithJsonSchema(LINES)] = Field(
        default=["offline"],
        examples=[["offline"], ["openai:gpt-4.1", "openai:qwen3-32b@http://127.0.0.1:8000/v1"]],
        min_length=1,
    )
    """The panel, one an entry: openai:MODEL (its key in OPENAI_API_KEY); openai:MODEL@http://HOST:PORT/v1 (vLLM,
    Ollama, any such server); PROVIDER:MODEL (anthropic, google_genai, ollama, bedrock and others, with the extra
    providers); nli:FOLDER (a model of entailment); offline (alone, no model: says what stands there word for word,
    gives hints, and calls nothing wrong)."""
    arbiter: Annotated[str | Spec | None, WithJsonSchema(LINE)] = Field(
        default=None, examples=["openai:gpt-4.1", PERSON]
    )
    """Who decides where the panel is split: openai:MODEL, or `person` to be asked yourself; else the panel's first
    model."""
    decompose: Literal["doubted", "all"] = "doubted"
    """The sentences that are taken apart into claims: those that a judge doubts, or all (for weak models)."""
    decomposer: Annotated[str | Spec | None, WithJsonSchema(LINE)] = Field(
        default=None, examples=["offline", "openai:gpt-4.1"]
    )
    """Who takes sentences apart into claims: a language model; else the panel's first."""
    searcher: Annotated[str | Spec | None, WithJsonSchema(LINE)] = Field(
        default=None, examples=["openai:gpt-4.1"]
    )
    """Who searches and reads the whole source: a language model; else the panel's first."""
    cascade: bool = False
    """The first judge reads all, the others only what it doesn't clear and a random twentieth of what it does."""
    consensus: float | None = Field(default=None, gt=0, le=1)
    """Share of the panel that must agree; else the protocol's own."""
    confirm: Literal["contradictions", "all", "off"] = "contradictions"
    """What is called wrong is asked about once more, with its opposite: contradictions of long sources, by their
    cited lines alone; or every conviction, by all that was shown; what isn't borne out is undecided."""
    reach: Reach | None = None
    """How far to look for a claim: at its place in the source, by a search of all of it, or by reading all of it
    (else as far as that, up to three million characters). Only what was read is called fabricated."""
    pages: str | None = None
    """A folder of saved web pages to consult about what the source doesn't have."""
    embedder: str = "lexical"
    """How claims of no sure place are looked for: by words (lexical), and by meaning too: e5, auto (e5 where it is
    installed), bge-m3, st:PATH, openai:MODEL, with what a model wants before queries and passages behind it
    ('st:PATH|query: |passage: ')."""
    max_calls: int | None = Field(default=None, ge=0)
    """Calls that may be paid; the rest stays undecided."""
    max_tokens: int | None = Field(default=None, ge=0)
    """Tokens that may be paid; the rest stays undecided."""
    prices: PriceList = {}
    """What a million tokens cost, by model: input, output, cached, currency; then reports tell money."""
    concurrency: int = Field(default=16, ge=1)
    """Calls under way at once, for each endpoint."""
    timeout_s: float = Field(default=300, gt=0)
    """Seconds until a call counts as unanswered."""
    stream: bool = False
    """Answers are sent piece by piece (openai: alone), so that no gateway takes a long one for an idle connection."""
    cache: bool = True
    """Keep paid answers, and never pay for them again."""
    retry_failed: bool = False
    """Ask again where a kept answer came to nothing; a batch takes up undecided cases, too."""
    may_state_no_fact: bool = False
    """Sentences that state no fact (greetings, plain questions) are not named beside the verdict, and no reason for
    exit 3 under --check."""
    run_id: str | None = None
    """A name for this run in the ledger; the same case goes on where it stopped."""
    sample: int = Field(default=0, ge=0)
    """Which answer to draw from each model: another number asks anew."""
    home: str | None = None
    """Where texts, indexes and answers are kept."""

    @field_validator("*", mode="before")
    @classmethod
    def _leave_unset(cls, value: object) -> object:
        """An emptied line of a form says nothing."""
        return None if value == "" else value

    @field_validator("run_id")
    @classmethod
    def _refuse_bytes(cls, value: str | None) -> str | None:
        """A command line can hold bytes that are no text, and no ledger can."""
        if value and without_surrogates(value) != value:
            raise ValueError("bytes that are no UTF-8 make no name")
        return value


def settings_of(context: Any) -> Settings:
    """The settings of a run from what the caller passed: ours, a mapping, or nothing. A host's own object, which is
    no mapping, says nothing of them.

    Raises BadInput where a mapping holds an unknown or ill-formed setting.
    """
    if isinstance(context, Settings):
        return context
    if not isinstance(context, Mapping):
        return Settings()
    try:
        return Settings(**context)
    except ValidationError as error:
        name, why = first_fault(error)
        if name in context and name not in Settings.model_fields:
            why = f"there is none of this name{nearest(name, Settings.model_fields)}"
        raise BadInput(f"setting {name}: {why}") from error


def spec_of(named: str | Spec | None) -> Spec | None:
    """The model that a setting names for a role; None for nobody. Raises BadInput for what names none."""
    return as_spec(named) if named else None


Need = Literal["models", "pages", "labels", "reference", "record"]
NEEDS: dict[Need, str] = {
    "models": "judges that are language models: give --judge openai:MODEL",
    "pages": "saved web pages: give --pages DIR",
    "labels": "a label for each sentence of the response: give --labels FILE, or a case file with `labels`",
    "reference": "the right text beside the response: give --reference FILE, or a case file with `reference`",
    "record": "a JSON record as its source",
}


class Work(NamedTuple):
    """A work that sets methods out, named as bibliographies do."""

    name: str
    title: str
    authors: str
    year: str
    appeared: str

    def in_short(self) -> str:
        """The name, the first author and the year."""
        first, comma, _ = self.authors.partition(", ")
        authors = f"{first.split()[-1]} et al." if comma else first
        return f"{self.name} ({authors}, {self.year})"

    def in_full(self) -> str:
        """The name; authors, year, title, and where it appeared."""
        return f"{self.name}: {self.authors} ({self.year}). {self.title}. {self.appeared}."


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """One way to check a response."""

    name: str
    summary: str
    work: Work | None = None
    cites: str
    """The section of the work that sets the method out; without a work, where the method comes from."""
    needs: tuple[Need, ...] = ()
    joins: bool = False
    """Short responses to one long source may be checked together."""

    @property
    def cited(self) -> str:
        """The work and its section."""
        return f"{self.work.name}, {self.cites}" if self.work else self.cites


LONGPROOF = Protocol(
    name="longproof",
    summary="Claim by claim, with evidence that grows up to all of the source, a panel that votes and an arbiter.",
    cites="design of this project",
    joins=True,
)


def unmet(
    name: str, needs: Collection[Need], has: Collection[Need], among: Collection[Need] = get_args(Need)
) -> str | None:
    """The reason why a protocol can't be run with what is there; None: it can. Looks only `among` these needs."""
    lacking = [NEEDS[need] for need in needs if need in among and need not in has]
    return f"the protocol {name} needs {' and '.join(lacking)}" if lacking else None


def begun_with(settings: Settings, case: VerifyInput | None = None) -> str:
    """Hash what a run is begun with: the settings that shape its reports, and its case if it has but one.

    What is left unset or off doesn't count: a run goes on though settings were added to the program since.
    """
    shaping = settings.model_dump(mode="json", exclude=INCOMPARABLE)
    named = {name: value for name, value in shaping.items() if value}
    texts = case and {**case.model_dump(mode="json"), "sources": [ref.id for ref in case.sources]}
    what = [{**named, "protocol": settings.protocol or LONGPROOF.name}, texts]
    return sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def refuse_what_is_missing(settings: Settings, protocol: Protocol, panel: Panel, *, objects: bool) -> None:
    """Raises BadInput where the protocol or a setting needs models or pages that aren't there.

    `objects`: the judges were given as objects, which may well be models.
    """
    if settings.pages and not Path(settings.pages).is_dir():
        raise BadInput(f"there is no folder {settings.pages}: --pages names a folder of saved web pages")
    offline = any(isinstance(judge, OfflineJudge) for judge in panel.judges)
    if offline and len(panel.judges) > 1:
        raise BadInput("the judge offline has no vote beside others: leave it out, or give it alone")
    if offline and protocol != LONGPROOF:
        raise BadInput(f"the protocol {protocol.name} needs judges that read: give --judge openai:MODEL")
    has: list[Need] = ["pages"] if settings.pages else []
    if objects or all(as_spec(judge).is_model for judge in settings.judges):
        has.append("models")
    if why := unmet(protocol.name, protocol.needs, has, among=("models", "pages")):
        raise BadInput(why)
    if settings.confirm == "all" and (panel.confirmer is None or protocol != LONGPROOF):
        raise BadInput("--confirm all needs a language model, and the protocol longproof")
    if protocol != LONGPROOF and (settings.arbiter == PERSON or settings.cascade):
        raise BadInput(
            f"the protocol {protocol.name} asks a whole panel and no person: leave out --arbiter person and --cascade"
        )


def refuse_what_is_not_recorded(settings: Settings) -> None:
    """Raises BadInput for what a recording doesn't hold: a replay loads no model and sends no text."""
    roles = [*settings.judges, settings.arbiter, settings.decomposer, settings.searcher]
    named = [as_spec(one) for one in roles if one and one != PERSON]
    if settings.embedder != "lexical" or any(one.kind == "nli" for one in named):
        raise BadInput("recordings hold the answers of language models: leave out nli judges and embedders")
