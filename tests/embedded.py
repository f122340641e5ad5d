"""The case that every adapter's test compares with, through the terminal."""

import json
from pathlib import Path
from typing import Any

import pytest

from longproof.cli import main

SOURCE = "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds. The bridge fell in March."
RESPONSE = "Ada lit the lamp at ten. Tom sold the boat to Ada. The king burned his letters."


def by_terminal(folder: Path, *more: str) -> dict[str, Any]:
    """The report that `longproof verify` writes."""
    (folder / "source.txt").write_text(SOURCE, "utf-8")
    (folder / "response.txt").write_text(RESPONSE, "utf-8")
    files = ["--source", str(folder / "source.txt"), "--response", str(folder / "response.txt")]
    with pytest.raises(SystemExit) as stop:
        main(["verify", *files, "--json", str(folder / "r.json"), *more])
    assert not stop.value.code
    return plain(json.loads((folder / "r.json").read_text("utf-8")))


def plain(report: Any) -> dict[str, Any]:
    """A report without what a door adds: times, the case's name, where the texts were read from."""
    read = report if isinstance(report, dict) else report.model_dump(mode="json")
    documents = [{**document, "title": "", "uri": ""} for document in read["documents"]]
    case = {**read["case"], "id": ""}
    return {**{k: v for k, v in read.items() if k != "stamp"}, "case": case, "documents": documents}
