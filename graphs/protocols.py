"""Every protocol by its name, with the graph that runs it: the product's own, and the papers'.

Knows: a paper's file is imported when one of its protocols is asked for. Does not know: what any of them does.
"""

from functools import partial
from typing import TYPE_CHECKING

from longproof.graphs.papers import all_papers, build_graph, find_paper
from longproof.graphs.protocol import LONGPROOF, Protocol
from longproof.graphs.verify import Method, verify_graph
from longproof.retrieval.types import BadInput

if TYPE_CHECKING:
    from longproof.graphs.papers.paper import Paper


def method(name: str) -> Method:
    """The method of this name. Raises BadInput, naming those that exist."""
    if name == LONGPROOF.name:
        return Method(LONGPROOF, verify_graph)
    if known := find_paper(name):
        return _method_of(known)
    raise BadInput(f"there is no protocol {name!r}: choose one of {', '.join(protocols())}")


def protocol(name: str) -> Protocol:
    """The protocol of this name. Raises BadInput, naming those that exist."""
    return method(name).protocol


def protocols() -> dict[str, Protocol]:
    """All protocols by their names, our own first."""
    papers = {one.name: _method_of(one).protocol for one in all_papers()}
    return {LONGPROOF.name: LONGPROOF, **papers}


def _method_of(known: "Paper") -> Method:
    row = Protocol(
        name=known.name,
        summary=known.summary,
        cites=known.cites,
        needs=known.needs,
        joins=known.joins,
    )
    return Method(row, partial(build_graph, known))
