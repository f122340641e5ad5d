"""What is recorded in this repository can be replayed: the demo, and the evaluations of bundled sets, which run every
paper's method.

Fails where a prompt, or how texts are cut, changed since: CONTRIBUTING.md says how to record again.
"""

from pathlib import Path

import pytest

from longproof.agent.models.ledger import Replay
from longproof.cli import main
from longproof.evaluation.run import recorded_run, replay_dataset
from longproof.examples import LANGUAGES
from longproof.graphs.papers import PAPERS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "evaluation" / "recorded"
METHODS = [paper.name for paper in PAPERS if (FOLDER / f"{paper.name}.gz").exists()]
"""The papers' methods that are recorded under their names."""
ALL_FOUND = {
    "en": "4 of 4 planted errors found, 0 sentences flagged without one",
    "zh": "植入的 4 处错误中发现 4 处；没有错误却被标出的句子：0 句",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_demo_finds_what_was_planted_and_nothing_else(language, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--language", language, "--html", str(tmp_path / "page.html")])
    told = capsys.readouterr()
    assert ended.value.code == 0, told.err
    assert ALL_FOUND[language] in told.out


@pytest.mark.parametrize("name", ["stories", "stories-panel", "stories-plain", *METHODS])
def test_an_evaluation_of_a_bundled_set_is_replayed(name, tmp_path, monkeypatch):
    """A heavy test of `benchmarks/accuracy.py` replays all, where the development data are."""
    path = FOLDER / f"{name}.gz"
    run = recorded_run(Replay.open(path))
    monkeypatch.chdir(ROOT)  # where saved pages lie is said from there
    assert replay_dataset(run.dataset, path, out=tmp_path, pages=run.settings.get("pages")).settings == run
