"""The protocols, a row of data each. One graph runs them all.

Knows: what each paper (seeds 000 to 004) sets, to the number; docs/protocols.md says where each number stands and
where we differ. Does not know: how a step does its work.
"""

from collections.abc import Collection
from typing import Literal

from longproof.agent.guards import Guards
from longproof.agent.readers import ASKINGS
from longproof.agent.types import Label, Round
from longproof.agent.vote import CONSENSUS, Side, may_decide
from longproof.graphs.decisions import Decision
from longproof.graphs.whole import Unit
from longproof.retrieval.okapi import Engine
from longproof.retrieval.types import BadInput, Frozen

Need = Literal["models", "pages", "labels", "reference", "record"]
"""What a protocol can't do without, beside a response."""
NEEDS: dict[Need, str] = {
    "models": "judges that are language models: give --judge openai:MODEL",
    "pages": "saved web pages: give --pages DIR",
    "labels": "a label for each sentence of the response: give a case file with `labels`",
    "reference": "the right text beside the response: give a case file with `reference`",
    "record": "a JSON record as its source",
}


class Protocol(Frozen):
    """One way to check a response. Sizes are in characters.

    `temperature` None is the judges' own. `finds` names the prompt with which every model looks for evidence
    first; empty: nobody does. `query` is what saved pages are searched with. `raw` shows records as JSON.
    """

    name: str
    summary: str
    source: str
    unit: Unit = "claim"
    segment_characters: int = 150
    block_characters: int = 5500
    alignment: Literal["viterbi", "greedy"] = "viterbi"
    embeds: Literal["passages", "blocks"] = "passages"
    stretch: Literal["window", "segment"] = "window"
    rounds: tuple[Round, ...] = ("passages", "passages", "window", "book")
    passage_characters: tuple[int, ...] = (2000, 3000)
    claims_a_question: int = 8
    prompt: str = "judge"
    temperature: float | None = None
    guards: Guards = "ours"
    finds: str = ""
    consult: Literal["never", "when_not_found", "before_judging"] = "when_not_found"
    query: Literal["claim", "sentence"] = "claim"
    engine: Engine = "bm25s"
    consensus: float = CONSENSUS
    decision: Decision = "consensus"
    localises: bool = True
    raw: bool = False
    needs: tuple[Need, ...] = ()

    @property
    def menu(self) -> tuple[Label, ...]:
        """The labels that the answers stand for; empty where all seven are answers."""
        return tuple(dict.fromkeys(ASKINGS[self.prompt].menu.values()))

    @property
    def consults(self) -> bool:
        """Whether saved pages are asked about what a vote didn't find."""
        return self.consult == "when_not_found"

    @property
    def first(self) -> Literal["judge", "find", "consult"]:
        """The station that questions go to first."""
        if self.finds:
            return "find"
        return "consult" if self.consult == "before_judging" else "judge"

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


def paper(name: str, summary: str, source: str, **settings: object) -> Protocol:
    """A row whose judges see all of the source at once and are asked as a paper asks: once, about one thing."""
    usual: dict[str, object] = {
        "rounds": ("source",),
        "stretch": "segment",
        "claims_a_question": 1,
        "guards": "paper",
        "consult": "never",
        "localises": False,
    }
    return Protocol.model_validate({"name": name, "summary": summary, "source": source, **usual, **settings})


LONGPROOF = Protocol(
    name="longproof",
    summary="Claim by claim, with evidence that zooms out, a panel that votes and an arbiter.",
    source="design of this project",
)
VERIGRAY = (
    paper(
        "verigray",
        "One judge, seven labels, sentence by sentence, the whole source each time.",
        "002, Appendix F",
        unit="sentence",
        prompt="verigray",
        temperature=0.6,
    ),
    paper(
        "verigray-rag",
        "The same with the three best snippets of saved web pages, found by the sentence.",
        "002, Appendix F",
        unit="sentence",
        prompt="verigray_rag",
        temperature=0.6,
        consult="before_judging",
        query="sentence",
        engine="okapi",
        needs=("pages",),
    ),
    paper(
        "verigray-audit",
        "Given labels against a panel: one that any judge disputes is left to people.",
        "002, section 4.2",
        unit="sentence",
        prompt="verigray_audit",
        decision="undisputed",
        needs=("models", "labels"),
    ),
)

