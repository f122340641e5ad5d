"""Claims without a model: each sentence that states a fact is one claim, word for word.

Knows: which sentences state no fact (questions, greetings, headings, lead-ins).
Does not know: evidence, judges, or how to take a sentence apart.
"""

import re
from collections.abc import Sequence

from longproof.agent.types import Case, Claim, Decomposed, Sentence
from longproof.retrieval.types import Span

COURTESIES = frozenset(
    """sure/sure thing/of course/thanks/thank you/thank you very much/hello/hi/hi there/hey/okay/ok/yes/no/goodbye/bye
you're welcome/you are welcome/good morning/good evening/i hope this helps/hope this helps/great question
let me know if you have any other questions/let me know if you have any questions/i'm sorry/sorry
谢谢/谢谢您/谢谢你/你好/您好/好的/再见/不客气/对不起/希望对您有帮助/希望对你有帮助""".replace(
        "\n", "/"
    ).split("/")
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class OfflineDecomposer:
    """Takes each sentence as one claim. A guess at its parts could change what is claimed."""

    name = "offline"

    async def decompose(self, case: Case, sentences: Sequence[Span]) -> Decomposed:
        """Return the claims in text order, ids `c0`, `c1`, …; nothing is called."""
        shown: list[Sentence] = []
        claims: list[Claim] = []
        for index, span in enumerate(sentences):
            fact = states_fact(span.text)
            shown.append(Sentence(index=index, span=span, states_fact=fact))
            if fact:
                n = len(claims)
                claims.append(Claim(id=f"c{n}", index=n, sentence=index, text=span.text, origin=span))
        return Decomposed(shown, claims, [])


def states_fact(sentence: str) -> bool:
    """Return False for questions, courtesies, lead-ins that end in a colon, headings, and texts without a word."""
    bare = sentence.strip().strip("*_\"'”’」』)）")
    words = _WORD.findall(bare)
    if not words or bare.endswith(("?", "？", ":", "：")) or bare.startswith("#"):
        return False
    return " ".join(words).casefold() not in COURTESIES
