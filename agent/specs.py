"""The panel: judges, arbiter, decomposer and localiser, from a command line or from `longproof.toml`.

Knows: how a judge is written (SPEC), the `[panel]` table, and who arbitrates, decomposes, searches and localises
when nobody is named: the first language model of the panel. Without one nobody arbitrates, and the offline rules
decompose. The offline check judges alone: beside other judges it has no vote. Keys to servers come from the
environment alone; an address that a file names isn't the owner's word.
Does not know: settings, protocols, or when the panel is asked.
"""

import os
import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pydantic import Field, ValidationError

from longproof.agent.decompose import ModelDecomposer
from longproof.agent.judge import ModelArbiter, ModelJudge
from longproof.agent.models.addresses import DEFAULT_ADDRESS, key_variable, refuse_no_address
from longproof.agent.models.clients import (
    LANGCHAIN,
    Chat,
    LangChainChat,
    OpenAIChat,
    Unanswered,
)
from longproof.agent.models.model import Model
from longproof.agent.types import Arbiter, Decomposer, Judge
from longproof.retrieval.files import read_toml
from longproof.retrieval.text.redact import without_credentials
from longproof.retrieval.types import BadInput, Frozen

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

FORMS = "offline, openai:MODEL, openai:MODEL@http://HOST:PORT/v1 or nli:PATH_OR_NAME"
ALONE = "the judge offline has no vote beside others: leave it out, or give it alone"
TABLES = ("panel", "prices")
"""The tables of `longproof.toml`."""
_OPENAI = re.compile(r"openai:(?P<model>[^\s@]\S*?)(?:@(?P<address>https?://\S+))?")
_NLI = re.compile(r"nli:(?P<model>\S.*)")


class Spec(Frozen):
    """A judge by its SPEC, `samples` times on the panel, each asked anew.

    `by_owner`: whether the owner of the keys named the address, see `longproof.agent.models.addresses`.
    """

    kind: Literal["offline", "openai", "nli"]
    model: str = ""
    address: str | None = None
    temperature: float = Field(default=0.0, ge=0, le=2)
    samples: int = Field(default=1, ge=1, le=16)
    by_owner: bool = True

    @property
    def keyless(self) -> bool:
        """Whether no key goes to its server, because no owner of keys named the address."""
        own = os.environ.get("OPENAI_BASE_URL") or DEFAULT_ADDRESS
        place = (self.address or own).rstrip("/")
        return place != own.rstrip("/") and not key_variable(place, by_owner=self.by_owner)

    @property
    def text(self) -> str:
        """The SPEC as it is written on a command line."""
        where = f"@{self.address}" if self.address else ""
        return f"{self.kind}:{self.model}{where}" if self.model else self.kind


Chosen: TypeAlias = "Spec | BaseChatModel"


class PanelTable(Frozen):
    """The `[panel]` table of `longproof.toml`. None: not said there."""

    judges: tuple[Spec, ...] = ()
    consensus: float | None = Field(default=None, gt=0, le=1)
    arbiter: Spec | Literal["person"] | None = None
    decomposer: Spec | None = None
    searcher: Spec | None = None
    stream: bool | None = None
    timeout_s: float | None = Field(default=None, gt=0)


class Panel(NamedTuple):
    """Everyone who is asked. `arbiter`, `localiser`, `searcher` and `confirmer` are None where no language model is
    there."""

    judges: list[Judge]
    arbiter: Arbiter | None
    decomposer: Decomposer
    localiser: Model | None
    searcher: Model | None
    models: list[Model]
    confirmer: Judge | None = None
    """Who is asked once more about a conviction: the arbiter's model, by default a judge's own."""

    async def close(self) -> None:
        """Close the models' connections; close the ledger first, it waits for calls under way."""
        for model in self.models:
            await model.close()


def as_spec(named: str | Spec) -> Spec:
    """A judge as a setting names it. Raises BadInput, naming the forms that there are."""
    return parse_spec(named) if isinstance(named, str) else named


def parse_spec(text: str) -> Spec:
    """The judge that this SPEC names. Raises BadInput, naming the forms that there are."""
    text = text.strip()
    told = repr(without_credentials(text))
    if not text.isprintable():
        raise BadInput(f"{told} is no judge: it holds characters that don't print")
    if text == "offline":
        return Spec(kind="offline")
    found = _OPENAI.fullmatch(text)
    if found and not found["address"] and "@" in found["model"]:
        raise BadInput(f"{told} names no address of a server: write openai:MODEL@http://HOST:PORT/v1")
    if found:
        if found["address"]:
            refuse_no_address(found["address"])
        return Spec(kind="openai", model=found["model"], address=found["address"])
    if found := _NLI.fullmatch(text):
        return Spec(kind="nli", model=found["model"])
    raise BadInput(f"there is no judge {told}: write {FORMS}")


