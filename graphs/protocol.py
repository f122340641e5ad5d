"""What a protocol sets: its name, what it can't do without, and the numbers of this project's own method.

Knows: the papers' numbers stand in their files (`graphs/papers/`). Does not know: how a step does its work.
"""

from typing import Literal

from longproof.agent.types import Round
from longproof.agent.vote import CONSENSUS
from longproof.graphs.evidence.reading_plan import CLAIMS
from longproof.graphs.needs import Need
from longproof.retrieval.types import Frozen

SCANNED = 1_000_000
"""Characters of a source up to which all of it is read, if need be, without being asked for."""
Reach = Literal["place", "search", "scan"]


class Protocol(Frozen):
    """One way to check a response. Sizes are in characters.

    `cites`: where a paper sets the method out (docs/protocols.md numbers the papers). `rounds`: how wide each look at
    the source is. `lined`: evidence is shown in numbered lines. `proves_absence`: what was not found is fabricated
    only where all of the source was read. `prompt` names the judges' recipe. `joins`: short responses to one long
    source may be checked together. Of a paper's protocol only its name, needs, consensus and `joins` are used.
    """

    name: str
    summary: str
    cites: str
    block_characters: int = 5500
    embeds: Literal["passages", "blocks"] = "passages"
    rounds: tuple[Round, ...] = ("source",)
    claims_a_question: int = 1
    lined: bool = False
    proves_absence: bool = False
    prompt: str = "judge"
    consult: Literal["never", "when_not_found", "before_judging"] = "when_not_found"
    consensus: float = CONSENSUS
    localises: bool = True
    joins: bool = False
    needs: tuple[Need, ...] = ()

    def looks(self, reach: Reach | None, source_characters: int) -> tuple[Round, ...]:
        """The looks at a source of this length: no further than asked for."""
        reach = reach or ("scan" if source_characters <= SCANNED else "search")
        left_out = {"place": ("search", "scan"), "search": ("scan",), "scan": ()}[reach]
        return tuple(round_ for round_ in self.rounds if round_ not in left_out)

    @property
    def consults(self) -> bool:
        """Whether saved pages are asked about what a vote didn't find."""
        return self.consult == "when_not_found"


LONGPROOF = Protocol(
    name="longproof",
    summary="Claim by claim, with evidence that grows up to all of the source, a panel that votes and an arbiter.",
    cites="design of this project",
    rounds=("place", "window", "search", "scan"),
    claims_a_question=CLAIMS,
    lined=True,
    proves_absence=True,
    joins=True,
)
