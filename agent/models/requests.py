"""A request to a language model: what is sent, in which mode, and how its answer is sampled.

Knows: what of it makes its key in the ledger. Does not know: how it is sent, or what becomes of the answer.
"""

import json
from typing import Literal, NamedTuple

from longproof.agent.models.clients import Message
from longproof.agent.models.limits import estimate_tokens
from longproof.prompts import Prompt

Mode = Literal["schema", "prompt"]
"""How the form is asked for: by JSON schema, or by words in the prompt."""


class Sampling(NamedTuple):
    """How an answer is sampled. What is None is not part of the ledger's key."""

    temperature: float
    top_p: float | None
    max_tokens: int

    @property
    def key(self) -> dict[str, float]:
        return {name: value for name, value in self._asdict().items() if value is not None}


class Request(NamedTuple):
    """A request in one mode, and its key in the ledger."""

    mode: Mode
    key: str
    message: Message
    prompt: Prompt
    purpose: str

    @property
    def schema(self) -> str:
        return json.dumps(self.message.schema)

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.message.system) + estimate_tokens(self.message.user)
