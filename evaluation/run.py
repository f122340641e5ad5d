"""Examples through a verifier into a folder: one line each, resumable, the same bytes every time.

`run.json` says what is run; `results.jsonl` has a line an example, appended as each is checked and put in the
data set's order at the end; `scores.json` and `table.md` follow from it; `times.jsonl` alone holds times.
A killed run goes on where it stopped: what has a line is not checked again. Does not know: how a check works,
or any metric.
"""

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from longproof.agent.types import Usage
from longproof.evaluation.datasets import examples
from longproof.evaluation.datasets.reading import Location
from longproof.evaluation.folder import append, held, mend, write
from longproof.evaluation.headlines import NOTHING, mean_accuracy, outcome_counts, total
from longproof.evaluation.plots import draw
from longproof.evaluation.results import FILE, Prediction, Result, prediction, result, results_of
from longproof.evaluation.score import Section, sections
from longproof.evaluation.tables import markdown
from longproof.evaluation.types import Example, Source
from longproof.graphs.batch import Checker
from longproof.retrieval.types import BadInput, Document, Frozen

MANIFEST, SCORES, TABLE, TIMES = "run.json", "scores.json", "table.md", "times.jsonl"
VERSION = 2


class Manifest(Frozen):
    """What a folder's results are results of. `data` is the hash of the examples that are run."""

    version: int
    dataset: str
    protocol: str
    judges: tuple[str, ...]
    settings: dict[str, str]
    sample: int | None
    seed: int
    repeat: int
    data: str


class Progress(NamedTuple):
    """How far a run has come: `score` is the mean accuracy so far, `usage` what the answers so far cost."""

    done: int
    total: int
    score: float | None
    coverage: float
    usage: Usage


class Evaluation(NamedTuple):
    """A finished run: its folder, its results in the data set's order, and their scores."""

    folder: Path
    manifest: Manifest
    results: list[Result]
    sections: list[Section]
    plots: list[Path]
    milliseconds_per_claim: float | None

    def to_markdown(self) -> str:
        """All tables, with the command's settings above and the time below."""
        return markdown(_title(self.manifest), self.sections, _footer(self))

    def unchecked(self) -> list[str]:
        """How many examples could not be checked, then each reason once, a line each; empty where all were."""
        reasons = Counter(line.prediction.failure for line in self.results if line.prediction.failure)
        if not reasons:
            return []
        counted = f"{reasons.total()} of {len(self.results)} examples could not be checked"
        return [counted, *(f"{' '.join(reason.split())} ({n})" for reason, n in reasons.most_common())]


def evaluate(
    dataset: str,
    *,
    path: Location | None = None,
    protocol: str = "longproof",
    judges: Sequence[str] = ("offline",),
    out: Path,
    sample: int | None = None,
    seed: int = 0,
    repeat: int = 1,
    concurrency: int = 4,
    progress: Callable[[Progress], None] | None = None,
    checker: Callable[[int], Checker] | None = None,
    chosen: Sequence[Example] | None = None,
    **settings: Any,
) -> Evaluation:
    """Run a data set through a protocol and score it; goes on where a killed run of the same kind stopped.

    `path` overrides where the set lies; `sample` draws that many examples (whole pairs) with `seed`; `repeat`
    runs everything so often; `settings` go to the verifier. `checker` gives the verifier of each repeat.
    `chosen` are examples in the place of the set's own, which `dataset` then only names.
    Raises BadInput for an unknown or empty set, for settings that can check nothing, or where `out` is a file or
    holds another run.
    """
    if repeat < 1 or concurrency < 1:
        raise BadInput("repeat and concurrency must be at least 1")
    drawn = sampled(examples(dataset, path) if chosen is None else chosen, sample, seed)
    if not drawn:
        raise BadInput(f"there is no example in {path or dataset}: give a set that has some")
    manifest = Manifest(
        version=VERSION,
        dataset=dataset,
        protocol=protocol,
        judges=tuple(judges),
        settings={name: str(value) for name, value in sorted(settings.items()) if value is not None},
        sample=sample,
        seed=seed,
        repeat=repeat,
        data=_digest(drawn),
    )
    make = checker or _verifiers(protocol, judges, settings)
    with held(out):
        done = _open(out, manifest)
        _drive(_Run(out, drawn, done, repeat, progress).through(make, concurrency))
        return _finished(out, manifest, drawn)


def sampled(found: Sequence[Example], size: int | None, seed: int) -> list[Example]:
    """So many examples drawn with the seed, in the data set's order; pairs stay whole, so one more may come."""
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


