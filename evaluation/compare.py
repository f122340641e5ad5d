"""Two runs over the same examples: paired differences with intervals, and which examples changed sides.

Knows: only what stands in two folders of results. Does not know: how either was made.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from longproof.evaluation.metrics import Counts, bootstrap_interval, sum_counts
from longproof.evaluation.results import Result
from longproof.evaluation.scores import HEADLINES, UNDEFINED, number, sum_by_group, table_row
from longproof.graphs.runner import read_lines
from longproof.retrieval.types import BadInput

MEANINGS = {1: "now right", -1: "now wrong", 0: ""}


class ScoreDifference(NamedTuple):
    """One score of both runs over the common examples; `difference` is B less A, with its 95 % interval."""

    name: str
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None


class ChangedOutcome(NamedTuple):
    """An example on which the runs differ. `gain`: 1 where B became right, -1 where wrong, 0 if neither or gray."""

    gain: int
    name: str
    gold: str
    a: str
    b: str


class Comparison(NamedTuple):
    """The differences of two runs. `n` is the number of common examples; the others are counted, and left out."""

    a: Path
    b: Path
    n: int
    n_only_a: int
    n_only_b: int
    differences: list[ScoreDifference]
    changes: list[ChangedOutcome]

    def to_markdown(self) -> str:
        """Both tables: the differences, then the changes, those that became right first."""
        counted = f"{self.n} common examples; {self.n_only_a} only in A, {self.n_only_b} only in B."
        lines = [f"# B ({self.b}) against A ({self.a})", ""]
        lines += [f"{counted} The interval is of the paired difference.", ""]
        lines += ["| score | A | B | B − A | 95 % interval |", "| --- | --- | --- | --- | --- |"]
        for name, before, after, gain, low, high in self.differences:
            interval = UNDEFINED if low is None else f"{low:+.3f} to {high:+.3f}"
            difference = UNDEFINED if gain is None else f"{gain:+.3f}"
            lines.append(table_row((name, number(before), number(after), difference, interval)))
        lines += ["", f"{len(self.changes)} of {self.n} examples changed sides.", ""]
        lines += ["| example | gold | A | B | |", "| --- | --- | --- | --- | --- |"]
        for change in self.changes:
            lines.append(table_row((*change[1:], MEANINGS[change.gain])))
        return "\n".join([*lines, ""])


def compare_runs(a: Path, b: Path) -> Comparison:
    """The runs in two folders, over the examples (and repeats) that both have; intervals resample whole groups.

    Raises BadInput where a folder holds no results, no example is common, or the gold of a common example differs.
    """
    only_b = {line.name: line for line in read_lines(b, Result)}
    before, after, n_only_a, changes = list[Result](), list[Result](), 0, list[ChangedOutcome]()
    for one in read_lines(a, Result):
        other = only_b.pop(one.name, None)
        if other is None:
            n_only_a += 1
            continue
        if one.gold != other.gold:
            raise BadInput(f"example {one.id} has another gold in {b}: the runs are of different data")
        before.append(one)
        after.append(other.model_copy(update={"group": one.group}))
        gold, was, now = one.gold.outcome, one.prediction.outcome, other.prediction.outcome
        if was != now:
            gain = (now == gold) - (was == gold)
            changes.append(ChangedOutcome(gain, one.name, gold or "gray", was, now))
    if not before:
        raise BadInput(f"{a} and {b} have no example in common")
    changes.sort(key=lambda change: (-change.gain, change.name))
    differences = list(filter(None, (_difference(name, before, after) for name in HEADLINES)))
    return Comparison(a, b, len(before), n_only_a, len(only_b), differences, changes)


def _difference(name: str, before: Sequence[Result], after: Sequence[Result]) -> ScoreDifference | None:
    """The paired difference of one headline score; None where the data have no gold for it."""
    count_example, (rate, _, _) = HEADLINES[name]
    sides = zip(sum_by_group(before, count_example), sum_by_group(after, count_example), strict=True)
    groups = [(one, other) for one, other in sides if any(one) or any(other)]

    def rates(drawn: Sequence[tuple[Counts, Counts]]) -> tuple[float | None, float | None, float | None]:
        was, now = rate(sum_counts(one for one, _ in drawn)), rate(sum_counts(other for _, other in drawn))
        return was, now, None if was is None or now is None else now - was

    was, now, gain = rates(groups)
    if was is None and now is None:
        return None
    return ScoreDifference(name, was, now, gain, *bootstrap_interval(lambda drawn: rates(drawn)[2], groups))
