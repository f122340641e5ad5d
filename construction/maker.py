"""A run that makes data: its sources, its models over the ledger, and what was asked and thrown away.

Knows: how many parts are worked on together; a run that was stopped is made again, and the ledger gives what was
bought. Does not know: what any construction asks, or what is kept of a made set.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, TypeVar

from typing_extensions import Unpack

from longproof.agent.models.answers import Form
from longproof.agent.models.model import Model
from longproof.agent.types import Call, Decomposer
from longproof.construction.versions import Rejected
from longproof.graphs.cases import GivenCase
from longproof.prompts import Prompt
from longproof.retrieval.files import write_lines
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


class Made(NamedTuple):
    """The cases of a set, and how much was made: rows and queries where those are no cases."""

    cases: list[GivenCase]
    n: int


class Drawing(TypedDict, total=False):
    """The sampling of an answer. What isn't said is left to the model's defaults."""

    sample: int
    temperature: float
    top_p: float
    max_tokens: int


class Maker:
    """Makes one set: holds the models, the writer first, and notes all calls and all that is thrown away."""

    def __init__(
        self, wanted: Wanted, models: Sequence[Model], decomposer: Decomposer, progress: Progress | None
    ) -> None:
        self.wanted, self.models, self.decomposer = wanted, list(models), decomposer
        self.rejected = Counter[str]()
        self.calls = list[Call]()
        self._progress = progress

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
        answer = await (model or self.models[0]).ask(prompt, form, purpose=purpose, **drawing)
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


def write_json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line."""
    write_lines(path, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
