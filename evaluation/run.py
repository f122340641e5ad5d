"""Examples through a verifier into a folder: a line each, resumable, the same bytes every time.

Knows: which examples are drawn, which settings make results comparable, what a run would cost. A recording says what
was run, in the words of a run's folder; a replay of it gives the same results and scores, asking nobody, or fails.
Does not know: how a check works, how a folder or a recording is kept, or any metric.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from pydantic import ValidationError

from longproof.agent.models.ledger import Recorder, Replay
from longproof.agent.models.limits import Traffic, total_traffic
from longproof.agent.specs import Spec
from longproof.agent.types import Case, Report
from longproof.evaluation.datasets import examples
from longproof.evaluation.datasets.reading import Location
from longproof.evaluation.results import Prediction, Result, prediction
from longproof.evaluation.scores import Section, score_tables
from longproof.evaluation.sections import sections
from longproof.evaluation.types import Example
from longproof.graphs.cases import digest, group_key
from longproof.graphs.joined import joins
from longproof.graphs.runner import (
    RESULTS,
    Finish,
    Planned,
    RunProgress,
    check_left,
    local_engine,
    state_of,
)
from longproof.graphs.settings import INCOMPARABLE, settings_of
from longproof.graphs.verifier import Verifier
from longproof.retrieval.files import write_whole
from longproof.retrieval.types import BadInput, Document, Frozen

VERSION = 2
SCORES, TABLE = "scores.json", "table.md"
Progress = Callable[[RunProgress], None]
SAID = frozenset({"arbiter", "decomposer", "searcher", "reach", "pages", "cascade", "consensus", "confirm"})
"""Settings that a recording may name; where pages lie is said by whoever replays."""


class RunSettings(Frozen):
    """The settings that a folder's results are results of. `data` is the hash of the examples that are run."""

    version: int
    dataset: str
    protocol: str
    judges: tuple[str, ...]
    settings: dict[str, str]
    only: str | None = None
    sample: int | None
    seed: int
    repeat: int
    data: str


class Evaluation(NamedTuple):
    """A finished run: its folder, its results in the data set's order, and their scores."""

    folder: Path
    settings: RunSettings
    results: list[Result]
    sections: list[Section]

    def to_markdown(self) -> str:
        """All tables, with the command's settings above."""
        run = self.settings
        drawn = "all" if run.sample is None else f"a sample of {run.sample} (seed {run.seed})"
        drawn += f" of {run.only}" if run.only else ""
        times = f", {run.repeat} times" if run.repeat > 1 else ""
        title = f"{run.dataset}: protocol {run.protocol}, judges {', '.join(run.judges)}, {drawn}{times}"
        steady = run.repeat > 1 or run.judges == ("offline",)
        footer = "" if steady else "How far a second run would agree is not measured (--repeat 2)."
        return score_tables(title, self.sections, footer)

    def failures(self) -> Counter[str | None]:
        """The reasons for which claims failed, counted; None counts those that a judge answered for."""
        reasons = Counter[str | None]()
        for line in self.results:
            for claim in line.prediction.claims:
                reasons[None if any(chain(claim.votes, *claim.pieces)) else claim.failure] += 1
        return reasons

    def unchecked_reasons(self) -> list[str]:
        """The number of examples that could not be checked, then each reason once; empty where all were checked."""
        reasons = Counter(line.failure for line in self.results if line.failure)
        if not reasons:
            return []
        counted = f"{reasons.total()} of {len(self.results)} examples could not be checked"
        return [counted, *(f"{' '.join(reason.split())} ({n})" for reason, n in reasons.most_common())]


