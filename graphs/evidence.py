"""What the judges are shown: which claims are checked together, and the rounds from passages to the whole source.

Knows: how claims are grouped by their windows, how wide each round looks, when everything has been shown. Pure.
Does not know: who judges, or what they say.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import pairwise, zip_longest
from typing import NamedTuple

from longproof.agent.types import CLAIMS_A_QUESTION, Claim, Question, Round
from longproof.graphs.sources import Place, Sources
from longproof.retrieval.types import Span, Window

HITS_A_CLAIM = 6
GROUP_BLOCKS = 5
"""How many blocks the windows of a group's claims hold together: one question's worth."""


class Aligned(NamedTuple):
    """A claim with the window of its part of the response; None where there is nothing to align with."""

    claim: Claim
    window: Window | None


def aligned(
    claims: Sequence[Claim], segments: Sequence[tuple[int, int]], windows: Sequence[Window]
) -> list[Aligned]:
    """Every claim with the window of the segment in which it starts. `windows`: one a segment, or none at all."""
    starts = [start for start, _ in segments]
    return [
        Aligned(claim, windows[max(bisect_right(starts, claim.origin.start) - 1, 0)] if windows else None)
        for claim in claims
    ]


def groups(claims: Sequence[Aligned]) -> list[list[Aligned]]:
    """Neighbouring claims whose windows overlap, as many as one question holds."""
    made: list[list[Aligned]] = []
    for one in claims:
        if made and _joins(made[-1], one):
            made[-1].append(one)
        else:
            made.append([one])
    return made


def _joins(group: Sequence[Aligned], one: Aligned) -> bool:
    """Whether a claim shares blocks with the last one of a group, and all fit one question."""
    before, window = group[-1].window, one.window
    if len(group) >= CLAIMS_A_QUESTION or (before is None) != (window is None):
        return False
    if before is None or window is None:
        return True
    held = [window, *(other.window for other in group if other.window is not None)]
    blocks = max(w.last for w in held) - min(w.first for w in held)
    return window.first <= before.last and before.first <= window.last and blocks < GROUP_BLOCKS


def questions(
    claims: Sequence[Claim],
    sources: Sources,
    windows: Mapping[str, Sequence[Place]],
    round_: Round,
    *,
    budget: int,
    prompt: str = "judge",
    size: int = CLAIMS_A_QUESTION,
    number: int = 0,
) -> list[Question]:
    """The questions of one round over one group: its claims in groups of at most `size`, evidence beside each.

    `windows` are the places of each claim's window, `budget` the characters that a search may show, `number` that
    of the round: two rounds that show the same are two questions, whose votes must not be counted together.
    A round whose evidence is all of the sources is named `source`: no wider one can follow.
    """
    asked = []
    for group in _shares(claims, size):
        window = merge([place for claim in group for place in windows.get(claim.id, ())])
        shown = evidence(group, sources, window, round_, budget)
        complete = round_ != "nothing" and sum(end - start for _, start, end in shown) >= sources.characters
        spans = tuple(sources.span(place) for place in shown)
        named: Round = "source" if complete else round_
        asked.append(make_question(group, spans, named, prompt, number))
    return asked


def evidence(
    claims: Sequence[Claim], sources: Sources, window: Sequence[Place], round_: Round, budget: int
) -> list[Place]:
    """The places that a round shows for these claims, in the order of the sources."""
    if round_ == "nothing":
        return []
    if round_ == "source":
        return [(n, 0, len(document.text)) for n, document in enumerate(sources.documents)]
    if round_ == "window":
        return list(window)
    within = list(window) if round_ == "passages" else None
    wide = window if within is not None else [(n, 0, len(d.text)) for n, d in enumerate(sources.documents)]
    if sum(end - start for _, start, end in wide) <= budget:
        return list(wide)
    return _best(claims, sources, within, budget)


def _best(claims: Sequence[Claim], sources: Sources, within: list[Place] | None, budget: int) -> list[Place]:
    """Passages by rank, taken from the claims in turn until the budget is spent, then merged."""
    number = {document.id: n for n, document in enumerate(sources.documents)}
    ranked = [sources.search(claim.text, HITS_A_CLAIM, within) for claim in claims]
    chosen: list[Place] = []
    for tier in zip_longest(*ranked):
        for hit in tier:
            if hit is None:
                continue
            place = (number[hit.span.source_id], hit.span.start, hit.span.end)
            wider = merge([*chosen, place])
            if chosen and sum(end - start for _, start, end in wider) > budget:
                return chosen
            chosen = wider
    return chosen


def with_snippets(question: Question, claim: Claim, snippets: Sequence[Span]) -> Question:
    """A question about one claim, with snippets of saved pages behind the evidence of its last one."""
    return make_question([claim], (*question.shown, *snippets), "pages", question.prompt)


def merge(places: Sequence[Place]) -> list[Place]:
    """Places in order, those that touch or overlap joined."""
    joined: list[Place] = []
    for number, start, end in sorted(places):
        if joined and joined[-1][0] == number and start <= joined[-1][2]:
            joined[-1] = (number, joined[-1][1], max(end, joined[-1][2]))
        else:
            joined.append((number, start, end))
    return joined


def _shares(claims: Sequence[Claim], size: int) -> list[Sequence[Claim]]:
    """Neighbours together, in groups of nearly equal size."""
    count = -(-len(claims) // size)
    bounds = [round(i * len(claims) / count) for i in range(count + 1)] if count else []
    return [claims[a:b] for a, b in pairwise(bounds)]


def make_question(
    claims: Sequence[Claim], shown: tuple[Span, ...], round_: Round, prompt: str, number: int = 0
) -> Question:
    """A question, named by all that it shows and asks."""
    ids = tuple(claim.id for claim in claims)
    key = "|".join([prompt, round_, str(number), *ids, *(f"{s.source_id}:{s.start}-{s.end}" for s in shown)])
    return Question(
        id="q-" + sha256(key.encode()).hexdigest()[:12],
        claim_ids=ids,
        shown=shown,
        round=round_,
        prompt=prompt,
    )
