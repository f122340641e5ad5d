"""Longproof: is a text faithful to a long source, claim by claim, with the places in both.

This file is run by every import of every room, so it does no work: the front door opens lazily.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longproof.agent.models.model import Refused
    from longproof.retrieval.types import BadInput
    from longproof.verifier import Report, Verifier

_PLACES = {
    "BadInput": "longproof.retrieval.types",
    "Refused": "longproof.agent.models.model",
    "Report": "longproof.verifier",
    "Verifier": "longproof.verifier",
}
__all__ = ["BadInput", "Refused", "Report", "Verifier"]
__version__ = "0.1.0"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
