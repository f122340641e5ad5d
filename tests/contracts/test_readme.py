"""README and docs tell the truth where a test can tell: the drawings, the map, the words, what a judge is sent.

`LONGPROOF_WRITE_DOCS=1 pytest tests/contracts/test_readme.py` writes the drawings, the map and the request anew.
"""

import json
import os
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fakes import ChatServer
from reader import Asked, Reply, answer_of, well

from longproof import Verifier
from longproof.agent.types import KINDS, LABELS
from longproof.graphs.papers import PAPERS, data_to_text, halueval, longnovel, probe, verigray
from longproof.graphs.papers.works import WORKS
from longproof.graphs.run import Pool
from longproof.graphs.verify import method as method_of
from longproof.graphs.verify import verify_graph

ROOT = Path(__file__).parents[2]
README, DOCS = ROOT / "README.md", ROOT / "docs"
HOW, PROTOCOLS, MAP = DOCS / "how-it-works.md", DOCS / "protocols.md", DOCS / "map.md"
MODELS, ACCURACY = DOCS / "models.md", DOCS / "accuracy.md"
ROOMS = ("retrieval", "indexes", "agent", "prompts", "graphs", "construction", "evaluation", "longproof")


def steps() -> str:
    """The steps of each paper's protocols, those of one shape on one line, as their graphs have them."""
    shapes: dict[str, list[str]] = {}
    for paper in PAPERS:
        graph = method_of(paper.name).graph(Pool(protocol=paper), None).get_graph()
        nodes = [name for name in graph.nodes if not name.startswith("__") and name != "arbitrate"]
        shapes.setdefault(" → ".join(nodes), []).append(paper.name)
    return "\n".join(f"{shape}: {', '.join(names)}" for shape, names in shapes.items())


def works() -> str:
    """The works that methods come from, a paragraph each."""
    return "\n\n".join(textwrap.fill(work.in_full(), 112, break_on_hyphens=False) for work in WORKS)


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


STORY = """The keeper of the lamp was called Mara.
Every evening she rowed to the island and lit the lamp.
In the winter of 1851 the old ferryman brought her nine letters.
She put them into a drawer and opened none of them.
On the last night of the year the lamp went out.
Nobody lit it again.
In the spring the ferryman asked about the letters.
Mara gave all of them back."""
RETOLD = (
    "Mara rowed to the island every evening. The ferryman brought her nineteen letters. She read them all."
)


FINDINGS: list[dict[str, Any]] = [
    {"claim": "C1", "quotes": ["Every evening she rowed"], "label": "explicitly_supported"},
    {"claim": "C2", "quotes": ["the old ferryman brought her nine letters"], "reason": "She was brought nine.",
     "label": "contradicting", "kind": "numerical", "wrong": "nineteen", "correction": "nine"},
    {"claim": "C3", "quotes": ["She put them into a drawer"], "reason": "She opened none.",
     "label": "contradicting", "kind": "event", "wrong": "read them all", "correction": "read none of them"},
]  # fmt: skip


def request_and_answer() -> str:
    """The first question about a small story, as it goes to a server, and an answer that Longproof takes."""
    first: list[tuple[Asked, str]] = []

    def script(asked: Asked) -> Reply:
        if asked.form != "Findings" or first:
            return well(asked)
        first.append((asked, json.dumps(answer_of(asked, FINDINGS))))
        return Reply(first[0][1])

    with ChatServer(script) as server:
        report = Verifier(judges=[f"openai:MODEL@{server.address}"], cache=False).verify(STORY, RETOLD)
    assert all(claim.judgements[0].failure is None for claim in report.claims if claim.judgements)
    asked, answer = first[0]
    body = dict(asked.body)
    messages, form = body.pop("messages"), body.pop("response_format")
    parts = {message["role"]: message["content"] for message in messages}
    parts |= {"schema": json.dumps(form), "parameters": json.dumps(body), "answer": answer}
    for name in ("schema", "answer"):
        parts[name] = textwrap.fill(parts[name], 112, break_on_hyphens=False)
    return "\n\n".join(f"[{name}]\n{text}" for name, text in parts.items())


def between(path: Path, name: str, language: str, wanted: str) -> str:
    """The text of a document between the marks of this name; written anew where that is asked for."""
    text = path.read_text("utf-8")
    pattern = re.compile(rf"(<!-- {name} -->\n```{language}\n)(.*?)(\n```\n<!-- /{name} -->)", re.DOTALL)
    found = pattern.search(text)
    assert found, f"{path.name} has no {name} between its marks"
    if os.environ.get("LONGPROOF_WRITE_DOCS"):
        path.write_text(text[: found.start(2)] + wanted + text[found.end(2) :], "utf-8")
        return wanted
    return found[2]


@pytest.mark.parametrize(
    ("path", "name", "language", "made"),
    [
        (HOW, "graph", "mermaid", lambda: verify_graph().get_graph(xray=True).draw_mermaid().strip()),
        (PROTOCOLS, "steps", "text", steps),
        (PROTOCOLS, "works", "text", works),
        (ACCURACY, "works", "text", works),
        (MAP, "map", "text", tree),
        (MODELS, "request", "text", request_and_answer),
    ],
)
def test_what_a_document_shows_is_so(path: Path, name: str, language: str, made: Callable[[], str]) -> None:
    wanted = made()
    assert between(path, name, language, wanted) == wanted


@pytest.mark.parametrize("module", [longnovel, probe, verigray, halueval, data_to_text])
def test_a_papers_file_opens_with_its_work(module: ModuleType) -> None:
    for paper in module.PAPERS:
        assert str(module.__doc__).startswith(f"{paper.work.in_short()}: ")


def test_every_room_label_and_kind_is_named():
    explained, readme = MAP.read_text("utf-8"), README.read_text("utf-8")
    assert all(f"`{room}/`" in explained for room in ROOMS)
    assert all(f"`{word}`" in readme for word in (*LABELS, *KINDS))


def test_studio_lists_the_product_and_every_papers_graph():
    listed = json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"]
    papers = {paper.name.replace("-", "_") for paper in PAPERS}
    assert papers | {"verify"} == set(listed)
