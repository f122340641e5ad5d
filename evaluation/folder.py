"""A run's folder: what is run, a line an example, and who may write.

`run.json` says what is run; `results.jsonl` has a line an example, appended as each is checked and put in the data
set's order at the end; `scores.json` and `table.md` follow from it; `times.jsonl` alone holds times. The lock is
SQLite's: it works on every system, and the death of its holder frees it. Does not know: how an example is checked or
scored.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from pydantic import ValidationError

from longproof.evaluation.results import FILE, Result, results_of
from longproof.evaluation.types import Example
from longproof.retrieval.files import make_folder, write_whole
from longproof.retrieval.types import BadInput, Frozen

SETTINGS, SCORES, TABLE, TIMES, LOCK = "run.json", "scores.json", "table.md", "times.jsonl", "lock"


class RunSettings(Frozen):
    """What a folder's results are results of. `data` is the hash of the examples that are run."""

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


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder for this process alone, made where it is missing. Raises BadInput where that can't be."""
    make_folder(folder)
    with closing(sqlite3.connect(folder / LOCK, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise BadInput(
                f"another run is writing to {folder}; wait for it, or choose another folder"
            ) from error
        yield


def opened_folder(folder: Path, settings: RunSettings, *, anew: bool = False) -> list[Result]:
    """The results that the folder already holds; with `anew` they are dropped.

    Raises BadInput where they are another run's.
    """
    path = folder / SETTINGS
    if not path.exists():
        if (folder / FILE).exists():
            raise BadInput(f"{folder} holds results without a {SETTINGS}; choose an empty folder")
        write_text(path, settings.model_dump_json(indent=2) + "\n")
        return []
    if {"only": None, **json.loads(path.read_text(encoding="utf-8"))} != settings.model_dump(mode="json"):
        raise BadInput(
            f"{folder} holds another run (see {SETTINGS}); choose another folder, or the same settings"
        )
    if anew:
        for file in (FILE, TIMES):
            (folder / file).unlink(missing_ok=True)
    _cut_broken_line(folder / FILE)
    _cut_broken_line(folder / TIMES)
    return results_of(folder) if (folder / FILE).exists() else []


def run_settings(folder: Path) -> RunSettings | None:
    """What a folder's results are results of; None where it doesn't say."""
    path = folder / SETTINGS
    try:
        return RunSettings.model_validate_json(path.read_bytes()) if path.exists() else None
    except ValidationError as error:
        raise BadInput(f"{path} says of no run what it is") from error


def append_result(folder: Path, result: Result, seconds: float) -> None:
    """Add the line of one example, and how long it took."""
    spent = {"id": result.id, "repeat": result.repeat, "seconds": seconds}
    _append_line(folder / TIMES, json.dumps(spent))
    _append_line(folder / FILE, result.model_dump_json())


def keep_results(folder: Path, results: Sequence[Result]) -> None:
    """Keep these results alone, in this order."""
    write_text(folder / FILE, "".join(line.model_dump_json() + "\n" for line in results))


def ordered_results(folder: Path, drawn: Sequence[Example]) -> list[Result]:
    """All results, put in the order of the examples; the file too."""
    order = {example.id: place for place, example in enumerate(drawn)}
    results = sorted(results_of(folder), key=lambda line: (line.repeat, order[line.id])) if order else []
    keep_results(folder, results)
    return results


def milliseconds_per_claim(folder: Path, results: Sequence[Result]) -> float | None:
    """Wall time of all checks over their claims; with concurrency, checks share that time."""
    n_claims = sum(len(line.prediction.claims) for line in results)
    if not n_claims or not (folder / TIMES).exists():
        return None
    lines = (folder / TIMES).read_text(encoding="utf-8").splitlines()
    return 1000 * sum(float(json.loads(line)["seconds"]) for line in lines) / n_claims


def write_text(path: Path, text: str) -> None:
    """Write a whole file, or leave the old one as it was."""
    write_whole(path, text.encode("utf-8"))


def _append_line(path: Path, line: str) -> None:
    """Append one whole line, and have it on the disk before going on."""
    with path.open("ab") as file:
        file.write(line.encode("utf-8") + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _cut_broken_line(path: Path) -> None:
    """Cut off a last line that was not written whole: a killed run leaves at most one."""
    data = path.read_bytes() if path.exists() else b""
    if data and not data.endswith(b"\n"):
        write_whole(path, data[: data.rfind(b"\n") + 1])
