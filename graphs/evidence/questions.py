"""What the judges are shown: the questions about a claim group, whose evidence only grows.

Knows: a paper's evidence (nothing, a window, all of the source, as the text stands); the product's, in whole numbered
lines: what was shown stays where it stood, what is new comes behind it. Pure.
Does not know: where the evidence was looked for, who judges, or what they say.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import chain, pairwise

from longproof.agent.types import Claim, Question, Round, SourcePlace
from longproof.graphs.evidence.sources import Place, Sources
from longproof.graphs.state import ClaimState, QuestionRef
from longproof.retrieval.types import Span

TOGETHER = 8000
"""Characters of what a search found that one question shows, for one claim or for several."""
NOTED = 16_000
"""Characters of what a reader of everything noted for a claim that are shown: as much as of a source shown whole."""


def questions(
    claims: Sequence[Claim],
    sources: Sources,
    windows: Mapping[str, Sequence[Place]],
    round_: Round,
    *,
    prompt: str,
    size: int,
) -> list[Question]:
    """A paper's questions: the claims in groups of at most `size`, the text of the round beside each group.

    `windows` are the places of each claim's window. A round that shows all of the sources is named `source`.
    """
    asked = []
    for group in _shares(claims, size):
        window = merge([place for claim in group for place in windows.get(claim.id, ())])
        shown = _shown(sources, window, round_)
        complete = round_ != "nothing" and sum(end - start for _, start, end in shown) >= sources.characters
        named: Round = "source" if complete else round_
        asked.append(make_question(group, tuple(map(sources.span, shown)), named, prompt))
    return asked


def _shown(sources: Sources, window: Sequence[Place], round_: Round) -> list[Place]:
    if round_ == "source":
        return [(n, 0, len(document.text)) for n, document in enumerate(sources.documents)]
    return list(window) if round_ == "window" else []


def widened(
    claims: Sequence[ClaimState], sources: Sources, places: Iterable[SourcePlace], round_: Round, prompt: str
) -> QuestionRef | None:
    """The question about these claims with more places shown, in whole lines; None where neither these nor the
    prompt are new.

    The claims were all asked about in the same question before, or in none.
    """
    before = claims[0].asked[-1].places if claims[0].asked else ()
    shown = set(sources.numbers(before))
    new = sorted(set(sources.numbers(places)) - shown)
    if claims[0].asked and not new and claims[0].asked[-1].prompt == prompt:
        return None
    added = tuple(map(sources.named, sources.places_of(new)))
    named: Round = "source" if len(shown) + len(new) == sources.number_of_lines else round_
    ids = tuple(one.claim.id for one in claims)
    all_places = (*before, *added)
    return QuestionRef(
        id=_id(ids, all_places, named, prompt),
        claim_ids=ids,
        places=all_places,
        round=named,
        prompt=prompt,
        lined=True,
    )


def together(claims: Iterable[ClaimState], size: int) -> list[list[ClaimState]]:
    """Claims that one question asks about: those that share their last one and whose windows touch; of those never
    asked about yet, as many as find room for what was found for them."""
    made: dict[str, list[list[ClaimState]]] = {}
    for one in claims:
        groups = made.setdefault(one.last_asked, [])
        if groups and len(groups[-1]) < size and _joins(groups[-1], one):
            groups[-1].append(one)
        else:
            groups.append([one])
    return list(chain.from_iterable(made.values()))


def _joins(group: Sequence[ClaimState], one: ClaimState) -> bool:
    """Whether one more claim leaves a question's evidence short enough."""
    if one.found:
        return _characters(place for other in (*group, one) for place in other.found) <= TOGETHER
    if one.pieces and not one.asked:
        return _characters({place for other in (*group, one) for place in other.pieces}) <= TOGETHER
    last = group[-1].places
    return last == one.places or any(_touch(place, other) for place in last for other in one.places)


def _characters(places: Iterable[SourcePlace]) -> int:
    return sum(place.end - place.start for place in places)


def _touch(one: SourcePlace, other: SourcePlace) -> bool:
    return one.source_id == other.source_id and one.start < other.end and other.start < one.end


def with_snippets(ref: QuestionRef, claim: Claim, snippets: Sequence[Span]) -> QuestionRef:
    """A question about one claim, with snippets of saved pages behind the evidence of its last one."""
    added = (SourcePlace(source_id=s.source_id, start=s.start, end=s.end) for s in snippets)
    places = (*ref.places, *added)
    id_ = _id((claim.id,), places, "pages", ref.prompt)
    return ref.model_copy(update={"id": id_, "claim_ids": (claim.id,), "places": places, "round": "pages"})


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


def make_question(claims: Sequence[Claim], shown: tuple[Span, ...], round_: Round, prompt: str) -> Question:
    """A question, named by all that it shows and asks."""
    ids = tuple(claim.id for claim in claims)
    places = [SourcePlace(source_id=s.source_id, start=s.start, end=s.end) for s in shown]
    return Question(
        id=_id(ids, places, round_, prompt), claim_ids=ids, shown=shown, round=round_, prompt=prompt
    )


def _id(ids: Sequence[str], places: Iterable[SourcePlace], round_: Round, prompt: str) -> str:
    key = "|".join([prompt, round_, "0", *ids, *(f"{p.source_id}:{p.start}-{p.end}" for p in places)])
    return "q-" + sha256(key.encode()).hexdigest()[:12]
