"""Which key may go to a server that isn't OpenAI's.

Knows: `LONGPROOF_API_KEY` goes to an address that the owner of the keys named: on a command line, in a program. One
that came with something else, a file in the folder or a client of the server, gets a key only if its host stands in
`LONGPROOF_API_KEY_HOSTS`: hosts with commas between, `HOST`, `HOST:PORT`, or `HOST=VARIABLE` for a key of its own.
Does not know: what a key looks like, or how it is sent.
"""

import os
from urllib.parse import urlsplit

HOSTS, KEY = "LONGPROOF_API_KEY_HOSTS", "LONGPROOF_API_KEY"


def key_variable(place: str, *, by_owner: bool) -> str:
    """The environment variable whose key may be sent to this address; empty: none may."""
    parts, hosts = urlsplit(place), _hosts()
    for host in (parts.netloc.lower(), f"{parts.hostname}"):
        if host in hosts:
            return hosts[host]
    return KEY if by_owner else ""


def key_variables() -> set[str]:
    """The environment variables that hold keys, as far as their names or the list of hosts say."""
    return {name for name in os.environ if name.endswith("_KEY")} | set(_hosts().values())


def _hosts() -> dict[str, str]:
    """The hosts that the environment lists, each with the variable that holds its key."""
    listed = (entry.partition("=") for entry in os.environ.get(HOSTS, "").split(","))
    return {host.strip().lower(): variable.strip() or KEY for host, _, variable in listed if host.strip()}
