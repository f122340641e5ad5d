"""The notebooks show what a run from recorded answers shows: made anew, they differ in nothing but times."""

import ast
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from scripts import script

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_BYTES = 300_000
FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
TIME = re.compile(r"\b\d+\.\d s\b")
OF_THIS_MACHINE = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|opt|usr|Users|work|private|var)/")


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))


def code(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def texts_of(outputs: list[dict[str, Any]]) -> list[object]:
    """The texts that a cell shows, without times; of a picture, that there is one."""
    kept: list[object] = []
    for output in outputs:
        for form, value in sorted({**output.get("data", {}), "text": output.get("text", "")}.items()):
            whole = "".join(value)
            kept.append("a picture" if form == "image/png" else TIME.sub("… s", whole))
    return kept


def pictures(outputs: list[dict[str, Any]]) -> list[int]:
    found = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [len("".join(one)) for one in found]


def test_there_are_five():
    assert [path.stem for path in NOTEBOOKS] == ["embed", "evaluate", "replay", "steps", "verify"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_show_their_outputs(path):
    notebook = read(path)
    cells = code(notebook)
    assert notebook["cells"][0]["source"][0].startswith("# ")
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert [cell["id"] for cell in notebook["cells"]] == [
        f"{path.stem}-{number:02}" for number in range(1, len(notebook["cells"]) + 1)
    ]
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert any("text/html" in output.get("data", {}) for output in outputs)
    assert not [
        output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"
    ]
    assert path.stat().st_size < MOST_BYTES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_they_import_of_ours_is_there(path):
    for cell in code(read(path)):
        parsed = compile("".join(cell["source"]), path.name, "exec", FLAGS)
        for node in ast.walk(parsed):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("longproof"):
                missing = [
                    one.name for one in node.names if not hasattr(import_module(node.module), one.name)
                ]
                assert missing == [], node.module


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_name_no_path_of_the_machine_that_made_them(path):
    assert not OF_THIS_MACHINE.search(path.read_text("utf-8"))


@pytest.mark.heavy
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_run_shows_what_they_show(path):
    for needed in ("nbclient", "ipykernel", "matplotlib", "pandas", "llama_index.core"):
        pytest.importorskip(needed, reason="needs the extra `notebooks`")
    made = code(script(FOLDER / "run.py").run(path))
    for old, new in zip(code(read(path)), made, strict=True):
        told = f"{path.name}: a run shows something else: python notebooks/run.py {path.stem}"
        assert texts_of(new["outputs"]) == texts_of(old["outputs"]), told
        for before, now in zip(pictures(old["outputs"]), pictures(new["outputs"]), strict=True):
            assert 0.5 < now / before < 2, told
