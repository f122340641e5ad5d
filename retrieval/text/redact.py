"""Secrets: what foreign text shown to a person, and requests to a foreign server, must not hold.

Knows: the `openai` client sends what the environment says for OpenAI (`OPENAI_CUSTOM_HEADERS`, `OPENAI_ORG_ID`,
`OPENAI_PROJECT_ID`), keys among it, to every server that it talks to; it belongs to OpenAI's own address, or to
`OPENAI_BASE_URL`. Does not know: where a text comes from, which key a server gets.
"""

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpx2 import Request

SHORTEST_SECRET = 5  # a shorter key is a stand-in for none
_BETWEEN = "(?:\\\\[nrt]?|[\\s\u00ad\u200b-\u200f\u2060\ufeff])*"
"""What may stand between a secret's letters where it is quoted: backslashes, breaks of lines, what nobody sees."""
DEFAULT_ADDRESS = "https://api.openai.com/v1"
_RAW = "x-stainless-raw-response"  # by this header the client remembers in what form a response was asked for
_NEEDED = frozenset(
    {"host", "connection", "accept", "accept-encoding", "user-agent", "content-type", "content-length", _RAW}
)


def one_line(text: str, secret: str = "") -> str:
    """The text on one line, of characters that only print; the secret, however escaped, is an ellipsis in it."""
    text = without(secret, text[:10_000])
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def without(secret: str, text: str, mark: str = "…") -> str:
    """The text with a mark for the secret: in capitals, escaped as JSON or addresses do it, or broken up, too."""
    if len(secret) < SHORTEST_SECRET:
        return text
    letters = (rf"(?:{re.escape(c)}|%{ord(c):02x}|\\+u{ord(c):04x})" for c in secret)
    return re.sub(_BETWEEN.join(letters), lambda _: mark, text, flags=re.IGNORECASE)


def without_credentials(text: str) -> str:
    """The text with an ellipsis for what an address in it says of a user, a password or a query."""
    return re.sub(r"[?#]\S*", "?…", re.sub(r"//\S*@", "//…@", text))


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
