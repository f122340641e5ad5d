"""Two runs over the same examples: paired differences with intervals, and which examples changed sides.

Knows: only what stands in two folders of results. Does not know: how either was made.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from longproof.evaluation.headlines import HEADLINES
from longproof.evaluation.metrics.statistics import NOTHING, Counts, bootstrap_interval, sum_counts
from longproof.evaluation.results import Result, results_of
from longproof.evaluation.tables import UNDEFINED, number, table_row
from longproof.retrieval.types import BadInput

Pair = tuple[Result, Result]
Both = tuple[Counts, Counts]
MEANINGS = {1: "now right", -1: "now wrong", 0: ""}


class ScoreDifference(NamedTuple):
    """One score of both runs over the common examples; `difference` is B less A, with its 95 % interval."""

    name: str
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None

    def cells(self) -> tuple[str, ...]:
        """A row of the table."""
        interval = UNDEFINED if self.low is None else f"{self.low:+.3f} to {self.high:+.3f}"
        difference = UNDEFINED if self.difference is None else f"{self.difference:+.3f}"
        return self.name, number(self.a), number(self.b), difference, interval


class ChangedOutcome(NamedTuple):
    """An example on which the runs differ. `gain`: 1 where B became right, -1 where wrong, 0 if neither or gray."""

    gain: int
    name: str
    gold: str
    a: str
    b: str

    def cells(self) -> tuple[str, ...]:
        """A row of the table, with what the change means for the score."""
        return self.name, self.gold, self.a, self.b, MEANINGS[self.gain]


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
        lines += [table_row(difference.cells()) for difference in self.differences]
        lines += ["", f"{len(self.changes)} of {self.n} examples changed sides.", ""]
        lines += ["| example | gold | A | B | |", "| --- | --- | --- | --- | --- |"]
        lines += [table_row(change.cells()) for change in self.changes]
        return "\n".join([*lines, ""])


def compare_runs(a: Path, b: Path) -> Comparison:
    """The runs in two folders, over the examples (and repeats) that both have.

    Intervals resample whole groups and keep each example's two sides together. Raises BadInput where a folder
    holds no results, no example is common, or the gold of a common example differs.
    """
    first, second = ({line.name: line for line in results_of(folder)} for folder in (a, b))
    pairs = [(first[name], second[name]) for name in first if name in second]
    if not pairs:
        raise BadInput(f"{a} and {b} have no example in common")
    changes = list[ChangedOutcome]()
    for one, other in pairs:
        if one.gold != other.gold:
            raise BadInput(f"example {one.id} has another gold in {b}: the runs are of different data")
        gold, before, after = one.gold.outcome, one.prediction.outcome, other.prediction.outcome
        if before != after:
            gain = (after == gold) - (before == gold)
            changes.append(ChangedOutcome(gain, one.name, gold or "gray", before, after))
    differences = (_difference(name, pairs) for name in HEADLINES)
    return Comparison(
        a=a,
        b=b,
        n=len(pairs),
        n_only_a=len(first) - len(pairs),
        n_only_b=len(second) - len(pairs),
        differences=[difference for difference in differences if difference],
        changes=sorted(changes, key=lambda change: (-change.gain, change.name)),
    )


def _difference(name: str, pairs: Sequence[Pair]) -> ScoreDifference | None:
    """The paired difference of one headline score; None where the data have no gold for it."""
    count_example, (rate, _, _) = HEADLINES[name]
    groups: dict[str, Both] = {}
    for one, other in pairs:
        counts = (count_example(one), count_example(other))
        groups[one.group] = _total([groups.get(one.group, (NOTHING, NOTHING)), counts])
    bags = [bag for bag in groups.values() if any(bag[0]) or any(bag[1])]

    def gain(drawn: Sequence[Both]) -> float | None:
        before, after = map(rate, _total(drawn))
        return None if before is None or after is None else after - before

    before, after = map(rate, _total(bags))
    if before is None and after is None:
        return None
    low, high = bootstrap_interval(gain, bags) or (None, None)
    return ScoreDifference(name, before, after, gain(bags), low, high)


def _total(both: Sequence[Both]) -> Both:
    return sum_counts(one for one, _ in both), sum_counts(other for _, other in both)
