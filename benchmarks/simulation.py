"""What can't be run here: how often a document's verdict is right, by its length and by who judges it.

Judges err at given rates: `miss` is the chance that one overlooks an error, `false` that it flags a faithful segment.
With correlation c, a judge's error on a segment is with chance c the one that all judges share (the segment is hard
for everyone) and else its own. Half of the documents have errors, `--errors` of them, as in LongNovel (seed 004, one
altered segment a document). A document is called hallucinated if any segment is flagged (the paper's rule).

    single        one judge, any flag
    intersection  two judges, flagged if both say so
    panel 3 / 5   flagged at a share of 2/3 or more against it; faithful at 2/3 or more for it; split: see below
    arbitration   two judges, a third where they differ (LongNovel's data)
    longproof     panel 3 at 2/3 over three widening rounds: support may be decided in any, a flag from the second on,
                  and a flag rests on a second, independent reading of its segment; the arbiter decides what is split

In `panel` and `longproof` an arbiter (another judge with the same rates) decides where the share isn't reached.
Needs numpy; the plot needs matplotlib (`--plot FILE`).

    python benchmarks/simulation.py --documents 20000 --plot benchmarks/simulation.svg
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
LENGTHS = (8, 25, 90, 300, 1000, 2000)
"""Segments: a short summary, one of 100k tokens' dense summary (90), a retelling of a long novel."""


class Rates(NamedTuple):
    """How judges err. `correlation` is the share of errors that all judges make together."""

    miss: float
    false: float
    correlation: float


class Seen:
    """A set of documents whose segments are read by any number of judges. Rows are documents."""

    def __init__(self, wrong: Bools, rates: Rates, draw: np.random.Generator) -> None:
        self.wrong, self._rates, self._draw = wrong, rates, draw
        self._rate = np.where(wrong, rates.miss, rates.false)
        self.shared = draw.random(wrong.shape) < self._rate
        self.calls = 0

    def judge(self, of: Bools | None = None) -> Bools:
        """One more judge's flags. `of` says which segments it is asked about, for the count of calls."""
        own = self._draw.random(self.wrong.shape) < self._rate
        together = self._draw.random(self.wrong.shape) < self._rates.correlation
        self.calls += int(of.sum()) if of is not None else self.wrong.size
        return self.wrong ^ np.where(together, self.shared, own)

    def panel(self, size: int, of: Bools | None = None) -> Bools:
        """Flags of a panel at a share of 2/3, split ones by an arbiter."""
        votes = np.sum([self.judge(of) for _ in range(size)], axis=0)
        flagged, cleared = 3 * votes >= 2 * size, 3 * (size - votes) >= 2 * size
        split = ~(flagged | cleared) if of is None else ~(flagged | cleared) & of
        return np.where(split, self.judge(split), flagged)


def single(seen: Seen) -> Bools:
    """The paper's own: one judge."""
    return seen.judge()


def intersection(seen: Seen) -> Bools:
    """Two judges who must agree on a flag."""
    return seen.judge() & seen.judge()


def arbitration(seen: Seen) -> Bools:
    """Two judges, a third where they differ."""
    a, b = seen.judge(), seen.judge()
    return np.where(a != b, seen.judge(a != b), a)


def rounds(seen: Seen) -> Bools:
    """What a first panel flags is read again, with wider evidence; both must flag it."""
    first = seen.panel(3)
    return first & seen.panel(3, of=first)


RULES: dict[str, Callable[[Seen], Bools]] = {
    "single": single,
    "intersection": intersection,
    "arbitration": arbitration,
    "panel 3": lambda seen: seen.panel(3),
    "panel 5": lambda seen: seen.panel(5),
    "longproof": rounds,
}


class Outcome(NamedTuple):
    """Shares of documents judged right: all, those with errors, those without; and calls a segment."""

    accuracy: float
    found: float
    cleared: float
    calls: float


