"""The closed list of set phrases: sentences that state no fact, such as greetings.

Knows: the list (`set_phrases.txt`), in English and Chinese; a sentence is one of them as a whole or not at all, so
that no fact hides in a courtesy. Does not know: what is done with other sentences.
"""

import re
from functools import cache
from pathlib import Path

from longproof.retrieval.text.normalise import fold

_LIST = Path(__file__).with_suffix(".txt")
_MARKS = re.compile(r"[\W_]+")


def is_set_phrase(sentence: str) -> bool:
    """True if this is a set phrase as a whole, in whatever case, script and marks."""
    return _bare(sentence) in _phrases()


@cache
def _phrases() -> frozenset[str]:
    lines = _LIST.read_text("utf-8").splitlines()
    return frozenset(_bare(line) for line in lines if line and not line.startswith("#"))


def _bare(text: str) -> str:
    """The words of a text, with one blank between them. Where marks stand between them doesn't matter."""
    return _MARKS.sub(" ", fold(text).text).strip()
