"""Headers of requests to model servers: what the environment says for OpenAI goes to OpenAI alone.

Knows: the `openai` client sends `OPENAI_CUSTOM_HEADERS`, `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID` to every server that
it talks to, keys among them; they belong to OpenAI's own address, or to `OPENAI_BASE_URL`.
Does not know: which key a server gets.
"""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpx2 import Request

DEFAULT_ADDRESS = "https://api.openai.com/v1"
_RAW = "x-stainless-raw-response"
"""By this header the client remembers in what form a response was asked for."""
_NEEDED = frozenset(
    {"host", "connection", "accept", "accept-encoding", "user-agent", "content-type", "content-length", _RAW}
)


def own_address() -> str:
    """The address that OpenAI's key belongs to."""
    return (os.environ.get("OPENAI_BASE_URL") or DEFAULT_ADDRESS).rstrip("/")


def remove_foreign_headers(request: "Request", address: str, key: str) -> None:
    """Leave only what the request needs, and this key, unless it goes to OpenAI's own address."""
    if address == own_address():
        return
    for name in list(request.headers):
        if name.lower() not in _NEEDED:
            del request.headers[name]
    request.headers["authorization"] = f"Bearer {key}"
