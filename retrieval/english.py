"""English words for lexical search: stop words and synonyms, each a data file beside this one.

Knows: `stop_words.txt`, NLTK's; `synonyms.txt`, a few hundred groups of plain words, one a line, written for this
project, that may name the same thing: a summary says "doctor" where the novel says "physician". A word stands in as
many groups as it has senses.
Does not know: endings, weights, any other language. Chinese is compared by its characters, which synonyms share.
"""

from functools import cache
from importlib.resources import files


@cache
def stop_words() -> frozenset[str]:
    """Words too frequent to tell one passage from another, in lower case."""
    return frozenset(_read("stop_words.txt").split())


def synonyms() -> list[list[str]]:
    """The groups of synonyms, each at least two words in lower case."""
    return [group.split() for group in _read("synonyms.txt").splitlines()]


def _read(name: str) -> str:
    return files("longproof.retrieval").joinpath(name).read_text(encoding="utf-8")