LONGNOVEL = (
    paper(
        "longnovel-rag",
        "Segments of 150 characters against a sliding window of blocks; any flagged segment decides.",
        "004, Appendix D",
        unit="segment",
        alignment="greedy",
        embeds="blocks",
        rounds=("window",),
        prompt="longnovel",
    ),
    paper(
        "longnovel-zero-shot",
        "The whole source, then the whole response, in one prompt (Prompt-E).",
        "004, Appendix I.2",
        unit="response",
        prompt="longnovel",
        needs=("models",),
    ),
    paper(
        "longnovel-zero-shot-beginning",
        "The same with the response before the source (Prompt-B).",
        "004, Appendix I.2",
        unit="response",
        prompt="longnovel_beginning",
        needs=("models",),
    ),
    paper(
        "longnovel-zero-shot-cot",
        "The same with the response at the end, after reasoning in steps.",
        "004, Appendix I.2",
        unit="response",
        prompt="longnovel_cot",
        needs=("models",),
    ),
    paper(
        "longnovel-arbitration",
        "Two judges on the whole response; a third where they differ.",
        "004, section 3.2",
        unit="response",
        prompt="longnovel",
        needs=("models",),
        consensus=1.0,
    ),
)
_SUMMARY = {
    "qa": "An answer: yes or no by four patterns",
    "dialogue": "A turn: yes or no by three patterns",
    "summary": "A summary with its document: yes or no by three patterns",
    "general": "A reply to a user's request: yes or no by three patterns",
}
_VARIANT = {
    "": "",
    "-knowledge": ", with the knowledge",
    "-cot": ", after reasoning in steps",
    "-contrast": "; which of two is made up",
}
_WHERE = {
    "qa": "003, table 8",
    "dialogue": "003, table 15",
    "summary": "003, table 16",
    "general": "003, section 2.2",
}
_NEEDS: dict[str, tuple[Need, ...]] = {"-contrast": ("models", "reference"), "-knowledge": ()}
HALUEVAL = tuple(
    paper(
        f"halueval-{task}{variant}",
        f"{_SUMMARY[task]}{_VARIANT[variant]}.",
        "003, section 3.2" if variant else _WHERE[task],
        unit="response",
        rounds=("source",) if task == "summary" or variant == "-knowledge" else ("nothing",),
        prompt=f"halueval_{task}{variant.replace('-', '_').removesuffix('_knowledge')}",
        temperature=0.0,
        needs=_NEEDS.get(variant, () if task == "summary" else ("models",)),
    )
    for task, variants in {
        "qa": ("", "-knowledge", "-cot", "-contrast"),
        "dialogue": ("", "-knowledge", "-cot", "-contrast"),
        "summary": ("", "-cot", "-contrast"),
        "general": ("", "-cot"),
    }.items()
    for variant in variants
)
DATA_TO_TEXT = paper(
    "data-to-text",
    "A JSON record against an article: five steps, then the exact hallucinated spans.",
    "001",
    unit="response",
    prompt="data_to_text",
    guards="ours",
    raw=True,
    needs=("models", "record"),
)
PROBE = (
    paper(
        "probe",
        "Claims; every model finds evidence in the whole source; every model votes on each piece.",
        "000, section 3.3",
        unit="claim",
        prompt="evaluate",
        finds="find",
        consensus=0.75,
        decision="any_piece",
        needs=("models",),
    ),
    paper(
        "probe-direct",
        "One prompt lists what in the response is hallucinated.",
        "000, section 4.1",
        unit="response",
        prompt="probe_direct",
        needs=("models",),
    ),
)

PROTOCOLS: dict[str, Protocol] = {
    row.name: row for row in (LONGPROOF, *LONGNOVEL, *PROBE, *VERIGRAY, *HALUEVAL, DATA_TO_TEXT)
}
"""Every protocol by its name."""


def protocol(name: str) -> Protocol:
    """The row of this name. Raises BadInput, naming the rows that exist."""
    if name not in PROTOCOLS:
        raise BadInput(f"there is no protocol {name!r}: choose one of {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]


def missing(row: Protocol, has: Collection[Need], among: Collection[Need] = tuple(NEEDS)) -> str | None:
    """Why this row can't be run with what is there, in one line; None: it can. Looks only `among` these needs."""
    lacking = [NEEDS[need] for need in row.needs if need in among and need not in has]
    return f"the protocol {row.name} needs {' and '.join(lacking)}" if lacking else None
