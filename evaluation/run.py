"""Examples through a verifier into a folder: one line each, resumable, the same bytes every time.

A killed run goes on where it stopped: what has a line is not checked again, unless it belongs to a group of which a
part is left; that costs nothing, the answers are in the ledger.
Does not know: how a check works, how a folder is kept, or any metric.
"""

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from longproof.agent.models.ledger import LedgerFailed, RunState
from longproof.agent.models.model import Refused
from longproof.agent.models.recording import Recorder, Replay
from longproof.agent.report import total_usage, unanswered
from longproof.agent.specs import Spec
from longproof.agent.types import Case, Report, Usage
from longproof.evaluation.datasets import examples
from longproof.evaluation.datasets.reading import Location
from longproof.evaluation.folder import (
    SCORES,
    TABLE,
    RunSettings,
    append_result,
    keep_results,
    locked,
    milliseconds_per_claim,
    opened_folder,
    ordered_results,
    write_text,
)
from longproof.evaluation.headlines import NOTHING, response_counts
from longproof.evaluation.metrics.statistics import mean_accuracy, sum_counts
from longproof.evaluation.plots import draw_plots
from longproof.evaluation.results import Prediction, Result, prediction, result
from longproof.evaluation.sections import sections
from longproof.evaluation.tables import Section, score_tables
from longproof.evaluation.types import Example, Source
from longproof.graphs.joined import SOURCE_CHARACTERS, case_groups, joinable, joins
from longproof.graphs.settings import INCOMPARABLE, settings_of
from longproof.graphs.verifier import Checker
from longproof.retrieval.types import BadInput, Document

VERSION = 2


class EvaluationProgress(NamedTuple):
    """How far a run has come: `score` is the mean accuracy so far, `usage` what the answers so far cost."""

    done: int
    total: int
    score: float | None
    coverage: float
    usage: Usage


class Evaluation(NamedTuple):
    """A finished run: its folder, its results in the data set's order, and their scores."""

    folder: Path
    settings: RunSettings
    results: list[Result]
    sections: list[Section]
    plots: list[Path]
    milliseconds_per_claim: float | None

    def to_markdown(self) -> str:
        """All tables, with the command's settings above and the time below."""
        return score_tables(_title(self.settings), self.sections, _footer(self))

    def failures(self) -> Counter[str | None]:
        """Of all examples, how often claims failed, and why; None counts those that a judge answered for."""
        return sum((line.prediction.failures() for line in self.results), Counter())

    def unchecked(self) -> list[str]:
        """How many examples could not be checked, then each reason once, a line each; empty where all were."""
        reasons = Counter(line.prediction.failure for line in self.results if line.prediction.failure)
        if not reasons:
            return []
        counted = f"{reasons.total()} of {len(self.results)} examples could not be checked"
        return [counted, *(f"{' '.join(reason.split())} ({n})" for reason, n in reasons.most_common())]


def evaluate_dataset(
    dataset: str,
    *,
    path: Location | None = None,
    protocol: str = "longproof",
    judges: Sequence[str | Spec] = ("offline",),
    out: Path,
    only: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    repeat: int = 1,
    parallel: int = 4,
    progress: Callable[[EvaluationProgress], None] | None = None,
    checker: Callable[[int], Checker] | None = None,
    chosen: Sequence[Example] | None = None,
    recording: Recorder | Replay | None = None,
    **settings: Any,
) -> Evaluation:
    """Run a data set through a protocol and score it; goes on where a killed run of the same kind stopped.

    `path` overrides where the set lies; `only` takes a slice, as `scale=S`; `sample` draws that many examples (whole
    pairs) with `seed`; `repeat` runs everything so often; so many examples are checked in `parallel`; `settings` go
    to the verifier. Examples that nobody answered for are checked again where a run goes on; with a `recording`,
    every example is. `checker` gives the verifier of each repeat. `chosen` are examples in the place of the set's
    own, which `dataset` then only names.
    Raises BadInput for an unknown or empty set, for settings that can check nothing, or where `out` is a file or
    holds another run.
    """
    if repeat < 1 or parallel < 1:
        raise BadInput("repeat and parallel must be at least 1")
    drawn = sampled(examples(dataset, path) if chosen is None else chosen, sample, seed, only)
    if not drawn:
        raise BadInput(
            f"there is no example{f' of {only}' if only else ''} in {path or dataset}: give a set that has some"
        )
    run_settings = RunSettings(
        version=VERSION,
        dataset=dataset,
        protocol=protocol,
        judges=tuple(map(_named, judges)),
        settings={
            name: _named(value)
            for name, value in sorted(settings.items())
            if value not in (None, False) and name not in INCOMPARABLE | {"prices"}
        },
        only=only,
        sample=sample,
        seed=seed,
        repeat=repeat,
        data=digest(drawn),
    )
    make = checker or _verifiers(protocol, judges, {**settings, "recording": recording})
    joined = joins(settings_of({**settings, "protocol": protocol, "judges": list(judges)}))
    groups = example_groups(drawn) if joined else [[example] for example in drawn]
    with locked(out):
        left = opened_folder(out, run_settings, anew=recording is not None)
        done = [line for line in left if not line.prediction.to_ask_again]
        keep_results(out, done)
        _drive(_Run(out, groups, done, repeat, progress).through(make, parallel))
        return _finished(out, run_settings, drawn)


