"""Agreement of verdicts with gold: a table of all recorded evaluations, replayed offline.

    LONGPROOF_DATA=data python benchmarks/accuracy.py [FOLDER] [--write] [--figures]

Replays every recording in `evaluation/recorded/` (or FOLDER), asking nobody, and prints a row for each but the plain
question's, which stand beside the run on the same examples. Price is what the run's models read, and five times what
they wrote, by the characters of the sources. A set whose data aren't here says so in its row. `--write` puts the
table into docs/accuracy.md, between its marks; it refuses where data are missing. Of sets whose licence lets no
answers be kept here, `--figures` keeps the rows alone, in `evaluation/recorded/figures.json`; FOLDER is elsewhere.
Exit code 1: a recording can't be replayed.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from longproof.agent.models.recording import Replay
from longproof.evaluation.datasets import examples
from longproof.evaluation.run import RunSettings, recorded_run, replay_dataset
from longproof.evaluation.scores import number, table_row
from longproof.retrieval.files import write_whole
from longproof.retrieval.types import BadInput

ROOT = Path(__file__).parents[1]
PAGE, RECORDED = ROOT / "docs" / "accuracy.md", ROOT / "evaluation" / "recorded"
FIGURES = RECORDED / "figures.json"
PLAIN = "plain"
COLUMNS = ("set", "judges", "asked", "cases", "right", "coverage", "price")
COLUMNS += ("asked plainly", "its price", "replay")
MARKED = re.compile(r"(?<=<!-- accuracy -->\n)(.*?)(?=<!-- /accuracy -->)", re.DOTALL)


class Recorded(NamedTuple):
    """A recording, what was run, and the date on which models were asked."""

    path: Path
    run: RunSettings
    made: str


def recordings(folder: Path) -> list[Recorded]:
    """All recordings of a folder, by name. Raises BadInput for a file that is none."""
    found = [(path, Replay.open(path)) for path in sorted(folder.glob("*.gz"))]
    return [Recorded(path, recorded_run(replay), replay.header.made) for path, replay in found]


def figures(recorded: Recorded) -> tuple[str, str, str, str]:
    """A recorded run's cases, what is right, coverage and price. Raises BadInput where it can't be replayed."""
    with TemporaryDirectory() as folder:
        done = replay_dataset(recorded.run.dataset, recorded.path, out=Path(folder))
    scores = {score.name: score for section in done.sections for score in section.scores}
    if "mean accuracy" not in scores:
        raise BadInput(f"{recorded.path}: its examples have no gold of two sides")
    mean, pairs = scores["mean accuracy"], scores.get("pair accuracy")
    right = number(mean.value)
    if mean.low is not None:
        right += f" ({number(mean.low)} to {number(mean.high)})"
    if pairs:
        right += f"; {round((pairs.value or 0) * pairs.n)} of {pairs.n} pairs"
    return f"{len(done.results):,}", right, number(mean.coverage), number(scores["price"].value)


def absent(recorded: Recorded) -> str:
    """The reason why a recording's data can't be read here; empty where they can."""
    try:
        examples(recorded.run.dataset)
    except BadInput as error:
        return str(error)
    return ""


def rows(found: Sequence[Recorded]) -> Iterator[tuple[str, ...]]:
    """A row for each recording but the plain question's."""
    plain = {one.run.data: one for one in found if one.run.protocol == PLAIN}
    for one in found:
        if one.run.protocol != PLAIN:
            yield _row(one, plain.get(one.run.data))


def _row(one: Recorded, plain: Recorded | None) -> tuple[str, ...]:
    run = one.run
    name = f"{run.dataset}, {run.only}" if run.only else run.dataset
    judges = ", ".join(
        [f"{len(run.judges)}", *(own for own in ("arbiter", "confirm") if own in run.settings)]
    )
    path = one.path.relative_to(ROOT) if one.path.is_relative_to(ROOT) else one.path
    command = f"`longproof evaluate {run.dataset} --replay {path} --out DIR`"
    if why := absent(one):
        return (name, judges, one.made, "", f"data not here: {why}", "", "", "", "", command)
    _, right, _, price = figures(plain) if plain else ("", "", "", "")
    return (name, judges, one.made, *figures(one), right, price, command)


def table(found: Sequence[Recorded]) -> str:
    """The table in Markdown."""
    kept = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else []
    made = [table_row(row) for row in [*rows(found), *kept]]
    return "\n".join([table_row(COLUMNS), table_row(("---",) * len(COLUMNS)), *made, ""])


def main() -> int:
    """Print the table, and write it where that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=RECORDED)
    parser.add_argument("--write", action="store_true", help="Put the table into docs/accuracy.md.")
    parser.add_argument("--figures", action="store_true", help="Keep the rows of FOLDER, and no answers.")
    given = parser.parse_args()
    try:
        found = recordings(given.folder)
        if given.figures:
            keep_figures(FIGURES, found)
            return 0
        made = table(found)
        print(made, end="")
        if given.write:
            refuse_absent(found)
            write(PAGE, made)
    except BadInput as error:
        sys.stderr.write(f"accuracy: {error}\n")
        return 1
    return 0


def keep_figures(path: Path, found: Sequence[Recorded]) -> None:
    """Keep the rows of these recordings in the place of older ones. Raises BadInput where data are missing."""
    refuse_absent(found)
    made = [[*row[:-1], "answers not kept: the set's licence"] for row in rows(found)]
    old = json.loads(path.read_text("utf-8")) if path.exists() else []
    kept = [row for row in old if row[:2] not in [new[:2] for new in made]]
    write_whole(path, (json.dumps([*kept, *made], indent=1, ensure_ascii=False) + "\n").encode())


def refuse_absent(found: Sequence[Recorded]) -> None:
    """Raises BadInput where data of a recording aren't here."""
    if missing := [one.run.dataset for one in found if absent(one)]:
        raise BadInput(f"nothing is written: the data of {', '.join(missing)} are not here")


def write(readme: Path, made: str) -> None:
    """Put the table between the marks. Raises BadInput where there are none."""
    text = readme.read_text("utf-8")
    if not MARKED.search(text):
        raise BadInput(f"{readme} has no marks <!-- accuracy --> and <!-- /accuracy -->")
    readme.write_text(MARKED.sub(lambda _: made, text), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
