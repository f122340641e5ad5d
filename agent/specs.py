"""The panel: judges, arbiter, decomposer and localiser, from a command line or from `longproof.toml`.

Knows: how a judge is written (SPEC), the `[panel]` table, and who arbitrates, decomposes, searches and localises
when nobody is named: the first language model of the panel. Without one nobody arbitrates, and the offline rules
decompose. Keys to servers come from the environment alone; an address that a file names isn't the owner's word.
Does not know: settings, protocols, or when the panel is asked.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import BeforeValidator, Field, ValidationError

from longproof.agent.decompose import ModelDecomposer
from longproof.agent.evidence.scan import Scanner
from longproof.agent.judge import ModelJudge
from longproof.agent.models.addresses import PROVIDER, is_key, key_variable, place_and_key, refuse_no_address
from longproof.agent.models.answers import Chat
from longproof.agent.models.model import Model
from longproof.agent.nli import NliJudge
from longproof.agent.offline import OfflineDecomposer, OfflineJudge
from longproof.agent.types import Arbiter, Decomposer, Judge
from longproof.retrieval.files import read_toml
from longproof.retrieval.text.redact import without_credentials
from longproof.retrieval.types import BadInput, Frozen, first_fault, nearest

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

FORMS = (
    "offline, openai:MODEL, openai:MODEL@http://HOST:PORT/v1, nli:PATH_OR_NAME or PROVIDER:MODEL (anthropic, "
    "google_genai, ollama, bedrock or another that LangChain reaches)"
)
NO_KEYS = "keys to servers come from the environment"
TABLES = ("panel", "prices")
"""The tables of `longproof.toml`."""
OF_A_JUDGE = ("spec", "temperature", "samples")
"""The keys of a judge's own table there."""
_SPEC = re.compile(r"(?P<kind>[a-z][a-z0-9_]*):(?P<model>[^\s@]\S*?)(?:@(?P<address>https?://\S+))?")


class Spec(Frozen):
    """A judge by its SPEC."""

    kind: str = Field(pattern="^[a-z][a-z0-9_]*$")
    """`offline`, `openai`, `nli`, or the name of a provider that LangChain reaches."""
    model: str = ""
    address: str | None = None
    temperature: float = Field(default=0.0, ge=0, le=2)
    samples: int = Field(default=1, ge=1, le=16)
    """The number of its seats on the panel, each asked anew."""
    by_owner: bool = True
    """True if the owner of the keys named the address, see `longproof.agent.models.addresses`."""

    @property
    def keyless(self) -> bool:
        """True if no key goes to its server, because no owner of keys named the address."""
        return self.kind == "openai" and not key_variable(self.address, by_owner=self.by_owner)

    @property
    def is_model(self) -> bool:
        """True for a language model, which can do more than judge."""
        return self.kind not in ("offline", "nli")

    @property
    def endpoint(self) -> str | None:
        """The endpoint where the model is asked; None: OpenAI's own."""
        return self.address if self.kind == "openai" else PROVIDER + self.kind

    @property
    def text(self) -> str:
        """The SPEC as it is written on a command line."""
        where = f"@{self.address}" if self.address else ""
        return f"{self.kind}:{self.model}{where}" if self.model else self.kind


Chosen: TypeAlias = "Spec | BaseChatModel"


def as_spec(named: str | Spec) -> Spec:
    """The judge that a SPEC names. Raises BadInput, naming the forms that there are."""
    if isinstance(named, Spec):
        return named
    text = named.strip()
    kind, _, rest = text.partition(":")
    if is_key(rest):
        raise BadInput("a judge's name looks like a key: keys come from the environment, write openai:MODEL")
    shown = repr(without_credentials(text))
    if not text.isprintable():
        raise BadInput(f"{shown} is no judge: it holds characters that don't print")
    if text == "offline" or (kind == "nli" and rest and not rest[0].isspace()):
        return Spec(kind=kind, model=rest)
    said = _SPEC.fullmatch(text)
    if said and kind == "openai":
        if said["address"]:
            refuse_no_address(said["address"])
        elif "@" in said["model"]:
            raise BadInput(f"{shown} names no address of a server: write openai:MODEL@http://HOST:PORT/v1")
        return Spec(kind="openai", model=said["model"], address=said["address"])
    if said is None or kind in ("offline", "nli") or "://" in rest:
        raise BadInput(f"there is no judge {shown}: write {FORMS}")
    return Spec(kind=kind, model=rest)


