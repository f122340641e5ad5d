"""What the stations say as they go, for whoever watches: Studio, a progress bar, a log.

Knows: short, readable words: what was shown, who voted what, how a claim stands. Texts are cut to a few lines.
Does not know: what anybody makes of it; nothing of this is kept.
"""

from collections.abc import Mapping, Sequence

from longproof.agent.types import Claim, Judgement, Question
from longproof.graphs.state import ClaimStanding, Json

LONGEST = 200
"""Characters of a text that are told."""


def shown(questions: Sequence[Question], claims: Mapping[str, Claim]) -> Json:
    """What the panel is about to be asked, and how the evidence begins."""
    return {
        "station": "judge",
        "questions": [
            {
                "round": question.round,
                "claims": [claims[id_].text[:LONGEST] for id_ in question.claim_ids],
                "shown": [span.text[:LONGEST] for span in question.shown],
            }
            for question in questions
        ],
    }


def voiced(station: str, judgements: Sequence[Judgement], standings: Mapping[str, ClaimStanding]) -> Json:
    """Who said what of each claim just now, and how it stands."""
    heard: dict[str, list[Json]] = {}
    for one in judgements:
        word = {"judge": one.judge, "said": one.label or one.failure, "reason": one.reason[:LONGEST]}
        heard.setdefault(one.claim_id, []).append(word)
    return {
        "station": station,
        "claims": [
            {
                "claim_id": id_,
                "votes": votes,
                "stands": standings[id_]["standing"],
                "label": standings[id_]["label"],
            }
            for id_, votes in heard.items()
            if id_ in standings
        ],
    }
