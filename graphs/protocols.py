"""Every protocol by its name, with the graph that runs it: the product's own, and the papers'.

Knows: the papers' files are imported when one of their protocols is asked for: the product does without them.
Does not know: what any of them does.
"""

from functools import partial

from longproof.graphs.protocol import LONGPROOF, Protocol
from longproof.graphs.verify import Method, verify_graph
from longproof.retrieval.types import BadInput


def method(name: str) -> Method:
    """The method of this name. Raises BadInput, naming those that exist."""
    if name == LONGPROOF.name:
        return Method(LONGPROOF, verify_graph)
    from longproof.graphs.papers import PAPERS
    from longproof.graphs.papers.runner import paper_graph

    for paper in PAPERS:
        if paper.name == name:
            return Method(paper, partial(paper_graph, paper))
    raise BadInput(f"there is no protocol {name!r}: choose one of {', '.join(protocols())}")


def protocol(name: str) -> Protocol:
    """The protocol of this name. Raises BadInput, naming those that exist."""
    return method(name).protocol


def protocols() -> dict[str, Protocol]:
    """All protocols by their names, our own first."""
    from longproof.graphs.papers import PAPERS

    return {one.name: one for one in (LONGPROOF, *PAPERS)}
