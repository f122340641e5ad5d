"""README tells the truth where a test can tell: the drawing, the map, the words."""

import re
from pathlib import Path

from longproof.agent.types import KINDS, LABELS
from longproof.graphs.verify import verify_graph

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def drawing() -> str:
    return verify_graph().get_graph(xray=True).draw_mermaid()


def test_the_drawing_is_that_of_the_graph():
    inside = re.search(r"<!-- graph -->\n```mermaid\n(.*?)\n```\n<!-- /graph -->", README, re.S)
    assert inside, "README has no drawing between its marks"
    assert inside[1].strip() == drawing().strip()


def test_the_map_names_every_room():
    for room in ("retrieval", "indexes", "agent", "prompts", "graphs", "evaluation", "longproof"):
        assert f"`{room}/`" in README


def test_every_label_and_kind_is_named():
    for word in (*LABELS, *KINDS):
        assert f"`{word}`" in README
