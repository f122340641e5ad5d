"""The graph of a construction: plan, stages that each fan out over parts, write; with its input and its state.

Knows: how a run's settings become models over the ledger, and how what was asked, thrown away and paid is counted.
Does not know: what any construction asks. All that lies in a state is a frozen model or plain data, so that a
checkpoint gives back what was put in.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import add
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from longproof import __version__
from longproof.agent.models.model import Model
from longproof.agent.report import usage
from longproof.agent.types import Call
from longproof.construction.case_files import Provenance, SourceUsed, fresh, write_provenance
from longproof.construction.versions import Outcome
from longproof.graphs.resources import Pool, Resources
from longproof.graphs.settings import Settings, settings_of
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.types import BadInput, Frozen

F = TypeVar("F", bound=Frozen)
Name = TypeVar("Name", bound=str)
Update = dict[str, object]
"""What a node adds to the channels of its graph."""


class ConstructInput(BaseModel):
    """What a set is made of. Not every field means something to every construction."""

    model_config = ConfigDict(frozen=True, extra="forbid", title="Construct")

    sources: list[DocumentRef] = Field(default_factory=list, title="Stored sources")
    summaries: list[DocumentRef] = Field(
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

    def tasks(self, known: Sequence[Name]) -> list[Name]:
        """All tasks, or the one that was asked for. Raises BadInput for one that isn't there."""
        if self.task and self.task not in known:
            raise BadInput(f"there is no task {self.task!r}: choose one of {', '.join(known)}")
        return [name for name in known if self.task in ("", name)]


class ConstructState(TypedDict, total=False):
    """The channels of every construction; `rejected` and `calls` grow by what each node adds, in its order."""

    given: ConstructInput
    started: str
    rejected: Annotated[list[str], add]
    calls: Annotated[list[Call], add]
    result: Provenance


class ConstructOutput(TypedDict):
    """What comes out: where the set came from, as it stands beside the set."""

    result: Provenance


class Part(TypedDict):
    """What one `Send` carries: one of the models that the graph's state holds."""

    part: Any


ConstructGraph = CompiledStateGraph[Any, Settings, ConstructInput, ConstructOutput]


class Session(NamedTuple):
    """What a node works with: the opened resources of the run, and its language models, the writer first."""

    resources: Resources
    models: list[Model]

    @property
    def writer(self) -> Model:
        """Who writes."""
        return self.models[0]

    async def text(self, source: DocumentRef) -> str:
        """The text of a stored source."""
        return await self.resources.store.fetch(source.id)

    def texts(self, sources: Iterable[DocumentRef]) -> list[str]:
        """The texts of stored sources, for a thread."""
        return [self.resources.store.text(source.id) for source in sources]


async def session(pool: Pool, runtime: Runtime[Settings]) -> Session:
    """The models of a run. Raises BadInput where the settings name none."""
    resources = await pool.get(settings_of(runtime.context))
    if not resources.panel.models:
        raise BadInput("this construction needs a language model: name one as openai:MODEL[@BASE_URL]")
    return Session(resources, resources.panel.models)


class Made(NamedTuple):
    """What comes of one part: at most one value, why there is no other, and the calls that were made."""

    value: Frozen | None
    rejected: tuple[str, ...]
    calls: tuple[Call, ...]


def noted(what: str, outcome: Outcome[F]) -> Made:
    """What comes of asking for one text; `what` names it where it was rejected."""
    rejected = () if outcome.value is not None else (f"{what}: {outcome.rejection}",)
    return Made(outcome.value, rejected, outcome.calls)


class Stage(NamedTuple):
    """One fan-out of a construction: `work` on each of the `parts` that the state holds by then.

    What comes of them is added to the `channel`.
    """

    parts: Callable[[Any], Iterable[Frozen]]
    work: Callable[[Session, Any], Awaitable[Made]]
    channel: str


class Construction(NamedTuple):
    """How a set is made: `plan` writes the first parts into a channel, then come the stages, then `write`."""

    name: str
    state: type[Any]
    channel: str
    plan: Callable[[Session, ConstructInput], Sequence[Frozen]]
    stages: tuple[Stage, ...]
    write: Callable[[Session, Any], Provenance]


