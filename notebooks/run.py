"""Run the notebooks from top to bottom and keep what they show, from recorded answers: no key, no network.

    python notebooks/run.py [NAME …]

Needs the extra `notebooks`.
"""

import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
SECONDS = 240
"""How long a cell may take."""
ENVIRONMENT = {"PYTHONWARNINGS": "ignore:IProgress not found"}
"""tqdm warns, with a path of this machine, where there are no widgets to draw its bars."""
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""Where an object lies in memory: it differs from run to run."""


def run(path: Path) -> Any:
    """The notebook with the outputs of a run just made: numbered cells, and nothing of this machine or moment."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(FOLDER)}},
    )
    with TemporaryDirectory() as home, patch.dict(os.environ, {**ENVIRONMENT, "LONGPROOF_HOME": home}):
        client.execute()
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for number, cell in enumerate(notebook.cells, 1):
        cell.id, cell.metadata = f"{path.stem}-{number:02}", nbformat.from_dict({})
        for data in [output.data for output in cell.get("outputs", []) if "data" in output]:
            data["text/plain"] = ADDRESS.sub("", data["text/plain"])
    return notebook


def main() -> None:
    """Run the notebooks that are named, or all."""
    for name in sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.ipynb")):
        path = FOLDER / f"{name}.ipynb"
        nbformat.write(run(path), path)
        print(f"{path.relative_to(FOLDER.parent)}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