class ExampleCases(NamedTuple):
    """The cases of drawn examples; a place is a number among them, and a repeat."""

    drawn: Sequence[Example]

    def case(self, one: Planned) -> Case:
        """The example as a checker takes it, without its sources."""
        return self.drawn[one.place[0]].case()

    def sources(self, one: Planned) -> Sequence[Document]:
        """The example's sources."""
        return self.drawn[one.place[0]].sources

    def line(self, one: Planned, checked: Report | str) -> Result:
        """The line of an example, from its report or why there is none."""
        example, repeat = self.drawn[one.place[0]], one.place[1]
        predicted = prediction(checked) if isinstance(checked, Report) else Prediction(failure=checked)
        return Result(
            name=one.name,
            key=one.key,
            state=state_of(checked),
            verdict=predicted.outcome,
            failure=predicted.failure,
            id=example.id,
            repeat=repeat,
            task=example.task,
            group=example.group or example.id,
            pair=example.pair,
            slices=example.slices,
            source_characters=sum(len(source.raw or source.text) for source in example.sources),
            gold=example.gold,
            prediction=predicted,
        )


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
    progress: Progress | None = None,
    checker: Callable[[int], Verifier] | None = None,
    chosen: Sequence[Example] | None = None,
    recording: Recorder | Replay | None = None,
    reports: bool = False,
    **settings: Any,
) -> Evaluation:
    """Run a data set through a protocol and score it; goes on where a killed run of the same kind stopped.

    `path` overrides where the set lies; `only` takes a slice, as `scale=S`; `sample` draws that many examples
    (whole pairs) with `seed`; `settings` go to the verifier. Examples that nobody answered for are checked again
    where a run goes on; with a `recording`, all are. `checker` gives the verifier of each repeat, `chosen` are
    examples in the place of the set's own; whole `reports` may be kept. Raises BadInput for an empty set, settings
    that can check nothing, or another run in `out`.
    """
    if repeat < 1 or parallel < 1:
        raise BadInput("repeat and parallel must be at least 1")
    drawn = draw_sample(examples(dataset, path) if chosen is None else chosen, sample, seed, only)
    if not drawn:
        which = f" of {only}" if only else ""
        raise BadInput(f"there is no example{which} in {path or dataset}: give a set that has some")
    shaping = sorted(settings.keys() - INCOMPARABLE - {"prices"})
    shaping = [name for name in shaping if settings[name] not in (None, False)]
    run_settings = RunSettings(
        version=VERSION,
        dataset=dataset,
        protocol=protocol,
        judges=tuple(map(_setting_text, judges)),
        settings={name: _setting_text(settings[name]) for name in shaping},
        only=only,
        sample=sample,
        seed=seed,
        repeat=repeat,
        data=data_digest(drawn),
    )
    full = settings_of({**settings, "protocol": protocol, "judges": list(judges)})
    make = checker or _verifiers(protocol, judges, {**settings, "recording": recording})
    cases, planned = ExampleCases(drawn), list[Planned]()
    for number in range(repeat):
        planned += planned_examples(drawn, joined=joins(full), repeat=number)

    engine = _Repeats(make, cases, parallel, repeat)
    results, _ = check_left(
        out,
        run_settings.model_dump(mode="json"),
        planned,
        engine,
        Result,
        cases.line,
        again=full.retry_failed,
        anew=recording is not None,
        reports=reports,
        progress=progress,
        traffic=engine.traffic,
    )
    done = Evaluation(out, run_settings, results, sections(results))
    scores = json.dumps([section.model_dump() for section in done.sections], indent=1, ensure_ascii=False)
    write_whole(out / SCORES, (scores + "\n").encode("utf-8"))
    write_whole(out / TABLE, done.to_markdown().encode("utf-8"))
    return done


class _Repeats:
    """The engine of a run: all examples once, then once more, each time by a verifier of its own."""

    def __init__(
        self, make: Callable[[int], Verifier], cases: "ExampleCases", parallel: int, repeats: int
    ) -> None:
        self._make, self._cases, self._parallel, self._repeats = make, cases, parallel, repeats
        self._checkers: list[Verifier] = []

    def __call__(self, groups: Sequence[Sequence[Planned]], finish: Finish) -> None:
        for number in range(self._repeats):
            own = [group for group in groups if group[0].place[1] == number]
            if own:
                self._checkers.append(self._make(number))
                local_engine(self._checkers[-1], self._cases, self._parallel)(own, finish)

    def traffic(self) -> Traffic:
        """The traffic of all times together."""
        return total_traffic(checker.traffic() for checker in list(self._checkers))


def record_dataset(dataset: str, recording: Path, **options: Any) -> Evaluation:
    """Evaluate as `evaluate_dataset` does, and keep every answer of the run in a file, those in the ledger too.

    Raises BadInput as `evaluate_dataset` does, and where no language model was asked.
    """
    recorder = Recorder()
    done = evaluate_dataset(dataset, recording=recorder, **options)
    recorder.write(recording, done.settings.model_dump(mode="json"))
    return done


def replay_dataset(
    dataset: str,
    recording: Path,
    *,
    out: Path,
    path: Location | None = None,
    pages: str | None = None,
    **options: Any,
) -> Evaluation:
    """The evaluation of which this file holds the answers, once more, without a server, a key or a network.

    `path` and `pages` say where the data set and the saved pages lie here. Raises BadInput where the file is no
    recording of this data set, or answers are missing from it; then the folder is left without results.
    """
    replay = Replay.open(recording)
    run = recorded_run(replay)
    settings: dict[str, Any] = {name: _spec(value) for name, value in run.settings.items()} | {"pages": pages}
    if "pages" in run.settings and not pages:
        raise BadInput(f"{recording} was made with saved pages: say with --pages where they lie")
    found = examples(dataset, path)
    if data_digest(draw_sample(found, run.sample, run.seed, run.only)) != run.data:
        raise BadInput(f"{recording} was made of other data than {path or dataset}: it was {run.dataset}")
    done = evaluate_dataset(
        run.dataset,
        judges=[_spec(judge) for judge in run.judges],
        out=out,
        chosen=found,
        recording=replay,
        **run.model_dump(include={"protocol", "only", "sample", "seed", "repeat"}),
        **settings,
        **options,
    )
    try:
        replay.refuse_missing()
    except BadInput:
        for file in (RESULTS, SCORES, TABLE):
            (out / file).unlink(missing_ok=True)
        raise
    return done


