"""What the graphs of all constructions share: their input, their state, the models they ask, their provenance.

Knows: how a run's settings become models over the ledger, and how what was asked, thrown away and paid is counted.
Does not know: what any construction asks.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from operator import add
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from longproof import __version__
from longproof.agent.made import Rejection
from longproof.agent.model import Model
from longproof.agent.report import usage
from longproof.agent.types import Call
from longproof.graphs.convert import dump, refs
from longproof.graphs.made_files import Provenance, SourceUsed, fresh, write_provenance
from longproof.graphs.resources import Pool, Resources
from longproof.graphs.settings import Settings, settings_of
from longproof.graphs.state import Json
from longproof.prompts import Language
from longproof.retrieval.text import cjk_share
from longproof.retrieval.types import BadInput

CHINESE_FROM = 0.3


class ConstructInput(BaseModel):
    """What a set is made of. Not every field means something to every construction."""

    model_config = ConfigDict(extra="forbid", title="Construct")

    sources: list[Json] = Field(default_factory=list, title="Stored sources")
    summaries: list[Json] = Field(
        default_factory=list,
        title="Stored summaries",
        description="LongNovel: JSON Lines of summaries by people, with title, start, end and summary.",
    )
    out: str = Field(title="Folder", description="Where the set goes; empty, or of the same construction.")
    seed: int = Field(default=0, title="Seed")
    cases: int = Field(default=500, ge=1, title="Cases", description="LongNovel: about so many.")
    test_share: float = Field(
        default=1.0, gt=0, le=1, title="Test share", description="LongNovel: of the books."
    )
    task: str = Field(default="", title="Task", description="PROBE, HaluEval: one task alone; empty for all.")
    keep: int = Field(default=5000, ge=1, title="Keep", description="HaluEval general: so many queries.")


class Part(TypedDict):
    """What one `Send` carries: places, numbers and what was made so far; never a document."""

    part: Json


class ConstructState(TypedDict, total=False):
    """The channels. `made` and `rejected` and `calls` grow by what each node adds, in the order of the work."""

    sources: list[Json]
    summaries: list[Json]
    out: str
    seed: int
    cases: int
    test_share: float
    task: str
    keep: int
    started: str
    work: list[Json]
    made: Annotated[list[Json], add]
    more: Annotated[list[Json], add]
    rejected: Annotated[list[str], add]
    calls: Annotated[list[Json], add]
    result: Json


class Desk(NamedTuple):
    """What a node works with: what the run has open, and the models, the writer first."""

    resources: Resources
    models: list[Model]

    @property
    def writer(self) -> Model:
        """Who writes."""
        return self.models[0]

    async def text(self, ref: Json) -> str:
        """The text of a stored source."""
        document = await asyncio.to_thread(self.resources.store.open, refs([ref])[0])
        return document.text


async def desk(pool: Pool, runtime: Runtime[Settings]) -> Desk:
    """The models of a run. Raises BadInput where the settings name none."""
    resources = await pool.get(settings_of(runtime.context))
    models = resources.panel.models
    if not models:
        raise BadInput("this construction needs a language model: name one as openai:MODEL[@BASE_URL]")
    return Desk(resources, models)


def begun(given: ConstructInput) -> ConstructState:
    """The first entries of a run's state. Raises BadInput for a folder that holds something else."""
    fresh(Path(given.out))
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return cast(ConstructState, {**given.model_dump(), "started": started})


def noted(what: str, rejection: Rejection | None, calls: Sequence[Call]) -> ConstructState:
    """What a node adds where a version was asked for: the calls, and the reason where there is none."""
    return {"rejected": [f"{what}: {rejection}"] if rejection else [], "calls": dump(calls)}


def language_of(text: str) -> Language:
    """The language of prompts about a text."""
    return "zh" if cjk_share(text) >= CHINESE_FROM else "en"


def parameters_of(state: ConstructState, **more: object) -> dict[str, str]:
    """The input's parameters for the provenance."""
    names: tuple[Literal["cases", "test_share", "task", "keep"], ...] = (
        "cases",
        "test_share",
        "task",
        "keep",
    )
    return {name: str(state[name]) for name in names if name in state} | {k: str(v) for k, v in more.items()}


def closed(
    construction: str,
    state: ConstructState,
    models: Sequence[Model],
    made: int,
    sources: Sequence[SourceUsed] | None = None,
    **parameters: object,
) -> Json:
    """Write the provenance, last of all, and say what was made."""
    calls = [Call.model_validate(call) for call in state.get("calls", [])]
    rejected = dict(sorted(Counter(state.get("rejected", [])).items()))
    provenance = Provenance(
        construction=construction,
        version=__version__,
        seed=state["seed"],
        parameters=parameters_of(state, **parameters),
        models=tuple(model.name for model in models),
        prompts={
            call.purpose: call.prompt_hash for call in sorted(calls, key=lambda c: (c.purpose, c.prompt_hash))
        },
        sources=tuple(map(_used, state["sources"]) if sources is None else sources),
        made=made,
        rejected=rejected,
        usage=usage(calls),
        calls=len(calls),
        bought=sum(call.bought for call in calls),
        started=state["started"],
        ended=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    write_provenance(Path(state["out"]), provenance)
    return {"made": made, "rejected": rejected, "calls": len(calls), "bought": provenance.bought}


def _used(source: Json) -> SourceUsed:
    return SourceUsed(
        id=source["id"],
        title=source["title"],
        characters=source["characters"],
    )


def chosen_tasks(task: str, known: Sequence[Any]) -> list[Any]:
    """All tasks, or the one that was asked for. Raises BadInput for one that isn't there."""
    if task and task not in known:
        raise BadInput(f"there is no task {task!r}: choose one of {', '.join(known)}")
    return [name for name in known if not task or name == task]
