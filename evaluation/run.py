"""Examples through a verifier into a folder: a line each, resumable, the same bytes every time.

Knows: which examples are drawn, which settings make results comparable, what a run would cost. Does not know: how a
check works, how a folder is kept, or any metric.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from longproof.agent.models.recording import Recorder, Replay
from longproof.agent.specs import Spec
from longproof.agent.types import Case, Report
from longproof.evaluation.datasets import examples
from longproof.evaluation.datasets.reading import Location
from longproof.evaluation.results import Result, result
from longproof.evaluation.scores import Section, score_tables
from longproof.evaluation.sections import sections
from longproof.evaluation.types import Example
from longproof.graphs.cases import digest, group_key
from longproof.graphs.joined import joins
from longproof.graphs.reporting import estimate, estimate_lines
from longproof.graphs.runner import (
    Planned,
    RunProgress,
    check_left,
    local_engine,
    open_run,
    plan_groups,
)
from longproof.graphs.settings import INCOMPARABLE, settings_of
from longproof.graphs.verifier import Verifier
from longproof.retrieval.files import write_whole
from longproof.retrieval.types import BadInput, Document, Frozen

VERSION = 2
SCORES, TABLE = "scores.json", "table.md"
Progress = Callable[[RunProgress], None]


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
        return sum((line.prediction.failures() for line in self.results), Counter())

    def unchecked_reasons(self) -> list[str]:
        """The number of examples that could not be checked, then each reason once; empty where all were checked."""
        reasons = Counter(line.failure for line in self.results if line.failure)
        if not reasons:
            return []
        counted = f"{reasons.total()} of {len(self.results)} examples could not be checked"
        return [counted, *(f"{' '.join(reason.split())} ({n})" for reason, n in reasons.most_common())]


class ExampleCases:
    """The cases of drawn examples; a place is a number among them."""

    def __init__(self, drawn: Sequence[Example]) -> None:
        self._drawn = drawn

    def case(self, one: Planned) -> Case:
        """The example as a checker takes it, without its sources."""
        return self._drawn[one.place[0]].case()

    def sources(self, one: Planned) -> list[Document]:
        """The example's sources."""
        return list(self._drawn[one.place[0]].sources)

    def line(self, one: Planned, checked: Report | str) -> Result:
        """The line of an example that ended."""
        number, repeat = one.place
        return result(self._drawn[number], repeat, one.name, one.key, checked)


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

    `path` overrides where the set lies; `only` takes a slice, as `scale=S`; `sample` draws that many examples (whole
    pairs) with `seed`; `settings` go to the verifier. Examples that nobody answered for are checked again where a run
    goes on; with a `recording`, all are. `checker` gives the verifier of each repeat, `chosen` are examples in the
    place of the set's own; whole `reports` may be kept. Raises BadInput for an empty set, settings that can check
    nothing, or another run in `out`.
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
    planned = [planned_examples(drawn, joined=joins(full), repeat=number) for number in range(repeat)]
    cases = ExampleCases(drawn)
    with open_run(out, run_settings.model_dump(mode="json"), Result, anew=recording is not None) as listed:
        results, _ = check_left(
            planned,
            lambda repeat: local_engine(make(repeat), cases, parallel),
            listed,
            cases.line,
            again=full.retry_failed,
            reports=out if reports else None,
            progress=progress,
        )
    done = Evaluation(out, run_settings, results, sections(results))
    scores = json.dumps([section.model_dump() for section in done.sections], indent=1, ensure_ascii=False)
    write_whole(out / SCORES, (scores + "\n").encode("utf-8"))
    write_whole(out / TABLE, done.to_markdown().encode("utf-8"))
    return done


def estimate_dataset(
    dataset: str,
    *,
    judges: Sequence[str | Spec],
    path: Location | None,
    only: str | None = None,
    sample: int | None,
    seed: int,
    repeat: int,
    **settings: Any,
) -> str:
    """The cost of such a run, in words: every example is checked in a dry run, which asks nobody.

    Examples that can't be checked cost nothing. Raises BadInput as `evaluate_dataset` does.
    """
    drawn = draw_sample(examples(dataset, path), sample, seed, only)
    verifier = Verifier(judges=list(judges), **{**settings, "max_calls": 0, "run_id": None})
    checked = list[Report | str]()
    groups = plan_groups(planned_examples(drawn, joined=joins(verifier.settings)))
    local_engine(verifier, ExampleCases(drawn))(groups, lambda _, report: checked.append(report))
    reports = [report for report in checked if isinstance(report, Report)]
    often = f", {repeat} times; of one time:" if repeat > 1 else ""
    return "\n".join([f"{len(drawn)} examples{often}", *estimate_lines(estimate(reports))])


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
    left, drawn = list(units), set[str]()
    Random(seed).shuffle(left)
    while sum(units[unit] for unit in drawn) < size:
        drawn.add(left[len(drawn)])
    return [example for example in found if (example.pair or example.id) in drawn]


def planned_examples(drawn: Sequence[Example], *, joined: bool, repeat: int = 0) -> list[Planned]:
    """The examples as cases of a run; `joined` lets short responses to one long source be checked together.

    Examples of one pair are never checked together; nor are those that a data set groups otherwise than by pairs,
    since such responses are often about the same thing.
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
            joined=together if joined else "",
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
