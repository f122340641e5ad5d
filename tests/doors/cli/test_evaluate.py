"""`longproof evaluate` says on stderr what could not be checked, and why."""

import json
from pathlib import Path

import pytest

from longproof.cli import main


def test_what_could_not_be_checked_is_told_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    cases = tmp_path / "cases.jsonl"
    lines = [{"id": "a", "source_text": "Anna left.", "response": ""}]
    lines.append({"id": "b", "source_text": "Anna left.", "response": "Anna left."})
    cases.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", str(cases), "--out", str(tmp_path / "out")])
    told = capsys.readouterr().err
    assert ended.value.code == 0
    assert "could not be checked" in told
    assert "response" in told
