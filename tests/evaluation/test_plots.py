"""Plots of a small run, where matplotlib is installed."""

from pathlib import Path

import pytest
from evaluated import line

from longproof.evaluation.plots import draw_plots


def test_every_plot_that_the_gold_allows_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    results = [
        line("a", "hallucinated", "hallucinated", kind="event", position="begin", scale="S"),
        line("b", "faithful", "undecided", scale="S"),
    ]
    names = {path.name for path in draw_plots(results, tmp_path)}
    assert names == {
        "confusion.png",
        "risk_coverage.png",
        "recall_by_kind.png",
        "recall_by_position.png",
        "recall_by_scale.png",
    }
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in names)
    assert draw_plots([], tmp_path) == []