def recorded_run(replay: Replay) -> RunSettings:
    """The run that a recording was made of. Raises BadInput where that was no evaluation."""
    try:
        run = RunSettings.model_validate(replay.header.run)
    except ValidationError as error:
        raise BadInput(f"{replay.path} is no recording of an evaluation") from error
    if other := set(run.settings) - SAID:
        raise BadInput(f"{replay.path} names the setting {min(other)!r}, which no recording may")
    if run.repeat > len(replay.lines):
        raise BadInput(f"{replay.path} says that it holds more runs than answers")
    return run


def _spec(named: str) -> str | Spec:
    """A setting from a run's record: a SPEC that a file named stands there with all its fields."""
    try:
        return Spec.model_validate_json(named) if named.startswith("{") else named
    except ValidationError as error:
        raise BadInput(f"{named!r:.80} is no judge") from error


def draw_sample(
    found: Sequence[Example], size: int | None, seed: int, only: str | None = None
) -> list[Example]:
    """So many examples drawn with the seed, in the data set's order; pairs stay whole, so one more may come.

    `only` names the slice that they are drawn from. Raises BadInput where it isn't written as NAME=VALUE.
    """
    if only is not None:
        name, equals, value = only.partition("=")
        if not equals:
            raise BadInput(f"{only!r} names no slice: write NAME=VALUE, as scale=S")
        found = [example for example in found if example.slices.get(name) == value]
    if size is None or size >= len(found):
        return list(found)
    if size < 1:
        raise BadInput("a sample has at least one example")
    units = Counter(example.pair or example.id for example in found)
    left, drawn, n = list(units), set[str](), 0
    Random(seed).shuffle(left)
    for unit in left:
        if n < size:
            drawn.add(unit)
            n += units[unit]
    return [example for example in found if (example.pair or example.id) in drawn]


def planned_examples(drawn: Sequence[Example], *, joined: bool, repeat: int = 0) -> list[Planned]:
    """The examples as cases of a run; `joined` lets short responses to one long source be checked together.

    Never those of one pair, nor those that a data set groups otherwise: such responses are often about the same
    thing.
    """
    planned = []
    for number, example in enumerate(drawn):
        sources = digest([f"{_text_hash(source)} {source.kind} {source.title}" for source in example.sources])
        together = group_key(
            example.case(), sources, [source.raw or source.text for source in example.sources]
        )
        one = Planned(
            name=f"{example.id} (run {repeat + 1})" if repeat else example.id,
            key=digest([example.model_dump_json(exclude={"sources"}), sources]),
            sources=sources,
            joined=f"{together} {repeat}" if joined and together else "",
            pair=example.pair or example.group or None,
            place=(number, repeat),
        )
        planned.append(one)
    return planned


def _setting_text(value: Any) -> str:
    """A setting's value as the run's record has it."""
    return value.model_dump_json(exclude_defaults=True) if isinstance(value, Spec) else str(value)


def _verifiers(
    protocol: str, judges: Sequence[str | Spec], settings: dict[str, Any]
) -> Callable[[int], Verifier]:
    """A verifier for each repeat. A repeat is another sample of the same prompts, so the ledger asks anew.

    Raises BadInput where a judge, the protocol or a folder can't be had: nothing could be checked then.
    """

    def make(repeat: int) -> Verifier:
        name = settings.get("run_id")
        again = {"sample": repeat, "run_id": name and f"{name}-{repeat + 1}"} if repeat else {}
        return Verifier(judges=list(judges), protocol=protocol, **{**settings, **again})

    make(0).try_out()
    return make


def data_digest(drawn: Sequence[Example]) -> str:
    """A hash of what is checked and of its gold: another gold is another run. Fields that say nothing don't count."""
    hashed = sha256()
    for example in drawn:
        texts = list(map(_text_hash, example.sources))
        about = example.model_dump_json(exclude={"sources"}, exclude_defaults=True)
        hashed.update(json.dumps([texts, about]).encode())
    return "sha256:" + hashed.hexdigest()


def _text_hash(source: Document) -> str:
    return sha256((source.raw or source.text).encode("utf-8", "backslashreplace")).hexdigest()