def _read_entry(entry: Any) -> Any:
    """The judge that a file names: a SPEC, or a table of `spec`, `temperature` and `samples`."""
    if entry == "person":
        return entry
    table = {"spec": entry} if isinstance(entry, str) else entry
    if not isinstance(table, dict) or not isinstance(table.get("spec"), str):
        raise BadInput("a judge is a SPEC, or a table with `spec`, `temperature` and `samples`")
    if extra := set(table) - set(OF_A_JUDGE):
        name = min(extra)
        near = nearest(name, OF_A_JUDGE)
        raise BadInput(f"a judge has no {name!r}{near}: known are {', '.join(OF_A_JUDGE)}; {NO_KEYS}")
    changes = {name: value for name, value in table.items() if name != "spec"}
    return {**as_spec(table["spec"]).model_dump(exclude_unset=True), **changes, "by_owner": False}


SpecInFile = Annotated[Spec, BeforeValidator(_read_entry)]


class PanelTable(Frozen):
    """The `[panel]` table of `longproof.toml`. None: not said there."""

    judges: tuple[SpecInFile, ...] = ()
    consensus: float | None = Field(default=None, gt=0, le=1)
    arbiter: Annotated[Spec | Literal["person"] | None, BeforeValidator(_read_entry)] = None
    decomposer: SpecInFile | None = None
    searcher: SpecInFile | None = None
    stream: bool | None = None
    timeout_s: float | None = Field(default=None, gt=0)


def read_panel(path: Path) -> PanelTable:
    """The `[panel]` table of `longproof.toml`; an empty one where the file has none.

    Raises BadInput for anything else, and for tables and keys that the file can't have.
    """
    tables = read_toml(path)
    for name in tables:
        if name not in TABLES:
            near = " (write it under [panel])" if name in PanelTable.model_fields else nearest(name, TABLES)
            raise BadInput(f"{path}: there is no [{name}]{near}: known are [panel] and [prices]")
    try:
        return PanelTable.model_validate(tables.get("panel", {}))
    except ValidationError as error:
        place, why = first_fault(error)
        if place.partition(".")[0] not in PanelTable.model_fields:
            near = nearest(place, PanelTable.model_fields)
            why = f"there is no such key{near}: known are {', '.join(PanelTable.model_fields)}; {NO_KEYS}"
        raise BadInput(f"{path}: [panel] {place}: {why}") from error


class Roles(NamedTuple):
    """The abilities of a panel, worked out from the names and objects that it is made of."""

    seats: int
    offline: bool
    """Only the offline check looks."""
    reads: bool
    """Somebody can read all of a source."""
    arbitrates: bool
    confirms: bool
    decomposes: bool


def roles_of(
    judges: "Sequence[Chosen | Judge]",
    *,
    arbiter: "Chosen | Arbiter | None" = None,
    decomposer: "Chosen | Decomposer | None" = None,
    searcher: "Chosen | None" = None,
) -> Roles:
    """Work out what a panel of these can do. Nothing is opened."""
    seats = sum(judge.samples if isinstance(judge, Spec) else 1 for judge in judges)
    offline = [isinstance(judge, OfflineJudge) or _is_kind(judge, "offline") for judge in judges]
    objects = any(isinstance(judge, Judge) for judge in judges)
    scans = any(isinstance(judge, Scanner) or _is_kind(judge, "nli") for judge in judges)
    has_model = any(map(_is_model, judges))
    rules = has_model or _is_model(arbiter)
    splits = _is_model(decomposer) or (has_model and not _is_kind(decomposer, "offline"))
    return Roles(
        seats=seats,
        offline=all(offline),
        reads=has_model or scans or searcher is not None,
        arbitrates=rules or isinstance(arbiter, Arbiter),
        confirms=rules or objects,
        decomposes=splits or isinstance(decomposer, Decomposer),
    )


def _is_model(chosen: "Chosen | Judge | Arbiter | Decomposer | None") -> bool:
    """True for a language model: a SPEC of one, or a chat model."""
    if isinstance(chosen, Spec):
        return chosen.is_model
    return chosen is not None and not isinstance(chosen, Judge | Arbiter | Decomposer)


def _is_kind(chosen: object, kind: str) -> bool:
    return isinstance(chosen, Spec) and chosen.kind == kind


class Panel(NamedTuple):
    """Everyone who is asked; None where no language model is there."""

    judges: list[Judge]
    arbiter: Arbiter | None
    decomposer: Decomposer
    localiser: Model | None
    searcher: Model | None
    models: list[Model]
    roles: Roles
    confirmer: Judge | None = None
    """Asked once more about a conviction: the arbiter's model, by default a judge's own."""
    scanner: Scanner | None = None
    """The first judge that can read all of a source by itself."""

    async def close(self) -> None:
        """Close the models' connections; close the ledger first, it waits for calls under way."""
        for model in self.models:
            await model.close()


