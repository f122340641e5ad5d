"""Between the nodes of the graphs go frozen models and typed records, never dictionaries of anything."""

import ast
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel

from longproof.graphs.papers.paper import PaperState
from longproof.graphs.state import Checked, CheckState, State, VerifyOutput

GRAPHS = Path(__file__).parents[2] / "graphs"
OUTSIDE = {
    "verifier.py": "settings by name, and texts of other libraries as they come",
    "settings.py": "what JSON Schema says of a field",
    "review.py": "validators, as pydantic takes them",
    "reporting.py": "the stamp of a report, which any JSON may stand in",
}
"""Where a dictionary of anything stands at an edge of the project, and why. None of these goes between nodes."""
MAKING = ("construct", "made_")


def loose(path: Path) -> list[str]:
    """Every place where a file says `Json` or `dict[str, Any]`."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        text = ast.unparse(node) if isinstance(node, ast.Subscript | ast.Name) else ""
        if text in ("Json", "dict[str, Any]", "Mapping[str, Any]"):
            found.append(f"{path.name}:{node.lineno}")
    return found


def test_no_file_of_the_graphs_passes_dictionaries_of_anything() -> None:
    files = [path for path in sorted(GRAPHS.rglob("*.py")) if not path.name.startswith(MAKING)]
    places = {path.relative_to(GRAPHS).as_posix(): loose(path) for path in files}
    assert {name: at for name, at in places.items() if at and name not in OUTSIDE} == {}
    assert {name for name in OUTSIDE if not places.get(name)} == set()


def types_in(hint: Any) -> list[Any]:
    """A type and all that stand inside it."""
    return [hint, *(one for inner in get_args(hint) for one in types_in(inner))]


@pytest.mark.parametrize("channels", [State, CheckState, Checked, PaperState, VerifyOutput])
def test_every_channel_holds_frozen_models_and_plain_values(channels: type) -> None:
    for name, hint in get_type_hints(channels).items():
        for one in types_in(hint):
            assert one is not Any, f"{name} may hold anything: checkpoints give back dictionaries"
            assert dict not in (one, get_origin(one)), f"{name} holds dictionaries"
            if isinstance(one, type) and issubclass(one, BaseModel):
                assert one.model_config.get("frozen"), f"{one.__name__} in {name} can be changed"
