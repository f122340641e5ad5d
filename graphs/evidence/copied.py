"""A response that is its one source, word for word: every claim of it stands where it was taken from.

Knows: that no claim of such a response need be looked for or judged: a title or a question alone tells too little to
be found by its words, and judges may differ on whether it states a fact. Pure.
Does not know: what the text says, or how any other response is checked.
"""

from longproof.agent.offline.judge import OfflineJudge
from longproof.agent.types import Judgement
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.state import ClaimState

REASON = "the response is its source, word for word"


def same_text(response: str, sources: Sources) -> bool:
    """True if the response is the only source, but for blanks before and behind it."""
    return len(sources.documents) == 1 and sources.documents[0].text.strip() == response.strip()


def place_copy(claim: ClaimState, response: str, sources: Sources) -> ClaimState:
    """A claim of a response that is its source, with the place that it is a copy of."""
    source, words, origin = sources.documents[0], response.strip(), claim.claim.origin
    shift = source.text.index(words) - response.index(words)
    said = Judgement(
        claim_id=claim.claim.id,
        judge=OfflineJudge.name,
        round="source",
        question_id="",
        label="explicitly_supported",
        quotes=(source.span(origin.start + shift, origin.end + shift),),
        reason=REASON,
    )
    return claim.with_judgements([said]).model_copy(update={"copied": True})
