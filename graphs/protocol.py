"""What a protocol sets: the numbers of a method, and what it can't do without.

Knows: the numbers of this project's own method. Those of the papers stand in their files (`graphs/papers/`), beside
the graphs that they are for. Does not know: how a step does its work.
"""

from collections.abc import Collection
from typing import Literal

from longproof.agent.guards import Guards
from longproof.agent.recipes import RECIPES
from longproof.agent.types import Label, Round
from longproof.agent.vote import CONSENSUS
from longproof.graphs.evidence.reading_plan import CLAIMS
from longproof.retrieval.bm25 import Engine
from longproof.retrieval.types import Frozen

Need = Literal["models", "pages", "labels", "reference", "record"]
"""What a protocol can't do without, beside a response."""
NEEDS: dict[Need, str] = {
    "models": "judges that are language models: give --judge openai:MODEL",
    "pages": "saved web pages: give --pages DIR",
    "labels": "a label for each sentence of the response: give a case file with `labels`",
    "reference": "the right text beside the response: give a case file with `reference`",
    "record": "a JSON record as its source",
}


SCANNED = 1_000_000
"""Characters of a source up to which all of it is read, if need be, without being asked for."""
Reach = Literal["place", "search", "scan"]


class Protocol(Frozen):
    """One way to check a response. Sizes are in characters.

    `cites`: where a paper sets the method out (docs/protocols.md numbers the papers). `unit` is what is judged at
    once; a `claim` is what a decomposer makes of a sentence. `segment_characters`: segments of so many are aligned;
    0: each sentence by itself. `rounds`: how wide each look at the source is. `lined`: evidence is shown in numbered
    lines. `proves_absence`: what was not found is fabricated only where all of the source was read. `prompt` names
    the judges' recipe. `temperature` None is the judges' own. `finds` names the prompt with which every model looks
    for evidence first; empty: nobody does. `splits`: an arbiter may be needed, for the estimate of the cost alone.
    `joins`: short responses to one long source may be checked together.
    """

    name: str
    summary: str
    cites: str
    unit: Literal["claim", "sentence", "segment", "response"] = "claim"
    segment_characters: int = 150
    block_characters: int = 5500
    alignment: Literal["viterbi", "greedy"] = "viterbi"
    embeds: Literal["passages", "blocks"] = "passages"
    rounds: tuple[Round, ...] = ("source",)
    claims_a_question: int = 1
    lined: bool = False
    proves_absence: bool = False
    prompt: str = "judge"
    temperature: float | None = None
    guards: Guards = "ours"
    finds: str = ""
    consult: Literal["never", "when_not_found", "before_judging"] = "when_not_found"
    engine: Engine = "bm25"
    consensus: float = CONSENSUS
    splits: bool = True
    localises: bool = True
    joins: bool = False
    needs: tuple[Need, ...] = ()

    @property
    def menu(self) -> tuple[Label, ...]:
        """The labels that the answers stand for; empty where all seven are answers."""
        return tuple(dict.fromkeys(RECIPES[self.prompt].menu.values()))

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
    segment_characters=0,
    rounds=("place", "window", "search", "scan"),
    claims_a_question=CLAIMS,
    lined=True,
    proves_absence=True,
    joins=True,
)


def unmet(protocol: Protocol, has: Collection[Need], among: Collection[Need] = tuple(NEEDS)) -> str | None:
    """Why this protocol can't be run with what is there; None: it can. Looks only `among` these needs."""
    lacking = [NEEDS[need] for need in protocol.needs if need in among and need not in has]
    return f"the protocol {protocol.name} needs {' and '.join(lacking)}" if lacking else None
