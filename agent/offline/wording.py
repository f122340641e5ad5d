"""Whether a claim stands in the evidence in the same words.

Knows: neighbouring words. A strict look: a faithful claim in other words isn't found by it, so that the panel agrees
at once only on what no other look objects to. Does not know: numbers, names, denial, order.
"""

from itertools import pairwise

from longproof.agent.offline.reading import Evidence
from longproof.agent.offline.view import Opinion, View

SAME = 0.95


def look(view: View) -> Opinion:
    """Explicitly supported where nearly every pair of neighbours lies in the claim's place; else not found."""
    if view.place is None or verbatim(view) < SAME:
        return Opinion("not_found")
    return Opinion("explicitly_supported", quote=view.place.span)


def verbatim(view: View) -> float:
    """The share of the claim's pairs of neighbouring words that also are neighbours in its place, 0 to 1."""
    pairs = [(a.key, b.key) for a, b in pairwise(view.tokens)]
    if not pairs or view.place is None:
        return 0.0
    there = _pairs(view.evidence, view.place.first - 16, view.place.last + 16)
    return sum(pair in there for pair in pairs) / len(pairs)


def _pairs(evidence: Evidence, first: int, last: int) -> set[tuple[str, str]]:
    return set(pairwise(evidence.keys[max(0, first) : last]))