def read_panel(path: Path) -> PanelTable:
    """The `[panel]` table of `longproof.toml`; an empty one where the file has none.

    A judge is a SPEC, or a table of `spec`, `temperature` and `samples`. Raises BadInput for anything else, and for
    tables and keys that the file can't have: what is misspelt would be passed over in silence.
    """
    tables = read_toml(path)
    table = tables.get("panel", {})
    try:
        for name in tables:
            if name not in TABLES:
                raise BadInput(f"there is no [{name}]{_nearest(name)}")
        if not isinstance(table, dict) or not isinstance(table.get("judges", []), list):
            raise BadInput("[panel] is a table, and its `judges` a list")
        for name in table:
            if name not in PanelTable.model_fields:
                raise BadInput(f"[panel] has no {name!r}{_about_keys(table) or _nearest(name)}")
        read = {**table, "judges": tuple(_entry(entry) for entry in table.get("judges", []))}
        for name in ("arbiter", "decomposer", "searcher"):
            if name in table and table[name] != "person":
                read[name] = _entry(table[name])
        return PanelTable(**read)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


def panel_from(
    judges: Sequence[Chosen],
    make: Callable[[Chat], Model],
    *,
    arbiter: "Chosen | None" = None,
    decomposer: "Chosen | None" = None,
    searcher: "Chosen | None" = None,
    prompt_name: str | None = None,
    stream: bool = False,
    by_owner: bool = True,
    chat: Callable[[Spec], Chat] | None = None,
    needs_key: bool = True,
) -> Panel:
    """The panel of these judges, who ask their models through what `make` makes. Call it on the event loop that asks.

    With `stream`, servers are asked to send their answers
    piece by piece. Without `by_owner`, no address counts as named by the owner of the keys; without `needs_key`, none
    is asked for: nothing will be sent. `chat` opens a model, in the place of a connection to its server. Raises
    BadInput where one of them can't be had, and for the offline check beside other judges.
    """
    if len(judges) > 1 and any(isinstance(judge, Spec) and judge.kind == "offline" for judge in judges):
        raise BadInput(ALONE)

    def server(spec: Spec) -> Chat:
        return OpenAIChat(
            spec.model,
            spec.address,
            stream=stream,
            by_owner=by_owner and spec.by_owner,
            needs_key=needs_key,
        )

    models = _Models(make, chat or server)
    panel = _judges(judges, models, prompt_name)
    own = models.first
    arbiter_model = models.of(arbiter) if arbiter is not None else own
    decomposer_model = models.of(decomposer) if decomposer is not None else own
    searcher_model = models.of(searcher) if searcher is not None else own
    if isinstance(searcher, Spec) and searcher_model is None:
        raise BadInput(f"{searcher.text} can't search: write openai:MODEL")
    return Panel(
        panel,
        _arbiter(arbiter, arbiter_model),
        _decomposer(decomposer, decomposer_model),
        own,
        searcher_model,
        models.all,
        _confirmer(arbiter_model or own),
    )


async def reach(spec: Spec) -> str | None:
    """Why this judge would not answer; None: it would. Asks a server for its models, which costs nothing."""
    try:
        if spec.kind == "nli":
            from longproof.agent.nli import NliJudge

            NliJudge(spec.text, spec.model)
        elif spec.kind == "openai":
            chat = OpenAIChat(spec.model, spec.address, by_owner=spec.by_owner)
            try:
                await chat.reach()
            finally:
                await chat.close()
    except (BadInput, Unanswered) as error:
        return str(error)
    return None


class _Models:
    """One `Model` an endpoint and model name, so that what one judge finds out about a server the others know."""

    def __init__(self, make: Callable[[Chat], Model], chat: Callable[[Spec], Chat]) -> None:
        self._make, self._chat = make, chat
        self._made: dict[tuple[str, str], Model] = {}

    @property
    def all(self) -> list[Model]:
        return list(self._made.values())

    @property
    def first(self) -> Model | None:
        return next(iter(self._made.values()), None)

    def of(self, chosen: Chosen) -> Model | None:
        """The model behind a judge; None where it is no language model."""
        if isinstance(chosen, Spec) and chosen.kind != "openai":
            return None
        chat = self._chat(chosen) if isinstance(chosen, Spec) else LangChainChat(chosen)
        made = self._made.get((chat.endpoint, chat.model))
        if made is None:
            made = self._make(chat)
            self._made[chat.endpoint, chat.model] = made
        return made


