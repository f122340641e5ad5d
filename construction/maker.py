"""A run that makes data: its sources, its models over the ledger, and what was asked, thrown away and paid.

Knows: how many parts are worked on together; a run that was stopped is made again, and the ledger gives what was
bought. Does not know: what any construction asks.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from longproof import __version__
from longproof.agent.models.model import Model
from longproof.agent.report import usage
from longproof.agent.types import Call, Decomposer
from longproof.construction.case_files import Provenance, SourceUsed, write_provenance
from longproof.construction.versions import Made
from longproof.retrieval.types import BadInput, Document

P = TypeVar("P")
T = TypeVar("T")
Name = TypeVar("Name", bound=str)
Progress = Callable[[Mapping[str, object]], None]
"""Hears of each part: the name of its step under `node`, and why it was thrown away under `rejected`."""


class Wanted(NamedTuple):
    """What a set is made of, and how much of it. Not every field means something to every construction."""

    sources: Sequence[Document]
    out: Path
    summaries: Sequence[Document] = ()
    """LongNovel: JSON Lines of summaries by people, with title, start, end and summary."""
    seed: int = 0
    cases: int = 500
    """LongNovel: about so many."""
    test_share: float = 1.0
    """LongNovel: of the books."""
    task: str = ""
    """PROBE, HaluEval: one task alone; empty for all."""
    keep: int = 5000
    """HaluEval general: so many queries."""

    def tasks(self, known: Sequence[Name]) -> list[Name]:
        """All tasks, or the one that was asked for. Raises BadInput for one that isn't there."""
        if self.task and self.task not in known:
            raise BadInput(f"there is no task {self.task!r}: choose one of {', '.join(known)}")
        return [name for name in known if self.task in ("", name)]


class Maker:
    """Makes one set: holds the models, the writer first, and what has come of them so far."""

    def __init__(
        self,
        wanted: Wanted,
        models: Sequence[Model],
        decomposer: Decomposer,
        progress: Progress | None = None,
    ) -> None:
        self.wanted, self.models, self.decomposer = wanted, list(models), decomposer
        self.rejected = list[str]()
        self.calls = list[Call]()
        self._progress, self._started = progress, _now()

    @property
    def writer(self) -> Model:
        """Who writes."""
        return self.models[0]

    async def each(self, parts: Iterable[P], work: Callable[["Maker", P], Awaitable[Made[T]]]) -> list[T]:
        """The values that come of these parts, in their order. All are worked on together; the first error ends all.

        What was thrown away and the calls are kept for the provenance.
        """

        async def one(part: P) -> Made[T]:
            made = await work(self, part)
            for model in self.models:
                model.refuse()
            if self._progress:
                self._progress({"node": work.__name__, "rejected": list(made.rejected)})
            return made

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(part)) for part in parts]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        done = [task.result() for task in tasks]
        for made in done:
            self.rejected += made.rejected
            self.calls += made.calls
        return [made.value for made in done if made.value is not None]

    def finish(
        self,
        construction: str,
        made: int,
        *,
        models: Sequence[Model] | None = None,
        sources: Sequence[SourceUsed] = (),
        parameters: Mapping[str, object] | None = None,
    ) -> Provenance:
        """Write the provenance, last of all, and say what was made."""
        wanted = self.wanted
        given = {name: getattr(wanted, name) for name in ("cases", "test_share", "task", "keep")}
        used = tuple(sources) or tuple(
            SourceUsed(id=source.id, title=source.title, characters=len(source.text))
            for source in wanted.sources
        )
        provenance = Provenance(
            construction=construction,
            version=__version__,
            seed=wanted.seed,
            parameters={name: str(value) for name, value in {**given, **(parameters or {})}.items()},
            models=tuple(model.name for model in (self.models if models is None else models)),
            prompts={
                call.purpose: call.prompt_hash
                for call in sorted(self.calls, key=lambda c: (c.purpose, c.prompt_hash))
            },
            sources=used,
            made=made,
            rejected=dict(sorted(Counter(self.rejected).items())),
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
