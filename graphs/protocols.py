"""The protocols, a row of data each. One graph runs them all.

Knows: what each paper (seeds 000 to 004) sets, to the number. Does not know: how a step does its work.
"""

from typing import Literal

from longproof.agent.types import Round
from longproof.agent.vote import CONSENSUS, Side, may_decide
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
    rounds: tuple[Round, ...] = ("passages", "passages", "window", "book")
    passage_characters: tuple[int, ...] = (2000, 4000)
    consult: Literal["never", "when_not_found", "before_judging"] = "when_not_found"
    consensus: float = CONSENSUS

    def budget(self, number: int) -> int:
        """The characters that a search may show in the round of this number."""
        return self.passage_characters[min(number, len(self.passage_characters) - 1)]

    def next_round(self, number: int, side: Side | None) -> int:
        """The round after this one; at once a wide enough one where the panel agrees on what it can't decide here."""
        if side not in ("contradicted", "ambiguous"):
            return number + 1
        wide = (
            n for n in range(number + 1, len(self.rounds)) if may_decide(side, self.rounds[n], last=False)
        )
        return next(wide, number + 1)


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
