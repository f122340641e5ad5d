"""README and docs tell the truth where a test can tell: the drawings, the map, the words.

`LONGPROOF_WRITE_DOCS=1 pytest tests/contracts/test_readme.py` writes the drawings and the map anew.
"""

import json
import os
import re
from pathlib import Path

from longproof.agent.types import KINDS, LABELS
from longproof.graphs.papers import PAPERS
from longproof.graphs.protocols import method as method_of
from longproof.graphs.run import Pool
from longproof.graphs.verify import verify_graph

ROOT = Path(__file__).parents[2]
README, DOCS = ROOT / "README.md", ROOT / "docs"
HOW, PROTOCOLS, MAP = DOCS / "how-it-works.md", DOCS / "protocols.md", DOCS / "map.md"
ROOMS = (
    "retrieval",
    "indexes",
    "agent",
    "prompts",
    "graphs",
    "construction",
    "evaluation",
    "longproof",
)


def steps() -> str:
    """The steps of each paper's protocols, those of one shape on one line, as their graphs have them."""
    shapes: dict[str, list[str]] = {}
    for paper in PAPERS:
        graph = method_of(paper.name).graph(Pool(protocol=paper), None).get_graph()
        nodes = [name for name in graph.nodes if not name.startswith("__") and name != "arbitrate"]
        shapes.setdefault(" → ".join(nodes), []).append(paper.name)
    return "\n".join(f"{shape}: {', '.join(names)}" for shape, names in shapes.items())


def tree() -> str:
    """The rooms of the house with the first sentence of what each file says of itself."""
    lines = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if path.name == "__init__.py" and path.parent.name != "prompts":
                continue
            says = path.read_text("utf-8").split('"""')[1].strip().split("\n")[0]
            lines.append(f"{path.relative_to(ROOT)}: {says}")
    return "\n".join(lines)


def between(path: Path, name: str, language: str, wanted: str) -> str:
    """What stands in a document between the marks of this name; written anew where that is asked for."""
    text = path.read_text("utf-8")
    pattern = re.compile(rf"(<!-- {name} -->\n```{language}\n)(.*?)(\n```\n<!-- /{name} -->)", re.DOTALL)
    found = pattern.search(text)
    assert found, f"{path.name} has no {name} between its marks"
    if os.environ.get("LONGPROOF_WRITE_DOCS"):
        path.write_text(text[: found.start(2)] + wanted + text[found.end(2) :], "utf-8")
        return wanted
    return found[2]


def test_the_drawing_is_that_of_the_graph():
    wanted = verify_graph().get_graph(xray=True).draw_mermaid().strip()
    assert between(HOW, "graph", "mermaid", wanted) == wanted


def test_the_papers_steps_are_those_of_their_graphs():
    assert between(PROTOCOLS, "steps", "text", steps()) == steps()


def test_the_map_is_that_of_the_tree():
    wanted = tree()
    assert between(MAP, "map", "text", wanted) == wanted


def test_every_room_is_explained():
    text = MAP.read_text("utf-8")
    for room in ROOMS:
        assert f"`{room}/`" in text


def test_every_label_and_kind_is_named():
    text = README.read_text("utf-8")
    for word in (*LABELS, *KINDS):
        assert f"`{word}`" in text


def test_studio_lists_the_product_and_every_papers_graph():
    listed = json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"]
    papers = {paper.name.replace("-", "_") for paper in PAPERS}
    assert papers | {"verify"} == set(listed)
