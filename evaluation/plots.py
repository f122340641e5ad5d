"""Plots of a run: confusion matrix, risk against coverage, recall by kind, position and scale.

matplotlib is an extra (`longproof[plots]`): without it nothing is drawn, and the table says so.
Does not know: how a score is computed; figures follow LongNovel's figure 4 and 5 and VeriGray's 3 and 7.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longproof.agent.types import LABELS
from longproof.evaluation.headlines import ordered, with_gold_outcome
from longproof.evaluation.metrics.outcomes import hallucinated_by
from longproof.evaluation.metrics.statistics import recall
from longproof.evaluation.metrics.verigray import confusion, risk_coverage
from longproof.evaluation.results import Result, part_labels, response_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SLICES = ("kind", "position", "scale", "pattern")
OUTCOMES = ("hallucinated", "faithful", "undecided")


def draw_plots(results: Sequence[Result], folder: Path) -> list[Path]:
    """Write every plot that the gold allows as PNG; none where matplotlib is not installed."""
    if not results or find_spec("matplotlib") is None:
        return []
    plots = {"confusion": _confusion(results), "risk_coverage": _risk(results)}
    plots |= {f"recall_by_{name}": _recall(results, name) for name in SLICES}
    written = []
    for name, figure in plots.items():
        if figure is not None:
            written.append(folder / f"{name}.png")
            figure.savefig(written[-1], dpi=120, bbox_inches="tight", metadata={"Software": None})
    return written


def _figure(width: float, height: float) -> tuple["Figure", Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def _confusion(results: Sequence[Result]) -> "Figure | None":
    """Lines are gold, normalised; seven labels where the gold has them, else outcomes."""
    columns = part_labels(results) or response_labels(results)
    names: Sequence[str] = (*LABELS, "undecided")
    if not columns:
        columns = [(str(r.gold.outcome), r.prediction.outcome) for r in with_gold_outcome(results)]
        names = OUTCOMES
    if not columns:
        return None
    table = confusion([gold for gold, _ in columns], [said for _, said in columns])
    gold_names = [name for name in names if name in table]
    figure, axes = _figure(1.5 + 0.9 * len(names), 1.2 + 0.6 * len(gold_names))
    shares = [[table[gold].get(name, 0) / sum(table[gold].values()) for name in names] for gold in gold_names]
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for y, gold in enumerate(gold_names):
        for x, name in enumerate(names):
            shade = "white" if shares[y][x] > 0.5 else "black"
            axes.text(x, y, table[gold].get(name, 0), ha="center", va="center", color=shade)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(
        range(len(gold_names)), [f"{gold} (n = {sum(table[gold].values())})" for gold in gold_names]
    )
    axes.set(xlabel="predicted", ylabel="gold")
    return figure


def _risk(results: Sequence[Result]) -> "Figure | None":
    """Risk against coverage at each label taken as the threshold of acceptance."""
    columns = (
        part_labels(results)
        or response_labels(results)
        or [
            ("fabricated" if r.gold.outcome == "hallucinated" else "implicitly_supported", r.prediction.label)
            for r in with_gold_outcome(results)
        ]
    )
    if not columns:
        return None
    chosen = risk_coverage([gold for gold, _ in columns], [said for _, said in columns], LABELS)
    points = dict[tuple[float, float], list[str]]()
    for name, found in chosen.items():
        if found.value is not None and found.coverage is not None:
            points.setdefault((found.coverage, found.value), []).append(name)
    if not points:
        return None
    figure, axes = _figure(6, 4)
    axes.plot([coverage for coverage, _ in points], [risk for _, risk in points], marker="o")
    for point, names in points.items():
        text = f"{names[0]} or above" if len(names) == 1 else f"{names[0]} … {names[-1]}"
        axes.annotate(text, point, fontsize=7, xytext=(-4, 6), textcoords="offset points", ha="right")
    axes.set(xlabel="coverage (accepted over all)", ylabel="risk (wrong among accepted)")
    axes.set_xlim(0, 1.02)
    axes.set_ylim(bottom=0)
    return figure


def _recall(results: Sequence[Result], name: str) -> "Figure | None":
    taken = [result for result in with_gold_outcome(results) if name in result.slices]
    by_slice = hallucinated_by(
        [r.slices[name] for r in taken],
        [str(r.gold.outcome) for r in taken],
        [r.prediction.outcome for r in taken],
    )
    if not by_slice:
        return None
    figure, axes = _figure(1.5 + 0.7 * len(by_slice), 3.2)
    values = ordered(by_slice)
    axes.bar(range(len(by_slice)), [recall(by_slice[value]) or 0 for value in values])
    labels = [f"{value}\nn = {by_slice[value].hallucinated}" for value in values]
    axes.set_xticks(range(len(by_slice)), labels, rotation=30, ha="right", fontsize=7)
    axes.set(ylabel="recall of hallucinated", ylim=(0, 1), title=f"by {name}")
    return figure
