"""`longproof trust` on what other commands leave: reports, a batch's folder, an evaluation's."""

import json
from pathlib import Path

import pytest
from evaluated import VOTED, voted_report

from longproof.agent.trust.reliability import read_reliability
from longproof.cli import main
from longproof.evaluation.results import FILE, prediction, result
from longproof.evaluation.types import Example, Gold


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["trust", *map(str, arguments)])
    told = capsys.readouterr()
    return int(ended.value.code or 0), told.out, told.err


def test_reports_folders_and_evaluations_give_the_same_rates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = voted_report()
    batch, evaluation, file = tmp_path / "batch" / "reports", tmp_path / "evaluation", tmp_path / "r.json"
    batch.mkdir(parents=True)
    evaluation.mkdir()
    for path in (file, batch / "a.json"):
        path.write_text(report.model_dump_json(), "utf-8")
    example = Example(id="a", task="summary", response=VOTED, gold=Gold())
    kept = result(example, 0, prediction(report))
    (evaluation / FILE).write_text(kept.model_dump_json() + "\n", "utf-8")
    tables = []
    for place in (file, tmp_path / "batch", batch, evaluation):
        code, table, _ = run(capsys, place, "--save", tmp_path / "rates.json")
        assert code == 0
        assert "| j2: specificity |" in table
        assert "independently" in table
        tables.append(table.split("\n", 1)[1])
    assert len(set(tables)) == 1
    saved = read_reliability(tmp_path / "rates.json")
    assert [rates.judge for rates in saved.judges] == ["j0", "j1", "j2"]
    assert saved.of["j2"].specificity < saved.of["j0"].specificity


def test_each_run_has_the_risk_of_the_panel_that_decided_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (tmp_path / f"{n}.json" for n in (3, 4))
    first.write_text(voted_report(3).model_dump_json(), "utf-8")
    second.write_text(voted_report(4).model_dump_json(), "utf-8")
    _, table, _ = run(capsys, first, second, first)
    assert table.count("## The risk") == 2
    assert "judges j0, j1, j2)" in table
    assert "judges j0, j1, j2, j3)" in table


def test_what_tells_no_rates_is_not_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, rates = tmp_path / "r.json", tmp_path / "rates.json"
    file.write_text(voted_report(2).model_dump_json(), "utf-8")
    code, table, told = run(capsys, file, "--save", rates)
    assert (code, rates.exists()) == (2, False)
    assert "fewer than three judges voted" in table
    assert "no rates to save" in told
    file.write_text(voted_report(1).model_dump_json(), "utf-8")
    assert run(capsys, file)[0] == 2


def test_results_of_an_older_version_name_no_judges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = Example(id="a", task="summary", response=VOTED, gold=Gold())
    kept = json.loads(result(example, 0, prediction(voted_report())).model_dump_json())
    for claim in kept["prediction"]["claims"]:
        del claim["convicts"]
    (tmp_path / FILE).write_text(json.dumps(kept) + "\n", "utf-8")
    code, _, told = run(capsys, tmp_path)
    assert code == 2
    assert "fewer than two judges voted, or none whose votes were kept" in told