class _Run:
    """One pass over what is left: checks, appends, and says how far it has come."""

    def __init__(
        self,
        out: Path,
        drawn: Sequence[Example],
        done: Sequence[Result],
        repeat: int,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._out, self._progress = out, progress
        self._done, self._undecided, self._counts, self._usage = 0, 0, NOTHING, Usage()
        seen = {(line.repeat, line.id) for line in done}
        self._left = [(r, e) for r in range(repeat) for e in drawn if (r, e.id) not in seen]
        self._total = len(self._left) + len(done)
        for line in done:
            self._add(line)

    async def through(self, make: Callable[[int], Checker], concurrency: int) -> None:
        """Check what is left, so many at a time. The first error stops all; what was written stays."""
        checkers = {repeat: make(repeat) for repeat in sorted({repeat for repeat, _ in self._left})}
        try:
            await self._workers(checkers, concurrency)
        finally:
            for checker in checkers.values():
                await checker.close()

    async def _workers(self, checkers: dict[int, Checker], concurrency: int) -> None:
        todo = iter(self._left)
        self._tell()
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(self._left))):
                    group.create_task(self._work(todo, checkers))
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from failed

    async def _work(self, todo: Iterator[tuple[int, Example]], checkers: dict[int, Checker]) -> None:
        for repeat, example in todo:
            started = time.perf_counter()
            line = result(example, repeat, await _checked(checkers[repeat], example))
            seconds = time.perf_counter() - started
            append(self._out / TIMES, json.dumps({"id": line.id, "repeat": repeat, "seconds": seconds}))
            append(self._out / FILE, line.model_dump_json())
            self._add(line)
            self._tell()

    def _add(self, line: Result) -> None:
        self._done += 1
        self._undecided += line.prediction.outcome == "undecided"
        self._counts = total([self._counts, outcome_counts(line)])
        self._usage = _sum([self._usage, line.prediction.usage])

    def _tell(self) -> None:
        if self._progress is None:
            return
        self._progress(
            Progress(
                done=self._done,
                total=self._total,
                score=mean_accuracy(self._counts),
                coverage=1 - self._undecided / self._done if self._done else 1.0,
                usage=self._usage,
            )
        )


async def _checked(checker: Checker, example: Example) -> Prediction:
    """The prediction; what can't be checked is undecided, with the reason."""
    sources = [_source(source) for source in example.sources]
    try:
        report = await checker.averify(
            sources[0] if len(sources) == 1 else sources or "",
            example.response,
            task=example.task,
            context=example.context,
            case_id=example.id,
            reference=example.reference,
            labels=example.labels,
        )
    except BadInput as error:
        return Prediction(failure=str(error))
    return prediction(report)


def _source(source: Source) -> Document:
    from longproof.retrieval.json_text import record

    return record(source.text) if source.kind == "record" else Document.of(source.text, title=source.title)


def _verifiers(protocol: str, judges: Sequence[str], settings: dict[str, Any]) -> Callable[[int], Checker]:
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
        again: dict[str, Any] = {"sample": repeat} if repeat else {}
        return Verifier(judges=list(judges), protocol=protocol, **settings, **again)

    _drive(tried(make(0)))
    return make


def _drive(work: Coroutine[Any, Any, None]) -> None:
    from longproof.graphs.verifier import run

    run(work)


def _open(out: Path, manifest: Manifest) -> list[Result]:
    """The results that the folder already holds. Raises BadInput where they are another run's."""
    path = out / MANIFEST
    if not path.exists():
        if (out / FILE).exists():
            raise BadInput(f"{out} holds results without a {MANIFEST}; choose an empty folder")
        write(path, manifest.model_dump_json(indent=2) + "\n")
        return []
    if json.loads(path.read_text(encoding="utf-8")) != json.loads(manifest.model_dump_json()):
        raise BadInput(
            f"{out} holds another run (see {MANIFEST}); choose another folder, or the same settings"
        )
    mend(out / FILE)
    mend(out / TIMES)
    return results_of(out) if (out / FILE).exists() else []


def _finished(out: Path, manifest: Manifest, drawn: Sequence[Example]) -> Evaluation:
    """Put the lines in order, score them, write tables and plots."""
    order = {example.id: place for place, example in enumerate(drawn)}
    results = sorted(results_of(out), key=lambda line: (line.repeat, order[line.id])) if order else []
    write(out / FILE, "".join(line.model_dump_json() + "\n" for line in results))
    made = sections(results)
    write(out / SCORES, json.dumps([s.model_dump() for s in made], indent=1, ensure_ascii=False) + "\n")
    finished = Evaluation(out, manifest, results, made, draw(results, out), _milliseconds(out, results))
    write(out / TABLE, finished.to_markdown())
    return finished


def _milliseconds(out: Path, results: Sequence[Result]) -> float | None:
    """Wall time of all checks over their claims, in milliseconds; with concurrency, checks share that time."""
    n_claims = sum(len(line.prediction.claims) for line in results)
    if not n_claims or not (out / TIMES).exists():
        return None
    lines = (out / TIMES).read_text(encoding="utf-8").splitlines()
    return 1000 * sum(float(json.loads(line)["seconds"]) for line in lines) / n_claims


def _digest(drawn: Sequence[Example]) -> str:
    """A hash of what is checked and of its gold: another gold is another run."""
    digest = hashlib.sha256()
    for example in drawn:
        texts = [
            hashlib.sha256(s.text.encode("utf-8", "backslashreplace")).hexdigest() for s in example.sources
        ]
        digest.update(json.dumps([texts, example.model_dump_json(exclude={"sources"})]).encode())
    return "sha256:" + digest.hexdigest()


def _sum(used: Sequence[Usage]) -> Usage:
    return Usage(**{name: sum(getattr(usage, name) for usage in used) for name in Usage.model_fields})


def _title(manifest: Manifest) -> str:
    judges = ", ".join(manifest.judges)
    drawn = "all" if manifest.sample is None else f"a sample of {manifest.sample} (seed {manifest.seed})"
    times = f", {manifest.repeat} times" if manifest.repeat > 1 else ""
    return f"{manifest.dataset}: protocol {manifest.protocol}, judges {judges}, {drawn}{times}"


def _footer(finished: Evaluation) -> str:
    spent = finished.milliseconds_per_claim
    time_ = "" if spent is None else f"Time: {spent:.1f} ms a claim. "
    return time_ + (
        f"Plots: {', '.join(plot.name for plot in finished.plots)}."
        if finished.plots
        else "No plots: they need matplotlib (pip install 'longproof[plots]')."
    )
