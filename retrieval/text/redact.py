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
RUN = 8
"""So many characters of a secret are not shown either: servers quote the beginning of a key, or its end."""
_WRITTEN = (
    r"\\+u(?P<code>[0-9a-f]{4})|%(?P<byte>[0-9a-f]{2})|(?P<plain>[^\\\s\u00ad\u200b-\u200f\u2060\ufeff])"
)
_LETTERS = [re.compile(between + _WRITTEN, re.IGNORECASE) for between in (r"\\[nrt]|", "")]
"""A letter, plain or escaped as JSON and addresses do it. Blanks, backslashes and what nobody sees are none;
a backslash with n, r or t is an escaped blank, or a backslash and a letter."""
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
    """The text with a mark for the secret and for each part of it of `RUN` characters or more.

    However it is written: in capitals, escaped as JSON or addresses do it, broken up by blanks or backslashes.
    """
    if len(secret) < SHORTEST_SECRET:
        return text
    length = min(RUN, len(secret))
    parts = {secret[at : at + length].lower() for at in range(len(secret) - length + 1)}
    hidden: set[int] = set()
    for letter in _LETTERS:
        places = [place for place in letter.finditer(text) if place.lastgroup]
        letters = "".join(map(_letter, places))
        for at in range(len(letters) - length + 1):
            if letters[at : at + length] in parts:
                hidden.update(range(places[at].start(), places[at + length - 1].end()))
    shown = "".join("\0" if at in hidden else character for at, character in enumerate(text))
    return re.sub("\0+", lambda _: mark, shown) if hidden else text


def _letter(place: re.Match[str]) -> str:
    """The letter that is written there, in lower case."""
    if place["plain"]:
        return place["plain"].lower()[:1]
    return chr(int(place["code"] or place["byte"], 16)).lower()[:1]


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
