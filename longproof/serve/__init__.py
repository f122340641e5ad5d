"""The local page of `longproof serve`: give texts, start a check, watch it, mark findings, correct, decide.

Knows: HTTP, and the folder `serve/` in the data folder. Does not know: any rule of judging, or how a report is drawn.
"""

from ipaddress import ip_address


def is_here(host: str) -> bool:
    """True if a Host header is `localhost` or an address: no name that somebody else can point here."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    try:
        return name.lower() == "localhost" or bool(ip_address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        return False
