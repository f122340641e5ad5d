"""The papers' methods: a file a paper, each with its prompts, forms, reader of answers and numbers, over one runner.

docs/protocols.md says where each number stands in its paper, and where we differ. The product depends on nothing in
here: a paper's file is imported when a protocol of this paper is asked for by name.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longproof.graphs.papers.paper import Paper
    from longproof.graphs.run import Pool
    from longproof.graphs.verify import Saver, VerifyGraph

FILES = {
    "longnovel": "longnovel",
    "probe": "probe",
    "verigray": "verigray",
    "halueval": "halueval",
    "data": "data_to_text",
    "plain": "plain",
}
"""The file of a paper's protocols, by the first part of their names."""


def find_paper(name: str) -> "Paper | None":
    """The paper's protocol of this name, if there is one."""
    file = FILES.get(name.split("-")[0])
    return next((one for one in _papers_of(file) if one.name == name), None) if file else None


def build_graph(paper: "Paper", pool: "Pool", saver: "Saver | None" = None) -> "VerifyGraph":
    """The graph of a paper's method over a pool for it."""
    graph: VerifyGraph = import_module("longproof.graphs.papers.runner").paper_graph(paper, pool, saver)
    return graph


def all_papers() -> "list[Paper]":
    """The protocols of all papers."""
    return [one for file in FILES.values() for one in _papers_of(file)]


def _papers_of(file: str) -> "tuple[Paper, ...]":
    papers: tuple[Paper, ...] = import_module(f"longproof.graphs.papers.{file}").PAPERS
    return papers
