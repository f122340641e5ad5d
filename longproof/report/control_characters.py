"""Characters that act instead of being read, turned into marks that are read.

Knows: Unicode control characters, direction overrides (UAX #9) and half surrogates. Line breaks and tabs stay.
Does not know: any markup language; each way of showing escapes its own.
"""

import re

PATTERN = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
"""A character class that Python and a browser read alike."""
_ACTING = re.compile(PATTERN)
NAMES = {
    0x061C: "ALM",
    0x200E: "LRM",
    0x200F: "RLM",
    0x2028: "LS",
    0x2029: "PS",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0x7F: "DEL",
}


def visible(text: str) -> str:
    """The text with every acting character shown as a mark: `␛` for escape, `⟦RLO⟧` for an override."""
    return _ACTING.sub(_mark, text)


def _mark(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else f"⟦{NAMES.get(code, f'U+{code:04X}')}⟧"
