"""Foreign text that is shown to a person: on one line, without terminal codes, without a secret.

Does not know: where the text comes from.
"""

import re

SHORTEST_SECRET = 5
"""A shorter key is a stand-in for none."""
_LONGEST = 10_000
_BETWEEN = "(?:\\\\[nrt]?|[\\s\u00ad\u200b-\u200f\u2060\ufeff])*"
"""What may stand between a secret's letters where it is quoted: backslashes, breaks of lines, what nobody sees."""


def one_line(text: str, secret: str = "") -> str:
    """The text on one line, of characters that only print; the secret, however escaped, is an ellipsis in it."""
    text = without(secret, text[:_LONGEST])
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
