"""The plain question, to compare with: the whole source, all sentences, "which of these are not borne out?"

Knows: that all sentences of a response are asked about in one prompt, and that those which the answer leaves out
are supported. No paper sets this out; whoever has a strong model would ask so.
"""

from longproof.graphs.papers.method import each_unit, paper
from longproof.graphs.verify import Method

ALL = 10_000
"""More sentences than a response has: none is asked about in a second prompt."""

PLAIN = paper(
    "plain",
    "The whole source and all sentences in one prompt: which of them are not borne out?",
    "none: the plain question",
    unit="sentence",
    claims_a_question=ALL,
    prompt="plain",
    joins=True,
    needs=("models",),
)
METHODS = (Method(PLAIN, each_unit("sentence")),)
