"""What a protocol is called, and what it can't do without.

Knows: our own; those of the papers stand in their files (`graphs/papers/`). Does not know: how any of them checks.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

Need = Literal["models", "pages", "labels", "reference", "record"]
NEEDS: dict[Need, str] = {
    "models": "judges that are language models: give --judge openai:MODEL",
    "pages": "saved web pages: give --pages DIR",
    "labels": "a label for each sentence of the response: give a case file with `labels`",
    "reference": "the right text beside the response: give a case file with `reference`",
    "record": "a JSON record as its source",
}


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """One way to check a response."""

    name: str
    summary: str
    cites: str
    """Where a paper sets the method out (docs/protocols.md numbers the papers)."""
    needs: tuple[Need, ...] = ()
    joins: bool = False
    """Short responses to one long source may be checked together."""


LONGPROOF = Protocol(
    name="longproof",
    summary="Claim by claim, with evidence that grows up to all of the source, a panel that votes and an arbiter.",
    cites="design of this project",
    joins=True,
)


def unmet(
    name: str, needs: Collection[Need], has: Collection[Need], among: Collection[Need] = get_args(Need)
) -> str | None:
    """The reason why a protocol can't be run with what is there; None: it can. Looks only `among` these needs."""
    lacking = [NEEDS[need] for need in needs if need in among and need not in has]
    return f"the protocol {name} needs {' and '.join(lacking)}" if lacking else None
