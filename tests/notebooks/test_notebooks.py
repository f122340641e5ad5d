"""The notebooks run from top to bottom, show little, and define nothing."""

import ast
import re
from pathlib import Path

import pytest

from longproof.examples import recording

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.py"))
RECORDED = (recording("en"), FOLDER.parent / "evaluation" / "recorded" / "stories.gz")
MOST_OUTPUT = 60_000
"""Bytes of one notebook's outputs."""


def test_there_are_five():
    assert [path.stem for path in NOTEBOOKS] == ["embed", "evaluate", "replay", "steps", "verify"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_define_nothing_and_explain_themselves(path):
    text = path.read_text("utf-8")
    tree = compile(text, path.name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    assert not [node.name for node in ast.walk(tree) if isinstance(node, kinds)]
    assert len(re.findall(r"^# %% \[markdown\]$", text, re.M)) > 2
    assert "# # " in text


@pytest.mark.heavy
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_run_from_top_to_bottom(path, tmp_path):
    jupytext = pytest.importorskip("jupytext", reason="needs the extra `notebooks`")
    nbclient = pytest.importorskip("nbclient", reason="needs the extra `notebooks`")
    pytest.importorskip("ipykernel", reason="needs the extra `notebooks`")
    if path.stem == "embed":
        pytest.importorskip("llama_index.core", reason="needs the extra `llama-index`")
    if path.stem == "replay" and not all(kept.exists() for kept in RECORDED):
        pytest.skip("the demo and the data set stories are not recorded yet: see CONTRIBUTING.md")
    notebook = jupytext.read(path)
    resources = {"metadata": {"path": str(FOLDER if path.stem == "replay" else tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3", resources=resources).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    assert len(str([cell.outputs for cell in cells])) < MOST_OUTPUT


def test_the_recording_is_found_from_the_checkout_and_its_folder_of_notebooks(tmp_path, monkeypatch):
    cells = (FOLDER / "replay.py").read_text("utf-8").split("# %%\n")
    [finding] = [cell for cell in cells if cell.startswith("recorded = ")]
    for folder in (tmp_path / "notebooks", tmp_path / "evaluation" / "recorded"):
        folder.mkdir(parents=True)
    (tmp_path / "evaluation" / "recorded" / "stories.gz").write_bytes(b"")
    for start in (tmp_path, tmp_path / "notebooks"):
        monkeypatch.chdir(start)
        found = {"Path": Path}
        exec(finding, found)
        assert found["kept"].samefile(tmp_path / "evaluation" / "recorded" / "stories.gz")
    monkeypatch.chdir(tmp_path / "evaluation" / "recorded")
    with pytest.raises(SystemExit, match="start from the checkout"):
        exec(finding, {"Path": Path})
