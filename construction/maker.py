"""A run that makes data: its sources, its models over the ledger, and what was asked, thrown away and paid.

Knows: how many parts are worked on together; a run that was stopped is made again, and the ledger gives what was
bought. Does not know: what any construction asks.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypedDict, TypeVar

from typing_extensions import Unpack

from longproof import __version__
from longproof.agent.models.answers import Form
from longproof.agent.models.model import Model
from longproof.agent.report import usage
from longproof.agent.types import Call, Decomposer
from longproof.construction.case_files import Provenance, SourceUsed, write_provenance
from longproof.construction.versions import Rejected
from longproof.prompts import Prompt
from longproof.retrieval.types import BadInput, Document

F = TypeVar("F", bound=Form)
P = TypeVar("P")
T = TypeVar("T")
Name = TypeVar("Name", bound=str)
Progress = Callable[[Mapping[str, object]], None]
"""Hears of each part: the name of its step under `node`."""


class Wanted(NamedTuple):
    """The sources of a set, and how much is made of them. Not every field means something to every construction."""

    sources: Sequence[Document]
    out: Path
    summaries: Sequence[Document] = ()
    """LongNovel: JSON Lines of summaries by people, with title, start, end and summary."""
    seed: int = 0
    cases: int = 500
    """LongNovel: about so many."""
    task: str = ""
    """PROBE, HaluEval: one task alone; empty for all."""
    keep: int = 5000
    """HaluEval general: so many queries."""

    def tasks(self, known: Sequence[Name]) -> list[Name]:
        """All tasks, or the one that was asked for. Raises BadInput for one that isn't there."""
        if self.task and self.task not in known:
            raise BadInput(f"there is no task {self.task!r}: choose one of {', '.join(known)}")
        return [name for name in known if self.task in ("", name)]


class Drawing(TypedDict, total=False):
    """The sampling of an answer. What isn't said is left to the model's defaults."""

    sample: int
    temperature: float
    top_p: float
    max_tokens: int


class Maker:
    """Makes one set: holds the models, the writer first, and notes all calls and all that is thrown away."""

    def __init__(
        self,
        wanted: Wanted,
        models: Sequence[Model],
        decomposer: Decomposer,
        progress: Progress | None = None,
    ) -> None:
        self.wanted, self.models, self.decomposer = wanted, list(models), decomposer
        self.writer = self.models[0]
        self.rejected = Counter[str]()
        self.calls = list[Call]()
        self._progress, self._started = progress, _now()

    async def ask(
        self,
        prompt: Prompt,
        form: type[F],
        believe: Callable[[F], T | Rejected],
        *,
        purpose: str,
        what: str = "",
        model: Model | None = None,
        **drawing: Unpack[Drawing],
    ) -> T | None:
        """Ask a model, the writer if none is named, and give what `believe` makes of its answer.

        None where the call failed or the answer isn't believed; where `what` names what is lost then, it is counted.
        """
        answer = await (model or self.writer).ask(prompt, form, purpose=purpose, **drawing)
        self.calls += answer.calls
        believed = Rejected(str(answer.failure)) if answer.value is None else believe(answer.value)
        if not isinstance(believed, Rejected):
            return believed
        if what:
            self.reject(what, believed.why)
        return None

    def reject(self, what: str, why: str) -> None:
        """Count something that was thrown away."""
        self.rejected[f"{what}: {why}"] += 1

    async def each(self, parts: Iterable[P], work: Callable[["Maker", P], Awaitable[T | None]]) -> list[T]:
        """The values of these parts, in their order. All are worked on together; the first error ends all."""

        async def work_on(part: P) -> T | None:
            value = await work(self, part)
            for model in self.models:
                model.refuse()
            if self._progress:
                self._progress({"node": work.__name__})
            return value

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(work_on(part)) for part in parts]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return [value for task in tasks if (value := task.result()) is not None]

    def finish(
        self,
        construction: str,
        n_made: int,
        *,
        models: Sequence[Model] | None = None,
        parameters: Mapping[str, object] | None = None,
    ) -> Provenance:
        """Write the provenance, last of all, and say what was made."""
        wanted = self.wanted
        asked = {name: getattr(wanted, name) for name in ("cases", "task", "keep")}
        by_purpose = sorted(self.calls, key=lambda call: (call.purpose, call.prompt_hash))
        provenance = Provenance(
            construction=construction,
            version=__version__,
            seed=wanted.seed,
            parameters={name: str(value) for name, value in {**asked, **(parameters or {})}.items()},
            models=tuple(model.name for model in (self.models if models is None else models)),
            prompts={call.purpose: call.prompt_hash for call in by_purpose},
            sources=tuple(
                SourceUsed(id=source.id, title=source.title, characters=len(source.text))
                for source in wanted.sources
            ),
            made=n_made,
            rejected=dict(sorted(self.rejected.items())),
            usage=usage(self.calls),
            calls=len(self.calls),
            bought=sum(call.bought for call in self.calls),
            started=self._started,
            ended=_now(),
        )
        write_provenance(wanted.out, provenance)
        return provenance


def _now() -> str:
    """The time, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