def _named(value: Any) -> str:
    """A setting's value as the run's record has it."""
    return value.model_dump_json(exclude_defaults=True) if isinstance(value, Spec) else str(value)


def sampled(found: Sequence[Example], size: int | None, seed: int, only: str | None = None) -> list[Example]:
    """So many examples drawn with the seed, in the data set's order; pairs stay whole, so one more may come.

    `only` names the slice that they are drawn from. Raises BadInput where it isn't written as NAME=VALUE.
    """
    if only is not None:
        name, written, value = only.partition("=")
        if not written:
            raise BadInput(f"{only!r} names no slice: write NAME=VALUE, as scale=S")
        found = [example for example in found if example.slices.get(name) == value]
    if size is None or size >= len(found):
        return list(found)
    if size < 1:
        raise BadInput("a sample has at least one example")
    units = list(dict.fromkeys(example.pair or example.id for example in found))
    Random(seed).shuffle(units)
    taken, n = set[str](), 0
    for unit in units:
        if n >= size:
            break
        taken.add(unit)
        n += sum((example.pair or example.id) == unit for example in found)
    return [example for example in found if (example.pair or example.id) in taken]


def example_groups(drawn: Sequence[Example]) -> list[list[Example]]:
    """The examples in the groups in which they are checked: short responses to one long source, by `joinable`.

    Examples of one pair are never in one group; nor are those that a data set groups otherwise than by pairs, since
    such responses are often about the same thing.
    """
    keyed = [(_group_key(example), example.pair or example.group or None, example) for example in drawn]
    return list(case_groups(sorted(keyed, key=itemgetter(0))))


def _group_key(example: Example) -> str:
    """What examples of one group have in common; empty for one that is checked alone."""
    texts = [source.text for source in example.sources]
    if sum(map(len, texts)) <= SOURCE_CHARACTERS or not joinable(_case(example)):
        return ""
    digests = [hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest() for text in texts]
    return json.dumps([example.task, digests, [(source.kind, source.title) for source in example.sources]])


class _Run:
    """One pass over what is left: checks, appends, and says how far it has come."""

    def __init__(
        self,
        out: Path,
        groups: Sequence[Sequence[Example]],
        done: Sequence[Result],
        repeat: int,
        progress: Callable[[EvaluationProgress], None] | None,
    ) -> None:
        self._out, self._progress = out, progress
        self._done, self._undecided, self._checked, self._counts, self._usage = 0, 0, 0, NOTHING, Usage()
        self._failures: Counter[str | None] = Counter()
        self._seen = {(line.repeat, line.id) for line in done}
        self._left = [(r, g) for r in range(repeat) for g in groups if any(self._unseen(r, g))]
        self._total = repeat * sum(map(len, groups))
        for line in done:
            self._add(line)

    async def through(self, make: Callable[[int], Checker], concurrency: int) -> None:
        """Check what is left, so many at a time. The first error stops all; what was written stays."""
        checkers = {repeat: make(repeat) for repeat in sorted({repeat for repeat, _ in self._left})}
        state: RunState = "interrupted"
        try:
            await self._workers(checkers, concurrency)
            state = "done" if self._checked and not unanswered(self._failures) else "failed"
        except BadInput:
            state = "failed"
            raise
        finally:
            for checker in checkers.values():
                await checker.close(state)

    async def _workers(self, checkers: dict[int, Checker], concurrency: int) -> None:
        todo = iter(self._left)
        self._tell()
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(self._left))):
                    group.create_task(self._work(todo, checkers))
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from failed

    async def _work(
        self, todo: Iterator[tuple[int, Sequence[Example]]], checkers: dict[int, Checker]
    ) -> None:
        for repeat, group in todo:
            started = time.perf_counter()
            checked = await check_group(checkers[repeat], group)
            seconds = (time.perf_counter() - started) / len(group)
            for example, found in zip(group, checked, strict=True):
                if (repeat, example.id) not in self._seen:
                    predicted = (
                        prediction(found) if isinstance(found, Report) else Prediction(failure=str(found))
                    )
                    line = result(example, repeat, predicted)
                    append_result(self._out, line, seconds)
                    self._add(line)
            self._tell()

    def _unseen(self, repeat: int, group: Sequence[Example]) -> Iterator[bool]:
        return ((repeat, example.id) not in self._seen for example in group)

    def _add(self, line: Result) -> None:
        self._done += 1
        self._checked += line.prediction.failure is None
        self._failures += line.prediction.failures()
        self._undecided += line.prediction.outcome == "undecided"
        self._counts = sum_counts([self._counts, response_counts(line)])
        self._usage = total_usage([self._usage, line.prediction.usage])

    def _tell(self) -> None:
        if self._progress is None:
            return
        self._progress(
            EvaluationProgress(
                done=self._done,
                total=self._total,
                score=mean_accuracy(self._counts),
                coverage=1 - self._undecided / self._done if self._done else 1.0,
                usage=self._usage,
            )
        )


