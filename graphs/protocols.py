"""Every protocol by its name, with the graph that runs it: the product's own, and the papers'.

Does not know: what any of them does.
"""

from longproof.graphs.papers import data_to_text, halueval, longnovel, plain, probe, verigray
from longproof.graphs.protocol import LONGPROOF, Protocol
from longproof.graphs.verify import Method, verify_graph
from longproof.retrieval.types import BadInput

METHODS: dict[str, Method] = {
    method.protocol.name: method
    for method in (
        Method(LONGPROOF, verify_graph),
        *longnovel.METHODS,
        *probe.METHODS,
        *verigray.METHODS,
        *halueval.METHODS,
        *data_to_text.METHODS,
        *plain.METHODS,
    )
}
PROTOCOLS: dict[str, Protocol] = {name: method.protocol for name, method in METHODS.items()}


def method(name: str) -> Method:
    """The method of this name. Raises BadInput, naming those that exist."""
    if name not in METHODS:
        raise BadInput(f"there is no protocol {name!r}: choose one of {', '.join(METHODS)}")
    return METHODS[name]


def protocol(name: str) -> Protocol:
    """The protocol of this name. Raises BadInput, naming those that exist."""
    return method(name).protocol
