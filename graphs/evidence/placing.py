"""The claims of a case put in their places: what the node `align` does.

Knows: sentences are aligned, and a short source is shown whole.
Does not know: how a place is found (places), or what is shown after it.
"""

from collections.abc import Sequence

from longproof.graphs.evidence.places import (
    SentencePlace,
    about_the_whole,
    claim_groups,
    locate_sentences,
    parts_of,
)
from longproof.graphs.evidence.reading_plan import reading_plan
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.protocol import Protocol
from longproof.graphs.state import ClaimState
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Window

FEW_SENTENCES = 2
"""A response of no more sentences says little about their order."""
Placed = tuple[list[ClaimState], list[list[str]]]
"""The claims with their places, and the ids of those that are checked together."""


def in_groups(
    claims: Sequence[ClaimState], response: str, parts: Sequence[int], sources: Sources, protocol: Protocol
) -> Placed:
    """Each claim where its sentence stands; a source that is short enough is shown whole.

    A claim of no sure place is in no group: it is searched for at once. Sentences of a longer response hold each
    other's places, so there only claims about the whole are of none; those of a shorter one are read at their place
    alone, and searched for where that isn't enough: a window is ten times as dear and no surer. Of several short
    responses checked together all are searched for at once: one search is for all of them.
    """
    cut = sentences(response)
    texts = [response[start:end] for start, end in cut]
    responses = parts_of([start for start, _ in cut], parts)
    found = locate_sentences(texts, responses, sources)
    if not found:
        return list(claims), _in_order(claims, protocol.claims_a_question)
    held = {n for part in responses if len(part) > FEW_SENTENCES for n in part}
    places = [found[one.claim.sentence] for one in claims]
    if parts:
        places = [at._replace(sure=False) for at in places]
    placed = [
        _at_sentence(one, at, one.claim.sentence in held, sources)
        for one, at in zip(claims, places, strict=True)
    ]
    plan = reading_plan(sources.characters, len(cut))
    if plan.way == "whole" or protocol.rounds == ("source",):
        whole = tuple(sources.named((n, 0, len(d.text))) for n, d in enumerate(sources.documents))
        placed = [one.model_copy(update={"pieces": whole, "sure": True}) for one in placed]
        return placed, _in_order(placed, protocol.claims_a_question)
    likely = [one.claim for one in placed if one.sure]
    made = claim_groups(likely, [found[claim.sentence].piece for claim in likely], plan)
    return placed, [[claim.id for claim in group.claims] for group in made]


def _at_sentence(claim: ClaimState, place: SentencePlace, held: bool, sources: Sources) -> ClaimState:
    """The claim at its sentence's place. `held`: the sentences around it hold that place."""
    sure = place.sure or (held and not about_the_whole(claim.claim.text))
    found = _in_window(claim, place.window, sources)
    places = found.places if held else ()
    return found.model_copy(update={"pieces": (sources.named(place.piece),), "places": places, "sure": sure})


def _in_window(claim: ClaimState, window: Window, sources: Sources) -> ClaimState:
    """The claim with its window's places, and the one in the document that holds the window's centre."""
    places = sources.places(window)
    number = sources.blocks[window.centre][0]
    centre = sources.named(next(place for place in places if place[0] == number))
    named = tuple(sources.named(place) for place in places)
    return claim.model_copy(update={"window": centre, "places": named})


def _in_order(claims: Sequence[ClaimState], size: int) -> list[list[str]]:
    ids = [one.claim.id for one in claims]
    return [ids[n : n + size] for n in range(0, len(ids), size)]
