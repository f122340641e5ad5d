"""Foreign text that is shown to a person: on one line, without terminal codes, without a secret.

Does not know: where the text comes from.
"""

import re

SHORTEST_SECRET = 5
"""A shorter key is a stand-in for none."""
_LONGEST = 10_000


def one_line(text: str, secret: str = "") -> str:
    """The text on one line, of characters that only print; the secret, however escaped, is an ellipsis in it."""
    text = text[:_LONGEST]
    if len(secret) >= SHORTEST_SECRET:
        escaped = r"\\*".join(map(re.escape, secret))
        text = re.sub(escaped, "…", text, flags=re.IGNORECASE)
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
