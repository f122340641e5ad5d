"""A folder with texts to check, where commands run and keep their data."""

from pathlib import Path

import pytest
from terminal import SOURCE


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder: `source.txt`, `response.txt`, and `cases.jsonl` with one case of them."""
    (tmp_path / "source.txt").write_text(SOURCE, "utf-8")
    (tmp_path / "response.txt").write_text("Ada lit the lamp at nine.", "utf-8")
    case = '{"id": "a", "source": "source.txt", "response": "Ada lit the lamp at nine.", "label": "faithful"}'
    (tmp_path / "cases.jsonl").write_text(case + "\n", "utf-8")
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path