def construction_graph(pool: Pool, made_by: Construction) -> ConstructGraph:
    """The graph of a construction over a pool of resources: each stage waits for all parts of the one before."""
    builder = StateGraph(
        made_by.state, context_schema=Settings, input_schema=ConstructInput, output_schema=ConstructOutput
    )
    builder.add_node("plan", _plan_node(pool, made_by))
    builder.add_node("write", _write_node(pool, made_by))
    builder.add_edge(START, "plan")
    before = "plan"
    for stage in made_by.stages:
        node = stage.work.__name__
        after = "write" if stage is made_by.stages[-1] else f"{node}_done"
        builder.add_node(node, _stage_node(pool, stage))
        if after != "write":
            builder.add_node(after, _wait)
        builder.add_conditional_edges(before, _sends(made_by, stage, after), [node, after])
        builder.add_edge(node, after)
        before = after
    builder.add_edge("write", END)
    return builder.compile(name=f"construct_{made_by.name}")


def _plan_node(pool: Pool, made_by: Construction) -> Any:
    """Raises BadInput for a folder that is in use."""

    async def plan(state: ConstructInput, *, runtime: Runtime[Settings]) -> Update:
        run, started = await session(pool, runtime), now()
        await asyncio.to_thread(fresh, Path(state.out))
        parts = await asyncio.to_thread(made_by.plan, run, state)
        runtime.stream_writer({"node": "plan"})
        return {"given": state, "started": started, made_by.channel: list(parts)}

    return plan


def _stage_node(pool: Pool, stage: Stage) -> Any:
    async def work(state: Part, *, runtime: Runtime[Settings]) -> Update:
        made = await stage.work(await session(pool, runtime), state["part"])
        runtime.stream_writer({"node": stage.work.__name__, "rejected": list(made.rejected)})
        values = [made.value] if made.value else []
        return {stage.channel: values, "rejected": list(made.rejected), "calls": list(made.calls)}

    return work


def _write_node(pool: Pool, made_by: Construction) -> Any:
    async def write(state: Any, *, runtime: Runtime[Settings]) -> Update:
        run = await session(pool, runtime)
        return {"result": await asyncio.to_thread(made_by.write, run, state)}

    return write


def _sends(made_by: Construction, stage: Stage, after: str) -> Callable[[Any], list[Send] | str]:
    """A `Send` a part; where there is none, straight to the node after."""

    def send(state: Any) -> list[Send] | str:
        return [Send(stage.work.__name__, Part(part=part)) for part in stage.parts(state)] or after

    send.__annotations__["state"] = made_by.state  # LangGraph reads here which channels a branch is given
    return send


def _wait(state: ConstructState) -> ConstructState:
    """A node that waits for all parts of a stage."""
    return {}


def now() -> str:
    """The time, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def finished(
    construction: str,
    state: ConstructState,
    made: int,
    *,
    models: Sequence[Model],
    sources: Sequence[SourceUsed] = (),
    parameters: Mapping[str, object],
) -> Provenance:
    """Write the provenance, last of all, and say what was made."""
    given, calls = state["given"], state.get("calls", [])
    provenance = Provenance(
        construction=construction,
        version=__version__,
        seed=given.seed,
        parameters={name: str(value) for name, value in parameters.items()},
        models=tuple(model.name for model in models),
        prompts={
            call.purpose: call.prompt_hash for call in sorted(calls, key=lambda c: (c.purpose, c.prompt_hash))
        },
        sources=tuple(sources)
        or tuple(SourceUsed(id=s.id, title=s.title, characters=s.characters) for s in given.sources),
        made=made,
        rejected=dict(sorted(Counter(state.get("rejected", [])).items())),
        usage=usage(calls),
        calls=len(calls),
        bought=sum(call.bought for call in calls),
        started=state["started"],
        ended=now(),
    )
    write_provenance(Path(given.out), provenance)
    return provenance


def parameters_of(given: ConstructInput) -> dict[str, object]:
    """The input's parameters for the provenance of a construction with models."""
    return given.model_dump(include={"cases", "test_share", "task", "keep"})