def _judges(judges: Sequence[Chosen], models: _Models, prompt_name: str | None) -> list[Judge]:
    """One judge for each sample. The same SPEC twice is asked twice; its answer isn't counted twice."""
    from longproof.agent.offline import OfflineJudge

    panel: list[Judge] = []
    taken: dict[str, int] = {}
    for chosen in judges:
        model = models.of(chosen)
        if model is None:
            assert isinstance(chosen, Spec)
            panel.append(OfflineJudge() if chosen.kind == "offline" else _nli(chosen))
            continue
        text, samples = (chosen.text, chosen.samples) if isinstance(chosen, Spec) else (model.name, 1)
        for _ in range(samples):
            sample = taken.get(text, 0)
            taken[text] = sample + 1
            panel.append(
                ModelJudge(
                    f"{text}#{sample + 1}" if sample else text,
                    model,
                    prompt_name=prompt_name,
                    temperature=_temperature(chosen),
                    sample=sample,
                )
            )
    return panel


def _temperature(chosen: Chosen) -> float | None:
    """The judge's own temperature, where it names one."""
    own = isinstance(chosen, Spec) and "temperature" in chosen.model_fields_set
    return chosen.temperature if own and isinstance(chosen, Spec) else None


def _nli(spec: Spec) -> Judge:
    from longproof.agent.nli import NliJudge

    return NliJudge(spec.text, spec.model)


def _arbiter(chosen: "Chosen | None", model: Model | None) -> Arbiter | None:
    """The arbiter, by its SPEC where it has one; else `openai:MODEL`, or a LangChain model's own name."""
    if isinstance(chosen, Spec):
        if model is None:
            raise BadInput(f"{chosen.text} can't arbitrate: write openai:MODEL, or person to decide yourself")
        return ModelArbiter(f"arbiter:{chosen.text}", model, temperature=chosen.temperature)
    if model is None:
        return None
    own = model.name if model.endpoint.startswith(LANGCHAIN) else Spec(kind="openai", model=model.name).text
    return ModelArbiter(f"arbiter:{own}", model)


def _confirmer(model: Model | None) -> Judge | None:
    if model is None:
        return None
    name = f"confirm:{model.name}"
    return ModelJudge(name, model, prompt_name="confirm", purpose="confirm")


def _decomposer(chosen: "Chosen | None", model: Model | None) -> Decomposer:
    if model is not None:
        return ModelDecomposer(f"decomposer:{model.name}", model)
    if isinstance(chosen, Spec) and chosen.kind == "nli":
        raise BadInput(f"{chosen.text} can't decompose: write offline or openai:MODEL")
    from longproof.agent.offline import OfflineDecomposer

    return OfflineDecomposer()


def _entry(entry: Any) -> Spec:
    """The judge that a file names."""
    if isinstance(entry, str):
        return parse_spec(entry).model_copy(update={"by_owner": False})
    if not isinstance(entry, dict) or not isinstance(entry.get("spec"), str):
        raise BadInput("a judge is a SPEC, or a table with `spec`, `temperature` and `samples`")
    if extra := set(entry) - {"spec", "temperature", "samples"}:
        raise BadInput(f"a judge has no {min(extra)!r}{_about_keys(entry)}")
    changes = {name: entry[name] for name in ("temperature", "samples") if name in entry}
    return Spec(**{**parse_spec(entry["spec"]).model_dump(exclude_unset=True), **changes, "by_owner": False})


def _nearest(name: str) -> str:
    """Where a name is likely to belong that stands in the wrong place, or is misspelt; else what there is."""
    if near := get_close_matches(name, TABLES, n=1):
        return f": did you mean [{near[0]}]?"
    if near := get_close_matches(name, PanelTable.model_fields, n=1):
        return f": did you mean {near[0]!r}, under [panel]?"
    return f": known are {', '.join(f'[{table}]' for table in TABLES)}"


def _about_keys(table: dict[str, Any]) -> str:
    return ": keys come from the environment" if any("key" in name.lower() for name in table) else ""
