"""Addresses of model servers, and the key that may be sent to each.

Knows: `OPENAI_API_KEY` goes to OpenAI, or to `OPENAI_BASE_URL`. `LONGPROOF_API_KEY` goes to an address that the
owner of the keys named: on a command line, in a program. Any other, from a file or a client, gets a key only if
`LONGPROOF_API_KEY_HOSTS` names its host (`HOST`, `HOST:PORT`, or `HOST=VARIABLE` for a key of its own, with commas).
"""

import os
import re
from urllib.parse import urlsplit

from longproof.retrieval.text.redact import DEFAULT_ADDRESS, RUN, own_address, without, without_credentials
from longproof.retrieval.types import BadInput

PROVIDER = "provider:"
"""The beginning of the endpoint of a model that LangChain reaches by its provider's name."""
NO_KEY = "none"
_KEY = re.compile(
    r"(sk|pk|rk|gsk|xai|nvapi|key)-(?=\S*\d)[\w-]{16,}|hf_\w{20,}|AIza[\w-]{30,}|eyJ[\w.-]{40,}"
)
"""How the keys of well-known providers look."""
HOSTS, KEY = "LONGPROOF_API_KEY_HOSTS", "LONGPROOF_API_KEY"
SECRETS = ("_KEY", "_KEY_ID", "_TOKEN", "_SECRET", "_PASSWORD")
"""The ends of the names of environment variables that hold secrets."""


def place_and_key(address: str | None, *, by_owner: bool = True, needs_key: bool = True) -> tuple[str, str]:
    """The address, and the key that may be sent there, else the word `none`.

    `by_owner`: the owner of the keys named the address. Without `needs_key` nothing will be sent. Raises BadInput for
    what is no address or no key, and where OpenAI's own key is not set.
    """
    place = (address or own_address()).rstrip("/")
    refuse_no_address(place)
    name = key_variable(place, by_owner=by_owner)
    key = os.environ.get(name, "").strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        # A client would quote it in an error.
        raise BadInput(f"{name} holds blanks or characters that no key has: set it again")
    if not key and place == own_address() == DEFAULT_ADDRESS and needs_key:
        raise BadInput(
            "OPENAI_API_KEY is not set: set it, or name a server as openai:MODEL@http://HOST:PORT/v1"
        )
    return place, key or NO_KEY


def key_variable(address: str | None, *, by_owner: bool) -> str:
    """The environment variable whose key may be sent to this address; empty: none may."""
    place = (address or own_address()).rstrip("/")
    if place == own_address():
        return "OPENAI_API_KEY"
    parts, hosts = urlsplit(place), _listed_hosts()
    return hosts.get(parts.netloc.lower()) or hosts.get(f"{parts.hostname}") or (KEY if by_owner else "")


def key_variables() -> set[str]:
    """The environment variables that hold keys, as far as their names or the list of hosts say."""
    return {name for name in os.environ if name.endswith(SECRETS)} | set(_listed_hosts().values())


def without_keys(text: str, *, by_chance: bool = False) -> str:
    """The text without the keys in the environment. With `by_chance`, words that only stand in for a key stay."""
    for name in key_variables():
        key = os.environ.get(name, "").strip()
        if not by_chance or (len(key) >= RUN and re.search(r"\d", key)):
            text = without(key, text)
    return text


def is_key(text: str) -> bool:
    """True if this is a key from the environment, or begins as providers' keys do: it would be kept as a name."""
    name = text.partition("@")[0].strip()
    known = {os.environ.get(variable, "").strip() for variable in key_variables()} - {"", NO_KEY}
    return name in known or _KEY.fullmatch(name) is not None


def refuse_no_address(place: str) -> None:
    """Raises BadInput where this is no address of a server, or holds what may be secret."""
    from httpx2 import URL, InvalidURL

    try:
        parts = urlsplit(place)
        # Looks at the port, and at labels that are empty or too long.
        host = URL(place).raw_host.decode("ascii")
        sound = parts.port != 0 and bool(host.encode("idna")) and "%" not in host
    except (ValueError, InvalidURL):
        sound = False
    if not sound or parts.scheme not in ("http", "https") or not place.isprintable() or " " in place:
        raise BadInput(f"{without_credentials(place)!r} is no address of a server: write http://HOST:PORT/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadInput(
            f"keys come from the environment: name {parts.hostname} without user, password or query"
        )


def _listed_hosts() -> dict[str, str]:
    """The hosts that the environment lists, each with the variable that holds its key."""
    entries = (entry.partition("=") for entry in os.environ.get(HOSTS, "").split(","))
    return {host.strip().lower(): variable.strip() or KEY for host, _, variable in entries if host.strip()}