def panel_from(
    judges: "Sequence[Chosen | Judge]",
    open_model: Callable[[Chosen], Model],
    *,
    arbiter: "Chosen | Arbiter | None" = None,
    decomposer: "Chosen | Decomposer | None" = None,
    searcher: "Chosen | None" = None,
) -> Panel:
    """The panel of these judges, who ask what `open_model` opens. Call it on the event loop that asks.

    Raises BadInput where one of them can't be had.
    """
    models: dict[object, Model] = {}

    def model_of(chosen: "Chosen | Judge | Arbiter | Decomposer | None", role: str = "") -> Model | None:
        """The one model behind all that name it; None if nobody is chosen, or it is no language model."""
        if role and isinstance(chosen, Spec) and not chosen.is_model:
            raise BadInput(f"{chosen.text} can't {role}")
        if chosen is None or isinstance(chosen, Judge | Arbiter | Decomposer) or not _is_model(chosen):
            return None
        key = (chosen.text, chosen.by_owner) if isinstance(chosen, Spec) else id(chosen)
        if key not in models:
            models[key] = open_model(chosen)
        return models[key]

    first = next((judge for judge in judges if model_of(judge)), None)
    own = model_of(first)
    arbitrates = model_of(arbiter, "arbitrate: write openai:MODEL, or person to decide yourself") or own
    ruling = confirmer = None
    if arbitrates is not None:
        named = _name_of(arbiter if model_of(arbiter) else first, arbitrates)
        temperature = arbiter.temperature if isinstance(arbiter, Spec) else 0.0
        ruling = ModelJudge(f"arbiter:{named}", arbitrates, temperature=temperature)
        confirmer = ModelJudge(f"confirm:{named}", arbitrates)
    decomposes = None
    if not (isinstance(decomposer, Spec) and decomposer.kind == "offline"):
        decomposes = model_of(decomposer, "decompose: write offline or openai:MODEL") or own
    splitter = (
        ModelDecomposer(f"decomposer:{decomposes.name}", decomposes) if decomposes else OfflineDecomposer()
    )
    objects = [judge for judge in judges if isinstance(judge, Judge)]
    seats = _seats(judges, model_of)
    return Panel(
        seats,
        arbiter if isinstance(arbiter, Arbiter) else ruling,
        decomposer if isinstance(decomposer, Decomposer) else splitter,
        localiser=own,
        searcher=model_of(searcher, "search: write openai:MODEL") or own,
        models=list(models.values()),
        roles=roles_of(judges, arbiter=arbiter, decomposer=decomposer, searcher=searcher),
        confirmer=confirmer or (objects[-1] if objects else None),
        scanner=next((judge for judge in seats if isinstance(judge, Scanner)), None),
    )


def connect(chosen: Chosen, *, stream: bool = False, by_owner: bool = True, needs_key: bool = True) -> Chat:
    """The client of a judge's model. Raises BadInput where a key, a package or the address is missing."""
    if isinstance(chosen, Spec) and chosen.kind == "openai":
        from longproof.agent.models.openai_chat import OpenAIChat

        own = by_owner and chosen.by_owner
        place, key = place_and_key(chosen.address, by_owner=own, needs_key=needs_key)
        return OpenAIChat(chosen.model, place, key, stream=stream)
    from longproof.agent.models.langchain_chat import LangChainChat, ProviderChat

    if isinstance(chosen, Spec):
        return ProviderChat(chosen.kind, chosen.model, needs_key=needs_key)
    return LangChainChat(chosen)


def _seats(
    judges: "Sequence[Chosen | Judge]", model_of: "Callable[[Chosen | Judge], Model | None]"
) -> list[Judge]:
    """One judge for each sample. The same SPEC twice is asked twice; its answer isn't counted twice."""
    taken: Counter[str] = Counter()
    seats: list[Judge] = []
    for judge in judges:
        model = model_of(judge)
        if isinstance(judge, Judge):
            seats.append(judge)
        elif model is not None:
            text, samples, temperature = _name_of(judge, model), 1, None
            if isinstance(judge, Spec):
                samples = judge.samples
                temperature = judge.temperature if "temperature" in judge.model_fields_set else None
            for sample in range(taken[text], taken[text] + samples):
                name = f"{text}#{sample + 1}" if sample else text
                seats.append(ModelJudge(name, model, temperature=temperature, sample=sample))
            taken[text] += samples
        elif isinstance(judge, Spec):
            seats.append(OfflineJudge() if judge.kind == "offline" else NliJudge(judge.text, judge.model))
    return seats


def _name_of(chosen: object, model: Model) -> str:
    """The name of a judge: its SPEC as the user wrote it, or a LangChain model's own name."""
    return chosen.text if isinstance(chosen, Spec) else model.name