async def check_group(checker: Checker, group: Sequence[Example]) -> list[Report | BadInput]:
    """The reports of a group, checked together; one by one where that fails, for one must not cost the others. In the
    place of a report stands why an example can't be checked. Raises LedgerFailed, Refused."""
    if len(group) > 1:
        sources = [_source(source) for source in group[0].sources]
        try:
            return [*await checker.averify_group(sources, [_case(example) for example in group])]
        except (LedgerFailed, Refused):
            raise
        except BadInput:
            pass
    return [await _check_alone(checker, example) for example in group]


async def _check_alone(checker: Checker, example: Example) -> Report | BadInput:
    """The report, or why there is none. Raises LedgerFailed, Refused."""
    sources = [_source(source) for source in example.sources]
    try:
        return await checker.averify(
            sources[0] if len(sources) == 1 else sources or "",
            example.response,
            task=example.task,
            context=example.context,
            case_id=example.id,
            reference=example.reference,
            labels=example.labels,
        )
    except (LedgerFailed, Refused):
        raise
    except BadInput as error:
        return error


def _case(example: Example) -> Case:
    """The example as a checker takes it, without its sources."""
    names = ("id", "task", "response", "context", "reference", "labels")
    return Case(**{name: getattr(example, name) for name in names})


def _source(source: Source) -> Document:
    from longproof.retrieval.json_text import record

    return record(source.text) if source.kind == "record" else Document.of(source.text, title=source.title)


def _verifiers(
    protocol: str, judges: Sequence[str | Spec], settings: dict[str, Any]
) -> Callable[[int], Checker]:
    """A verifier for each repeat. A repeat is another sample of the same prompts, so the ledger asks anew.

    Raises BadInput where a judge, the protocol or a folder can't be had: nothing could be checked then.
    """
    from longproof.graphs.verifier import Verifier

    async def tried(verifier: Verifier) -> None:
        try:
            await verifier.open()
        finally:
            await verifier.close()

    def make(repeat: int) -> Verifier:
        name = settings.get("run_id")
        again = {"sample": repeat, "run_id": name and f"{name}-{repeat + 1}"} if repeat else {}
        return Verifier(judges=list(judges), protocol=protocol, **{**settings, **again})

    _drive(tried(make(0)))
    return make


def _drive(work: Coroutine[Any, Any, None]) -> None:
    from longproof.graphs.verifier import run

    run(work)


def _finished(out: Path, settings: RunSettings, drawn: Sequence[Example]) -> Evaluation:
    """Put the lines in order, score them, write tables and plots."""
    results = ordered_results(out, drawn)
    made = sections(results)
    write_text(out / SCORES, json.dumps([s.model_dump() for s in made], indent=1, ensure_ascii=False) + "\n")
    plots, spent = draw_plots(results, out), milliseconds_per_claim(out, results)
    finished = Evaluation(out, settings, results, made, plots, spent)
    write_text(out / TABLE, finished.to_markdown())
    return finished


def digest(drawn: Sequence[Example]) -> str:
    """A hash of what is checked and of its gold: another gold is another run."""
    digest = hashlib.sha256()
    for example in drawn:
        texts = [
            hashlib.sha256(s.text.encode("utf-8", "backslashreplace")).hexdigest() for s in example.sources
        ]
        digest.update(json.dumps([texts, example.model_dump_json(exclude={"sources"})]).encode())
    return "sha256:" + digest.hexdigest()


def _title(settings: RunSettings) -> str:
    judges = ", ".join(settings.judges)
    drawn = "all" if settings.sample is None else f"a sample of {settings.sample} (seed {settings.seed})"
    drawn += f" of {settings.only}" if settings.only else ""
    times = f", {settings.repeat} times" if settings.repeat > 1 else ""
    return f"{settings.dataset}: protocol {settings.protocol}, judges {judges}, {drawn}{times}"


def _footer(finished: Evaluation) -> str:
    spent = finished.milliseconds_per_claim
    time_ = "" if spent is None else f"Time: {spent:.1f} ms a claim. "
    if finished.settings.repeat == 1 and finished.settings.judges != ("offline",):
        time_ += "How far a second run would agree is not measured (--repeat 2). "
    if not finished.plots:
        return f"{time_}No plots: they need matplotlib (pip install 'longproof[plots]')."
    return f"{time_}Plots: {', '.join(plot.name for plot in finished.plots)}."
