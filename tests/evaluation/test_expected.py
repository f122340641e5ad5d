"""Expected numbers: OK within the tolerance, off or missing otherwise, and no other command is run."""

from pathlib import Path

import pytest

from longproof.evaluation.expected import (
    CheckedScore,
    Expectation,
    check_expectations,
    expectations,
    print_expectations,
)
from longproof.retrieval.types import BadInput

ROOT = Path(__file__).parents[2]
WANTED = Expectation(
    command="longproof evaluate x", section="Responses", score="MCC", expected=0.5, tolerance=0.1
)


@pytest.mark.parametrize(
    ("value", "ok", "word"), [(0.6, True, "OK"), (0.61, False, "OFF +0.110"), (None, False, "MISSING")]
)
def test_a_score_is_ok_within_its_tolerance(value: float | None, ok: bool, word: str) -> None:
    finding = CheckedScore(WANTED, value)
    assert finding.ok == ok
    assert finding.line().startswith(word)


def test_the_bundled_expectations_read() -> None:
    bundled = expectations(ROOT / "evaluation" / "expected.yaml")
    assert any(wanted.ci for wanted in bundled)
    assert all(wanted.command.startswith("longproof evaluate ") for wanted in bundled)


def test_only_our_evaluations_are_run() -> None:
    with pytest.raises(BadInput, match="is no `longproof evaluate` command"):
        list(check_expectations([WANTED.model_copy(update={"command": "rm -rf x"})]))


def test_a_file_that_is_no_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "expected.yaml"
    for text in ("- command: 1\n", "just words", "a: [", "- !!python/object/apply:os.system ['true']\n"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(BadInput, match="not a list of expectations"):
            expectations(path)


def test_the_small_offline_part_holds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    status = print_expectations(["--ci"])
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert printed.count("OK") == 3
