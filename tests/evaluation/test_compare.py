"""Two runs against each other: paired, grouped, and only where both have the example."""

from pathlib import Path

import pytest
from evaluated import line

from longproof.evaluation.compare import compare_runs
from longproof.evaluation.results import Result
from longproof.retrieval.types import BadInput


def folder(path: Path, *results: Result) -> Path:
    path.mkdir()
    (path / "results.jsonl").write_text("".join(f"{one.model_dump_json()}\n" for one in results), "utf-8")
    return path


def test_differences_are_paired_and_changes_named(tmp_path: Path) -> None:
    gold = ["hallucinated", "faithful"] * 20
    before = [line(str(i), g, "faithful") for i, g in enumerate(gold)]
    after = [line(str(i), g, "hallucinated" if i % 4 == 0 else "faithful") for i, g in enumerate(gold)]
    found = compare_runs(
        folder(tmp_path / "a", *before),
        folder(tmp_path / "b", *after[:-2], line("new", "faithful", "faithful")),
    )
    assert (found.n, found.n_only_a, found.n_only_b) == (38, 2, 1)
    mean = next(row for row in found.differences if row.name == "mean accuracy")
    assert (mean.a, mean.difference) == (0.5, pytest.approx(10 / 19 / 2))
    assert 0 < (mean.low or 0) <= 10 / 19 / 2 <= (mean.high or 0)
    assert len(found.changes) == 10
    assert "| 0 | hallucinated | faithful | hallucinated | now right |" in found.to_markdown()


def test_equal_runs_differ_in_nothing_even_where_one_lacks_its_last_line_end(tmp_path: Path) -> None:
    results = [line(str(i), "faithful" if i % 2 else "hallucinated", "faithful") for i in range(10)]
    whole, cut = folder(tmp_path / "a", *results), folder(tmp_path / "b")
    (cut / "results.jsonl").write_bytes((whole / "results.jsonl").read_bytes().rstrip(b"\n"))
    found = compare_runs(whole, cut)
    assert (found.n, found.n_only_a, found.n_only_b, found.changes) == (10, 0, 0, [])
    assert all((row.difference, row.low, row.high) == (0, 0, 0) for row in found.differences)


def test_what_became_wrong_comes_last(tmp_path: Path) -> None:
    a = folder(tmp_path / "a", line("x", "faithful", "faithful"), line("y", "faithful", "undecided"))
    b = folder(tmp_path / "b", line("x", "faithful", "undecided"), line("y", "faithful", "faithful"))
    assert [change.name for change in compare_runs(a, b).changes] == ["y", "x"]


def test_runs_of_different_data_are_refused(tmp_path: Path) -> None:
    a = folder(tmp_path / "a", line("x", "faithful", "faithful"))
    b = folder(tmp_path / "b", line("x", "hallucinated", "faithful"))
    c = folder(tmp_path / "c", line("z", "faithful", "faithful"))
    for other, says in ((b, "another gold"), (c, "no example in common"), (tmp_path, r"no results\.jsonl")):
        with pytest.raises(BadInput, match=says):
            compare_runs(a, other)
    (tmp_path / "results.jsonl").write_text('{"id": 1}\n', encoding="utf-8")
    with pytest.raises(BadInput, match="line 1"):
        compare_runs(a, tmp_path)
