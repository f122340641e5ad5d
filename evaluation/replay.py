"""Evaluations that keep their answers in a file, and evaluations made again from such a file, asking nobody.

Knows: a recording says what was run, in the words of a run's folder; a replay gives the same results and scores, or
fails: where the data set is another, or an answer is missing.
Does not know: how a recording is written or read, or how a run works.
"""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from longproof.agent.models.recording import Recorder, Replay
from longproof.agent.specs import Spec
from longproof.evaluation.datasets import examples
from longproof.evaluation.datasets.reading import Location
from longproof.evaluation.run import (
    SCORES,
    TABLE,
    Evaluation,
    RunSettings,
    data_digest,
    draw_sample,
    evaluate_dataset,
)
from longproof.graphs.runner import RESULTS
from longproof.retrieval.types import BadInput

SAID = frozenset({"arbiter", "decomposer", "searcher", "reach", "pages", "cascade", "consensus", "confirm"})
"""Settings that a recording may name; where pages lie is said by whoever replays."""


def record_dataset(dataset: str, recording: Path, **options: Any) -> Evaluation:
    """Evaluate as `evaluate_dataset` does, and keep every answer of the run in a file.

    Answers that lie in the ledger are kept too, and cost nothing. Raises BadInput as `evaluate_dataset` does, and
    where no language model was asked.
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

    `path` and `pages` say where the data set and the saved pages lie here; `options` are `parallel`, `progress` and
    `reports` of `evaluate_dataset`. Raises BadInput where the file is no recording of this data set, or answers are
    missing from it; then the folder is left without results.
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
