"""The protocols, a row of data each. One graph runs them all.

Knows: what each paper (seeds 000 to 004) sets, to the number. Does not know: how a step does its work.
"""

from typing import Literal

from longproof.agent.types import Round
from longproof.agent.vote import CONSENSUS
from longproof.retrieval.types import BadInput, Frozen


class Protocol(Frozen):
    """One way to check a response. Sizes are in characters."""

    name: str
    summary: str
    source: str
    segment_characters: int = 150
    block_characters: int = 5500
    alignment: Literal["viterbi", "greedy"] = "viterbi"
    stretch: Literal["window", "segment"] = "window"
    rounds: tuple[Round, ...] = ("passages", "window", "book")
    passage_characters: int = 2000
    consult: Literal["never", "when_not_found", "before_judging"] = "when_not_found"
    consensus: float = CONSENSUS


PROTOCOLS: dict[str, Protocol] = {
    row.name: row
    for row in (
        Protocol(
            name="longproof",
            summary="Claim by claim, with evidence that zooms out, a panel that votes and an arbiter.",
            source="design of this project",
        ),
    )
}


def protocol(name: str) -> Protocol:
    """The row of this name. Raises BadInput, naming the rows that exist."""
    if name not in PROTOCOLS:
        raise BadInput(f"there is no protocol {name!r}: choose one of {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