def outcome(rule: str, segments: int, rates: Rates, documents: int, errors: int, seed: int) -> Outcome:
    """The rule over so many documents, half of them with errors, in parts that fit in memory."""
    draw = np.random.default_rng([seed, segments])
    right, calls, part = np.zeros(2), 0, max(1, 2_000_000 // segments)
    for begin in range(0, documents, part):
        n = min(part, documents - begin)
        bad = (np.arange(begin, begin + n) % 2).astype(bool)
        wrong = np.zeros((n, segments), bool)
        for place in range(min(errors, segments)):
            wrong[bad, (draw.integers(segments) + place * segments // max(errors, 1)) % segments] = True
        seen = Seen(wrong, rates, draw)
        flagged = RULES[rule](seen).any(axis=1)
        right += [np.sum(flagged & bad), np.sum(~flagged & ~bad)]
        calls += seen.calls
    found, cleared = right / (documents / 2)
    return Outcome((found + cleared) / 2, found, cleared, calls / documents / segments)


def exact(segments: int, rates: Rates) -> float:
    """The accuracy of `single` with one error, in closed form: what the simulation is held against."""
    cleared = (1 - rates.false) ** segments
    found = 1 - rates.miss * (1 - rates.false) ** (segments - 1)
    return (cleared + found) / 2


def main() -> None:
    """Simulate, print the tables in Markdown, draw the plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=4000)
    parser.add_argument("--miss", type=float, default=0.15)
    parser.add_argument("--false", type=float, default=0.02)
    parser.add_argument("--errors", type=int, default=1)
    parser.add_argument("--correlations", type=float, nargs="+", default=[0.0, 0.3, 0.6])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", type=Path)
    told = parser.parse_args()
    found: dict[float, dict[str, list[Outcome]]] = {}
    for correlation in told.correlations:
        rates = Rates(told.miss, told.false, correlation)
        found[correlation] = {
            rule: [outcome(rule, n, rates, told.documents, told.errors, told.seed) for n in LENGTHS]
            for rule in RULES
        }
        print(table(rates, found[correlation], told.errors), flush=True)
    if told.plot:
        draw_plot(found, told.plot)


def table(rates: Rates, found: dict[str, list[Outcome]], errors: int) -> str:
    """Document accuracy (share found / share cleared), a row a rule."""
    head = f"miss {rates.miss:.0%}, false flag {rates.false:.1%}, correlation {rates.correlation:g}"
    rows = [
        f"\n{head}, {errors} error(s) in every other document\n",
        "| rule | calls a segment | " + " | ".join(f"{n} segments" for n in LENGTHS) + " |",
        "|---|---|" + "---|" * len(LENGTHS),
    ]
    for rule, outcomes in found.items():
        cells = [f"{o.accuracy:.1%} ({o.found:.0%} / {o.cleared:.0%})" for o in outcomes]
        rows.append(f"| {rule} | {outcomes[0].calls:.2f} | " + " | ".join(cells) + " |")
    if errors == 1:
        cells = [f"{exact(n, rates):.1%}" for n in LENGTHS]
        rows.append("| single, closed form | 1.00 | " + " | ".join(cells) + " |")
    cells = [choice({rule: outcomes[n] for rule, outcomes in found.items()}) for n in range(len(LENGTHS))]
    rows.append("| **choose** | | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def choice(found: dict[str, Outcome]) -> str:
    """The rule with the fewest calls within two points of the best; none where the best is hardly above chance."""
    best = max(outcome.accuracy for outcome in found.values())
    near = {rule: o.calls for rule, o in found.items() if o.accuracy >= best - 0.02}
    return min(near, key=lambda rule: near[rule]) if best > 0.55 else "none"


def draw_plot(found: dict[float, dict[str, list[Outcome]]], path: Path) -> None:
    """Accuracy over length, a panel a correlation."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        1, len(found), figsize=(4.5 * len(found), 3.6), sharey=True, squeeze=False
    )
    for panel, (correlation, rules) in zip(panels[0], found.items(), strict=True):
        for rule, outcomes in rules.items():
            panel.plot(LENGTHS, [o.accuracy for o in outcomes], marker="o", markersize=3, label=rule)
        panel.set(xscale="log", title=f"correlation {correlation:g}", xlabel="segments", ylim=(0.45, 1.0))
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("document accuracy")
    panels[0][-1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main()
