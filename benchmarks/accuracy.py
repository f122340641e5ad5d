"""Agreement of verdicts with gold: tables of all recorded evaluations, replayed offline.

    LONGPROOF_DATA=data python benchmarks/accuracy.py [FOLDER] [--write] [--figures]

Replays every recording in `evaluation/recorded/` (or FOLDER), asking nobody, and prints a row for each. The plain
question's figures stand beside the run on the same examples, papers' methods in a table of their own. Price is what
the run's models read, and five times what they wrote, by the characters of the sources. `--write` puts the tables
into docs/accuracy.md. Of sets whose licence lets no answers be kept here, `--figures` keeps the rows alone, in
`evaluation/recorded/figures.json`; FOLDER is elsewhere. Exit code 1: a recording can't be replayed.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from longproof.agent.models.ledger import Replay
from longproof.evaluation.datasets import examples
from longproof.evaluation.run import RunSettings, recorded_run, replay_dataset
from longproof.evaluation.scores import number, table_row
from longproof.graphs.papers import PAPERS
from longproof.graphs.settings import LONGPROOF
from longproof.retrieval.files import write_whole
from longproof.retrieval.types import BadInput

ROOT = Path(__file__).parents[1]
PAGE, RECORDED = ROOT / "docs" / "accuracy.md", ROOT / "evaluation" / "recorded"
FIGURES = RECORDED / "figures.json"
PLAIN = "plain"
COLUMNS = ("set", "judges", "asked", "cases", "right", "coverage", "price")
COLUMNS += ("asked plainly", "its price", "replay")
PAPER_COLUMNS = ("method", "work", "set", "judges", "asked", "cases", "right", "coverage", "price", "replay")
MARKED = re.compile(r"(<!-- (accuracy|papers) -->\n)(.*?)(?=<!-- /\2 -->)", re.DOTALL)


class Recorded(NamedTuple):
    """A recording, what was run, and the date on which models were asked."""

    path: Path
    run: RunSettings
    made: str


def recordings(folder: Path) -> list[Recorded]:
    """All recordings of a folder, by name. Raises BadInput for a file that is none."""
    found = list[Recorded]()
    for replay in map(Replay.open, sorted(folder.glob("*.gz"))):
        found.append(Recorded(replay.path, recorded_run(replay), replay.header.made))
    return found


def figures(recorded: Recorded) -> tuple[str, str, str, str]:
    """A recorded run's cases, what is right, coverage and price. Raises BadInput where it can't be replayed."""
    pages = recorded.run.settings.get("pages")
    with TemporaryDirectory() as folder:
        done = replay_dataset(
            recorded.run.dataset, recorded.path, out=Path(folder), pages=pages and str(ROOT / pages)
        )
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
    """A row for each recording of our own protocol."""
    plain = {one.run.data: one for one in found if one.run.protocol == PLAIN}
    for one in found:
        if one.run.protocol != LONGPROOF.name:
            continue
        why = absent(one)
        cells = ("", f"data not here: {why}", "", "", "", "")
        if not why:
            beside = figures(plain[one.run.data]) if one.run.data in plain else ("",) * 4
            cells = (*figures(one), beside[1], beside[3])
        name, judges, command = about(one)
        yield (name, judges, one.made, *cells, command)


def paper_rows(found: Sequence[Recorded]) -> Iterator[tuple[str, ...]]:
    """A row for each recording of a paper's method."""
    works = {paper.name: paper.work for paper in PAPERS}
    for one in found:
        if work := works.get(one.run.protocol):
            name, judges, command = about(one)
            yield (one.run.protocol, work.in_short(), name, judges, one.made, *figures(one), command)


def about(recorded: Recorded) -> tuple[str, str, str]:
    """The set, the judges, and the command that replays the recording."""
    run = recorded.run
    name = f"{run.dataset}, {run.only}" if run.only else run.dataset
    judges = ", ".join([f"{len(run.judges)}", *sorted({"arbiter", "confirm"} & run.settings.keys())])
    path = recorded.path.relative_to(ROOT) if recorded.path.is_relative_to(ROOT) else recorded.path
    pages = f" --pages {run.settings['pages']}" if "pages" in run.settings else ""
    return name, judges, f"`longproof evaluate {run.dataset} --replay {path}{pages} --out DIR`"


def tables(found: Sequence[Recorded]) -> dict[str, str]:
    """The tables in Markdown, by their marks."""
    kept = json.loads(FIGURES.read_text("utf-8"))
    return {
        "accuracy": markdown(COLUMNS, [*rows(found), *kept]),
        "papers": markdown(PAPER_COLUMNS, paper_rows(found)),
    }


def markdown(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table."""
    made = map(table_row, [columns, ("---",) * len(columns), *lines])
    return "\n".join([*made, ""])


def main() -> int:
    """Print the table, and write it where that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=RECORDED)
    parser.add_argument("--write", action="store_true", help="Put the tables into docs/accuracy.md.")
    parser.add_argument("--figures", action="store_true", help="Keep the rows of FOLDER, and no answers.")
    given = parser.parse_args()
    try:
        found = recordings(given.folder)
        if given.figures:
            keep_figures(FIGURES, found)
            return 0
        made = tables(found)
        print(*made.values(), sep="\n", end="")
        if given.write:
            write(PAGE, made, found)
    except BadInput as error:
        sys.stderr.write(f"accuracy: {error}\n")
        return 1
    return 0


def keep_figures(path: Path, found: Sequence[Recorded]) -> None:
    """Keep the rows of these recordings in the place of older ones. Raises BadInput where data are missing."""
    refuse_absent(found)
    old = json.loads(path.read_text("utf-8")) if path.exists() else []
    kept = {tuple(row[:2]): row for row in old}
    for row in rows(found):
        kept.pop(row[:2], None)
        kept[row[:2]] = [*row[:-1], "answers not kept: the set's licence"]
    write_whole(path, (json.dumps(list(kept.values()), indent=1, ensure_ascii=False) + "\n").encode())


def refuse_absent(found: Sequence[Recorded]) -> None:
    """Raises BadInput where data of a recording aren't here."""
    if missing := [one.run.dataset for one in found if absent(one)]:
        raise BadInput(f"nothing is written: the data of {', '.join(missing)} are not here")


def write(page: Path, made: Mapping[str, str], found: Sequence[Recorded]) -> None:
    """Put each table between its marks in a page. Raises BadInput where data are missing."""
    refuse_absent(found)
    page.write_text(MARKED.sub(lambda marked: marked[1] + made[marked[2]], page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
